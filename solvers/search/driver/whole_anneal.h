/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whole_anneal.h - annealing of the full instance within memory by successive
 * halving: a pool begins with several copies of the incumbent, and each stage
 * drops the worse half. The pool is kept from round to round.
 *
 * Several runs are better than a long one: where many devices are full, the
 * result of a run depends on its random numbers more than on its length.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_WHOLE_ANNEAL_H
#define MO_SOLVERS_SEARCH_DRIVER_WHOLE_ANNEAL_H

#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "schedule/schedule.h"
#include "solvers/search/driver/state.h"

enum { MO_SEARCH_ANNEAL_POOL_SIZE = 4 };

/* Zero-initialized by the caller. */
typedef struct mo_search_anneal_pool {
    mo_schedule *schedules[MO_SEARCH_ANNEAL_POOL_SIZE]; /* n, owned */
    int n;         /* 0: the next run begins with the incumbent */
    int next;      /* index of the schedule to be annealed next */
    int n_passes;  /* over the pool, in this cycle */
    int64_t moves; /* of a run; 0: to be set */
    uint64_t n_runs;
} mo_search_anneal_pool;

/* Makes annealing runs with that number of moves in total, at least one run, on
 * the calling thread. Needs an incumbent. Sets *best to a copy of the shortest
 * schedule of the pool; the caller frees it. */
mo_status mo_search_anneal_pool_run(mo_search_anneal_pool *pool,
                                    const mo_search_state *search,
                                    int64_t moves, const mo_stop *stop,
                                    mo_schedule **best, mo_error *err);

/* Frees the schedules of the pool, not the pool. */
void mo_search_anneal_pool_clear(mo_search_anneal_pool *pool);

#endif
