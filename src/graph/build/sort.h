/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.h - counting sort of edges by an end, in-place permutation, and a qsort
 * for nearly sorted input.
 */
#ifndef MO_GRAPH_BUILD_SORT_H
#define MO_GRAPH_BUILD_SORT_H

#include <stddef.h>

#include "graph/graph.h"

typedef enum mo_edge_end { MO_EDGE_FROM, MO_EDGE_TO } mo_edge_end;

/*
 * Stable counting sort of edge numbers by one end of their edges: those with
 * end i are written to out[start[i] .. start[i+1]). Ends lie in [0, n_ends);
 * the caller allocates start with n_ends + 1 zeros. in holds count numbers, or
 * is NULL for 0, 1, ... count - 1; it must not overlap out.
 */
void mo_sort_edges_by_end(const mo_edge *edges, mo_edge_end end, const int *in,
                          int count, int n_ends, int *start, int *out);

/* Prefix sum in place: start[i+1] holds the number of items of i; afterwards
 * start[i] is where they begin, and start[n] where the last ones end. */
void mo_sort_prefix_sum(int *start, int n);

/* qsort that first checks whether the items are sorted already. */
void mo_sort_nearly_sorted(void *items, size_t count, size_t size,
                           int (*compare)(const void *, const void *));

/* Moves item i to place[i] for all i, in place, along the cycles of the
 * permutation. place is overwritten. size is at most 256 bytes. */
void mo_sort_permute(void *items, int count, size_t size, int *place);

/* Returns the sort key of a port: none first, then numbers, then names. */
static inline int64_t mo_port_rank(int port)
{
    return port >= MO_PORT_NONE ? port : INT64_C(0x7fffffff) - port;
}

#endif
