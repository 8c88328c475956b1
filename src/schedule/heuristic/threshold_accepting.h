/* SPDX-License-Identifier: Apache-2.0 */
/*
 * climb.h - a schedule made better by moving ops from device to device.
 */
#ifndef MO_SCHEDULE_HEURISTIC_THRESHOLD_ACCEPTING_H
#define MO_SCHEDULE_HEURISTIC_THRESHOLD_ACCEPTING_H

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/schedule.h"
#include "schedule/placement_units.h"

/*
 * Threshold accepting (Dueck and Scheuer, 1990): units move, alone or with what
 * reads them, and where memory is full others leave for them; mo_heft tells
 * what that makes.  A little worse is allowed, and less and less so.  The best
 * that was seen is kept.  The same input gives the same answer after an effort
 * that depends on its size and not on a clock.
 */
mo_status mo_threshold_accepting(const mo_instance *x,
                                 const mo_placement_units *units,
                                 mo_schedule **schedule, mo_error *err);

#endif
