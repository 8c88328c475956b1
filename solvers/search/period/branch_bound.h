/* SPDX-License-Identifier: Apache-2.0 */
/*
 * branch_bound.h - lower bound of the period by branch and bound over the
 * devices of single units, with the Lagrangian bound (price_bound.h) at every
 * node.  Where transfers are expensive or devices are equal the relaxation
 * places parts of a unit on several devices; a unit that many tensors leave or
 * enter settles most of that once it has a device.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_BRANCH_BOUND_H
#define MO_SOLVERS_SEARCH_PERIOD_BRANCH_BOUND_H

#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/period/load_state.h"
#include "solvers/search/period/price_bound.h"

typedef struct mo_period_branching mo_period_branching;

/* Makes the tree of the root alone.  lower_ns is a bound, and prices, as many
 * as a labelling of the problem has, prove it; upper_ns is the period of a
 * known placement; threads as in mo_parallel_for(), of the same result.  The
 * caller frees *b with mo_period_branching_free(), which accepts NULL; the
 * problem outlives it. */
mo_status mo_period_branching_new(const mo_period_problem *problem,
                                  int64_t upper_ns, int64_t lower_ns,
                                  const double *prices, int threads,
                                  mo_period_branching **b, mo_error *err);
void mo_period_branching_free(mo_period_branching *b);

/* Best-first search.  Stops after max_work visited table entries (deterministic
 * effort), and raises *lower_ns to the least bound of the open nodes; to the
 * step's upper_ns where none is open.  Fails only for lack of memory. */
mo_status mo_period_branching_run(mo_period_branching *b,
                                  const mo_period_step *step, double max_work,
                                  int64_t *lower_ns, mo_error *err);

#endif
