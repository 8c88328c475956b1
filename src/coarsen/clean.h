/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean.h - graph clean-up before placement: constant folding, removal of
 * no-ops, view elimination.
 *
 * Exports of frameworks are full of shape arithmetic, constants, views and
 * inputs that feed every layer. None of it can be placed badly, all of it
 * hides the structure (clean cuts) that makes placement provable. The passes
 * run in the order of the table, each can be switched off, and each reports
 * how much it removed. They decide by operator: an op of an unknown type is
 * left alone.
 */
#ifndef MO_COARSEN_CLEAN_H
#define MO_COARSEN_CLEAN_H

#include <stdbool.h>

#include "base/error.h"
#include "coarsen/coarsen_map.h"
#include "graph/graph.h"

typedef struct mo_clean_pass {
    const char *name, *help;
    bool merges_edges; /* it removes parallel edges, not ops */
    /* Fills group and silent (mo_grouping) for every op of g; a group is
     * identified by the id of its first member. */
    void (*mark)(const mo_graph *g, int *group, bool *silent);
} mo_clean_pass;

/* constants, sources, results, views, parallel; ends with a NULL name. */
extern const mo_clean_pass mo_clean_passes[];
enum {
    MO_CLEAN_PASSES = 5,
    MO_CLEAN_PARALLEL = 1 << 4,
    MO_CLEAN_ALL = (1 << MO_CLEAN_PASSES) - 1
};

typedef struct mo_clean_report {
    int removed[MO_CLEAN_PASSES];
} mo_clean_report;

/* Runs the passes with bits set in which (bit k: mo_clean_passes[k]). On
 * success the caller owns *clean and *map and frees them with mo_graph_free()
 * and mo_coarsen_map_free(); g is not changed. */
mo_status mo_clean(const mo_graph *g, unsigned which, mo_graph **clean,
                   mo_coarsen_map **map, mo_clean_report *report,
                   mo_error *err);

/* The same, but *clean and *map are NULL when nothing is removed. */
mo_status mo_clean_unless_noop(const mo_graph *g, unsigned which,
                               mo_graph **clean, mo_coarsen_map **map,
                               mo_clean_report *report, mo_error *err);

/* Parses a list of passes into bits: "all", "none", "constants,views",
 * "all,-sources". A list that starts with '-' is subtracted from all. An
 * unknown name is MO_E_USAGE. */
mo_status mo_clean_parse(const char *text, unsigned *which, mo_error *err);

#endif
