/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mincut.h - the least capacity of arcs that lead from a source's side to a
 * sink's.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_CHAIN_MINCUT_H
#define MO_SOLVERS_SEARCH_BOUND_CHAIN_MINCUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_mincut_arc {
    int to;
    int next; /* of the same node, or -1 */
    int64_t ns;
} mo_mincut_arc;

/* A zeroed one has no nodes. */
typedef struct mo_mincut {
    int n; /* nodes */
    int *first, *into, *queue;
    size_t first_room, into_room, queue_room;
    mo_mincut_arc *arcs; /* each with its reverse behind it */
    size_t n_arcs, room;
} mo_mincut;

/* So many nodes and no arcs. */
mo_status mo_mincut_init(mo_mincut *cut, int n, mo_error *err);
mo_status mo_mincut_add_arc(mo_mincut *cut, int from, int to, int64_t ns,
                            mo_error *err);

/* No cut has less; uses the arcs up. */
int64_t mo_mincut_solve(mo_mincut *cut, int source, int sink);

void mo_mincut_clear(mo_mincut *cut);

#endif
