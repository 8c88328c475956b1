/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liveness.h - liveness analysis: the range of steps in which the bytes of a
 * value are in use. Steps are those of the device of the value.
 *
 *     steps      receive x   conv a    await x   add x, a   send s   await s
 *     x            |===================================|
 *     a                        |======================|
 *     s                                            |==================|
 *
 * A value that is sent is live until the step that awaits the end of the
 * transfer. A value that is received is live from the step that posts the
 * receive. Inputs are live before the first step, and outputs beyond the last.
 */
#ifndef MO_EXEC_PLAN_SCHEDULE_LIVENESS_H
#define MO_EXEC_PLAN_SCHEDULE_LIVENESS_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"

/* Inclusive at both ends. */
typedef struct mo_plan_live_range {
    int begin; /* -1: before the first step */
    int end;   /* n_steps: beyond the last */
} mo_plan_live_range;

enum { MO_PLAN_LIVE_FROM_INPUT = -1 };

/* Returns whether the range is not empty. It is empty for constants, for
 * states, for values that no step uses, and for views and parts of another
 * value, which owns their bytes. */
bool mo_plan_live_range_is_nonempty(const mo_plan_live_range *life);

/* Computes the ranges, indexed by value; the caller frees *lives. */
mo_status mo_plan_liveness(const mo_exec_plan *plan, mo_plan_live_range **lives,
                           mo_error *err);

/* For devices with several streams: extends ranges to the last step that may
 * run concurrently with a use of the value. A value whose range begins after
 * that may reuse the bytes. */
mo_status mo_plan_liveness_across_streams(const mo_exec_plan *plan,
                                          mo_plan_live_range *lives,
                                          mo_error *err);

#endif
