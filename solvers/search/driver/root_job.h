/* SPDX-License-Identifier: Apache-2.0 */
/*
 * root_job.h - the bound of the root relaxation (solvers/root_bound.h) as a job
 * of the search, run beside the others: where memory decides and branches are
 * not alike, it is stronger than prices over blocks.
 *
 * The tables proven so far become rows; the dual values are a suggestion of
 * the assisting solver, and the bound is recomputed from them.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_ROOT_JOB_H
#define MO_SOLVERS_SEARCH_DRIVER_ROOT_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/driver/state.h"

typedef struct mo_search_root_job {
    mo_proven_bounds *proven; /* owned; NULL: none */
    int64_t upper_ns;

    int64_t lower_ns; /* result; 0: none */
    mo_status status;
    mo_error err;
} mo_search_root_job;

/* Fills the job, which is zeros, for a round; *planned is false where none is
 * worth it.  The caller clears the job in any case. */
mo_status mo_search_root_job_plan(const mo_search_state *search, int round,
                                  mo_search_root_job *job, bool *planned,
                                  mo_error *err);
void mo_search_root_job_clear(mo_search_root_job *job);

/* Runs the job on the calling thread, the solver in a child process.  Errors
 * are returned in job->status and job->err. */
void mo_search_root_job_run(const mo_search_state *search,
                            mo_search_root_job *job);

#endif
