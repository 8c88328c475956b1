/* SPDX-License-Identifier: Apache-2.0 */
/*
 * try.h - one attempt at one class of segments between two devices: a better
 * schedule, a better bound, or both.
 *
 * Attempts know nothing of each other and change nothing but themselves, so
 * that several threads can make some at a time.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_PRIMAL_JOB_H
#define MO_SOLVERS_SEARCH_DRIVER_PRIMAL_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "schedule/schedule.h"
#include "solvers/search/bound/chain/chain_bound.h"
#include "solvers/search/bound/forkjoin/fork_join.h"
#include "solvers/search/decomp/segment_class.h"
#include "solvers/plugins/solver.h"

typedef enum mo_search_primal_algo {
    MO_SEARCH_PRIMAL_LIST,    /* what list scheduling makes */
    MO_SEARCH_PRIMAL_ANNEAL,  /* from the best there is, or of other boundaries,
                                 or  anew */
    MO_SEARCH_PRIMAL_HALVING, /* from what prices suggest for its branches */
    MO_SEARCH_PRIMAL_SPINE,   /* anew, block by block along a chain */
    MO_SEARCH_PRIMAL_POLISH, /* the best there is, by the smallest of changes */
    MO_SEARCH_PRIMAL_EXACT,  /* and a bound */
    MO_SEARCH_PRIMAL_MILP    /* the same by a MILP solver, by the clock */
} mo_search_primal_algo;

typedef struct mo_search_primal_job {
    int cls, boundary;
    mo_search_primal_algo how;
    int64_t effort; /* moves, moves for each op, or nodes */
    uint64_t seed;
    bool anew; /* annealing begins with what list scheduling makes */
    const mo_forkjoin *fork; /* branches that are alike, or NULL */

    /* Of a solver that helps: */
    const mo_solver *solver;
    const mo_solver_install *found;
    double seconds;

    /* NULL, or where annealing begins: the ops of a segment of the class's
     * chain as the hint has them, its ends where its boundary of devices says.
     */
    const mo_decomp_solution_hint *hint;
    const mo_bound_segment *segment;
    int segment_boundary;
    int64_t from_ns, to_ns; /* of a race: times of the segment to ask for */
    bool stay;              /* as in race.h */
    int patience;           /* of its winner, as there, or of annealing: it goes
                               on until so many walks in a row were in vain */

    /* What came of it. */
    mo_schedule *schedule; /* or NULL */
    mo_schedule **more;    /* of list scheduling, where variants are kept; the
                              caller's */
    size_t n_more, more_room;
    int64_t lower_ns; /* from end to end; INT64_MAX: cannot be */
    mo_status status;
    mo_error err;
} mo_search_primal_job;

void mo_search_primal_job_run(const mo_decomp_classes *classes,
                              mo_search_primal_job *it, const mo_stop *stop);

#endif
