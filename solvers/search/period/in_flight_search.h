/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_flight_search.h - placement for a bounded number of requests in flight
 * (latency-constrained period), by number or by live memory: the period is then
 * that of a modulo schedule (schedule/period/modulo_schedule.h), not the
 * largest load, and placements of a short latency count, too.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_IN_FLIGHT_SEARCH_H
#define MO_SOLVERS_SEARCH_PERIOD_IN_FLIGHT_SEARCH_H

#include <stdint.h>

#include "base/error.h"
#include "solvers/search/method.h"
#include "solvers/search/period/load_state.h"

/* The best placement so far. */
typedef struct mo_period_in_flight {
    const mo_method_task *task; /* with in_flight, or 0 */
    const mo_period_problem *problem;
    int *device;         /* by op */
    mo_schedule *known;  /* of one request, whose order is the best known for
                            it; owned; NULL: that of list scheduling */
    int64_t period_ns;   /* INT64_MAX: there is none within memory */
    int64_t *used_bytes; /* by device; work space */
} mo_period_in_flight;

/* The caller clears *l, also after a failure. */
mo_status mo_period_in_flight_init(mo_period_in_flight *l,
                                   const mo_method_task *task,
                                   const mo_period_problem *problem,
                                   mo_error *err);
void mo_period_in_flight_clear(mo_period_in_flight *l);

/* Evaluates a placement, a device for each op, with a known schedule of one
 * request or NULL; one that exceeds memory is not taken, nor after
 * the end of the task's time any but the first. */
mo_status mo_period_in_flight_offer(mo_period_in_flight *l, const int *device,
                                    const mo_schedule *known, mo_error *err);

/* Places by a search for the least latency, of few rounds and within a third of
 * the time that the task has left.  The caller clears *placed, also after a
 * failure. */
mo_status mo_period_in_flight_place_shortest(const mo_method_task *task,
                                             mo_method_result *placed,
                                             mo_error *err);

/* Offers single devices, the contiguous split, and the schedule of least
 * latency.  *lower_ns is raised to the latency's bound in parts of the limit: a
 * request takes no longer than in_flight periods. */
mo_status mo_period_in_flight_offer_baselines(mo_period_in_flight *l,
                                              int64_t *lower_ns, mo_error *err);

/* Returns the length of the longest path of a placement; ready_ns is a buffer
 * by op. */
int64_t mo_period_critical_path_ns(const mo_period_problem *problem,
                                   const int *device, int64_t *ready_ns);

/* Offers every placement whose largest load, and longest path in parts of the
 * limit, are below the best period, as far as the stop condition allows; raises
 * *lower_ns to the least of that over all placements where it ends. */
mo_status mo_period_in_flight_enumerate(mo_period_in_flight *l,
                                        int64_t *lower_ns, mo_error *err);

/* Local search: moves of single units, the first that shortens the period, as
 * far as the size of the instance allows. */
mo_status mo_period_in_flight_improve(mo_period_in_flight *l, mo_error *err);

#endif
