/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/ir/plan_json.h"

#include <stdbool.h>

#include "base/json_writer.h"

/* A missing text is written as "". */
static void write_text(mo_json_writer *w, const char *key, const char *text)
{
    mo_json_put_text(w, key, text ? text : "");
}

/* Omitted when missing. */
static void write_index(mo_json_writer *w, const char *key, int index)
{
    if (index != MO_PLAN_NONE)
        mo_json_put_int(w, key, index);
}

/* Omitted when false. */
static void write_flag(mo_json_writer *w, const char *key, bool set)
{
    if (set)
        mo_json_put_bool(w, key, true);
}

static void write_desc(mo_json_writer *w, const mo_tensor_desc *desc)
{
    write_text(w, "type", mo_elem_name(desc->elem));
    mo_json_begin_array(w, "shape", MO_JSON_INLINE);
    for (int i = 0; i < desc->shape.rank; i++)
        mo_json_put_int(w, NULL, desc->shape.dims[i]);
    mo_json_end(w);
}

static void write_value(const mo_exec_plan *plan, int v, mo_json_writer *w)
{
    const mo_plan_value *value = &plan->values[v];

    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    write_text(w, "name", value->name);
    write_text(w, "device", plan->devices[value->device].id);
    write_desc(w, &value->desc);
    if (value->channels_last)
        write_text(w, "layout", "channels last");
    mo_json_put_int(w, "bytes", mo_tensor_desc_bytes(&value->desc));
    if (value->offset != MO_PLAN_NONE)
        mo_json_put_int(w, "offset", value->offset);
    write_flag(w, "constant", value->constant);
    write_index(w, "view_of", value->view_of);
    write_index(w, "part_of", value->part ? value->part->of : MO_PLAN_NONE);
    write_index(w, "input", value->input);
    write_index(w, "transfer", value->transfer);
    mo_json_end(w);
}

static void write_call(const mo_exec_plan *plan, int c, mo_json_writer *w)
{
    const mo_plan_call *it = &plan->calls[c];

    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    mo_json_put_int(w, "item", it->item);
    write_text(w, "kind", mo_call_kind_name(it->call.kind));
    write_text(w, "device", plan->devices[it->device].id);
    mo_json_put_ints(w, "in", it->call.in, it->call.n_in);
    mo_json_put_ints(w, "out", it->call.out, it->call.n_out);
    if (it->call.kind == MO_CALL_MATMUL) {
        /* A product of [m, k] and [k, n]; batches: how many of them. */
        const mo_call_matmul *m = &it->call.u.matmul;
        int64_t batches = 1;

        for (int d = 0; d < m->n_batch; d++)
            batches *= m->extent[d];
        mo_json_put_int(w, "m", m->m);
        mo_json_put_int(w, "n", m->n);
        mo_json_put_int(w, "k", m->k);
        if (batches != 1)
            mo_json_put_int(w, "batches", batches);
    }
    if (it->call.kind == MO_CALL_LINEAR) {
        const mo_call_linear *l = &it->call.u.linear;

        mo_json_put_int(w, "m", l->m);
        mo_json_put_int(w, "n", l->n);
        mo_json_put_int(w, "k", l->k);
        write_text(w, "format", mo_block_format_name(l->format));
    }
    if (it->call.kind == MO_CALL_EXPERTS) {
        const mo_call_experts *e = &it->call.u.experts;

        mo_json_put_int(w, "m", e->m);
        mo_json_put_int(w, "n", e->n);
        mo_json_put_int(w, "k", e->k);
        mo_json_put_int(w, "experts", e->experts);
        write_text(w, "format", mo_block_format_name(e->format));
    }
    if (it->call.kind == MO_CALL_ATTENTION) {
        write_flag(w, "causal", it->call.u.attention.causal);
        if (it->call.u.attention.score)
            mo_json_put_int(w, "score", it->call.u.attention.score->n_steps);
    }
    if (it->call.after)
        mo_json_put_int(w, "epilogue", it->call.after->n_steps);
    if (plan->devices[it->device].n_streams > 1) {
        mo_json_put_int(w, "lane", it->stream);
        mo_json_put_ints(w, "waits", it->depends_on, it->n_depends_on);
    }
    mo_json_end(w);
}

static void write_transfer(const mo_exec_plan *plan, int t, mo_json_writer *w)
{
    const mo_plan_transfer *transfer = &plan->transfers[t];

    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    write_text(w, "from", plan->devices[transfer->from].id);
    write_text(w, "to", plan->devices[transfer->to].id);
    mo_json_put_int(w, "from_value", transfer->from_value);
    mo_json_put_int(w, "to_value", transfer->to_value);
    mo_json_put_int(w, "bytes", transfer->bytes);
    write_index(w, "tensor", transfer->tensor);
    mo_json_end(w);
}

static void write_item(const mo_exec_plan *plan, int i, mo_json_writer *w)
{
    const mo_plan_item *item = &plan->items[i];

    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    write_text(w, "name", item->name);
    write_text(w, "type", item->type);
    write_text(w, "class", mo_class_name(item->class));
    write_text(w, "device", plan->devices[item->device].id);
    write_flag(w, "replicated", item->op == MO_PLAN_NONE);
    mo_json_put_us(w, "predicted_us", item->predicted_ns);
    mo_json_end(w);
}

static void write_input(const mo_exec_plan *plan, int i, mo_json_writer *w)
{
    const mo_plan_input *input = &plan->inputs[i];

    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    write_text(w, "name", input->name);
    write_desc(w, &input->desc);
    mo_json_put_ints(w, "values", input->values, input->n_values);
    if (input->state)
        write_text(w, "state", input->state);
    mo_json_end(w);
}

static void write_output(const mo_exec_plan *plan, int i, mo_json_writer *w)
{
    const mo_plan_output *output = &plan->outputs[i];

    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    write_text(w, "name", output->name);
    mo_json_put_int(w, "value", output->value);
    if (output->state)
        write_text(w, "state", output->state);
    mo_json_end(w);
}

static void write_phase(const mo_exec_plan *plan, int i, mo_json_writer *w)
{
    const mo_plan_phase *phase = &plan->phases[i];

    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    write_text(w, "name", phase->name);
    mo_json_put_us(w, "predicted_us", phase->predicted_ns);
    mo_json_put_int(w, "call", phase->start.call);
    mo_json_put_int(w, "transfer", phase->start.transfer);
    mo_json_end(w);
}

static void write_device(const mo_exec_plan *plan, int d, mo_json_writer *w)
{
    const mo_plan_device *device = &plan->devices[d];

    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    write_text(w, "id", device->id);
    mo_json_put_int(w, "arena_bytes", device->arena_bytes);
    if (device->state_bytes > 0)
        mo_json_put_int(w, "state_bytes", device->state_bytes);
    mo_json_put_int(w, "weight_bytes", device->weight_bytes);
    if (device->capacity_bytes != INT64_MAX)
        mo_json_put_int(w, "capacity_bytes", device->capacity_bytes);
    mo_json_begin_array(w, "steps", MO_JSON_HANGING);
    for (int s = 0; s < device->n_steps; s++) {
        static const char *const words[] = {
            [MO_PLAN_STEP_COMPUTE] = "compute",
            [MO_PLAN_STEP_SEND] = "send",
            [MO_PLAN_STEP_RECEIVE] = "receive",
            [MO_PLAN_STEP_AWAIT] = "await",
        };
        const mo_plan_step *it = &plan->devices[d].steps[s];
        const mo_plan_transfer *transfer;

        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_int(w, "order", it->order);
        write_text(w, "do", words[it->kind]);
        if (it->kind == MO_PLAN_STEP_COMPUTE) {
            mo_json_put_int(w, "call", it->what);
            write_text(w, "name", plan->items[plan->calls[it->what].item].name);
        } else {
            transfer = &plan->transfers[it->what];
            mo_json_put_int(w, "transfer", it->what);
            write_text(w, "name", plan->values[transfer->from_value].name);
            if (transfer->from == d)
                write_text(w, "to", plan->devices[transfer->to].id);
            else
                write_text(w, "from", plan->devices[transfer->from].id);
        }
        mo_json_end(w);
    }
    mo_json_end(w);
    mo_json_end(w);
}

typedef void write_entry(const mo_exec_plan *plan, int i, mo_json_writer *w);

/* Writes a member that is an array, one entry per line. */
static void write_list(const mo_exec_plan *plan, const char *key, int n,
                       write_entry *write, mo_json_writer *w)
{
    mo_json_begin_array(w, key, MO_JSON_HANGING);
    for (int i = 0; i < n; i++)
        write(plan, i, w);
    mo_json_end(w);
}

void mo_plan_write_json(const mo_exec_plan *plan, mo_out *out)
{
    mo_json_writer w = { .out = out };

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    mo_json_put_us(&w, "predicted_us", plan->predicted_ns);
    write_list(plan, "inputs", plan->n_inputs, write_input, &w);
    write_list(plan, "outputs", plan->n_outputs, write_output, &w);
    if (plan->n_phases > 0)
        write_list(plan, "phases", plan->n_phases, write_phase, &w);
    write_list(plan, "devices", plan->n_devices, write_device, &w);
    write_list(plan, "items", plan->n_items, write_item, &w);
    write_list(plan, "calls", plan->n_calls, write_call, &w);
    write_list(plan, "values", plan->n_values, write_value, &w);
    write_list(plan, "transfers", plan->n_transfers, write_transfer, &w);
    mo_json_end(&w);
}
