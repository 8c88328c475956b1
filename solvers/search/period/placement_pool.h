/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement_pool.h - the best placements of the search for the least period,
 * no two of equal value.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_PLACEMENT_POOL_H
#define MO_SOLVERS_SEARCH_PERIOD_PLACEMENT_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum { MO_PERIOD_POOL_SIZE = 8 };

typedef struct mo_period_placement {
    int *device; /* by op */
    int64_t period_ns;
    int64_t excess_bytes; /* beyond the memory of devices; 0: it fits */
} mo_period_placement;

typedef struct mo_period_pool {
    mo_period_placement placements[MO_PERIOD_POOL_SIZE]; /* the best first */
    int n;
    int n_ops;
} mo_period_pool;

/* The caller clears *pool, also after a failure. */
mo_status mo_period_pool_init(mo_period_pool *pool, int n_ops, mo_error *err);
void mo_period_pool_clear(mo_period_pool *pool);

/* Returns whether the pool is empty or the value better than its best: less
 * excess of memory, then a shorter period. */
bool mo_period_pool_is_best(const mo_period_pool *pool, int64_t period_ns,
                            int64_t excess_bytes);

/* Copies a placement into the pool if it is among the best. */
void mo_period_pool_keep(mo_period_pool *pool, const int *device,
                         int64_t period_ns, int64_t excess_bytes);

#endif
