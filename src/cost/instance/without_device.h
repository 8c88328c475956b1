/* SPDX-License-Identifier: Apache-2.0 */
/*
 * without_device.h - an instance with one device removed, to measure the value
 * of a device.
 *
 * The same ops, times and links, one device fewer.
 */
#ifndef MO_COST_INSTANCE_WITHOUT_DEVICE_H
#define MO_COST_INSTANCE_WITHOUT_DEVICE_H

#include "base/error.h"
#include "cost/instance.h"

/* Returns the first op that is pinned to the device, without which the
 * instance would be infeasible, or MO_FREE. */
int mo_instance_first_pinned_to(const mo_instance *whole, int device);

/*
 * All devices except that one, in their order; there must be another, and no
 * op may be pinned to it. Routes through it are unchanged: a link is not
 * removed with a device. Data independent of devices is shared with the whole,
 * which must outlive the result; the caller frees it with mo_instance_free().
 */
mo_status mo_instance_without_device(const mo_instance *whole, int device,
                                     mo_instance **instance, mo_error *err);

#endif
