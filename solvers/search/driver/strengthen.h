/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strengthen.h - strengthening of a MILP model by a search before it is
 * written: proven bounds become valid inequalities, the schedule found becomes
 * the MIP start.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_STRENGTHEN_H
#define MO_SOLVERS_SEARCH_DRIVER_STRENGTHEN_H

#include "base/error.h"
#include "base/stop.h"
#include "cost/instance.h"
#include "models/frame/proven_bounds.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"
#include "solvers/search/method.h"

typedef struct mo_search_strengthen_options {
    mo_objective objective; /* of the period: no bounds between ops */
    int in_flight;          /* of the period: most requests; 0: no limit */
    uint64_t seed;
    int threads;              /* 0: all cores */
    int rounds;               /* of improvement; 0: no limit, negative: none */
    int64_t max_work;         /* as of mo_method_task */
    const mo_stop *stop;      /* the search ends earlier if the gap is closed */
    mo_pattern_set *patterns; /* as of mo_method_task; latency only */
    void (*on_progress)(void *context,
                        const mo_method_progress *progress); /* or NULL */
    void *context;
} mo_search_strengthen_options;

/* Sets *strength and *start, which the caller frees; *start is NULL where no
 * schedule that fits memory was found.  Fails with MO_E_INFEASIBLE where it is
 * proven that there is none. Deterministic by input and seed, for any number of
 * threads, unless stopped. */
mo_status mo_search_strengthen(const mo_instance *x, const mo_regime *regime,
                               const mo_search_strengthen_options *options,
                               mo_proven_bounds **strength, mo_schedule **start,
                               mo_error *err);

#endif
