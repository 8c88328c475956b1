/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loads.h - resource loads of a placement, and its period: the time between
 * two finished requests in the steady state of a pipeline.
 *
 *     period = max over resources r of load_r
 *
 * The load of a device is the sum of the processing times of its ops, and of
 * the overhead of each transfer that it sends or receives, unless the
 * congestion model has no transfers; that of a port, channel or link
 * (schedule/resource.h) the sum of the transfers that hold it, once for every
 * request; that of the host its time for a request, and for each transfer
 * unless the congestion model has none.  No schedule has a shorter period.
 */
#ifndef MO_SCHEDULE_PERIOD_LOADS_H
#define MO_SCHEDULE_PERIOD_LOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

typedef struct mo_period_loads {
    int n;            /* resources: the devices first, then those of transfers,
                         mo_resource_count(), then the host */
    int64_t *load_ns; /* by resource; owned */
    int64_t period_ns;
    int bottleneck; /* the first resource with that load */
} mo_period_loads;

/* Returns the number of resources. */
int mo_period_resource_count(const mo_instance *x, mo_congestion congestion);
/* Returns the number of the host, which is the last, or -1 where it has no
 * load. */
int mo_period_host(const mo_instance *x, mo_congestion congestion);

/* Computes the loads of a placement, a device for each op.  The caller clears
 * *loads, also after a failure.  Returns MO_E_INPUT when a sum exceeds
 * INT64_MAX / 2 ns, otherwise only MO_E_MEMORY. */
mo_status mo_period_loads_compute(const mo_instance *x, const mo_regime *regime,
                                  const int *device, mo_period_loads *loads,
                                  mo_error *err);
void mo_period_loads_clear(mo_period_loads *loads);

/* Adds to receive_ns and send_ns, by op, the overhead of the transfers that an
 * op is the first on its device to read, and that of those it sends.  NULL is
 * allowed for either. */
void mo_period_add_overheads(const mo_instance *x, const mo_schedule *s,
                             int64_t *receive_ns, int64_t *send_ns);

/* Returns a lower bound of the period of every placement: the ops at their
 * shortest, shared by all devices, the longest of them, and the host's time for
 * a request. */
int64_t mo_period_least_ns(const mo_instance *x);

/* Writes the name of a resource, "device A", "out port of A", "channel A -> B",
 * "link 3", "host", into text of that size; returns text. */
const char *mo_period_resource_name(const mo_instance *x,
                                    mo_congestion congestion, int resource,
                                    char *text, size_t size);

/* Returns whether the placement is within the devices' memory: the sum of
 * memory_bytes (static), or of weight_bytes (live), over the ops of each.
 * Fills used_bytes, by device, with these sums. */
bool mo_period_fits_memory(const mo_instance *x, mo_memory memory,
                           const int *device, int64_t *used_bytes);

#endif
