/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_ops.h - acyclic clustering (coarsening) of ops into clusters that
 * are placed and run as one.
 *
 * Clusters are merged in rounds until there are few enough. Within a round the
 * quotient graph stays acyclic because
 *
 *   1. a cluster is merged into the only one it reads from: every path into
 * such a tree enters at its root;
 *   2. or into the only one that reads from it, likewise;
 *   3. or two are merged across an edge from one level (the longest path from a
 *      source) to the next, if no edge between these levels leads from one
 *      such pair to another;
 *   4. or two of the same level are merged: no path leads from one to the
 * other.
 *
 * The edges with the longest transfers come first. Clusters grow to about
 * equal work: the limit is only raised when nothing else is left to merge. Ops
 * pinned to different devices or of different groups stay apart.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_CLUSTER_OPS_H
#define MO_SOLVERS_SEARCH_BASELINES_CLUSTER_OPS_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

typedef struct mo_baseline_clustering {
    mo_instance *x; /* with clusters as ops */
    int *cluster;   /* by op of the whole */
} mo_baseline_clustering;

/* Merges down to `most` clusters, if pins and groups allow it. The data
 * between two clusters become one tensor that takes as long as all of them,
 * counted for each reader or once. The caller frees *merged with
 * mo_baseline_clustering_free(), which accepts NULL. whole must outlive it:
 * routes and names are shared. */
mo_status mo_baseline_cluster_ops(const mo_instance *whole, mo_tensors tensors,
                                  int most, mo_baseline_clustering **merged,
                                  mo_error *err);
void mo_baseline_clustering_free(mo_baseline_clustering *merged);

#endif
