/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replicas.h - replication: several copies of a network, each a pipeline on
 * devices of its own (data parallelism over pipeline parallelism).
 *
 * A request goes to one copy, which finishes it; copies get requests in
 * proportion to their rates, 1 / period.  The period of all is that of the sum
 * of the rates, or, where copies share links or the host, at least the mean
 * load of these by a request.
 */
#ifndef MO_SCHEDULE_PERIOD_REPLICAS_H
#define MO_SCHEDULE_PERIOD_REPLICAS_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

typedef struct mo_replica {
    int *device; /* by op; the struct does not own it */
    int64_t period_ns;
} mo_replica;

/* Sets *period_ns to that of n copies, at least one. */
mo_status mo_replicas_period(const mo_instance *x, const mo_regime *regime,
                             const mo_replica *copies, int n,
                             int64_t *period_ns, mo_error *err);

/* Returns a lower bound of the period of any copies: the ops at their shortest,
 * shared by all devices, and the host's time for a request. */
int64_t mo_replicas_least_ns(const mo_instance *x);

/* Returns the first device that two copies have an op on, or MO_FREE. */
int mo_replicas_shared_device(const mo_instance *x, const mo_replica *copies,
                              int n);

/* Frees the placements and zeroes the copies. */
void mo_replicas_clear(mo_replica *copies, int n);

#endif
