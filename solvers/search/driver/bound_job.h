/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bound_job.h - one bound job: tries to raise the lower bound of a block at
 * one boundary, by the load bound, column generation or exact search
 * (destructive lower bound: refutes a target).
 *
 * As with primal_job.h a job writes nothing but itself. A long job is
 * interrupted after `steps` and continued in a later round.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_BOUND_JOB_H
#define MO_SOLVERS_SEARCH_DRIVER_BOUND_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/bound/chain/chain_bound.h"
#include "solvers/search/bound/forkjoin/fork_join.h"

typedef enum mo_search_bound_algo {
    MO_SEARCH_BOUND_LOAD, /* load bound, takes no target */
    MO_SEARCH_BOUND_COLGEN,
    MO_SEARCH_BOUND_EXACT
} mo_search_bound_algo;

/* Progress of a column-generation job. */
typedef struct mo_search_bound_ladder mo_search_bound_ladder;

typedef struct mo_search_bound_job {
    int block, boundary;
    mo_search_bound_algo how;
    int64_t target_ns; /* to be refuted, or a fraction of it */
    int effort;        /* from 1 on; the effort doubles */
    const mo_forkjoin *fork;
    int64_t steps; /* of column generation, per call */

    mo_search_bound_ladder *ladder; /* NULL: not begun, or ended */

    /* Results. */
    int64_t lower_ns;
    mo_proof_reason reason; /* of lower_ns */
    int64_t failed_ns; /* least target that was not refuted; INT64_MAX: none */
    mo_decomp_solution_hint hint; /* passes to the caller */
    bool has_run;                 /* set by the caller */
} mo_search_bound_job;

/* Runs the job on the calling thread, column generation for at most it->steps;
 * call it again while it->ladder is not NULL. */
mo_status mo_search_bound_job_run(const mo_chain_blocks *blocks,
                                  mo_search_bound_job *it, const mo_stop *stop,
                                  mo_error *err);

/* Frees what the job owns, the hint included. */
void mo_search_bound_job_clear(mo_search_bound_job *it);

#endif
