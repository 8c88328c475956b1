/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subset_bound.h - lower bound of the period by the sets of units that single
 * devices can have: the configuration LP (Gilmore and Gomory, 1961), in its
 * dual.
 *
 * For values v_u of the units, a placement of period T or less has
 *
 *     sum_u v_u  <=  sum_k max { v(S) : S on device k is within T }
 *
 * where a set is within T if its ops, what it receives, what it sends, and its
 * memory are (subset_pricing.h).  Values that contradict this prove T too
 * short; they are improved by a bundle method.  Unlike at prices of resources
 * (price_bound.h), equal devices do not share every unit in equal parts: each
 * part is in a whole set, with all its transfers.
 *
 * Before that, a unit that no device can have in any set proves as much.  Where
 * nothing does, units of which no device can have one alone are joined, and all
 * is tried again (probing).
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_SUBSET_BOUND_H
#define MO_SOLVERS_SEARCH_PERIOD_SUBSET_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/period/load_state.h"

typedef struct mo_subset_bound {
    const mo_period_problem *problem;
    double *value;     /* by unit: those of the last test */
    int64_t failed_ns; /* least period that was not proven too short */
    double work;       /* of all tests */
} mo_subset_bound;

/* The caller clears *b, also after a failure; the problem outlives it. */
mo_status mo_subset_bound_init(mo_subset_bound *b,
                               const mo_period_problem *problem, mo_error *err);
void mo_subset_bound_clear(mo_subset_bound *b);

/* Returns whether a period between a lower bound and upper_ns, the period of a
 * known placement, is worth a test. */
bool mo_subset_bound_is_open(const mo_subset_bound *b, int64_t upper_ns,
                             int64_t lower_ns);

/* Tests such periods (bisection) and raises *lower_ns by those that are too
 * short.  Stops after about max_work, a counted effort.  Fails only for lack of
 * memory. */
mo_status mo_subset_bound_raise(mo_subset_bound *b, int64_t upper_ns,
                                double max_work, const mo_stop *stop,
                                int64_t *lower_ns, mo_error *err);

/* Sets *is_short to whether it is proven that every placement within memory has
 * a longer period. */
mo_status mo_subset_bound_test(mo_subset_bound *b, int64_t period_ns,
                               double max_work, const mo_stop *stop,
                               bool *is_short, mo_error *err);

#endif
