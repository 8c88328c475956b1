/* SPDX-License-Identifier: Apache-2.0 */
/*
 * successive_halving.h - multi-start simulated annealing with successive
 * halving (Jamieson and Talwalkar 2016; reduction factor 4) for fork-join
 * graphs with many equal branches.
 *
 * The set of devices that receive the shared tensor decides more than local
 * search can change: every set is a basin of its own. For each set and several
 * target times, columns of the fork-join's master problem are rounded to a
 * start (bound/colgen/branch_and_price.h). The starts are annealed in rungs:
 * the best quarter of a rung goes on with four times the moves. The last one
 * may go on alone in several runs: one run as long as all of them is no better
 * than the first.
 */
#ifndef MO_SOLVERS_SEARCH_PRIMAL_SUCCESSIVE_HALVING_H
#define MO_SOLVERS_SEARCH_PRIMAL_SUCCESSIVE_HALVING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/bound/forkjoin/fork_join.h"
#include "solvers/search/decomp/solution_hint.h"
#include "solvers/search/primal/anneal.h"

enum { MO_PRIMAL_MAX_OTHERS = 8 };

/* Schedules that ended in the last rungs. */
typedef struct mo_primal_halving_others {
    mo_schedule *schedules[MO_PRIMAL_MAX_OTHERS];
    int n;
} mo_primal_halving_others;

typedef struct mo_primal_halving_options {
    const mo_forkjoin *fork; /* of the instance's ops, borrowed */
    int boundary;            /* devices of its u and v, a * K + b */
    int64_t from_ns, to_ns;  /* range of target times */
    double budget_ns; /* with prices in anneal: of the branches' memory */
    const mo_decomp_solution_hint *hint; /* NULL, or one more start */
    /* Options of the first rung. */
    const mo_primal_anneal_options *anneal;
    bool stay; /* only the receiver set of the start, with more target times */
    int patience; /* runs without improvement in a row until the last start ends
                   */
    mo_primal_halving_others *others; /* NULL, or the caller's, of n 0: gets
                                         schedules that the caller frees,
                                         whatever the result */
} mo_primal_halving_options;

/* Sets *best, which the caller frees, to the shortest of all and of the start,
 * which stays the caller's; with prices, to the one of least priced time. */
mo_status mo_primal_successive_halving(const mo_instance *x,
                                       const mo_regime *regime,
                                       const mo_schedule *start,
                                       const mo_primal_halving_options *options,
                                       mo_schedule **best, mo_error *err);

/*
 * The same with prices of memory (Lagrangian prices of memory capacity) in the
 * annealing options: target times and the budget of the branches' memory are
 * those of the priced load bound, and the boundary that of the start.  Ops
 * outside the fork, and the devices of its ends, begin as in start.
 */
mo_status mo_primal_priced_halving(const mo_instance *x,
                                   const mo_regime *regime,
                                   const mo_schedule *start,
                                   const mo_primal_halving_options *options,
                                   mo_schedule **best, mo_error *err);

#endif
