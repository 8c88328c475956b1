/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coarsen.h - from the graph as exported to the graph that is placed: cleaned,
 * then fused, with the map back.
 */
#ifndef MO_COARSEN_COARSEN_H
#define MO_COARSEN_COARSEN_H

#include "base/error.h"
#include "coarsen/clean.h"
#include "coarsen/contract.h"
#include "coarsen/fusion_rules.h"
#include "graph/graph.h"

typedef struct mo_coarsen_options {
    unsigned clean; /* passes, see mo_clean */
    const mo_fusion_rules *rules;
    /* How measured times become one, see mo_grouping. */
    double (*fused_us)(const void *context, const mo_fused *fused);
    const void *context;
} mo_coarsen_options;

typedef struct mo_coarsen_report {
    mo_clean_report cleaned;
    int clean_ops, clean_edges; /* what was left to fuse */
} mo_coarsen_report;

/* The coarse graph and the map are the caller's. */
mo_status mo_coarsen(const mo_graph *g, const mo_coarsen_options *options,
                     mo_graph **coarse, mo_coarsen_map **map,
                     mo_coarsen_report *report, mo_error *err);

#endif
