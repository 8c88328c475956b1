/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - what must be computed, spread over the devices.
 */
#ifndef MO_SCHEDULE_BOUND_LOAD_BOUND_H
#define MO_SCHEDULE_BOUND_LOAD_BOUND_H

#include <stdint.h>

#include "schedule/allowed_devices.h"

/* A time that the ops first, ..., last - 1 take together wherever they go:
 * their work, spread over the devices as if it could be cut at will.  Quick:
 * with a handful of weights only. */
int64_t mo_bound_load_ns(const mo_allowed_devices *p, int first, int last,
                         int64_t *scratch /* by device */);

/* The same for ops by their numbers. */
int64_t mo_bound_load_of_ops_ns(const mo_allowed_devices *p, const int *ops,
                                int n, int64_t *scratch);

#endif
