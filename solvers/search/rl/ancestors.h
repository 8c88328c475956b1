/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ancestors.h - ancestors, descendants and incomparable vertices of a DAG, as
 * adjacency lists to sum over.
 *
 * Vertices are numbered topologically.  All pairs of a large graph are too
 * many: only those at most a window apart are considered.  Every vertex on a
 * path between two of them has a number between theirs, so within the window
 * nothing is missed.
 */
#ifndef MO_SOLVERS_SEARCH_RL_ANCESTORS_H
#define MO_SOLVERS_SEARCH_RL_ANCESTORS_H

#include "base/error.h"

/* Compressed adjacency: of vertex v list[start[v]], ..., list[start[v + 1] -
 * 1]. */
typedef struct mo_rl_adjacency {
    int *start, *list;
} mo_rl_adjacency;

typedef struct mo_rl_ancestors {
    mo_rl_adjacency before, after, incomparable; /* beside: incomparable */
} mo_rl_ancestors;

/* n vertices and their parents; a parent with a higher number is ignored.
 * reach is zeroed by the caller, which frees it with mo_rl_ancestors_clear(),
 * also after a failure. */
mo_status mo_rl_ancestors_init(int n, const mo_rl_adjacency *parents,
                               int window, mo_rl_ancestors *reach,
                               mo_error *err);
void mo_rl_ancestors_clear(mo_rl_ancestors *reach);

void mo_rl_adjacency_clear(mo_rl_adjacency *lists);

/* List i of n becomes list which[i] of from, with by[i] added to its
 * vertices. */
mo_status mo_rl_adjacency_remap(const mo_rl_adjacency *from, int n,
                                const int *which, const int *by,
                                mo_rl_adjacency *to, mo_error *err);
mo_status mo_rl_ancestors_remap(const mo_rl_ancestors *from, int n,
                                const int *which, const int *by,
                                mo_rl_ancestors *to, mo_error *err);

#endif
