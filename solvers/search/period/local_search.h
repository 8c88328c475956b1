/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_search.h - simulated annealing of a placement on the largest load, and
 * on the number of transfers within a limit of that load.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_LOCAL_SEARCH_H
#define MO_SOLVERS_SEARCH_PERIOD_LOCAL_SEARCH_H

#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/period/load_state.h"

typedef struct mo_period_anneal {
    uint64_t seed;
    int64_t steps;
    double hot;           /* first temperature, relative to the period */
    const double *prices; /* by resource, of the Lagrangian bound; sum 1 */
    int64_t lower_ns;     /* that bound */
    double price_weight;  /* of the priced loads beside the norm */
    const double *unit_price_ns; /* of a unit on a device: [unit * K + device],
                                    added to the period; NULL: none */
    const mo_stop *stop;
} mo_period_anneal;

/* Improves device, a device for each op, in place; sets *period_ns, prices of
 * units included, and *excess_bytes, which the result never has more of than
 * the start.  A seed and a number of steps determine the result unless it is
 * stopped. */
mo_status mo_period_anneal_run(const mo_period_problem *problem,
                               const mo_period_anneal *options, int *device,
                               int64_t *period_ns, int64_t *excess_bytes,
                               mo_error *err);

/* Reduces the number of transfers of a placement within memory, in place, by
 * annealing of a counted effort: they cost what no load has.  The period may
 * become longer by a 1000th, and by an 8th of what it is above lower_ns, a
 * lower bound: an optimal one is kept.  A deadline of the stop has no effect,
 * a request (a signal) ends it; NULL: none. */
mo_status mo_period_reduce_transfers(const mo_period_problem *problem,
                                     uint64_t seed, int64_t lower_ns,
                                     const mo_stop *stop, int *device,
                                     mo_error *err);

#endif
