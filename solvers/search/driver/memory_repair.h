/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h - where memory is short: segments chosen by what they take of it, and
 * the whole annealed within it.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_MEMORY_REPAIR_H
#define MO_SOLVERS_SEARCH_DRIVER_MEMORY_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/driver/state.h"

/* The best segments together, shorter than the best schedule, do not fit. */
bool mo_search_memory_repair_needed(const mo_search_state *search);

/* Offers what variants of segments come to within memory. */
mo_status mo_search_memory_repair_by_variants(mo_search_state *search,
                                              mo_error *err);

/* An attempt at the whole, beside those at segments. */
typedef struct mo_search_memory_job {
    int64_t moves;
    uint64_t seed;

    mo_schedule *schedule; /* what came of it, or NULL */
    mo_status status;
    mo_error err;
} mo_search_memory_job;

/* False: there is no use in one. */
bool mo_search_memory_job_plan(const mo_search_state *search, int round,
                               mo_search_memory_job *fit);
void mo_search_memory_job_run(const mo_search_state *search,
                              mo_search_memory_job *fit);

#endif
