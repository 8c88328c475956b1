/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dead-code elimination: a backward liveness sweep from the network's outputs,
 * then compaction.
 */
#include "exec/plan/passes/passes.h"

#include <assert.h>
#include <stdlib.h>

void mo_pass_drop_calls(mo_exec_plan *plan, const bool *dropped)
{
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++)
        if (!dropped[c])
            mo_pass_keep_call(plan, c, &n);
    plan->n_calls = n;
}

/* Marks a value as live, and the values it is a view of. */
static void mark_live(const mo_exec_plan *plan, bool *live, int value)
{
    for (; value != MO_PLAN_NONE && !live[value];
         value = plan->values[value].view_of)
        live[value] = true;
}

static bool is_live(const mo_call *call, const bool *live)
{
    for (int i = 0; i < call->n_out; i++)
        if (live[call->out[i]])
            return true;
    return false;
}

static void compact_values(mo_exec_plan *plan, const bool *live, int *number)
{
    int n = 0;

    for (int v = 0; v < plan->n_values; v++)
        number[v] = live[v] ? n++ : MO_PLAN_NONE;
    for (int v = 0; v < plan->n_values; v++)
        if (live[v]) {
            plan->values[number[v]] = plan->values[v];
            plan->values[number[v]].view_of =
                plan->values[v].view_of == MO_PLAN_NONE
                    ? MO_PLAN_NONE
                    : number[plan->values[v].view_of];
        }
    plan->n_values = n;
}

static void compact_calls(mo_exec_plan *plan, const bool *kept,
                          const int *number)
{
    int n = 0;

    for (int c = 0; c < plan->n_calls; c++) {
        mo_call *call = &plan->calls[c].call;

        if (!kept[c])
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
    bool *live = calloc(n, sizeof *live);
    bool *kept = calloc((size_t) plan->n_calls + 1, sizeof *kept);
    int *number = calloc(n, sizeof *number);
    mo_status status = MO_OK;

    assert(plan->n_transfers == 0);
    if (live && kept && number) {
        /* Liveness, in reverse order: readers come before what they read. */
        for (int i = 0; i < plan->n_outputs; i++)
            mark_live(plan, live, plan->outputs[i].value);
        for (int c = plan->n_calls - 1; c >= 0; c--) {
            mo_call *call = &plan->calls[c].call;

            kept[c] = is_live(call, live);
            /* Drops the output for indices of maxima, which is seldom used and
             * costly to compute. */
            if (call->kind == MO_CALL_POOL && call->n_out == 2 &&
                !live[call->out[1]])
                call->n_out = 1;
            for (int i = 0; i < call->n_in && kept[c]; i++)
                mark_live(plan, live, call->in[i]);
            for (int i = 0; i < call->n_out && kept[c]; i++)
                mark_live(plan, live, call->out[i]);
        }
        compact_values(plan, live, number);
        compact_calls(plan, kept, number);
        status = list_inputs(plan, err);
    } else {
        status = mo_fail_memory(err);
    }
    free(number);
    free(kept);
    free(live);
    return status;
}
