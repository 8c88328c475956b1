/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_bound.h - lower bound on the makespan: critical path, load, chain,
 * colocation, memory.
 *
 * The best of five: the longest path with true transfer times over device
 * states (heads and tails); the load that devices must share between heads and
 * tails, memory counted, by a dual bound that is valid for any multipliers;
 * the same between the ops of a chain, clean cuts or not, summed by a shortest
 * path over their devices; intervals between any two ops, which share a device
 * or have a transfer between them (colocation_bound.h); and the chain with
 * prices of memory, where the ops do not fit on every device (priced_chain.h).
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
    const char *which; /* "path", "load", "chain", "colocation" or "memory";
                          a literal */
} mo_lower_bound;

/* Sets *lower.  Where no schedule exists the value has no meaning.  Some
 * seconds for 50,000 ops on four devices; with more, the chain is left out. */
mo_status mo_bound_lower(const mo_instance *x, const mo_regime *regime,
                         mo_lower_bound *lower, mo_error *err);

/* The same until stop is reached (NULL: no limit); what has been proven so far
 * is returned. */
mo_status mo_bound_lower_until(const mo_instance *x, const mo_regime *regime,
                               const mo_stop *stop, mo_lower_bound *lower,
                               mo_error *err);

#endif
