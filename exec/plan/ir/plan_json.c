/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/ir/plan_json.h"

#include <stdbool.h>

/* A JSON object being written, and whether it has members yet. */
typedef struct json_object {
    mo_out *out;
    bool any;
} json_object;

static void write_key(json_object *f, const char *key)
{
    mo_out_printf(f->out, "%s\"%s\": ", f->any ? ", " : "{", key);
    f->any = true;
}

static void write_text(json_object *f, const char *key, const char *text)
{
    write_key(f, key);
    mo_out_json(f->out, text ? text : "");
}

static void write_int(json_object *f, const char *key, int64_t number)
{
    write_key(f, key);
    mo_out_int(f->out, number);
}

/* Omitted when missing. */
static void write_index(json_object *f, const char *key, int index)
{
    if (index != MO_PLAN_NONE)
        write_int(f, key, index);
}

static void write_us(json_object *f, const char *key, int64_t ns)
{
    write_key(f, key);
    mo_out_double(f->out, (double) ns / 1000);
}

static void write_ints(json_object *f, const char *key, const int *numbers,
                       int n)
{
    write_key(f, key);
    mo_out_char(f->out, '[');
    for (int i = 0; i < n; i++) {
        mo_out_text(f->out, i > 0 ? ", " : "");
        mo_out_int(f->out, numbers[i]);
    }
    mo_out_char(f->out, ']');
}

static void write_desc(json_object *f, const mo_tensor_desc *desc)
{
    write_text(f, "type", mo_elem_name(desc->elem));
    write_key(f, "shape");
    mo_out_char(f->out, '[');
    for (int i = 0; i < desc->shape.rank; i++) {
        mo_out_text(f->out, i > 0 ? ", " : "");
        mo_out_int(f->out, desc->shape.dims[i]);
    }
    mo_out_char(f->out, ']');
}

static void close_object(json_object *f)
{
    mo_out_text(f->out, f->any ? "}" : "{}");
}

static void write_value(const mo_exec_plan *plan, int v, mo_out *out)
{
    const mo_plan_value *value = &plan->values[v];
    json_object f = { out, false };

    write_text(&f, "name", value->name);
    write_text(&f, "device", plan->devices[value->device].id);
    write_desc(&f, &value->desc);
    if (value->channels_last)
        write_text(&f, "layout", "channels last");
    write_int(&f, "bytes", mo_tensor_desc_bytes(&value->desc));
    if (value->offset != MO_PLAN_NONE)
        write_int(&f, "offset", value->offset);
    if (value->constant) {
        write_key(&f, "constant");
        mo_out_text(out, "true");
    }
    write_index(&f, "view_of", value->view_of);
    write_index(&f, "part_of", value->part ? value->part->of : MO_PLAN_NONE);
    write_index(&f, "input", value->input);
    write_index(&f, "transfer", value->transfer);
    close_object(&f);
}

static void write_attention(json_object *f, const mo_call_attention *attention)
{
    if (attention->causal) {
        write_key(f, "causal");
        mo_out_text(f->out, "true");
    }
    if (attention->score)
        write_int(f, "score", attention->score->n_steps);
}

static void write_call(const mo_exec_plan *plan, int c, mo_out *out)
{
    const mo_plan_call *it = &plan->calls[c];
    json_object f = { out, false };

    write_int(&f, "item", it->item);
    write_text(&f, "kind", mo_call_kind_name(it->call.kind));
    write_text(&f, "device", plan->devices[it->device].id);
    write_ints(&f, "in", it->call.in, it->call.n_in);
    write_ints(&f, "out", it->call.out, it->call.n_out);
    if (it->call.kind == MO_CALL_ATTENTION)
        write_attention(&f, &it->call.u.attention);
    if (it->call.after)
        write_int(&f, "epilogue", it->call.after->n_steps);
    if (plan->devices[it->device].n_streams > 1) {
        write_int(&f, "lane", it->stream);
        write_ints(&f, "waits", it->depends_on, it->n_depends_on);
    }
    close_object(&f);
}

static void write_transfer(const mo_exec_plan *plan, int t, mo_out *out)
{
    const mo_plan_transfer *transfer = &plan->transfers[t];
    json_object f = { out, false };

    write_text(&f, "from", plan->devices[transfer->from].id);
    write_text(&f, "to", plan->devices[transfer->to].id);
    write_int(&f, "from_value", transfer->from_value);
    write_int(&f, "to_value", transfer->to_value);
    write_int(&f, "bytes", transfer->bytes);
    write_index(&f, "tensor", transfer->tensor);
    close_object(&f);
}

static void write_item(const mo_exec_plan *plan, int i, mo_out *out)
{
    const mo_plan_item *item = &plan->items[i];
    json_object f = { out, false };

    write_text(&f, "name", item->name);
    write_text(&f, "type", item->type);
    write_text(&f, "class", mo_class_name(item->class));
    write_text(&f, "device", plan->devices[item->device].id);
    if (item->op == MO_PLAN_NONE) {
        write_key(&f, "replicated");
        mo_out_text(out, "true");
    }
    write_us(&f, "predicted_us", item->predicted_ns);
    close_object(&f);
}

static void write_input(const mo_exec_plan *plan, int i, mo_out *out)
{
    const mo_plan_input *input = &plan->inputs[i];
    json_object f = { out, false };

    write_text(&f, "name", input->name);
    write_desc(&f, &input->desc);
    write_ints(&f, "values", input->values, input->n_values);
    close_object(&f);
}

static void write_output(const mo_exec_plan *plan, int i, mo_out *out)
{
    const mo_plan_output *output = &plan->outputs[i];
    json_object f = { out, false };

    write_text(&f, "name", output->name);
    write_int(&f, "value", output->value);
    close_object(&f);
}

static void write_step(const mo_exec_plan *plan, int device, int step,
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
    json_object f = { out, false };

    write_int(&f, "order", it->order);
    write_text(&f, "do", words[it->kind]);
    if (it->kind == MO_PLAN_STEP_COMPUTE) {
        write_int(&f, "call", it->what);
        write_text(&f, "name", plan->items[plan->calls[it->what].item].name);
    } else {
        transfer = &plan->transfers[it->what];
        write_int(&f, "transfer", it->what);
        write_text(&f, "name", plan->values[transfer->from_value].name);
        if (transfer->from == device)
            write_text(&f, "to", plan->devices[transfer->to].id);
        else
            write_text(&f, "from", plan->devices[transfer->from].id);
    }
    close_object(&f);
}

static void write_device(const mo_exec_plan *plan, int d, mo_out *out)
{
    const mo_plan_device *device = &plan->devices[d];
    json_object f = { out, false };

    write_text(&f, "id", device->id);
    write_int(&f, "arena_bytes", device->arena_bytes);
    write_int(&f, "weight_bytes", device->weight_bytes);
    if (device->capacity_bytes != INT64_MAX)
        write_int(&f, "capacity_bytes", device->capacity_bytes);
    write_key(&f, "steps");
    mo_out_char(out, '[');
    for (int s = 0; s < device->n_steps; s++) {
        mo_out_text(out, s > 0 ? ",\n      " : "\n      ");
        write_step(plan, d, s, out);
    }
    mo_out_char(out, ']');
    close_object(&f);
}

/* Writes a member that is an array, one entry per line. */
static void write_list(const mo_exec_plan *plan, const char *key, int n,
                       void (*write_entry)(const mo_exec_plan *, int, mo_out *),
                       mo_out *out)
{
    mo_out_printf(out, ",\n  \"%s\": [", key);
    for (int i = 0; i < n; i++) {
        mo_out_text(out, i > 0 ? ",\n    " : "\n    ");
        write_entry(plan, i, out);
    }
    mo_out_char(out, ']');
}

void mo_plan_write_json(const mo_exec_plan *plan, mo_out *out)
{
    mo_out_text(out, "{\n  \"predicted_us\": ");
    mo_out_double(out, (double) plan->predicted_ns / 1000);
    write_list(plan, "inputs", plan->n_inputs, write_input, out);
    write_list(plan, "outputs", plan->n_outputs, write_output, out);
    write_list(plan, "devices", plan->n_devices, write_device, out);
    write_list(plan, "items", plan->n_items, write_item, out);
    write_list(plan, "calls", plan->n_calls, write_call, out);
    write_list(plan, "values", plan->n_values, write_value, out);
    write_list(plan, "transfers", plan->n_transfers, write_transfer, out);
    mo_out_text(out, "\n}\n");
}
