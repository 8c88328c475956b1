/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch_and_price.h - branch and price (Barnhart et al. 1998) as a
 * destructive lower bound: proves that no schedule of a fork-join subgraph
 * fits into a given time.
 *
 * The decomposition is by branches (Dantzig-Wolfe): a column is a timed
 * placement of one branch, a row of the master limits the usage of a device,
 * of a port over an interval, or of another common resource (master_row.h). A
 * node is pruned when its master problem is infeasible; the time is refuted
 * when every node is.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_BRANCH_AND_PRICE_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_BRANCH_AND_PRICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/bound/colgen/problem.h"
#include "solvers/search/bound/forkjoin/fork_join.h"
#include "solvers/search/decomp/solution_hint.h"

typedef struct mo_cg_options {
    int effort; /* 1: about a second for a hundred ops; each step doubles the
                   work */
    const mo_stop *stop;
    const mo_cg_budget *budget; /* of mo_cg_refute(); NULL: none */
    int64_t steps; /* of mo_cg_refute(): iterations after which it gives up; 0:
                      no limit */
    /* NULL, or buffers of the caller with one entry per op of the fork's
     * segment, in its order. Where there is no proof they receive a placement
     * rounded from the fractional columns: device and start time of each op.
     * *suggested is set to whether they were filled. */
    int *device;
    int64_t *start_ns;
    bool *suggested;
} mo_cg_options;

/* Sets *refuted to true when v cannot start within time_ns, not even exactly
 * then, unless the branches cost more than the budget. False proves nothing.
 * Returns MO_OK unless memory runs out. */
mo_status mo_cg_refute(const mo_forkjoin_case *c, int64_t time_ns,
                       const mo_cg_options *options, bool *refuted,
                       mo_error *err);

typedef struct mo_cg_priced_task {
    mo_forkjoin_case at;
    const int64_t *price_ns; /* by op of the fork's instance and device */
    int64_t least_ns;        /* a lower bound on the time alone */
    const mo_stop *stop;     /* NULL: none */
} mo_cg_priced_task;

/* Sets *refuted to true when time plus prices are at least target_ns, whatever
 * the placement of the branches; false proves nothing. *n_calls is raised by
 * the searches that this took, each of some hundred iterations of a master.
 * Returns MO_OK unless memory runs out. */
mo_status mo_cg_priced_refute(const mo_cg_priced_task *task, int64_t target_ns,
                              bool *refuted, int *n_calls, mo_error *err);

/* The same search in slices. */
typedef struct mo_cg_search mo_cg_search;

/* Allocates a search for the given time; the caller frees it with
 * mo_cg_search_free(), which accepts NULL. The fork is borrowed and must
 * outlive the search. */
mo_status mo_cg_search_new(const mo_forkjoin_case *c, int64_t time_ns,
                           int effort, mo_cg_search **search, mo_error *err);
void mo_cg_search_free(mo_cg_search *search);

/* Runs until more than `steps` further iterations of the master are done;
 * returns with *done set when the search has ended, and *refuted as in
 * mo_cg_refute(). The result does not depend on how the iterations are
 * divided. options->effort is ignored: mo_cg_search_new() has set it. */
mo_status mo_cg_search_run(mo_cg_search *search, int64_t steps,
                           const mo_cg_options *options, bool *done,
                           bool *refuted, mo_error *err);

/* LP relaxation: the master of the root node, solved once. */
typedef struct mo_cg_relaxation mo_cg_relaxation;

/* Solves the relaxation for a horizon of time_ns, with the broadcast tensor
 * required on the devices that receive it and forbidden on the others
 * (receives NULL: undecided).  budget, unless NULL, limits what the memory of
 * the branches costs.  *relaxation is NULL, with MO_OK returned, where the time
 * is refuted or the problem too large; the caller frees it with
 * mo_cg_relaxation_free(), which accepts NULL.  The fork is borrowed and must
 * outlive it. */
mo_status mo_cg_relaxation_new(const mo_forkjoin_case *c, int64_t time_ns,
                               const bool *receives, const mo_cg_budget *budget,
                               const mo_stop *stop,
                               mo_cg_relaxation **relaxation, mo_error *err);
void mo_cg_relaxation_free(mo_cg_relaxation *relaxation);

/* Rounding heuristic: rounds the fractional columns.  point, from 0 to 1,
 * selects the point of a branch that decides its column: other points give
 * other roundings.  hint is the caller's, with buffers for all ops of the
 * fork's segment; *suggested is set to whether it was filled. */
mo_status mo_cg_relaxation_round(const mo_cg_relaxation *relaxation,
                                 double point, mo_decomp_solution_hint *hint,
                                 bool *suggested, mo_error *err);

#endif
