/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proof.h - one attempt to raise what is proven of a block between two devices.
 *
 * As with try.h, attempts change nothing but themselves.  Those that take long
 * are made bit by bit, so that nobody has to wait for them.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_BOUND_JOB_H
#define MO_SOLVERS_SEARCH_DRIVER_BOUND_JOB_H

#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/bound/chain/chain_bound.h"
#include "solvers/search/bound/forkjoin/fork_join.h"

typedef enum mo_search_bound_algo {
    MO_SEARCH_BOUND_LOAD, /* what loads and patterns tell */
    MO_SEARCH_BOUND_COLGEN,
    MO_SEARCH_BOUND_EXACT
} mo_search_bound_algo;

/* How far an attempt has come. */
typedef struct mo_search_bound_ladder mo_search_bound_ladder;

typedef struct mo_search_bound_job {
    int block, boundary;
    mo_search_bound_algo how;
    int64_t
        target_ns; /* to be refuted, or a part of it, but for the fast way */
    int effort;    /* from 1 on; doubles */
    const mo_forkjoin *fork;
    int64_t steps; /* of the timed way, at a time */

    mo_search_bound_ladder *climb; /* NULL: it has not begun, or has ended; else
                        it is to be made on, or dropped */

    /* What came of it. */
    int64_t lower_ns;
    int64_t failed_ns; /* the least that was not refuted; INT64_MAX before, and
                          where all was */
    mo_decomp_solution_hint hint; /* the caller's */
    mo_status status;
    mo_error err;
} mo_search_bound_job;

void mo_search_bound_job_run(const mo_chain_blocks *blocks,
                             mo_search_bound_job *it, const mo_stop *stop);

/* Frees what it has of its own, hint and all. */
void mo_search_bound_job_clear(mo_search_bound_job *it);

#endif
