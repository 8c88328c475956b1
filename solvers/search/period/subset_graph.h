/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subset_graph.h - all sets of units as paths of a layered graph: layer by
 * layer a unit is left out or taken in (frontier-based dynamic programming, as
 * for decision diagrams).
 *
 * A node is what of the decisions so far matters to the items that have other
 * ends ahead.  An item of too many layers for the limit of nodes is left out of
 * the graph: it costs nothing then, and what is concluded from the graph
 * remains a relaxation.
 */
#ifndef MO_SOLVERS_SEARCH_PERIOD_SUBSET_GRAPH_H
#define MO_SOLVERS_SEARCH_PERIOD_SUBSET_GRAPH_H

#include <stdint.h>

#include "base/error.h"
#include "solvers/search/period/subset_units.h"

/* What an arc adds to the use of a device's limits: MO_SUBSET_LOAD first. */
typedef struct mo_subset_use {
    int64_t of[MO_SUBSET_LIMITS];
} mo_subset_use;

typedef struct mo_subset_graph {
    const mo_subset_units *units;
    int n;      /* layers */
    int *unit;  /* by layer */
    int *start; /* nodes of layer i: [start[i], start[i + 1]); the last layer,
                   n, has one */
    int *next;  /* by node and decision, 1: the unit is taken in */
    mo_subset_use *use; /* by class, node and decision; a load of -1: the
                           decision is excluded */
} mo_subset_graph;

/* The caller clears *g, also after a failure; units outlives it. */
mo_status mo_subset_graph_init(mo_subset_graph *g, const mo_subset_units *units,
                               int max_nodes, mo_error *err);
void mo_subset_graph_clear(mo_subset_graph *g);

/* Returns what the decision at the node uses of a device of the class. */
static inline const mo_subset_use *
mo_subset_graph_use(const mo_subset_graph *g, int c, int node, int decision)
{
    return &g->use[((int64_t) c * g->start[g->n] + node) * 2 + decision];
}

#endif
