/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dag.h - the structure of a graph alone: nodes and edges in compressed sparse
 * row form.
 *
 * A view of arrays that it does not own, so that algorithms on the structure
 * (reach.h, cut.h) work on a network and on an instance alike. Nodes are in
 * topological order: every edge goes from a smaller number to a larger one.
 * Parallel edges are possible.
 */
#ifndef MO_GRAPH_DAG_H
#define MO_GRAPH_DAG_H

#include <stddef.h>

#include "graph/graph.h"

typedef struct mo_dag {
    int n, n_edges;
    const int
        *out_start; /* edges of node i: [out_start[i], out_start[i + 1]) */
    const int
        *in_start; /* in_start[i + 1] - in_start[i]: the in-degree of node i */

    /* The head of the first edge; heads of the following edges lie at
     * multiples of stride bytes behind it, since they are members of the
     * owner's records. NULL without edges. */
    const void *to;
    size_t stride;
} mo_dag;

/* Returns a view of the ops and edges of g without its constants. It borrows
 * from g and is valid as long as g. */
mo_dag mo_graph_dag(const mo_graph *g);

static inline int mo_dag_to(const mo_dag *dag, int edge)
{
    return *(const int *) ((const char *) dag->to +
                           (size_t) edge * dag->stride);
}

static inline int mo_dag_out_degree(const mo_dag *dag, int node)
{
    return dag->out_start[node + 1] - dag->out_start[node];
}

static inline int mo_dag_in_degree(const mo_dag *dag, int node)
{
    return dag->in_start[node + 1] - dag->in_start[node];
}

#endif
