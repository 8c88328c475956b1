/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h - an instance made small: ops merged into clusters that are placed
 * and run as one, without making a cycle.
 *
 * Round by round, until there are few enough.  Where all this happens within a
 * round the clusters stay acyclic because
 *
 *   1. a cluster is merged into the only one it reads from: who enters such a
 *      tree enters at its root;
 *   2. or into the only one that reads from it, likewise;
 *   3. or two are merged across an edge from one level (the longest way from a
 *      beginning) to the next, if no edge between these levels leads from one
 *      such pair to another;
 *   4. or two of the same level are merged: no way leads from one to the other.
 *
 * The edges that take longest to send come first.  Clusters grow to about the
 * same amount of work: how much one may have is only raised when nothing else
 * is left to merge.  Ops pinned to different devices or of different groups
 * stay apart.
 */
#ifndef MO_SOLVERS_SEARCH_BASELINES_CLUSTER_OPS_H
#define MO_SOLVERS_SEARCH_BASELINES_CLUSTER_OPS_H

#include <stdint.h>

#include "base/error.h"
#include "cost/instance.h"
#include "schedule/regime.h"

typedef struct mo_baseline_clustering {
    mo_instance *x; /* its ops are the clusters */
    int *cluster;   /* by op of the whole */
} mo_baseline_clustering;

/* Down to most clusters, if pins and groups allow it.  What goes from one to
 * another goes in one piece that takes as long as all of it, a tensor counted
 * for each of its readers or once.  The whole must outlive what comes out:
 * routes and names are shared. */
mo_status mo_baseline_cluster_ops(const mo_instance *whole, mo_tensors tensors,
                                  int most, mo_baseline_clustering **merged,
                                  mo_error *err);
void mo_baseline_clustering_free(mo_baseline_clustering *merged);

/* merge_instance.c: the instance of the n clusters, whose numbers are in
 * topological order; rows_ns are the mean transfer times of the whole. */
mo_status mo_baseline_cluster_instance(const mo_instance *whole,
                                       mo_tensors tensors,
                                       const int64_t *rows_ns,
                                       const int *cluster, int n,
                                       mo_instance **merged, mo_error *err);

#endif
