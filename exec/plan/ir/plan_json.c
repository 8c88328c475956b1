/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/ir/plan_json.h"

#include <stdbool.h>

/* An object or a list, and whether anything stands in it yet. */
typedef struct frame {
    mo_out *out;
    bool any;
} frame;

static void put_key(frame *f, const char *key)
{
    mo_out_printf(f->out, "%s\"%s\": ", f->any ? ", " : "{", key);
    f->any = true;
}

static void put_text(frame *f, const char *key, const char *text)
{
    put_key(f, key);
    mo_out_json(f->out, text ? text : "");
}

static void put_int(frame *f, const char *key, int64_t number)
{
    put_key(f, key);
    mo_out_int(f->out, number);
}

/* A number that may be missing is then left out. */
static void put_index(frame *f, const char *key, int index)
{
    if (index != MO_PLAN_NONE)
        put_int(f, key, index);
}

static void put_us(frame *f, const char *key, int64_t ns)
{
    put_key(f, key);
    mo_out_double(f->out, (double) ns / 1000);
}

static void put_ints(frame *f, const char *key, const int *numbers, int n)
{
    put_key(f, key);
    mo_out_char(f->out, '[');
    for (int i = 0; i < n; i++) {
        mo_out_text(f->out, i > 0 ? ", " : "");
        mo_out_int(f->out, numbers[i]);
    }
    mo_out_char(f->out, ']');
}

static void put_desc(frame *f, const mo_tensor_desc *desc)
{
    put_text(f, "type", mo_elem_name(desc->elem));
    put_key(f, "shape");
    mo_out_char(f->out, '[');
    for (int i = 0; i < desc->shape.rank; i++) {
        mo_out_text(f->out, i > 0 ? ", " : "");
        mo_out_int(f->out, desc->shape.dims[i]);
    }
    mo_out_char(f->out, ']');
}

static void end(frame *f)
{
    mo_out_text(f->out, f->any ? "}" : "{}");
}

static void put_value(const mo_exec_plan *plan, int v, mo_out *out)
{
    const mo_plan_value *value = &plan->values[v];
    frame f = { out, false };

    put_text(&f, "name", value->name);
    put_text(&f, "device", plan->devices[value->device].id);
    put_desc(&f, &value->desc);
    if (value->channels_last)
        put_text(&f, "layout", "channels last");
    put_int(&f, "bytes", mo_tensor_desc_bytes(&value->desc));
    if (value->offset != MO_PLAN_NONE)
        put_int(&f, "offset", value->offset);
    if (value->constant) {
        put_key(&f, "constant");
        mo_out_text(out, "true");
    }
    put_index(&f, "view_of", value->view_of);
    put_index(&f, "part_of", value->part ? value->part->of : MO_PLAN_NONE);
    put_index(&f, "input", value->input);
    put_index(&f, "transfer", value->transfer);
    end(&f);
}

static void put_attention(frame *f, const mo_call_attention *attention)
{
    if (attention->causal) {
        put_key(f, "causal");
        mo_out_text(f->out, "true");
    }
    if (attention->score)
        put_int(f, "score", attention->score->n_steps);
}

static void put_call(const mo_exec_plan *plan, int c, mo_out *out)
{
    const mo_plan_call *it = &plan->calls[c];
    frame f = { out, false };

    put_int(&f, "item", it->item);
    put_text(&f, "kind", mo_call_kind_name(it->call.kind));
    put_text(&f, "device", plan->devices[it->device].id);
    put_ints(&f, "in", it->call.in, it->call.n_in);
    put_ints(&f, "out", it->call.out, it->call.n_out);
    if (it->call.kind == MO_CALL_ATTENTION)
        put_attention(&f, &it->call.u.attention);
    if (it->call.after)
        put_int(&f, "epilogue", it->call.after->n_steps);
    if (plan->devices[it->device].n_lanes > 1) {
        put_int(&f, "lane", it->lane);
        put_ints(&f, "waits", it->waits, it->n_waits);
    }
    end(&f);
}

static void put_transfer(const mo_exec_plan *plan, int t, mo_out *out)
{
    const mo_plan_transfer *transfer = &plan->transfers[t];
    frame f = { out, false };

    put_text(&f, "from", plan->devices[transfer->from].id);
    put_text(&f, "to", plan->devices[transfer->to].id);
    put_int(&f, "from_value", transfer->from_value);
    put_int(&f, "to_value", transfer->to_value);
    put_int(&f, "bytes", transfer->bytes);
    put_index(&f, "tensor", transfer->tensor);
    end(&f);
}

static void put_item(const mo_exec_plan *plan, int i, mo_out *out)
{
    const mo_plan_item *item = &plan->items[i];
    frame f = { out, false };

    put_text(&f, "name", item->name);
    put_text(&f, "type", item->type);
    put_text(&f, "class", mo_class_name(item->class));
    put_text(&f, "device", plan->devices[item->device].id);
    if (item->op == MO_PLAN_NONE) {
        put_key(&f, "replicated");
        mo_out_text(out, "true");
    }
    put_us(&f, "predicted_us", item->predicted_ns);
    end(&f);
}

static void put_input(const mo_exec_plan *plan, int i, mo_out *out)
{
    const mo_plan_input *input = &plan->inputs[i];
    frame f = { out, false };

    put_text(&f, "name", input->name);
    put_desc(&f, &input->desc);
    put_ints(&f, "values", input->values, input->n_values);
    end(&f);
}

static void put_output(const mo_exec_plan *plan, int i, mo_out *out)
{
    const mo_plan_output *output = &plan->outputs[i];
    frame f = { out, false };

    put_text(&f, "name", output->name);
    put_int(&f, "value", output->value);
    end(&f);
}

static void put_step(const mo_exec_plan *plan, int device, int step,
                     mo_out *out)
{
    static const char *const words[] = {
        [MO_PLAN_STEP_COMPUTE] = "compute",
        [MO_PLAN_STEP_SEND] = "send",
        [MO_PLAN_STEP_RECEIVE] = "receive",
        [MO_PLAN_STEP_AWAIT] = "await",
    };
    const mo_plan_step *it = &plan->devices[device].steps[step];
    const mo_plan_transfer *transfer;
    frame f = { out, false };

    put_int(&f, "order", it->order);
    put_text(&f, "do", words[it->kind]);
    if (it->kind == MO_PLAN_STEP_COMPUTE) {
        put_int(&f, "call", it->what);
        put_text(&f, "name", plan->items[plan->calls[it->what].item].name);
    } else {
        transfer = &plan->transfers[it->what];
        put_int(&f, "transfer", it->what);
        put_text(&f, "name", plan->values[transfer->from_value].name);
        if (transfer->from == device)
            put_text(&f, "to", plan->devices[transfer->to].id);
        else
            put_text(&f, "from", plan->devices[transfer->from].id);
    }
    end(&f);
}

static void put_device(const mo_exec_plan *plan, int d, mo_out *out)
{
    const mo_plan_device *device = &plan->devices[d];
    frame f = { out, false };

    put_text(&f, "id", device->id);
    put_int(&f, "arena_bytes", device->arena_bytes);
    put_int(&f, "weight_bytes", device->weight_bytes);
    if (device->capacity_bytes != INT64_MAX)
        put_int(&f, "capacity_bytes", device->capacity_bytes);
    put_key(&f, "steps");
    mo_out_char(out, '[');
    for (int s = 0; s < device->n_steps; s++) {
        mo_out_text(out, s > 0 ? ",\n      " : "\n      ");
        put_step(plan, d, s, out);
    }
    mo_out_char(out, ']');
    end(&f);
}

/* A member of the plan that is a list, an entry a line. */
static void put_list(const mo_exec_plan *plan, const char *key, int n,
                     void (*put)(const mo_exec_plan *, int, mo_out *),
                     mo_out *out)
{
    mo_out_printf(out, ",\n  \"%s\": [", key);
    for (int i = 0; i < n; i++) {
        mo_out_text(out, i > 0 ? ",\n    " : "\n    ");
        put(plan, i, out);
    }
    mo_out_char(out, ']');
}

void mo_plan_write_json(const mo_exec_plan *plan, mo_out *out)
{
    mo_out_text(out, "{\n  \"predicted_us\": ");
    mo_out_double(out, (double) plan->predicted_ns / 1000);
    put_list(plan, "inputs", plan->n_inputs, put_input, out);
    put_list(plan, "outputs", plan->n_outputs, put_output, out);
    put_list(plan, "devices", plan->n_devices, put_device, out);
    put_list(plan, "items", plan->n_items, put_item, out);
    put_list(plan, "calls", plan->n_calls, put_call, out);
    put_list(plan, "values", plan->n_values, put_value, out);
    put_list(plan, "transfers", plan->n_transfers, put_transfer, out);
    mo_out_text(out, "\n}\n");
}
