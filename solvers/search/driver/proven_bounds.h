/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - what a search has proven, for whoever wants to build on it.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_PROVEN_BOUNDS_H
#define MO_SOLVERS_SEARCH_DRIVER_PROVEN_BOUNDS_H

#include "base/error.h"
#include "models/frame/proven_bounds.h"
#include "solvers/search/driver/state.h"

/* Adds what is proven between the cuts, and, where the blocks of a chain tell
 * as much of a segment, between their ops; with some of the devices being no
 * states, nothing.  strength has no boundaries before. */
mo_status mo_search_export_proven_bounds(const mo_search_state *search,
                                         mo_proven_bounds *strength,
                                         mo_error *err);

#endif
