/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gcof.h - graph coarsening with operator fusion (GCOF): Algorithm 1 of the
 * paper.
 *
 * A backend fuses a chain of ops if their types match a rule, so they belong
 * on one device and are placed as one. Each link of the chain must be the only
 * way out of the op it leaves ("direct" or "multi-input" connections): an op
 * is never fused with a consumer when its output has other readers.
 */
#ifndef MO_COARSEN_GCOF_H
#define MO_COARSEN_GCOF_H

#include <stdbool.h>

#include "base/error.h"
#include "coarsen/contract.h"
#include "coarsen/coarsen_map.h"
#include "coarsen/fusion_rules.h"
#include "graph/graph.h"

/*
 * Groups the ops of g: fills group[i], which the caller allocates, for each of
 * the g->n_ops ops and sets *n_groups; groups are numbered by their first
 * members. O(rules * ops + edges). Ops with different pins or colocations are
 * never in one group. Returns MO_OK or MO_E_MEMORY.
 */
mo_status mo_gcof_match(const mo_graph *g, const mo_fusion_rules *rules,
                        int *group, int *n_groups, mo_error *err);

typedef struct mo_gcof_options {
    const mo_fusion_rules *rules;
    /* The rest as in mo_grouping. */
    double (*fused_us)(const void *context, const mo_fused *fused);
    const void *context;
    bool merge_parallel;
} mo_gcof_options;

/* Matches the rules and contracts the groups. On success the caller owns
 * *coarse and *map, as for mo_contract(). */
mo_status mo_gcof(const mo_graph *g, const mo_gcof_options *options,
                  mo_graph **coarse, mo_coarsen_map **map, mo_error *err);

#endif
