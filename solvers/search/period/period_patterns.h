/* SPDX-License-Identifier: Apache-2.0 */
/*
 * period_patterns.h - placements of segments with their loads as patterns of a
 * model of the period (models/patterns).
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_PERIOD_PATTERNS_H
#define MO_SOLVERS_SEARCH_PERIOD_PERIOD_PATTERNS_H

#include "base/error.h"
#include "models/patterns/pattern_set.h"
#include "schedule/regime.h"
#include "solvers/search/period/placement_pool.h"

/* Fills the set, which is empty: the parts of the best placement, those of the
 * other placements of the pool in all segments of a class, segments on one
 * device or two, and of segments with few ops all placements; less those that
 * another one with the same ends dominates, and those beyond the room of a
 * model.  set->is_exact: none but dominated ones was left out.  Nothing, where
 * the best placement does not fit into memory. */
mo_status mo_period_export_patterns(const mo_regime *regime,
                                    const mo_period_pool *pool,
                                    int64_t lower_ns, mo_pattern_set *set,
                                    mo_error *err);

#endif
