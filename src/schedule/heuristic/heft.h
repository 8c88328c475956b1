/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heft.h - HEFT: list scheduling by upward rank with insertion (Topcuoglu,
 * Hariri and Wu, 2002), also under ports, channels or links.
 */
#ifndef MO_SCHEDULE_HEURISTIC_HEFT_H
#define MO_SCHEDULE_HEURISTIC_HEFT_H

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

/*
 * Ops by decreasing upward rank, each on the device of its earliest finish
 * time, in the first gap that is long enough; its inputs take the first gaps
 * of the ports on their route.  Pins, groups and (static) memory are
 * respected.  With placement, a device for each op, only the times are chosen;
 * NULL chooses both.
 *
 * *schedule is NULL when some op found no device with room, or, with
 * MO_MEMORY_LIVE, when the live memory does not fit; otherwise the caller
 * frees it.
 */
mo_status mo_heft(const mo_instance *x, const mo_regime *regime,
                  const int *placement, mo_schedule **schedule, mo_error *err);

#endif
