/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_pool.h - pool of the columns that pricing has found.
 *
 * A column is a timed placement of one branch (device and start of every op,
 * and the jobs that this puts on resources) or an arrival of the broadcast
 * tensor at one device.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_COLUMN_POOL_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_COLUMN_POOL_H

#include "solvers/search/bound/colgen/node.h"

/* Use of a resource from start, for length ticks, `weight` times per branch. */
typedef struct mo_cg_job {
    int resource, weight;
    int64_t start, length;
} mo_cg_job;

typedef struct mo_cg_column {
    int class;      /* class of the branch; MO_FREE: broadcast tensor */
    int to;         /* of the broadcast tensor: destination */
    int *device;    /* by node, from the root of the class */
    int64_t *start; /* the same; of the broadcast tensor one entry: the tick of
                       arrival, beyond the horizon if it never arrives */
    mo_cg_job *jobs;
    int n_jobs;
    double weight; /* value in the last LP solution it was part of */
} mo_cg_column;

typedef struct mo_cg_column_pool {
    const mo_cg_problem *c;
    mo_cg_column **columns; /* owned; columns of positive weight last */
    size_t n, capacity;
} mo_cg_column_pool;

/* Frees all columns and the array; the pool can be used again. */
void mo_cg_column_pool_clear(mo_cg_column_pool *pool);

/* Adds a copy of the column; *copy is owned by the pool and stays valid until
 * it is trimmed or cleared. */
mo_status mo_cg_column_pool_add(mo_cg_column_pool *pool,
                                const mo_cg_column *column, mo_cg_column **copy,
                                mo_error *err);

/* Returns whether the domains of a node allow the column. */
bool mo_cg_column_is_feasible(const mo_cg_column_pool *pool,
                              const mo_cg_column *column,
                              const mo_cg_node *state);

/* Moves columns of positive weight to the end, then frees columns from the
 * front until at most `most` are left. */
void mo_cg_column_pool_trim(mo_cg_column_pool *pool, size_t most);

#endif
