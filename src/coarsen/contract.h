/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract.h - a graph with groups of ops made into one op each.
 *
 * What the members do adds up (flops, weights, memory); what passes between
 * them vanishes from the traffic; what leaves the group are its tensors, as
 * many as before, but for views, which count as what they are views of.  A
 * coarse op has the name of its first member and the types of all of them,
 * "Convolution+Add+ReLU"; an op that stays alone stays as it is.  The constants
 * of the fine graph stay behind: their size is in the ops' weights, and whoever
 * executes has the fine graph and the map.
 */
#ifndef MO_COARSEN_CONTRACT_H
#define MO_COARSEN_CONTRACT_H

#include <stdbool.h>

#include "base/error.h"
#include "coarsen/coarsen_map.h"
#include "graph/graph.h"

/* The measured times of a group's members, to be made into one. */
typedef struct mo_fused {
    const char *key;  /* of the column: a device id or model */
    const double *us; /* of each member that does work */
    int n;
    double saved_bytes; /* memory traffic that need not happen any more */
} mo_fused;

typedef struct mo_grouping {
    /* By op: the number of its group in [0, n_groups),
     * MO_COARSEN_MAP_REPLICATED or MO_COARSEN_MAP_CONSTANT.  No group is empty.
     */
    const int *group;
    int n_groups;
    /* By op, or NULL: members that do no work.  They lend neither type nor
     * time, saving their traffic saves nothing, and what they hand out is what
     * they were given. */
    const bool *silent;
    /* Makes one time of several; NULL: their sum. */
    double (*fused_us)(const void *context, const mo_fused *fused);
    const void *context;
    /* Edges of one tensor between the same two coarse ops become one, as dear
     * as the dearest of them. */
    bool merge_parallel;
} mo_grouping;

/*
 * Errors: two members pinned to different devices, or colocated with different
 * ops (names both); groups that wait for each other (names the cycle).
 */
mo_status mo_contract(const mo_graph *g, const mo_grouping *grouping,
                      mo_graph **coarse, mo_coarsen_map **map, mo_error *err);

#endif
