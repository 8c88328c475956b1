/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_suggest.h - a placement out of ways that each branch goes in part.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_ROUNDING_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_ROUNDING_H

#include "solvers/search/bound/colgen/column_pool.h"

/* By op of the fork's segment, in its order: where, and since when; not a
 * schedule, only what one may begin with.  A branch goes the way that has the
 * point of it, from 0 to 1.  *suggested: every op has got a device. */
mo_status mo_cg_round_columns(const mo_cg_problem *c,
                              const mo_cg_column_pool *pool, double point,
                              int *device, int64_t *start_ns, bool *suggested,
                              mo_error *err);

#endif
