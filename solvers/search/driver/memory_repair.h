/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_repair.h - memory repair: where the composition of the best segments
 * overflows, a resource-constrained shortest path over their variants
 * (primal/rcsp.h) and simulated annealing of the whole within memory.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_MEMORY_REPAIR_H
#define MO_SOLVERS_SEARCH_DRIVER_MEMORY_REPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/driver/anneal_pool.h"
#include "solvers/search/driver/state.h"

/* Returns whether the shortest path by upper bounds is shorter than the
 * incumbent, i.e. does not fit. */
bool mo_search_memory_repair_needed(const mo_search_state *search);

/* Submits the composition of variants that fit, if there is one. */
mo_status mo_search_memory_repair_by_variants(mo_search_state *search,
                                              mo_error *err);

/* Annealing of the whole, run beside the primal jobs. */
typedef struct mo_search_memory_job {
    mo_search_anneal_pool *pool; /* borrowed; NULL, where segments are small
                                    parts: one run from the incumbent */
    int64_t moves;
    uint64_t seed; /* of one run */

    const mo_stop *stop;   /* set by the caller */
    mo_schedule *schedule; /* result, owned by the job, or NULL */
    mo_status status;
    mo_error err;
} mo_search_memory_job;

/* Fills the job for a round; returns false where none is worth it. */
bool mo_search_memory_job_plan(const mo_search_state *search, int round,
                               mo_search_anneal_pool *pool,
                               mo_search_memory_job *job);

/* Runs the job on the calling thread; the caller frees job->schedule. Errors
 * are returned in job->status and job->err. */
void mo_search_memory_job_run(const mo_search_state *search,
                              mo_search_memory_job *job);

#endif
