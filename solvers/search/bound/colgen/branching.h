/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_split.h - which assumption to make next, where prices alone refute
 * nothing.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_BRANCHING_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_BRANCHING_H

#include "solvers/search/bound/colgen/column_pool.h"

enum { MO_CG_MAX_CHILDREN = 2 };

/*
 * Both split a state into parts that together leave nothing out, so that the
 * ways which have a weight in the pool are allowed by none of them as they are.
 * *n is 0 where nothing of the kind is to be found.  The parts are the
 * caller's; the one that is more likely to be feasible comes last.
 */

/* Whether the shared tensor comes to a device, and when: where it does so in
 * part, or is read before it has come. */
mo_status mo_cg_branch_on_arrival(const mo_cg_problem *c,
                                  const mo_cg_node *state,
                                  const mo_cg_column_pool *pool,
                                  mo_cg_node *parts[MO_CG_MAX_CHILDREN], int *n,
                                  mo_error *err);

/* How many equals run on a device: where they are so many and a half. */
mo_status mo_cg_branch_on_cardinality(const mo_cg_problem *c,
                                      const mo_cg_node *state,
                                      const mo_cg_column_pool *pool,
                                      mo_cg_node *parts[MO_CG_MAX_CHILDREN],
                                      int *n, mo_error *err);

#endif
