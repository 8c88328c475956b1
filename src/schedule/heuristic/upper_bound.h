/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upper_bound.h - upper bound on the makespan by fast heuristics.
 *
 * Big-M coefficients and time windows are derived from it, and reports compare
 * with it.
 */
#ifndef MO_SCHEDULE_HEURISTIC_UPPER_BOUND_H
#define MO_SCHEDULE_HEURISTIC_UPPER_BOUND_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

/*
 * The best of HEFT with insertion, each device alone, and bin packings,
 * improved by threshold accepting; left-shifted, within memory, pins and
 * groups.  *schedule is NULL where none of them fits (packing into memory is
 * NP-hard); otherwise the caller frees it.  *bound_ns is its makespan; where
 * there is no schedule, the serial makespan, within which every placement can
 * be run, so that it bounds the optimum in any case.
 *
 * With MO_MEMORY_LIVE the schedule is within the true live memory; a model
 * that demands more may have no solution as short.
 */
mo_status mo_bound_upper(const mo_instance *x, const mo_regime *regime,
                         mo_schedule **schedule, int64_t *bound_ns,
                         mo_error *err);

#endif
