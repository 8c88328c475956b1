/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branching.h - branching of branch and price, for a node whose master problem
 * is feasible.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_BRANCHING_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_BRANCHING_H

#include "solvers/search/bound/colgen/column_pool.h"

enum { MO_CG_MAX_CHILDREN = 2 };

/*
 * Branches on the arrival of the broadcast tensor at a device: required or
 * forbidden, or earlier or later than a tick. Selects a device where the
 * columns make it arrive in part, or where it is read before its mean arrival.
 *
 * Divides a node into children whose union is the node, such that the columns
 * with positive weight in the pool are feasible in none of them together. *n
 * is set to the number of children, 0 where there is nothing to branch on. The
 * caller frees the children with mo_cg_node_free(); the one more likely to be
 * feasible comes last.
 */
mo_status mo_cg_branch_on_arrival(const mo_cg_problem *c,
                                  const mo_cg_node *state,
                                  const mo_cg_column_pool *pool,
                                  mo_cg_node *children[MO_CG_MAX_CHILDREN],
                                  int *n, mo_error *err);

#endif
