/*
 * clean_mark.h - what each pass of clean.h takes out; for this room only.
 */
#ifndef MO_COARSEN_CLEAN_MARK_H
#define MO_COARSEN_CLEAN_MARK_H

#include <stdbool.h>

#include "graph/graph.h"

/* Each fills group[i] and silent[i] for every op i of g.  Before numbering, a
 * group is called by the id of its first member. */
void mo_clean_mark_constants(const mo_graph *g, int *group, bool *silent);
void mo_clean_mark_sources(const mo_graph *g, int *group, bool *silent);
void mo_clean_mark_idle(const mo_graph *g, int *group, bool *silent);

/* The pass that takes out nothing. */
void mo_clean_mark_nothing(const mo_graph *g, int *group, bool *silent);

#endif
