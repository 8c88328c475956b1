/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract.h - graph contraction: each group of ops becomes one op.
 *
 * Work and sizes of the members add up (flops, weights, memory); tensors
 * between them vanish from the memory traffic; the outputs of a group are the
 * tensors that leave it, except that a view counts as the tensor it is a view
 * of. A coarse op has the name of its first member and the types of all of
 * them, "Convolution+Add+ReLU"; a group of one op is copied. Constants of the
 * fine graph are not copied: their size is in the ops' weights, and execution
 * uses the fine graph and the map.
 */
#ifndef MO_COARSEN_CONTRACT_H
#define MO_COARSEN_CONTRACT_H

#include <stdbool.h>

#include "base/error.h"
#include "coarsen/coarsen_map.h"
#include "graph/graph.h"

/* The measured times of a group's members, to be combined. */
typedef struct mo_fused {
    const char *key;  /* of the column: a device id or model */
    const double *us; /* of each member that is not silent */
    int n;
    double saved_bytes; /* memory traffic that fusion avoids */
} mo_fused;

typedef struct mo_grouping {
    /* By op: the number of its group in [0, n_groups),
     * MO_COARSEN_MAP_REPLICATED or MO_COARSEN_MAP_CONSTANT.  No group is empty.
     */
    const int *group;
    int n_groups;
    /* By op, or NULL: members that do no work. They contribute neither type
     * nor time, avoiding their traffic saves nothing, and their outputs are
     * their inputs. */
    const bool *silent;
    /* Combines the times of several members; NULL: their sum. */
    double (*fused_us)(const void *context, const mo_fused *fused);
    const void *context;
    /* Edges of one tensor between the same two coarse ops are merged into one,
     * with the largest size and time of them. */
    bool merge_parallel;
} mo_grouping;

/*
 * On success the caller owns *coarse and *map and frees them with
 * mo_graph_free() and mo_coarsen_map_free(). Returns MO_E_INPUT when two
 * members are pinned to different devices or colocated with different ops (the
 * message names both), and when groups depend on each other (it names the
 * cycle).
 */
mo_status mo_contract(const mo_graph *g, const mo_grouping *grouping,
                      mo_graph **coarse, mo_coarsen_map **map, mo_error *err);

#endif
