/* SPDX-License-Identifier: Apache-2.0 */
/*
 * due.h - when the schedule sends something.
 *
 * The schedule knows ops and tensors of the placed graph, the plan knows
 * values.  What an item on one device hands to an item on another is found
 * again by the two and by its size; of several alike, each is taken once.
 */
#ifndef MO_EXEC_PLAN_SCHEDULE_TRANSFER_TIMES_H
#define MO_EXEC_PLAN_SCHEDULE_TRANSFER_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"
#include "exec/plan/ir/plan_source.h"

typedef struct mo_plan_transfer_times {
    const mo_instance *x;
    const mo_schedule *schedule;
    bool *taken; /* by transfer of the schedule */
} mo_plan_transfer_times;

typedef struct mo_plan_transfer_time {
    int tensor; /* of the placed graph, or MO_PLAN_NONE: not in the schedule */
    int64_t start_ns; /* of the first of its flows to that device; or 0 */
} mo_plan_transfer_time;

mo_status mo_plan_transfer_times_new(const mo_plan_source *source,
                                     mo_plan_transfer_times *dues,
                                     mo_error *err);
void mo_plan_transfer_times_clear(mo_plan_transfer_times *dues);

/* What op maker sends to op reader on device to; ops of the placed graph, or
 * MO_PLAN_NONE. */
mo_plan_transfer_time mo_plan_transfer_times_match(mo_plan_transfer_times *dues,
                                                   int maker, int reader,
                                                   int to, int64_t bytes);

#endif
