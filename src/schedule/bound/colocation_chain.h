/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colocation_chain.h - critical intervals of the colocation bound: chains whose
 * head, lengths and tail add up to about the bound, and their refinement.
 */
#ifndef MO_SCHEDULE_BOUND_COLOCATION_CHAIN_H
#define MO_SCHEDULE_BOUND_COLOCATION_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "schedule/bound/colocation_band.h"

enum { MO_COLOC_MAX_LEVEL = 6, MO_COLOC_LEAST_SKIP_COST = 8 };

/* Intervals are searched up to a level; others cost skip_cost in a chain. */
typedef struct mo_coloc_limits {
    int level, skip_cost;
} mo_coloc_limits;

/* Finds the chain of intervals with the largest sum, less cost_ns for each and
 * for each search of it.  before[v] becomes the op before v of the chain that
 * ends in v, MO_FREE: none; most_ns, by op, is scratch.  Returns the last op.
 */
int mo_coloc_chain_find(const mo_coloc_band *band, int64_t cost_ns,
                        const mo_coloc_limits *limits, int64_t *most_ns,
                        int *before);

/* Searches the intervals of the chain that ends in v, up to the level, with
 * more nodes than before and up to most_ns; returns whether any was open. */
bool mo_coloc_chain_refine(mo_coloc_band *band, int level, const int *before,
                           int v, int64_t most_ns);

#endif
