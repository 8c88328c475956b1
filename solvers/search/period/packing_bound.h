/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packing_bound.h - lower bound of the period by packing: a few long ops do not
 * fill devices evenly, as items do not fill bins.
 *
 * For values v_i >= 0 of the units, a period T needs
 *
 *     sum_i v_i  <=  sum_k max { sum of v over S : sum of p_ik over S <= T },
 *
 * a knapsack for each device, solved exactly by dynamic programming.  Values
 * are v_i = floor(q p_ik / T), q = 2, 3, ..., with the times of some device k:
 * dual feasible functions (Fekete and Schepers, 2001).  Where transfers have an
 * overhead, a connected graph on several devices has that of one, too.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_PACKING_BOUND_H
#define MO_SOLVERS_SEARCH_PERIOD_PACKING_BOUND_H

#include <stdint.h>

#include "base/error.h"
#include "solvers/search/period/load_state.h"

/* Raises *lower_ns, a lower bound of the period, where packing proves more, up
 * to upper_ns, the period of a known placement.  Fails only for lack of
 * memory. */
mo_status mo_period_packing_bound(const mo_period_problem *problem,
                                  int64_t upper_ns, int64_t *lower_ns,
                                  mo_error *err);

#endif
