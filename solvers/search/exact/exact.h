/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact.h - exact search by lazy clause generation: an optimal schedule, or a
 * proof that none is shorter than a given time; for some dozens of ops.
 */
#ifndef MO_SOLVERS_SEARCH_EXACT_EXACT_H
#define MO_SOLVERS_SEARCH_EXACT_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "cost/instance.h"
#include "schedule/regime.h"
#include "schedule/schedule.h"

typedef struct mo_exact_options {
    int64_t below_ns; /* upper bound: only shorter schedules count; INT64_MAX:
                         all */
    int64_t nodes;    /* node limit; 0: none */
    const mo_stop *stop;
} mo_exact_options;

typedef struct mo_exact_result {
    mo_schedule *best; /* the shortest found, or NULL; owned by the caller */
    bool finished; /* best is optimal; if best is NULL, no schedule is shorter
                      than below_ns */
    int64_t
        lower_ns; /* lower bound on every feasible schedule, finished or not */
    int64_t nodes;
} mo_exact_result;

/* Solves an instance under any regime, with pins, groups and memory. The
 * result is deterministic unless options->stop ends the search. On MO_OK the
 * caller frees result->best with mo_schedule_free(), which accepts NULL; on
 * failure *result is unset. */
mo_status mo_exact_solve(const mo_instance *x, const mo_regime *regime,
                         const mo_exact_options *options,
                         mo_exact_result *result, mo_error *err);

#endif
