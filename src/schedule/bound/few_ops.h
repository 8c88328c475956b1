/* SPDX-License-Identifier: Apache-2.0 */
/*
 * few_ops.h - least time and price of a segment of few ops over all their
 * placements, by branch and bound.
 */
#ifndef MO_SCHEDULE_BOUND_FEW_OPS_H
#define MO_SCHEDULE_BOUND_FEW_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "schedule/allowed_devices.h"
#include "schedule/bound/segment_bound.h"

/* A segment between two devices. */
typedef struct mo_few_ops {
    const mo_allowed_devices *domains;
    const int *ops;
    int n;                       /* at most MO_BOUND_FEW_OPS */
    const int64_t *threshold_ns; /* by position and device: least time of the
                                    segment with the op there; INT64_MAX: not
                                    allowed */
    const int64_t *price_ns;     /* by op and device, at least 0 */
    int64_t least_ns;            /* least time of the segment */
} mo_few_ops;

/* Returns the least of the time, which is at least any threshold and the work
 * of any device, and the prices together, and stores the device of each
 * position of that placement; -1: too many placements, or none. */
int64_t mo_few_ops_least(const mo_few_ops *segment, int *device);

#endif
