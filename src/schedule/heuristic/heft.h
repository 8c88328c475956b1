/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heft.h - list scheduling by upward rank with insertion (Topcuoglu et al.,
 * 2002), under ports, channels or links too.
 */
#ifndef MO_SCHEDULE_HEURISTIC_HEFT_H
#define MO_SCHEDULE_HEURISTIC_HEFT_H

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

/*
 * Ops by falling upward rank, each to the device where it ends first, into the
 * first gap that is long enough; what it reads is sent through the first gaps
 * of the ports on the way.  Pins, groups and (static) memory are kept.  With
 * placement, a device for each op, only the times are chosen.
 *
 * *schedule is NULL when some op found no device with room.
 */
mo_status mo_heft(const mo_instance *x, const mo_regime *regime,
                  const int *placement, mo_schedule **schedule, mo_error *err);

#endif
