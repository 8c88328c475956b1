/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colocation_search.h - branch and bound over the placements of a few ops of
 * an interval of the colocation bound.
 */
#ifndef MO_SCHEDULE_BOUND_COLOCATION_SEARCH_H
#define MO_SCHEDULE_BOUND_COLOCATION_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "schedule/bound/colocation_band.h"

/* Raises *least_ns, the length of the interval, to the least bound over all
 * placements of a subset of its ops: those with the largest head plus tail.
 * Subsets of 8 to 40 ops are searched in turn, each with at most
 * band->max_nodes nodes, which are taken from band->nodes_left: a quarter of
 * them for the optimum and, where they do not suffice, the others to refute
 * lengths; where these do not either, only the largest subset follows. Once
 * band->stop is reached, open nodes count with their own bound. With which
 * MO_COLOC_ANY an end of the interval must be that of the schedule. Returns
 * whether more nodes would not raise it further. */
bool mo_coloc_search_raise(mo_coloc_band *band, mo_coloc_case which,
                           int64_t *least_ns);

#endif
