/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upper.h - a makespan that can be reached, found in moments.
 *
 * Tight big-M and time windows need one, and so does whoever wants to know what
 * a better answer is better than.
 */
#ifndef MO_SCHEDULE_HEURISTIC_UPPER_BOUND_H
#define MO_SCHEDULE_HEURISTIC_UPPER_BOUND_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

/*
 * The best of HEFT with insertion, each device alone, and placements that were
 * packed into memory, improved for a while by mo_threshold_accepting;
 * left-shifted, within memory, pins and groups.  *schedule is NULL where none
 * of them fits: packing into memory is hard by itself.  *bound_ns is its
 * makespan; where there is no schedule, a time within which every placement can
 * be run, one thing after the other, so that it bounds the optimum in any case.
 *
 * With MO_MEMORY_LIVE the schedule is within what is really alive; a model that
 * demands more may have no solution as short.
 */
mo_status mo_bound_upper(const mo_instance *x, const mo_regime *regime,
                         mo_schedule **schedule, int64_t *bound_ns,
                         mo_error *err);

#endif
