/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mincut.h - minimum cut between a source and a sink of a flow network.
 */
#ifndef MO_GRAPH_MINCUT_H
#define MO_GRAPH_MINCUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct mo_mincut_arc {
    int to;
    int next; /* arc of the same node, or -1 */
    int64_t ns;
} mo_mincut_arc;

/* A network; all zeros is an empty one. Reused by mo_mincut_init(). */
typedef struct mo_mincut {
    int n; /* nodes */
    int *first, *pred_arc, *queue;
    size_t first_room, pred_arc_room, queue_room;
    mo_mincut_arc *arcs; /* each followed by its reverse arc */
    size_t n_arcs, room;
} mo_mincut;

/* Resets the network to n nodes and no arcs, keeping its buffers; the caller
 * frees them with mo_mincut_clear(). */
mo_status mo_mincut_init(mo_mincut *cut, int n, mo_error *err);
/* Adds an arc of capacity ns.  Returns MO_OK unless memory runs out. */
mo_status mo_mincut_add_arc(mo_mincut *cut, int from, int to, int64_t ns,
                            mo_error *err);

/* Returns a lower bound on the capacity of every cut, in general the minimum;
 * consumes the capacities. */
int64_t mo_mincut_solve(mo_mincut *cut, int source, int sink);

void mo_mincut_clear(mo_mincut *cut);

#endif
