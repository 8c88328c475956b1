/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/colocation_chain.h"

#include "base/minmax.h"
#include "schedule/bound/colocation_search.h"

enum {
    FIRST_SPAN = 48, /* ops of an interval, while the skip cost is least */
    MAX_SPAN = 160,
    FIRST_NODES = 2000, /* of an interval of a chain, then four times as many */
    CLOSED = MO_COLOC_MAX_LEVEL + 1 /* more nodes do not raise it further */
};

int mo_coloc_chain_find(const mo_coloc_band *b, int64_t cost_ns,
                        const mo_coloc_limits *limits, int64_t *most_ns,
                        int *before)
{
    int span =
        limits->skip_cost > MO_COLOC_LEAST_SKIP_COST ? MAX_SPAN : FIRST_SPAN;
    int64_t sum_ns = INT64_MIN;
    int last = 0;

    for (int v = 0; v < b->x->n; v++) {
        most_ns[v] = b->head_ns[v];
        before[v] = MO_FREE;
        for (int u = mo_max_int(0, v - mo_min_int(span, b->width) + 1); u < v;
             u++) {
            int64_t at = mo_coloc_band_at(b, u, v - u);
            int64_t ns = mo_min_i64(b->same_from[at], b->apart_from[at]);

            ns = mo_min_i64(ns + most_ns[u], MO_MAX_TOTAL_NS) -
                 cost_ns * (b->search_level[at] <= limits->level
                                ? 1 + b->search_level[at]
                                : limits->skip_cost);
            if (b->same_from[at] >= 0 &&
                (before[v] == MO_FREE || ns > most_ns[v])) {
                most_ns[v] = ns;
                before[v] = u;
            }
        }
        if (b->x->out_start[v] == b->x->out_start[v + 1] &&
            most_ns[v] + b->tail_ns[v] > sum_ns) {
            sum_ns = most_ns[v] + b->tail_ns[v];
            last = v;
        }
    }
    return last;
}

/* Searches an interval with more nodes than before, up to most_ns. */
static void refine_interval(mo_coloc_band *b, int u, int v, int64_t most_ns)
{
    int64_t at = mo_coloc_band_at(b, u, v - u);
    int64_t rest_ns = b->head_ns[u] + b->tail_ns[v];
    mo_coloc_times t = { b->same_from[at], b->apart_from[at] };
    bool closed = true;

    if (!mo_coloc_band_collect(b, u, v))
        return;
    b->max_nodes = (int64_t) FIRST_NODES << (2 * b->search_level[at]);
    if (rest_ns + t.same_ns < most_ns)
        closed = mo_coloc_search_raise(b, MO_COLOC_SAME, &t.same_ns);
    if (rest_ns + t.apart_ns < most_ns)
        closed &= mo_coloc_search_raise(b, MO_COLOC_APART, &t.apart_ns);
    mo_coloc_band_store(b, t);
    if (closed)
        b->search_level[at] = CLOSED;
    else
        b->search_level[at]++;
}

bool mo_coloc_chain_refine(mo_coloc_band *b, int level, const int *before,
                           int v, int64_t most_ns)
{
    bool any = false;

    for (; before[v] != MO_FREE; v = before[v])
        if (b->search_level[mo_coloc_band_at(b, before[v], v - before[v])] <=
            level) {
            refine_interval(b, before[v], v, most_ns);
            any = true;
        }
    return any;
}
