/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prune.h - takes out of a plan what nobody needs.
 *
 * Passes leave calls whose results are not read any more, and values between
 * calls that became one.
 */
#ifndef MO_EXEC_PLAN_PASSES_DCE_H
#define MO_EXEC_PLAN_PASSES_DCE_H

#include "base/error.h"
#include "exec/plan/plan.h"

/* Before there are transfers and steps.  Keeps the calls that outputs of the
 * network depend on, in their order, and the values that these calls touch;
 * values have new numbers.  Says for every input which values it is. */
mo_status mo_pass_dce(mo_exec_plan *plan, mo_error *err);

/* Calls that stay move up, one after the other: *n are there so far.  One that
 * is in its place already must not be copied onto itself: that may be done by
 * memcpy. */
static inline void mo_pass_keep_call(mo_exec_plan *plan, int call, int *n)
{
    if (*n != call)
        plan->calls[*n] = plan->calls[call];
    (*n)++;
}

/* gone: by call. */
void mo_pass_drop_calls(mo_exec_plan *plan, const bool *gone);

#endif
