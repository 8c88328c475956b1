/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limited.h - placement with a limit of requests in flight, by number or by
 * live memory: the period is then that of a modulo schedule
 * (schedule/period/modulo_schedule.h), not the largest load, and placements of
 * a short latency count, too.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_LIMITED_H
#define MO_SOLVERS_SEARCH_PERIOD_LIMITED_H

#include <stdint.h>

#include "base/error.h"
#include "solvers/search/method.h"
#include "solvers/search/period/load_state.h"

/* The best placement so far. */
typedef struct mo_period_limited {
    const mo_method_task *task; /* with in_flight, or 0 */
    const mo_period_problem *problem;
    int *device;         /* by op */
    int64_t period_ns;   /* INT64_MAX: there is none within memory */
    int64_t *used_bytes; /* by device; work space */
} mo_period_limited;

/* The caller clears *l, also after a failure. */
mo_status mo_period_limited_init(mo_period_limited *l,
                                 const mo_method_task *task,
                                 const mo_period_problem *problem,
                                 mo_error *err);
void mo_period_limited_clear(mo_period_limited *l);

/* Evaluates a placement, a device for each op; one that exceeds memory is not
 * taken. */
mo_status mo_period_limited_offer(mo_period_limited *l, const int *device,
                                  mo_error *err);

/* Offers single devices, the contiguous split, and the placement of a search
 * for the least latency within a third of the time.  *lower_ns is raised to the
 * latency's bound in parts of the limit: a request takes no longer than
 * in_flight periods. */
mo_status mo_period_limited_offer_baselines(mo_period_limited *l,
                                            int64_t *lower_ns, mo_error *err);

/* Offers every placement whose largest load, and longest path in parts of the
 * limit, are below the best period, as far as the stop condition allows; raises
 * *lower_ns to the least of that over all placements where it ends. */
mo_status mo_period_limited_enumerate(mo_period_limited *l, int64_t *lower_ns,
                                      mo_error *err);

/* Local search: moves of single units, the first that shortens the period, as
 * far as the size of the instance allows. */
mo_status mo_period_limited_improve(mo_period_limited *l, mo_error *err);

#endif
