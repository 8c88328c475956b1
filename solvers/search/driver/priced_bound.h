/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priced_bound.h - the bound of the whole with Lagrangian prices of memory
 * (schedule/bound/priced_chain.h) over the blocks of the search, whose tables
 * the bound jobs raise.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_PRICED_BOUND_H
#define MO_SOLVERS_SEARCH_DRIVER_PRICED_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/stop.h"
#include "solvers/search/driver/state.h"

/* Sets *priced to NULL, with MO_OK returned, where memory does not bind or the
 * search has no blocks.  search must outlive it.  The caller frees it with
 * mo_search_priced_bound_free(), which accepts NULL. */
mo_status mo_search_priced_bound_new(mo_search_state *search,
                                     mo_search_priced_bound **priced,
                                     mo_error *err);
void mo_search_priced_bound_free(mo_search_priced_bound *priced);

/* Returns whether some table of a block has grown since the last call of
 * mo_search_priced_bound_compute(). */
bool mo_search_priced_bound_is_stale(const mo_search_priced_bound *priced);

/* Computes the bound until stop, while nothing else uses priced. */
mo_status mo_search_priced_bound_compute(mo_search_priced_bound *priced,
                                         const mo_stop *stop, int64_t *bound_ns,
                                         mo_error *err);

/* Stores the best prices found so far in ns per byte, by device; returns false
 * where there are none, or priced is NULL. */
bool mo_search_priced_bound_prices(const mo_search_priced_bound *priced,
                                   double *price_ns);

/* Computes the bound with cases of equal branches (bound/load/cases.c) until
 * stop, while nothing else uses priced; *bound_ns is 0 where nothing is
 * proven. */
mo_status mo_search_priced_bound_run_cases(mo_search_priced_bound *priced,
                                           const mo_stop *stop,
                                           int64_t *bound_ns, mo_error *err);

/* Adds prices and entries of the segments to the pairs of proven that are the
 * same; does nothing where priced is NULL or no prices were found. */
mo_status mo_search_priced_bound_export(mo_search_priced_bound *priced,
                                        mo_proven_bounds *proven,
                                        mo_error *err);

#endif
