/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dag.h - nothing but the shape of a graph: who comes before whom.
 *
 * A view of arrays that belong to somebody else, so that what only asks for the
 * shape (reach.h, cut.h) works on a network and on an instance alike.  Nodes
 * stand in topological order, every edge goes from a smaller one to a larger,
 * and there may be several between the same two.
 */
#ifndef MO_GRAPH_DAG_H
#define MO_GRAPH_DAG_H

#include <stddef.h>

#include "graph/graph.h"

typedef struct mo_dag {
    int n, n_edges;
    const int *out_start; /* edges of node i: [out_start[i], ...[i + 1]) */
    const int *in_start;  /* how many come into it: the difference, too */

    /* Where the first edge ends; the next edges' ends follow in so many bytes
     * each, since they lie in records of their owner. */
    const void *to;
    size_t stride;
} mo_dag;

/* Of the ops and edges; constants are no part of it. */
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
