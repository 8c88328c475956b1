/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colocation_search.h - branch and bound over the placements of a few ops of
 * an interval of the colocation bound.
 */
#ifndef MO_SCHEDULE_BOUND_COLOCATION_SEARCH_H
#define MO_SCHEDULE_BOUND_COLOCATION_SEARCH_H

#include <stdint.h>

#include "schedule/bound/colocation_band.h"

/* Raises *least_ns, the length of the interval, to the least over the
 * placements of those of its ops that take it longest.  With which
 * MO_COLOC_ANY an end of the interval must be that of the schedule.  At most
 * band->max_nodes ops are placed, for each of a few numbers of ops; what is
 * open then counts by its own bound. */
void mo_coloc_search_raise(const mo_coloc_band *band, mo_coloc_case which,
                           int64_t *least_ns);

#endif
