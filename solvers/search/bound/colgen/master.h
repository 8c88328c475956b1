/* SPDX-License-Identifier: Apache-2.0 */
/*
 * master.h - restricted master problem of column generation, as a proof of
 * infeasibility with dual smoothing (Wentges 1997).
 *
 * The master minimizes the largest usage t of any row over convex combinations
 * of columns, one combination per branch. Dual values are at least 0 and add
 * up to at most 1; the minimal cost of all branches and arrivals under them is
 * a lower bound on t (the Lagrangian bound). If it exceeds 1, every schedule
 * uses some row more than it allows: the node is infeasible.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_H

#include <stdint.h>

#include "base/stop.h"
#include "solvers/search/bound/colgen/column_pool.h"

typedef struct mo_cg_master mo_cg_master;

typedef struct mo_cg_effort {
    int steps;  /* iterations: solve the LP, price */
    int rounds; /* of separation: new rows, then a new LP */
} mo_cg_effort;

/* Allocates a master; state is the propagated root node and is used only here.
 * c is borrowed and must outlive it. The caller frees *master with
 * mo_cg_master_free(), which accepts NULL. */
mo_status mo_cg_master_new(const mo_cg_problem *c, const mo_cg_node *state,
                           mo_cg_master **master, mo_error *err);
void mo_cg_master_free(mo_cg_master *master);

/* Runs column generation on a node within an effort, until the stop is reached
 * (NULL: never). Sets *refuted to whether
 * the dual bound proves the node infeasible; false proves nothing. */
mo_status mo_cg_master_solve(mo_cg_master *master, const mo_cg_node *state,
                             const mo_cg_effort *effort, const mo_stop *stop,
                             bool *refuted, mo_error *err);

/* Returns the number of iterations of all calls so far. */
int64_t mo_cg_master_iterations(const mo_cg_master *master);

/* Returns the columns, owned by the master.  Unless the node was refuted, those
 * of positive weight are the fractional solution of the last LP: the weight of
 * a column is the part of its branches that follow it.  It respects the rows
 * generated so far, as far as the effort allowed. */
const mo_cg_column_pool *mo_cg_master_columns(const mo_cg_master *master);

#endif
