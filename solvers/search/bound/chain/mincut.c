/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/chain/mincut.h"

#include <stdlib.h>

#include "base/array.h"

/*
 * A flow is as large as no cut is smaller: shortest ways are filled one after
 * the other.  Where that would take too many of them, the flow so far is still
 * a bound.
 */
enum { MOST_WAYS = 4096 };

mo_status mo_mincut_init(mo_mincut *c, int n, mo_error *err)
{
    size_t need = (size_t) n;
    mo_status status = mo_array_reserve((void **) &c->first, &c->first_room,
                                        need, sizeof *c->first, err);

    if (status == MO_OK)
        status = mo_array_reserve((void **) &c->into, &c->into_room, need,
                                  sizeof *c->into, err);
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

static mo_status add_arc(mo_mincut *c, int from, int to, int64_t ns,
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
    mo_status status = add_arc(c, from, to, ns, err);

    return status == MO_OK ? add_arc(c, to, from, 0, err) : status;
}

/* Fills into, by node: the arc of a shortest way that leads there.  Returns
 * whether there is a way. */
static int find_way(mo_mincut *c, int source, int sink)
{
    int n = 0;

    for (int i = 0; i < c->n; i++)
        c->into[i] = -1;
    c->queue[n++] = source;
    for (int at = 0; at < n && c->into[sink] < 0; at++)
        for (int e = c->first[c->queue[at]]; e >= 0; e = c->arcs[e].next) {
            int to = c->arcs[e].to;

            if (c->arcs[e].ns == 0 || to == source || c->into[to] >= 0)
                continue;
            c->into[to] = e;
            c->queue[n++] = to;
        }
    return c->into[sink] >= 0;
}

/* As much as the way holds. */
static int64_t fill_way(mo_mincut *c, int source, int sink)
{
    int64_t least_ns = INT64_MAX;

    for (int i = sink; i != source; i = c->arcs[c->into[i] ^ 1].to)
        if (c->arcs[c->into[i]].ns < least_ns)
            least_ns = c->arcs[c->into[i]].ns;
    for (int i = sink; i != source; i = c->arcs[c->into[i] ^ 1].to) {
        c->arcs[c->into[i]].ns -= least_ns;
        c->arcs[c->into[i] ^ 1].ns += least_ns;
    }
    return least_ns;
}

int64_t mo_mincut_solve(mo_mincut *c, int source, int sink)
{
    int64_t sum_ns = 0;

    for (int i = 0; i < MOST_WAYS && find_way(c, source, sink); i++)
        sum_ns += fill_way(c, source, sink);
    return sum_ns;
}

void mo_mincut_clear(mo_mincut *c)
{
    free(c->first);
    free(c->into);
    free(c->queue);
    free(c->arcs);
    *c = (mo_mincut){ 0 };
}
