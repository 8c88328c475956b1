/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modulo_schedule.h - modulo schedule of a placement (software pipelining:
 * Rau, "Iterative modulo scheduling", MICRO-27, 1994): the times of one
 * request, which every other request repeats some periods later.
 *
 *     request 0   |--A--|-B-|            every resource repeats its sequence
 *     request 1       |--A--|-B-|        once a period; an op whose inputs
 *     request 2           |--A--|-B-|    arrive too late for its place in the
 *                     ^ period           sequence moves to a later stage
 *
 * A start time is stage * period + phase.  Devices and channels always reach a
 * period of their load.  Transfers that hold several ports or links at once may
 * not fit into the periods of all of them (that is a non-preemptive open shop,
 * which is NP-hard): three routes of which each two share a link take the sum
 * of all three, and every link has the load of two.  Then the period is raised
 * until they do.
 */
#ifndef MO_SCHEDULE_PERIOD_MODULO_SCHEDULE_H
#define MO_SCHEDULE_PERIOD_MODULO_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

typedef struct mo_modulo_schedule {
    mo_schedule *request; /* times of request 0; its makespan is the latency of
                             a request; owned */
    int64_t period_ns;    /* request r starts r periods later; at least 1 */
    int in_flight;        /* requests in flight at once: latency / period,
                             rounded up, at least 1 */
    /* With MO_MEMORY_LIVE: the peak by device, weights counted once and tensors
     * for each request that uses them, owned; otherwise NULL, and it fits. */
    int64_t *peak_bytes;
    bool fits;
    int least_in_flight; /* no schedule of this placement and period has fewer:
                            its least latency / period, rounded up, by longest
                            paths and the loads between them */
} mo_modulo_schedule;

/*
 * Makes a modulo schedule of a placement, a device for each op, with at most
 * max_in_flight requests in flight; 0: as many as the period of the loads
 * (schedule/period/loads.h) needs.  With fewer the period may be longer, up to
 * the makespan of one request at a time; of graphs of up to 100 ops it is never
 * shorter.  With MO_MEMORY_LIVE there are as many in flight as live memory
 * admits.  known is a schedule of one request with that placement, or NULL:
 * with a limit or live memory, its order is tried besides that of list
 * scheduling (of more than 100 ops with live memory only one request at a
 * time), and where transfers have no overheads and memory holds it, the period
 * is never longer than its makespan, or than the host's load.  The caller
 * clears *made, also after a failure. Deterministic.
 */
mo_status mo_modulo_schedule_make(const mo_instance *x, const mo_regime *regime,
                                  const int *device, int max_in_flight,
                                  const mo_schedule *known,
                                  mo_modulo_schedule *made, mo_error *err);
void mo_modulo_schedule_clear(mo_modulo_schedule *made);

/* Sets *objective_ns to the value of a schedule: its makespan, or the period of
 * its placement, that of the loads, or of the modulo schedule where there is a
 * limit in flight (0: none; the schedule is the known one) or live memory.
 * Fails as mo_period_loads_compute(). */
mo_status mo_period_objective(const mo_instance *x, mo_objective objective,
                              int max_in_flight, const mo_schedule *schedule,
                              int64_t *objective_ns, mo_error *err);

#endif
