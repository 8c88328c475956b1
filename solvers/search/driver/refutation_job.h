/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refutation_job.h - raises the bound with prices of memory by refutation
 * (bound/colgen/priced_refutation.h), at fixed prices, as a job of the search:
 * where segments have few equal branches, their load bounds are furthest from
 * integers.
 *
 * A job continues that of the round before.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_REFUTATION_JOB_H
#define MO_SOLVERS_SEARCH_DRIVER_REFUTATION_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/driver/state.h"

/* Begins as zeros; the caller clears it. */
typedef struct mo_search_refutation_job {
    double *price_ns; /* by device; NULL: not begun */
    int64_t *known;   /* by class and boundary: proven entries; 0: none yet */
    int64_t *step_ns; /* the same: how much above it is tried next; 0: not
                         tried yet */
    int *path;        /* by segment: boundary */
    int n_calls;      /* searches so far */
    bool is_done;     /* no entry of the path can be raised */

    int64_t lower_ns; /* result of all jobs so far; 0: none */
    mo_status status;
    mo_error err;
} mo_search_refutation_job;

/* Returns whether a job pays in a round. */
bool mo_search_refutation_job_plan(const mo_search_state *search, int round,
                                   const mo_search_refutation_job *job);

/* Runs the job on the calling thread, while nothing else uses search->priced.
 * Errors are returned in job->status and job->err. */
void mo_search_refutation_job_run(const mo_search_state *search,
                                  const mo_stop *stop,
                                  mo_search_refutation_job *job);
void mo_search_refutation_job_clear(mo_search_refutation_job *job);

#endif
