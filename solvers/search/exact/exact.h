/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exact.h - the best schedule there is, or a proof that there is none below a
 * given time; for some dozens of ops.
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
    int64_t
        below_ns;  /* only shorter schedules are of interest; INT64_MAX: all */
    int64_t nodes; /* the effort; 0: no limit */
    const mo_stop *stop;
} mo_exact_options;

typedef struct mo_exact_result {
    mo_schedule *best; /* the shortest that was found, or NULL */
    bool finished;     /* best is optimal; without one, there is none that is
                          shorter than below_ns */
    int64_t lower_ns;  /* no schedule is shorter than this (where there is one
                          at all), finished or not */
    int64_t nodes;
} mo_exact_result;

/* All regimes, pins, groups and memory.  The same input gives the same answer
 * unless it is stopped. */
mo_status mo_exact_solve(const mo_instance *x, const mo_regime *regime,
                         const mo_exact_options *options,
                         mo_exact_result *result, mo_error *err);

#endif
