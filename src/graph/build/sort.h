/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.h - edges grouped by one of their ends, and other ways to put things
 * in order that the builder needs.
 */
#ifndef MO_GRAPH_BUILD_SORT_H
#define MO_GRAPH_BUILD_SORT_H

#include <stddef.h>

#include "graph/graph.h"

typedef enum mo_edge_end { MO_EDGE_FROM, MO_EDGE_TO } mo_edge_end;

/*
 * Sorts edge numbers by one end of their edges, a counting sort: those with end
 * i land in out[start[i] .. start[i+1]), in the order they come in.  Ends lie
 * in [0, n_ends) and start has n_ends + 1 places, all 0.  in holds count
 * numbers, or is NULL for 0, 1, ... count - 1; it must not be out.
 */
void mo_sort_edges_by_end(const mo_edge *edges, mo_edge_end end, const int *in,
                          int count, int n_ends, int *start, int *out);

/* Turns counts into places: start[i+1] holds how many belong to i; afterwards
 * start[i] is where they begin, and start[n] where all end. */
void mo_sort_prefix_sum(int *start, int n);

/* qsort, but for what is mostly in order already. */
void mo_sort_nearly_sorted(void *items, size_t count, size_t size,
                           int (*compare)(const void *, const void *));

/* Brings item i to place[i], for all i, in place; place is used up. */
void mo_sort_permute(void *items, int count, size_t size, int *place);

/* Where a port comes in the order of ports: none, numbers, then names. */
static inline int64_t mo_port_rank(int port)
{
    return port >= MO_PORT_NONE ? port : INT64_C(0x7fffffff) - port;
}

#endif
