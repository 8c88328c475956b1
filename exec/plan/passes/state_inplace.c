/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States in place: a state has one buffer on its device, outside of the memory
 * that values share (exec/plan/schedule/memory_plan.c). The input that reads
 * the state and the output that writes it both have its bytes.
 *
 *     cache = input           [....]      the scatter writes into the buffer
 *     cache' = scatter cache  [..x.]      that it reads: nothing is copied
 *     output cache'
 *
 * That is right where nothing else reads the old value. Otherwise the new value
 * is made elsewhere and copied at the end of the run, when all of the old one
 * was read.
 */
#include <stdlib.h>
#include <string.h>

#include "exec/plan/ir/value_table.h"
#include "exec/plan/passes/def_use.h"
#include "exec/plan/passes/passes.h"

typedef struct state_pass {
    mo_exec_plan *plan;
    mo_plan_values values;
    mo_pass_def_use uses; /* of the values before the pass */
    int *readers;         /* by root: number of operands and outputs */
} state_pass;

/* Returns the value that reads a state, or MO_PLAN_NONE. */
static int find_old(const state_pass *s, const char *state)
{
    const mo_exec_plan *plan = s->plan;

    for (int i = 0; i < plan->n_inputs; i++)
        if (plan->inputs[i].state && strcmp(plan->inputs[i].state, state) == 0)
            return plan->inputs[i].n_values > 0 ? plan->inputs[i].values[0]
                                                : MO_PLAN_NONE;
    return MO_PLAN_NONE;
}

static mo_status mark_inputs(state_pass *s, mo_error *err)
{
    const mo_exec_plan *plan = s->plan;

    for (int i = 0; i < plan->n_inputs; i++) {
        const mo_plan_input *input = &plan->inputs[i];

        if (!input->state)
            continue;
        if (input->n_values > 1)
            return mo_fail(err, MO_E_SUPPORT,
                           "state '%.160s' is read on several devices; place "
                           "its readers on one",
                           input->state);
        for (int k = 0; k < input->n_values; k++)
            s->values.items[input->values[k]].state = input->state;
    }
    return MO_OK;
}

/* Whether the call that makes a value may write into the bytes of the state,
 * whose old value is old, or MO_PLAN_NONE. */
static bool is_in_place(const state_pass *s, int made, int old)
{
    const mo_plan_value *value = &s->values.items[made];
    int maker = s->uses.maker[made];
    const mo_call *call;

    if (maker == MO_PLAN_NONE || value->part || value->state)
        return false;
    if (old == MO_PLAN_NONE)
        return true;
    call = &s->plan->calls[maker].call;
    return call->kind == MO_CALL_SCATTER && s->readers[old] == 1 &&
           mo_plan_value_root(s->values.items, call->in[0]) == old;
}

static bool reads(const state_pass *s, const mo_call *call, int root)
{
    for (int i = 0; i < call->n_in; i++)
        if (mo_plan_value_root(s->values.items, call->in[i]) == root)
            return true;
    return false;
}

/* The operands of a copy: the new value, and a result of each call that reads
 * the old one, which the copy waits for. Returns their number. */
static int list_operands(const state_pass *s, int made, int old, int *operands)
{
    int n = 0;

    operands[n++] = made;
    for (int c = 0; c < s->plan->n_calls && old != MO_PLAN_NONE; c++) {
        const mo_call *call = &s->plan->calls[c].call;

        if (n <= MO_CALL_MAX_OPERANDS && call->out[0] != made &&
            reads(s, call, old))
            operands[n++] = call->out[0];
    }
    return n;
}

/* Appends a copy of the output's value to the bytes of the state. */
static mo_status append_copy(state_pass *s, mo_plan_output *output, int old,
                             mo_error *err)
{
    mo_exec_plan *plan = s->plan;
    const mo_plan_value *from = &s->values.items[output->value];
    mo_plan_value made =
        mo_plan_value_init(output->state, &from->desc, from->device);
    mo_call_copy_box *box = mo_arena_alloc(plan->arena, sizeof *box);
    int *operands =
        mo_arena_array(plan->arena, MO_CALL_MAX_OPERANDS + 2, sizeof *operands);
    int *result = mo_arena_array(plan->arena, 1, sizeof *result);
    mo_plan_call *call = &plan->calls[plan->n_calls];
    int n_in;

    if (!box || !operands || !result)
        return mo_fail_memory(err);
    n_in = list_operands(s, output->value, old, operands);
    if (n_in > MO_CALL_MAX_OPERANDS)
        return mo_fail(err, MO_E_LIMIT,
                       "state '%.160s' is read by more than %d ops",
                       output->state, MO_CALL_MAX_OPERANDS - 1);
    plan->items[plan->n_items] = (mo_plan_item){ .name = output->state,
                                                 .type = "State",
                                                 .class = MO_CLASS_MOVE,
                                                 .op = MO_PLAN_NONE,
                                                 .device = from->device };
    made.state = output->state;
    made.channels_last = from->channels_last;
    made.item = plan->n_items++;
    *box =
        (mo_call_copy_box){ .rank = 1,
                            .extent = { mo_tensor_desc_elements(&from->desc) },
                            .in_stride = { 1 },
                            .out_stride = { 1 } };
    *call = (mo_plan_call){
        .call = { .kind = MO_CALL_COPY,
                  .n_in = n_in,
                  .n_out = 1,
                  .first_extra = n_in,
                  .in = operands,
                  .out = result,
                  .u.copy = { .boxes = box, .n_boxes = 1, .fill_in = -1 } },
        .item = made.item,
        .timed_as = made.item,
        .device = made.device
    };
    plan->n_calls++;
    if (mo_plan_values_add(&s->values, &made, result, err) != MO_OK)
        return MO_E_MEMORY;
    output->value = *result;
    return MO_OK;
}

static mo_status place_output(state_pass *s, mo_plan_output *output,
                              mo_error *err)
{
    int old = find_old(s, output->state);
    int made = mo_plan_value_root(s->values.items, output->value);
    const mo_plan_value *to = &s->values.items[made];

    if (made == old)
        return MO_OK; /* it stays as it is */
    if (old != MO_PLAN_NONE) {
        const mo_plan_value *from = &s->values.items[old];

        if (from->device != to->device)
            return mo_fail(err, MO_E_SUPPORT,
                           "state '%.160s' is read on device '%.80s' and "
                           "written on '%.80s'; place both ops on one",
                           output->state, s->plan->devices[from->device].id,
                           s->plan->devices[to->device].id);
        if (from->desc.elem != to->desc.elem ||
            from->channels_last != to->channels_last ||
            mo_tensor_desc_bytes(&from->desc) !=
                mo_tensor_desc_bytes(&to->desc)) {
            char old_text[MO_TENSOR_DESC_TEXT_SIZE];
            char new_text[MO_TENSOR_DESC_TEXT_SIZE];

            return mo_fail(err, MO_E_INPUT,
                           "state '%.160s' is read as %s and written as %s",
                           output->state,
                           mo_tensor_desc_format(&from->desc, old_text),
                           mo_tensor_desc_format(&to->desc, new_text));
        }
    }
    if (!is_in_place(s, made, old))
        return append_copy(s, output, old, err);
    s->values.items[made].state = output->state;
    return MO_OK;
}

/* Room for as many more calls and items. */
static mo_status reserve_calls(mo_exec_plan *plan, int more, mo_error *err)
{
    size_t n_calls = (size_t) plan->n_calls, n_items = (size_t) plan->n_items;
    mo_plan_call *calls =
        mo_arena_array(plan->arena, n_calls + (size_t) more + 1, sizeof *calls);
    mo_plan_item *items =
        mo_arena_array(plan->arena, n_items + (size_t) more + 1, sizeof *items);

    if (!calls || !items)
        return mo_fail_memory(err);
    for (size_t c = 0; c < n_calls; c++)
        calls[c] = plan->calls[c];
    for (size_t i = 0; i < n_items; i++)
        items[i] = plan->items[i];
    plan->calls = calls;
    plan->items = items;
    return MO_OK;
}

static void count_readers(state_pass *s)
{
    const mo_exec_plan *plan = s->plan;

    for (int c = 0; c < plan->n_calls; c++)
        for (int i = 0; i < plan->calls[c].call.n_in; i++)
            s->readers[mo_plan_value_root(plan->values,
                                          plan->calls[c].call.in[i])]++;
    for (int i = 0; i < plan->n_outputs; i++)
        s->readers[mo_plan_value_root(plan->values, plan->outputs[i].value)]++;
}

mo_status mo_pass_state_inplace(mo_exec_plan *plan, mo_error *err)
{
    state_pass s = { .plan = plan };
    int n_states = 0;
    mo_status status;

    for (int i = 0; i < plan->n_outputs; i++)
        n_states += plan->outputs[i].state != NULL;
    for (int i = 0; i < plan->n_inputs; i++)
        n_states += plan->inputs[i].state != NULL;
    if (n_states == 0)
        return MO_OK;
    s.readers = calloc((size_t) plan->n_values + 1, sizeof *s.readers);
    status = s.readers ? mo_plan_values_copy(plan, &s.values, err)
                       : mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_pass_def_use_build(plan, &s.uses, err);
    if (status == MO_OK)
        status = reserve_calls(plan, n_states, err);
    if (status == MO_OK) {
        count_readers(&s);
        status = mark_inputs(&s, err);
    }
    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++)
        if (plan->outputs[i].state)
            status = place_output(&s, &plan->outputs[i], err);
    if (status == MO_OK)
        status = mo_plan_values_commit(&s.values, plan, err);
    mo_pass_def_use_clear(&s.uses);
    mo_plan_values_clear(&s.values);
    free(s.readers);
    return status;
}
