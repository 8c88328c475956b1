/* SPDX-License-Identifier: Apache-2.0 */
/*
 * phase_schedule.h - schedule of one phase of a workload (graph/phases.h).
 */
#ifndef MO_SCHEDULE_PHASE_SCHEDULE_H
#define MO_SCHEDULE_PHASE_SCHEDULE_H

#include "base/error.h"
#include "cost/instance.h"
#include "graph/phases.h"
#include "schedule/schedule.h"

/*
 * Makes the schedule of phase number p by itself: devices and orders are those
 * of s, a schedule of the instance whole of the composed graph, and everything
 * starts as early as they allow.  x is the instance of the graph of the phase,
 * with times of one run.  The caller frees *schedule with mo_schedule_free().
 * Weight times makespan, summed over all phases, is at most the makespan of s.
 */
mo_status mo_phase_schedule_make(const mo_phases *phases, int p,
                                 const mo_instance *whole, const mo_schedule *s,
                                 const mo_instance *x, mo_schedule **schedule,
                                 mo_error *err);

#endif
