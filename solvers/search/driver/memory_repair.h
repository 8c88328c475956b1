/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_repair.h - memory repair: where the composition of the best segments
 * overflows, a resource-constrained shortest path over their variants
 * (primal/rcsp.h), as a job of the search.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_MEMORY_REPAIR_H
#define MO_SOLVERS_SEARCH_DRIVER_MEMORY_REPAIR_H

#include <stdbool.h>

#include "solvers/search/driver/state.h"

/* Returns whether the shortest path by upper bounds is shorter than the
 * incumbent, i.e. does not fit. */
bool mo_search_memory_repair_needed(const mo_search_state *search);

#endif
