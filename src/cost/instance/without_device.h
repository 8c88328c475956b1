/* SPDX-License-Identifier: Apache-2.0 */
/*
 * without.h - an instance that lacks one of its devices.
 *
 * What is a device worth?  The same ops, times and links, one device fewer.
 */
#ifndef MO_COST_INSTANCE_WITHOUT_DEVICE_H
#define MO_COST_INSTANCE_WITHOUT_DEVICE_H

#include "base/error.h"
#include "cost/instance.h"

/* The first op that is pinned to the device, so that nothing runs without it;
 * MO_FREE: none is. */
int mo_instance_first_pinned_to(const mo_instance *whole, int device);

/*
 * All devices but that one, in their order; there must be another, and no op
 * may be pinned to it.  Routes that led through it stay as they are: a link
 * does not go away with a device.  What has nothing to do with devices is
 * shared with the whole, which must outlive it; to be freed with
 * mo_instance_free.
 */
mo_status mo_instance_without_device(const mo_instance *whole, int device,
                                     mo_instance **instance, mo_error *err);

#endif
