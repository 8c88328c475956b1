/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colocation_job.h - the colocation bound of the whole with searches of its
 * intervals (schedule/bound/colocation_bound.h) as a job of the search, run
 * beside the others: where memory binds and there are few clean cuts.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_COLOCATION_JOB_H
#define MO_SOLVERS_SEARCH_DRIVER_COLOCATION_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "schedule/allowed_devices.h"
#include "schedule/bound/colocation_bound.h"
#include "solvers/search/driver/state.h"

typedef struct mo_search_colocation_job {
    double nodes; /* of the round */

    /* Kept from round to round. */
    mo_allowed_devices domains;
    mo_coloc_bound *bound;

    int64_t lower_ns; /* result; 0: none */
    mo_status status;
    mo_error err;
} mo_search_colocation_job;

/* Fills the job, which is zeros at first, for a round; returns false where none
 * is worth it.  The caller calls mo_search_colocation_job_clear(). */
bool mo_search_colocation_job_plan(const mo_search_state *search, int round,
                                   mo_search_colocation_job *job);

/* Runs the job on the calling thread.  Errors are returned in job->status and
 * job->err. */
void mo_search_colocation_job_run(const mo_search_state *search,
                                  const mo_stop *stop,
                                  mo_search_colocation_job *job);

void mo_search_colocation_job_clear(mo_search_colocation_job *job);

#endif
