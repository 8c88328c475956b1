/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_pool.h - ways to run a branch, and to send the shared tensor, that have
 * been the cheapest at some time.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_COLUMN_POOL_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_COLUMN_POOL_H

#include "solvers/search/bound/colgen/node.h"

/* Something that holds a resource; weight: so often in one branch. */
typedef struct mo_cg_job {
    int resource, weight;
    int64_t start, length;
} mo_cg_job;

typedef struct mo_cg_column {
    int class;      /* of the branch; MO_FREE: it is the shared tensor's */
    int to;         /* where that is sent */
    int *device;    /* by node, from the class's root on */
    int64_t *start; /* the same; of the shared tensor, one: when it has come,
                       beyond the horizon where it never does */
    mo_cg_job *jobs;
    int n_jobs;
    double weight; /* in the last solution it was part of */
} mo_cg_column;

typedef struct mo_cg_column_pool {
    const mo_cg_problem *c;
    mo_cg_column **patterns; /* those that were of use last */
    size_t n, room;
} mo_cg_column_pool;

void mo_cg_column_pool_clear(mo_cg_column_pool *pool);

/* A copy, which is the pool's. */
mo_status mo_cg_column_pool_add(mo_cg_column_pool *pool,
                                const mo_cg_column *pattern,
                                mo_cg_column **copy, mo_error *err);

/* Whether a state allows it. */
bool mo_cg_column_is_feasible(const mo_cg_column_pool *pool,
                              const mo_cg_column *pattern,
                              const mo_cg_node *state);

/* Puts those with a weight last, and forgets the first when there are more than
 * most. */
void mo_cg_column_pool_trim(mo_cg_column_pool *pool, size_t most);

#endif
