/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coarsen.h - graph coarsening: clean-up, then operator fusion, with the map
 * from fine ops to coarse ones.
 */
#ifndef MO_COARSEN_COARSEN_H
#define MO_COARSEN_COARSEN_H

#include "base/error.h"
#include "coarsen/clean.h"
#include "coarsen/contract.h"
#include "coarsen/fusion_rules.h"
#include "graph/graph.h"

typedef struct mo_coarsen_options {
    unsigned clean; /* bits of passes, see mo_clean */
    const mo_fusion_rules *rules;
    /* Combines measured times, see mo_grouping. */
    double (*fused_us)(const void *context, const mo_fused *fused);
    const void *context;
} mo_coarsen_options;

typedef struct mo_coarsen_report {
    mo_clean_report cleaned;
    int clean_ops, clean_edges; /* after the clean-up, before fusion */
} mo_coarsen_report;

/* Of a workload (graph/phases.h) the phases are coarsened, each by itself.
 *
 * On success the caller owns *coarse and *map and frees them with
 * mo_graph_free() and mo_coarsen_map_free(). */
mo_status mo_coarsen(const mo_graph *g, const mo_coarsen_options *options,
                     mo_graph **coarse, mo_coarsen_map **map,
                     mo_coarsen_report *report, mo_error *err);

#endif
