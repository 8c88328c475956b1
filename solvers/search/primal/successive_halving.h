/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race.h - schedules of branches that are alike, from many beginnings.
 *
 * Where branches are many, which devices the shared tensor goes to decides
 * more than anything that small changes find: every set of them is a valley of
 * its own.  For each set, and for some times in which all might be done, prices
 * (fork_timed.h) suggest how to divide the branches.  These begin, and are made
 * better in heats: of those that took part, the best quarter goes on, for four
 * times as long.  The winner may go on alone, in several walks: one that is as
 * long as all of them is no better than the first.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_SUCCESSIVE_HALVING_H
#define MO_SOLVERS_SEARCH_PRIMAL_SUCCESSIVE_HALVING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/primal/anneal.h"
#include "solvers/search/bound/forkjoin/fork_join.h"
#include "solvers/search/decomp/solution_hint.h"

typedef struct mo_primal_halving_options {
    const mo_forkjoin *fork;             /* of the instance's ops */
    int boundary;                        /* devices of its u and v, a * K + b */
    int64_t from_ns, to_ns;              /* times of it to ask for */
    const mo_decomp_solution_hint *hint; /* NULL, or one more beginning */
    /* As each of the first heat is annealed. */
    const mo_primal_anneal_options *anneal;
    bool stay;    /* only for the devices that the start has it come to, at more
                     times instead */
    int patience; /* the winner goes on until so many walks in a row were in
                     vain */
} mo_primal_halving_options;

/* The best that comes of them and of the start, which stays the caller's. */
mo_status mo_primal_successive_halving(const mo_instance *x,
                                       const mo_regime *regime,
                                       const mo_schedule *start,
                                       const mo_primal_halving_options *options,
                                       mo_schedule **best, mo_error *err);

#endif
