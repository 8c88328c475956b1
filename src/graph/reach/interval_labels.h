/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h - answers to reach.h from a few numbers an op and, where they do not
 * settle it, a search.
 */
#ifndef MO_GRAPH_REACH_INTERVAL_LABELS_H
#define MO_GRAPH_REACH_INTERVAL_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/dag.h"

/* The visit of an op in one walk through the whole graph. */
typedef struct mo_interval_label {
    int low;      /* the first rank among all that it reaches */
    int tree_low; /* the first rank among those first met through it */
    int rank;     /* its own: how many ops were left before it */
} mo_interval_label;

enum { MO_INTERVAL_LABELS = 3 };

typedef struct mo_op_interval_labels {
    mo_interval_label walks[MO_INTERVAL_LABELS];
    int depth;      /* edges on the longest path to it */
    uint32_t stamp; /* of the last search that came by */
} mo_op_interval_labels;

typedef struct mo_interval_labels {
    mo_dag dag;
    mo_op_interval_labels *ops;
    int *stack;
    uint32_t searches;
} mo_interval_labels;

/* The memory that labels of n_ops ops take. */
size_t mo_interval_labels_bytes(int n_ops);

mo_status mo_interval_labels_make(const mo_dag *dag, mo_interval_labels *labels,
                                  mo_error *err);
void mo_interval_labels_clear(mo_interval_labels *labels);

/* Is there a path from a to b? */
bool mo_interval_labels_path(mo_interval_labels *labels, int a, int b);

#endif
