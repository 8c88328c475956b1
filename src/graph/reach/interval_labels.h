/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval_labels.h - reachability by interval labels (GRAIL) and, where they
 * do not decide, a pruned search.
 */
#ifndef MO_GRAPH_REACH_INTERVAL_LABELS_H
#define MO_GRAPH_REACH_INTERVAL_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/dag.h"

/* Label of an op from one depth-first traversal of the whole graph. */
typedef struct mo_interval_label {
    int low;      /* smallest rank among all that it reaches */
    int tree_low; /* smallest rank among its descendants in the traversal tree
                   */
    int rank;     /* its postorder rank, from 1 */
} mo_interval_label;

enum { MO_INTERVAL_LABELS = 3 };

typedef struct mo_op_interval_labels {
    mo_interval_label walks[MO_INTERVAL_LABELS];
    int depth;      /* edges on the longest path to it */
    uint32_t stamp; /* of the last search that visited it */
} mo_op_interval_labels;

typedef struct mo_interval_labels {
    mo_dag dag;
    mo_op_interval_labels *ops;
    int *stack;
    uint32_t searches;
} mo_interval_labels;

/* Returns the size in bytes of the labels of n_ops ops. */
size_t mo_interval_labels_bytes(int n_ops);

/* Computes the labels of dag, whose arrays must outlive them. The caller frees
 * them with mo_interval_labels_clear(). Returns MO_OK or MO_E_MEMORY. */
mo_status mo_interval_labels_make(const mo_dag *dag, mo_interval_labels *labels,
                                  mo_error *err);
void mo_interval_labels_clear(mo_interval_labels *labels);

/* Returns whether there is a path from a to b. Writes visit stamps: one thread
 * at a time. */
bool mo_interval_labels_path(mo_interval_labels *labels, int a, int b);

#endif
