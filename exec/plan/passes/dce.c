/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/passes/passes.h"

#include <assert.h>
#include <stdlib.h>

void mo_pass_drop_calls(mo_exec_plan *plan, const bool *gone)
{
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++)
        if (!gone[c])
            mo_pass_keep_call(plan, c, &n);
    plan->n_calls = n;
}

/* A view needs what it is a view of. */
static void need(const mo_exec_plan *plan, bool *needed, int value)
{
    for (; value != MO_PLAN_NONE && !needed[value];
         value = plan->values[value].view_of)
        needed[value] = true;
}

static bool is_needed(const mo_call *call, const bool *needed)
{
    for (int i = 0; i < call->n_out; i++)
        if (needed[call->out[i]])
            return true;
    return false;
}

/* Where maxima were is seldom asked for, and costly to find. */
static void drop_places(mo_call *call, const bool *needed)
{
    if (call->kind == MO_CALL_POOL && call->n_out == 2 && !needed[call->out[1]])
        call->n_out = 1;
}

/* Backwards: readers come before what they read. */
static void find_needed(mo_exec_plan *plan, bool *needed, bool *keeps)
{
    for (int i = 0; i < plan->n_outputs; i++)
        need(plan, needed, plan->outputs[i].value);
    for (int c = plan->n_calls - 1; c >= 0; c--) {
        mo_call *call = &plan->calls[c].call;

        keeps[c] = is_needed(call, needed);
        drop_places(call, needed);
        for (int i = 0; i < call->n_in && keeps[c]; i++)
            need(plan, needed, call->in[i]);
        for (int i = 0; i < call->n_out && keeps[c]; i++)
            need(plan, needed, call->out[i]);
    }
}

static int renumber(int value, const int *number)
{
    return value == MO_PLAN_NONE ? MO_PLAN_NONE : number[value];
}

static void move_values(mo_exec_plan *plan, const bool *needed, int *number)
{
    int n = 0;

    for (int v = 0; v < plan->n_values; v++)
        number[v] = needed[v] ? n++ : MO_PLAN_NONE;
    for (int v = 0; v < plan->n_values; v++)
        if (needed[v]) {
            plan->values[number[v]] = plan->values[v];
            plan->values[number[v]].view_of =
                renumber(plan->values[v].view_of, number);
        }
    plan->n_values = n;
}

static void move_calls(mo_exec_plan *plan, const bool *keeps, const int *number)
{
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++) {
        mo_call *call = &plan->calls[c].call;

        if (!keeps[c])
            continue;
        for (int i = 0; i < call->n_in; i++)
            call->in[i] = number[call->in[i]];
        for (int i = 0; i < call->n_out; i++)
            call->out[i] = number[call->out[i]];
        mo_pass_keep_call(plan, c, &n);
    }
    plan->n_calls = n;
    for (int i = 0; i < plan->n_outputs; i++)
        plan->outputs[i].value = number[plan->outputs[i].value];
}

static mo_status list_inputs(mo_exec_plan *plan, mo_error *err)
{
    for (int i = 0; i < plan->n_inputs; i++)
        plan->inputs[i].n_values = 0;
    for (int v = 0; v < plan->n_values; v++)
        if (plan->values[v].input != MO_PLAN_NONE)
            plan->inputs[plan->values[v].input].n_values++;
    for (int i = 0; i < plan->n_inputs; i++) {
        mo_plan_input *input = &plan->inputs[i];

        input->values = mo_arena_array(plan->arena, (size_t) input->n_values,
                                       sizeof *input->values);
        if (!input->values)
            return mo_fail_memory(err);
        input->n_values = 0;
    }
    for (int v = 0; v < plan->n_values; v++)
        if (plan->values[v].input != MO_PLAN_NONE) {
            mo_plan_input *input = &plan->inputs[plan->values[v].input];

            input->values[input->n_values++] = v;
        }
    return MO_OK;
}

mo_status mo_pass_dce(mo_exec_plan *plan, mo_error *err)
{
    size_t n = (size_t) plan->n_values + 1;
    bool *needed = calloc(n, sizeof *needed);
    bool *keeps = calloc((size_t) plan->n_calls + 1, sizeof *keeps);
    int *number = calloc(n, sizeof *number);
    mo_status status = MO_OK;

    assert(plan->n_transfers == 0);
    if (needed && keeps && number) {
        find_needed(plan, needed, keeps);
        move_values(plan, needed, number);
        move_calls(plan, keeps, number);
        status = list_inputs(plan, err);
    } else {
        status = mo_fail_memory(err);
    }
    free(number);
    free(keeps);
    free(needed);
    return status;
}
