/* SPDX-License-Identifier: Apache-2.0 */
/*
 * price_bound.h - lower bound of the period by Lagrangian relaxation of the
 * loads.
 *
 * For prices u_r >= 0 of the resources, and v_k >= 0 of the devices' memory,
 * every placement x within memory of period T has
 *
 *     T sum_r u_r  >=  sum_r u_r load_r(x) + sum_k v_k (used_k(x) - capacity_k)
 *
 * The least value of the right side over all placements is a labelling of the
 * units with devices (labelling.h): ops have costs by device, flows by pair of
 * devices.  It is computed exactly, in integers, so every price vector gives a
 * valid bound, at least as strong as the LP relaxation where no bucket is
 * split.  Prices are improved by a bundle method; the placements on the way are
 * starts for the local search.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_PRICE_BOUND_H
#define MO_SOLVERS_SEARCH_PERIOD_PRICE_BOUND_H

#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/period/load_state.h"

/* Called with every placement that is evaluated, a device for each op. */
typedef void mo_period_offer(void *context, const int *device);

/* Sets *lower_ns to a lower bound of the period of all placements within
 * memory, and prices, a buffer by resource, to prices that prove it (sum 1).
 * upper_ns is the period of a known one.  Fails only for lack of memory. */
mo_status mo_period_price_bound(const mo_period_problem *problem,
                                int64_t upper_ns, const mo_stop *stop,
                                mo_period_offer *offer, void *context,
                                int64_t *lower_ns, double *prices,
                                mo_error *err);

#endif
