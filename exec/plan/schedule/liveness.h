/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liveness.h - liveness analysis: the steps of its device during which the
 * bytes of a value are in use.
 *
 *     steps      receive x   conv a    await x   add x, a   send s   await s
 *     x            |===================================|
 *     a                        |======================|
 *     s                                            |==================|
 *
 * A sent value is live until its sender has awaited the transfer, a received
 * one from the step that posts the receive. Inputs are live before the first
 * step, and outputs beyond the last.
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

/* Returns whether the range is not empty. Views and parts, which live as long
 * as the owner of their bytes, constants, and values that no step uses
 * have none. */
bool mo_plan_live_range_is_nonempty(const mo_plan_live_range *life);

/* Computes *lives, by value; the caller frees it with free(). */
mo_status mo_plan_liveness(const mo_exec_plan *plan, mo_plan_live_range **lives,
                           mo_error *err);

/* For devices with several streams: extends ranges so that a value that begins
 * behind one begins after all uses of it, whatever runs concurrently. */
mo_status mo_plan_liveness_across_streams(const mo_exec_plan *plan,
                                          mo_plan_live_range *lives,
                                          mo_error *err);

#endif
