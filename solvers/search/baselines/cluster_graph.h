/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_graph.h - the clusters of a merge as a graph: who reads from whom, how
 * long that takes, and on which level each is.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_CLUSTER_GRAPH_H
#define MO_SOLVERS_SEARCH_BASELINES_CLUSTER_GRAPH_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"

typedef struct mo_baseline_cluster_edge {
    int from, to;
    int64_t mean_ns; /* of all flows between the two */
} mo_baseline_cluster_edge;

typedef struct mo_baseline_cluster_graph {
    int n, n_edges;
    mo_baseline_cluster_edge *edges; /* by from and to, no two alike */
    int *out_start;                  /* of cluster c: edges[out_start[c] ...] */
    int *in_edges, *in_start;        /* numbers of edges by to, the same way */
    int *level; /* edges on the longest way from a beginning to it */
} mo_baseline_cluster_graph;

/* Of n clusters, without a cycle among them; cluster is by op. */
mo_status mo_baseline_cluster_graph_make(const mo_instance *x,
                                         const int64_t *rows_ns,
                                         const int *cluster, int n,
                                         mo_baseline_cluster_graph *g,
                                         mo_error *err);
void mo_baseline_cluster_graph_clear(mo_baseline_cluster_graph *g);

static inline int
mo_baseline_cluster_out_degree(const mo_baseline_cluster_graph *g, int c)
{
    return g->out_start[c + 1] - g->out_start[c];
}

static inline int
mo_baseline_cluster_in_degree(const mo_baseline_cluster_graph *g, int c)
{
    return g->in_start[c + 1] - g->in_start[c];
}

#endif
