/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priced_start.h - where annealing with prices of memory begins: the schedule
 * of least priced time among the variants of the boundary, those of other
 * boundaries with devices of equal times exchanged, and rounded solutions of
 * the load bound.
 */
#ifndef MO_SOLVERS_SEARCH_DRIVER_PRICED_START_H
#define MO_SOLVERS_SEARCH_DRIVER_PRICED_START_H

#include "base/error.h"
#include "schedule/schedule.h"
#include "solvers/search/decomp/segment_class.h"
#include "solvers/search/primal/load_start.h"

/* Stores the start in *from, which the caller frees; NULL: none.  x is the
 * instance of the class, pinned to the boundary; load may be NULL. */
mo_status mo_search_priced_start(const mo_decomp_classes *classes,
                                 const mo_decomp_class *cls, int boundary,
                                 const mo_instance *x, const double *price_ns,
                                 const mo_primal_load_start *load,
                                 mo_schedule **from, mo_error *err);

#endif
