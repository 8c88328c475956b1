/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contiguous.h - contiguous split of the topological order into stages, one
 * for a device, by dynamic programming.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_CONTIGUOUS_H
#define MO_SOLVERS_SEARCH_PERIOD_CONTIGUOUS_H

#include "base/error.h"
#include "solvers/search/period/load_state.h"

/* Fills device, by op.  Memory may be exceeded where no such split is within
 * it. */
mo_status mo_period_split_contiguous(const mo_period_problem *problem,
                                     int *device, mo_error *err);

#endif
