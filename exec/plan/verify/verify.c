/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/verify/verify.h"

#include <stdarg.h>
#include <stdio.h>

#include "exec/plan/verify/verify_internal.h"

static const char *const step_words[] = {
    [MO_PLAN_STEP_COMPUTE] = "compute",
    [MO_PLAN_STEP_SEND] = "send",
    [MO_PLAN_STEP_RECEIVE] = "receive",
    [MO_PLAN_STEP_AWAIT] = "await",
};

/* The name of a step's call or transfer. */
static const char *step_subject(const mo_exec_plan *plan,
                                const mo_plan_step *step)
{
    if (step->kind == MO_PLAN_STEP_COMPUTE)
        return mo_verify_name(plan->items[plan->calls[step->what].item].name);
    return mo_verify_name(
        plan->values[plan->transfers[step->what].from_value].name);
}

mo_status mo_verify_fail(const mo_exec_plan *plan, int device, int step,
                         mo_error *err, const char *format, ...)
{
    const mo_plan_device *on = &plan->devices[device];
    const mo_plan_step *at = &on->steps[step];
    char text[MO_ERROR_TEXT_SIZE / 2];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return mo_fail(err, MO_E_INPUT,
                   "plan: device '%.80s', step %d (%s '%.160s'): %s",
                   mo_verify_name(on->id), step, step_words[at->kind],
                   step_subject(plan, at), text);
}

mo_status mo_verify_plan(const mo_exec_plan *plan, mo_error *err)
{
    static mo_status (*const parts[])(const mo_exec_plan *, mo_error *) = {
        mo_verify_values,   mo_verify_transfers_and_io,
        mo_verify_calls,    mo_verify_concat_inplace,
        mo_verify_steps,    mo_verify_no_deadlock,
        mo_verify_dataflow, mo_verify_total_order,
        mo_verify_states,   mo_verify_memory,
        mo_verify_streams,
    };
    mo_status status = MO_OK;

    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == MO_OK; i++)
        status = parts[i](plan, err);
    return status;
}
