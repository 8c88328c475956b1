/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower.h - a time that no schedule beats.
 *
 * The best of three: the longest path with true transfer times over device
 * states; the load that devices must share between what comes before and after
 * it, memory counted, by a dual that is valid for any multipliers; and the same
 * between the ops of a chain, clean cuts or not, added up by a shortest path
 * over their devices.
 */
#ifndef MO_SCHEDULE_BOUND_LOWER_BOUND_H
#define MO_SCHEDULE_BOUND_LOWER_BOUND_H

#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "cost/instance.h"
#include "schedule/regime.h"

typedef struct mo_lower_bound {
    int64_t bound_ns;  /* the largest of them */
    const char *which; /* "path", "load" or "chain" */
} mo_lower_bound;

/* Where no schedule exists at all, any time at all may come out.  Some seconds
 * for 50,000 ops on four devices; with more, the chain is left out. */
mo_status mo_bound_lower(const mo_instance *x, const mo_regime *regime,
                         mo_lower_bound *lower, mo_error *err);

/* The same, as far as it comes until it is stopped. */
mo_status mo_bound_lower_until(const mo_instance *x, const mo_regime *regime,
                               const mo_stop *stop, mo_lower_bound *lower,
                               mo_error *err);

#endif
