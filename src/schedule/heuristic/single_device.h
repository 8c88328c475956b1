/* SPDX-License-Identifier: Apache-2.0 */
/*
 * single_device.h - the trivial baseline: all ops on one device.
 */
#ifndef MO_SCHEDULE_HEURISTIC_SINGLE_DEVICE_H
#define MO_SCHEDULE_HEURISTIC_SINGLE_DEVICE_H

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

/* All ops on the device, in their order; the caller frees *schedule, which is
 * NULL when an op is pinned elsewhere or memory does not suffice. */
mo_status mo_single_device_schedule(const mo_instance *x,
                                    const mo_regime *regime, int device,
                                    mo_schedule **schedule, mo_error *err);

/* Returns the sum of all processing times on the device. */
int64_t mo_single_device_ns(const mo_instance *x, int device);

/* Fills devices, a buffer of n_devices, sorted by that sum, the fastest
 * first. */
mo_status mo_single_device_order(const mo_instance *x, int *devices,
                                 mo_error *err);

/* Sets *device to the fastest of the devices that can run all ops, and *ns to
 * that sum; MO_FREE where none can (*ns is then unchanged). */
mo_status mo_single_device_best(const mo_instance *x, const mo_regime *regime,
                                int *device, int64_t *ns, mo_error *err);

#endif
