/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stress.h - robustness of a placement (worst case over scenarios): how much
 * later it ends, or how much longer its period is, if one op, or the transfers
 * from one device to another, take longer by a factor.
 *
 * Placement and order stay; waits for memory are not considered.
 */
#ifndef MO_SCHEDULE_PERIOD_STRESS_H
#define MO_SCHEDULE_PERIOD_STRESS_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

typedef struct mo_stress {
    int64_t worst_ns; /* objective in the worst scenario */
    int op;           /* that takes longer there; MO_FREE: transfers do */
    int from, to;     /* the devices of the transfers; MO_FREE: an op */
} mo_stress;

/* Finds the worst scenario for a factor of at least 1, of equal ones the first;
 * the period is that of the loads.  Takes O(N log N) for each pair of devices
 * with a transfer.  Fails with MO_E_INPUT where the times of s contradict the
 * graph. */
mo_status mo_stress_find(const mo_instance *x, mo_objective objective,
                         const mo_schedule *s, double factor, mo_stress *stress,
                         mo_error *err);

#endif
