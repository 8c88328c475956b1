/*
 * try.h - one attempt at one kind of pieces between two devices: a better
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

typedef enum mo_try_way {
    MO_TRY_START,  /* what list scheduling makes */
    MO_TRY_ANNEAL, /* from the best there is, or of other pairs, or anew */
    MO_TRY_RACE,   /* from what prices suggest for its branches */
    MO_TRY_ALONG,  /* anew, block by block along a chain */
    MO_TRY_POLISH, /* the best there is, by the smallest of changes */
    MO_TRY_EXACT,  /* and a bound */
    MO_TRY_ASSIST  /* the same by a MILP solver, by the clock */
} mo_try_way;

typedef struct mo_try {
    int kind, pair;
    mo_try_way how;
    int64_t effort; /* moves, moves for each op, or nodes */
    uint64_t seed;
    bool anew;           /* annealing begins with what list scheduling makes */
    const mo_fork *fork; /* branches that are alike, or NULL */

    /* Of a solver that helps: */
    const mo_solver *solver;
    const mo_found *found;
    double seconds;

    /* NULL, or where annealing begins: the ops of a segment of the kind's chain
     * as the hint has them, its ends where its pair of devices says. */
    const mo_hint *hint;
    const mo_segment *segment;
    int segment_pair;
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
} mo_try;

void mo_try_make(const mo_kinds *kinds, mo_try *it, const mo_stop *stop);

#endif
