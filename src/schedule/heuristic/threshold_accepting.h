/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threshold_accepting.h - local search over placements by threshold accepting
 * (Dueck and Scheuer, 1990).
 */
#ifndef MO_SCHEDULE_HEURISTIC_THRESHOLD_ACCEPTING_H
#define MO_SCHEDULE_HEURISTIC_THRESHOLD_ACCEPTING_H

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"
#include "schedule/placement_units.h"

/*
 * Moves units to other devices, alone or with their readers, and evicts others
 * where memory is full; mo_heft evaluates the placement.  A trial is accepted
 * when its makespan exceeds the current one by at most a threshold, which
 * decreases to 0.  *schedule is replaced (and freed) by the best found; it is
 * never worse.  Deterministic: the effort depends on the size of the instance,
 * not on a clock.
 */
mo_status mo_threshold_accepting(const mo_instance *x,
                                 const mo_placement_units *units,
                                 mo_schedule **schedule, mo_error *err);

#endif
