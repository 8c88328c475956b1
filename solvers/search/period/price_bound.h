/* SPDX-License-Identifier: Apache-2.0 */
/*
 * price_bound.h - lower bound of the period by Lagrangian relaxation of the
 * loads (priced_labelling.h), at least as strong as the LP relaxation where no
 * bucket of the labelling is split.  Prices are improved by a bundle method;
 * the placements on the way are starts for the local search.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_PRICE_BOUND_H
#define MO_SOLVERS_SEARCH_PERIOD_PRICE_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/period/priced_labelling.h"

enum {
    MO_PERIOD_PRICE_EVALUATIONS = 300, /* of a bundle */
    MO_PERIOD_PRICE_IDLE = 2           /* bundles without a gain: the end */
};

/* Called with every placement that is evaluated, a device for each op. */
typedef void mo_period_offer(void *context, const int *device);

/* A step of a bound. */
typedef struct mo_period_step {
    int64_t upper_ns; /* period of a known placement */
    const mo_stop *stop;
    mo_period_offer *offer; /* called with placements on the way, or NULL */
    void *context;
} mo_period_step;

/*
 * Raises *lower_ns, a lower bound of the period of all placements within
 * memory, by a bundle of at most max_evaluations.  It begins at prices, a
 * buffer of n_prices of the labelling, and leaves there prices that prove the
 * bound; those of resources sum to 1.  Where *lower_ns is 0 it begins at equal
 * prices of the devices.  Fails only for lack of memory.
 */
mo_status mo_period_price_ascend(mo_priced_labelling *labelling,
                                 const mo_period_step *step,
                                 int max_evaluations, int64_t *lower_ns,
                                 double *prices, mo_error *err);

/* Returns whether a bundle that raised the bound from before_ns is worth
 * another. */
bool mo_period_price_gained(int64_t before_ns, int64_t lower_ns);

/* Sets *lower_ns to the bound after as many bundles as are worth it. */
mo_status mo_period_price_bound(const mo_period_problem *problem,
                                int64_t upper_ns, const mo_stop *stop,
                                int64_t *lower_ns, mo_error *err);

#endif
