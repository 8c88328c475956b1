/* SPDX-License-Identifier: Apache-2.0 */
/*
 * single.h - everything on one device.
 */
#ifndef MO_SCHEDULE_HEURISTIC_SINGLE_DEVICE_H
#define MO_SCHEDULE_HEURISTIC_SINGLE_DEVICE_H

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

/* All ops on the device, in their order; *schedule is NULL when one is pinned
 * elsewhere or memory does not suffice. */
mo_status mo_single_device_schedule(const mo_instance *x,
                                    const mo_regime *regime, int device,
                                    mo_schedule **schedule, mo_error *err);

/* How long all of them take there. */
int64_t mo_single_device_ns(const mo_instance *x, int device);

/* All devices, those on which that is least first; devices has a place for
 * each. */
mo_status mo_single_device_order(const mo_instance *x, int *devices,
                                 mo_error *err);

/* The device on which that is least of those that can take all of them, and how
 * long it is; MO_FREE: none can. */
mo_status mo_single_device_best(const mo_instance *x, const mo_regime *regime,
                                int *device, int64_t *ns, mo_error *err);

#endif
