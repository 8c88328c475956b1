/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_master.h - prices for goods that show that there is not enough of them.
 *
 * Prices are at least 0.  If all branches and arrivals, each in its cheapest
 * way, cost more than all goods together, of some good more is used than there
 * is, whatever the ways.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_MASTER_H

#include <stdint.h>

#include "base/stop.h"
#include "solvers/search/bound/colgen/column_pool.h"

typedef struct mo_cg_master mo_cg_master;

typedef struct mo_cg_effort {
    int steps;  /* of finding better prices */
    int rounds; /* of finding other stretches of time to put them on */
    const mo_stop *stop;
} mo_cg_effort;

/* state: the first, with nothing assumed; c must outlive it. */
mo_status mo_cg_master_new(const mo_cg_problem *c, const mo_cg_node *state,
                           mo_cg_master **master, mo_error *err);
void mo_cg_master_free(mo_cg_master *master);

/* Whether nothing that a state allows is in time, as far as prices can tell. */
mo_status mo_cg_master_solve(mo_cg_master *master, const mo_cg_node *state,
                             const mo_cg_effort *effort, bool *refuted,
                             mo_error *err);

/* Steps that all of that has taken so far. */
int64_t mo_cg_master_iterations(const mo_cg_master *master);

/* If not: ways to run the branches that hold the resources no longer than they
 * are there, when a part of each branch may go one way and a part another: the
 * patterns that have a weight, which is that part. */
const mo_cg_column_pool *mo_cg_master_columns(const mo_cg_master *master);

#endif
