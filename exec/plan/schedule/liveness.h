/* SPDX-License-Identifier: Apache-2.0 */
/*
 * life.h - while which steps of its device the bytes of a value matter.
 *
 *     steps      receive x   conv a    await x   add x, a   send s   await s
 *     x            |===================================|
 *     a                        |======================|
 *     s                                            |==================|
 *
 * What is sent matters until its sender has awaited it, what is received from
 * the moment the receive begins.  Inputs are there before the first step, and
 * outputs stay beyond the last.
 */
#ifndef MO_EXEC_PLAN_SCHEDULE_LIVENESS_H
#define MO_EXEC_PLAN_SCHEDULE_LIVENESS_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"

/* Both steps are a part of it. */
typedef struct mo_plan_live_range {
    int begin; /* -1: before the first step */
    int end;   /* n_steps: beyond the last */
} mo_plan_live_range;

enum { MO_PLAN_LIVE_FROM_INPUT = -1 };

/* Has it any life at all?  Views and parts, whose life is that of what they
 * share bytes with, constants, and what nobody touches have none. */
bool mo_plan_live_range_is_nonempty(const mo_plan_live_range *life);

/* By value; free() it. */
mo_status mo_plan_liveness(const mo_exec_plan *plan, mo_plan_live_range **lives,
                           mo_error *err);

/* Where a device has several lanes: lives end later, so that what begins behind
 * one comes after all that touch it, whatever runs side by side.  stretch.c */
mo_status mo_plan_liveness_across_streams(const mo_exec_plan *plan,
                                          mo_plan_live_range *lives,
                                          mo_error *err);

#endif
