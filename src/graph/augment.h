/* SPDX-License-Identifier: Apache-2.0 */
/*
 * augment.h - the augmented DAG of the paper: every data flow becomes a node
 * between its producer and its consumer.
 *
 * i --> j        becomes        i --> q --> j
 *
 * Nodes 0 .. n_ops - 1 are the ops, the flows follow in their own order, so
 * both maps are a subtraction.
 */
#ifndef MO_GRAPH_AUGMENT_H
#define MO_GRAPH_AUGMENT_H

#include <stdbool.h>

#include "base/error.h"

typedef struct mo_augmented {
    int n_ops, n_flows;
    int *succ_start; /* successors of node v: succ[succ_start[v]] up to
                        succ[succ_start[v + 1]] */
    int *succ;       /* 2 * n_flows node numbers */
    int *pred_start, *pred;
} mo_augmented;

/* Builds the augmented DAG of n_ops ops and n_flows flows from[q] -> to[q];
 * both counts are within the limits of a graph (graph/build.h). The caller
 * frees *augmented with mo_augmented_free(), which accepts NULL. Returns
 * MO_OK, or MO_E_MEMORY with *augmented unchanged. */
mo_status mo_augment(int n_ops, const int *from, const int *to, int n_flows,
                     mo_augmented **augmented, mo_error *err);
void mo_augmented_free(mo_augmented *augmented);

static inline int mo_augmented_nodes(const mo_augmented *a)
{
    return a->n_ops + a->n_flows;
}

static inline bool mo_augmented_is_flow(const mo_augmented *a, int node)
{
    return node >= a->n_ops;
}

static inline int mo_augmented_node_of_flow(const mo_augmented *a, int flow)
{
    return a->n_ops + flow;
}

static inline int mo_augmented_flow_of_node(const mo_augmented *a, int node)
{
    return node - a->n_ops;
}

#endif
