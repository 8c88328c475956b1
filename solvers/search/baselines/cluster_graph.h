/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_graph.h - quotient graph of a clustering: edges between clusters
 * with mean transfer times, levels, and the instance with clusters as ops.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_CLUSTER_GRAPH_H
#define MO_SOLVERS_SEARCH_BASELINES_CLUSTER_GRAPH_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

typedef struct mo_baseline_cluster_edge {
    int from, to;
    int64_t mean_ns; /* sum over all flows between the two */
} mo_baseline_cluster_edge;

typedef struct mo_baseline_cluster_graph {
    int n, n_edges;
    mo_baseline_cluster_edge *edges; /* sorted by from and to, unique */
    int *out_start;                  /* of cluster c: edges[out_start[c] ...] */
    int *in_edges, *in_start;        /* indices of edges, sorted by to */
    int *level; /* edges on the longest path from a source */
} mo_baseline_cluster_graph;

/* Builds the graph of n clusters, which must be acyclic; cluster is by op. The
 * caller calls mo_baseline_cluster_graph_clear(). */
mo_status mo_baseline_cluster_graph_make(const mo_instance *x,
                                         const int64_t *rows_ns,
                                         const int *cluster, int n,
                                         mo_baseline_cluster_graph *g,
                                         mo_error *err);

/* Frees the arrays and zeroes the graph. */
void mo_baseline_cluster_graph_clear(mo_baseline_cluster_graph *g);

/* Makes the instance of the n clusters, numbered in topological order; rows_ns
 * are the mean transfer times of the whole. The caller frees *merged. */
mo_status mo_baseline_cluster_instance(const mo_instance *whole,
                                       mo_tensors tensors,
                                       const int64_t *rows_ns,
                                       const int *cluster, int n,
                                       mo_instance **merged, mo_error *err);

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
