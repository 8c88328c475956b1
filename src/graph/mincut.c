/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/mincut.h"

#include <stdlib.h>

#include "base/array.h"

/*
 * Maximum flow by shortest augmenting paths (Edmonds and Karp 1972). Any flow
 * is a lower bound on the minimum cut, so that the number of paths may be
 * limited.
 */
enum { MAX_PATHS = 4096 };

mo_status mo_mincut_init(mo_mincut *c, int n, mo_error *err)
{
    size_t need = (size_t) n;
    mo_status status = mo_array_reserve((void **) &c->first, &c->first_room,
                                        need, sizeof *c->first, err);

    if (status == MO_OK)
        status = mo_array_reserve((void **) &c->pred_arc, &c->pred_arc_room,
                                  need, sizeof *c->pred_arc, err);
    if (status == MO_OK)
        status = mo_array_reserve((void **) &c->queue, &c->queue_room, need,
                                  sizeof *c->queue, err);
    if (status != MO_OK)
        return status;
    c->n = n;
    c->n_arcs = 0;
    for (int i = 0; i < n; i++)
        c->first[i] = -1;
    return MO_OK;
}

static mo_status append_arc(mo_mincut *c, int from, int to, int64_t ns,
                            mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(c->arcs, c->n_arcs, c->room, err);

    if (status != MO_OK)
        return status;
    c->arcs[c->n_arcs] = (mo_mincut_arc){ to, c->first[from], ns };
    c->first[from] = (int) c->n_arcs++;
    return MO_OK;
}

mo_status mo_mincut_add_arc(mo_mincut *c, int from, int to, int64_t ns,
                            mo_error *err)
{
    mo_status status = append_arc(c, from, to, ns, err);

    return status == MO_OK ? append_arc(c, to, from, 0, err) : status;
}

/* Breadth-first search: stores in pred_arc the arc of a shortest path to each
 * node. Returns whether the sink is reached. */
static int find_augmenting_path(mo_mincut *c, int source, int sink)
{
    int n = 0;

    for (int i = 0; i < c->n; i++)
        c->pred_arc[i] = -1;
    c->queue[n++] = source;
    for (int at = 0; at < n && c->pred_arc[sink] < 0; at++)
        for (int e = c->first[c->queue[at]]; e >= 0; e = c->arcs[e].next) {
            int to = c->arcs[e].to;

            if (c->arcs[e].ns == 0 || to == source || c->pred_arc[to] >= 0)
                continue;
            c->pred_arc[to] = e;
            c->queue[n++] = to;
        }
    return c->pred_arc[sink] >= 0;
}

int64_t mo_mincut_solve(mo_mincut *c, int source, int sink)
{
    int64_t sum_ns = 0;

    for (int i = 0; i < MAX_PATHS && find_augmenting_path(c, source, sink);
         i++) {
        int64_t least_ns = INT64_MAX;

        /* Augments the flow along the path by its bottleneck capacity. */
        for (int j = sink; j != source; j = c->arcs[c->pred_arc[j] ^ 1].to)
            if (c->arcs[c->pred_arc[j]].ns < least_ns)
                least_ns = c->arcs[c->pred_arc[j]].ns;
        for (int j = sink; j != source; j = c->arcs[c->pred_arc[j] ^ 1].to) {
            c->arcs[c->pred_arc[j]].ns -= least_ns;
            c->arcs[c->pred_arc[j] ^ 1].ns += least_ns;
        }
        sum_ns += least_ns;
    }
    return sum_ns;
}

void mo_mincut_clear(mo_mincut *c)
{
    free(c->first);
    free(c->pred_arc);
    free(c->queue);
    free(c->arcs);
    *c = (mo_mincut){ 0 };
}
