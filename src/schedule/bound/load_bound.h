/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_bound.h - load bound: the work of some ops, divided over the devices.
 */
#ifndef MO_SCHEDULE_BOUND_LOAD_BOUND_H
#define MO_SCHEDULE_BOUND_LOAD_BOUND_H

#include <stdint.h>

#include "schedule/allowed_devices.h"

/* Returns a lower bound on the time that the ops first, ..., last - 1 take
 * together on any devices: the dual bound of their divisible load, for two
 * choices of multipliers. */
int64_t mo_bound_load_ns(const mo_allowed_devices *p, int first, int last,
                         int64_t *scratch /* by device */);

/* The same for ops by their numbers. */
int64_t mo_bound_load_of_ops_ns(const mo_allowed_devices *p, const int *ops,
                                int n, int64_t *scratch);

#endif
