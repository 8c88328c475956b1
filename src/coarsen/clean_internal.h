/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean_mark.h - the inside of clean.h; for this room only.
 */
#ifndef MO_COARSEN_CLEAN_INTERNAL_H
#define MO_COARSEN_CLEAN_INTERNAL_H

#include <stdbool.h>

#include "base/error.h"
#include "coarsen/clean.h"
#include "graph/graph.h"

/* mo_clean, but *clean and *map stay NULL when there is nothing to take out. */
mo_status mo_clean_unless_noop(const mo_graph *g, unsigned which,
                               mo_graph **clean, mo_coarsen_map **map,
                               mo_clean_report *report, mo_error *err);

/* What each pass takes out: fills group[i] and silent[i] for every op i of g.
 * Before numbering, a group is called by the id of its first member. */
void mo_clean_mark_constants(const mo_graph *g, int *group, bool *silent);
void mo_clean_mark_sources(const mo_graph *g, int *group, bool *silent);
void mo_clean_mark_results(const mo_graph *g, int *group, bool *silent);
void mo_clean_mark_views(const mo_graph *g, int *group, bool *silent);

/* The pass that takes out nothing. */
void mo_clean_mark_nothing(const mo_graph *g, int *group, bool *silent);

#endif
