/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/sim/inserted_idle.h"

#include <stdbool.h>
#include <stdlib.h>

#include "schedule/resource.h"

/* How many earlier nodes are searched for one still in progress. */
enum { MAX_LOOKBACK = 1000 };

/* An op or a transfer. */
typedef struct node {
    int64_t start_ns, end_ns, ready_ns;
    int from, to; /* devices; equal for an op */
    int number;   /* of the op, or of the transfer's first flow */
} node;

struct mo_inserted_idle {
    const mo_instance *x;
    mo_congestion congestion;
    bool once;
    int n;
    node *nodes; /* by start */
};

mo_status mo_inserted_idle_new(const mo_instance *x, mo_inserted_idle **idle,
                               mo_error *err)
{
    mo_inserted_idle *w = calloc(1, sizeof *w);
    size_t n = (size_t) x->n + (size_t) x->n_flows + 1;

    if (!w)
        return mo_fail_memory(err);
    w->x = x;
    w->nodes = calloc(n, sizeof *w->nodes);
    if (!w->nodes) {
        mo_inserted_idle_free(w);
        return mo_fail_memory(err);
    }
    *idle = w;
    return MO_OK;
}

void mo_inserted_idle_free(mo_inserted_idle *w)
{
    if (!w)
        return;
    free(w->nodes);
    free(w);
}

static int64_t op_end_ns(const mo_inserted_idle *w, const mo_schedule *s,
                         int op)
{
    return s->start_ns[op] + mo_instance_p_ns(w->x, op, s->device[op]);
}

static int compare_nodes(const void *a, const void *b)
{
    const node *s = a, *t = b;

    if (s->start_ns != t->start_ns)
        return s->start_ns < t->start_ns ? -1 : 1;
    if ((s->from == s->to) != (t->from == t->to))
        return s->from == s->to ? -1 : 1;
    return (s->number > t->number) - (s->number < t->number);
}

static bool share_resource(const mo_inserted_idle *w, const node *a,
                           const node *b)
{
    int pair[2], other_pair[2], n, m;
    const int *ids, *other_ids;

    if (a->from == a->to || b->from == b->to)
        return a->from == b->from && a->to == b->to;
    n = mo_resource_list(w->x, w->congestion, a->from, a->to, pair, &ids);
    m = mo_resource_list(w->x, w->congestion, b->from, b->to, other_pair,
                         &other_ids);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (ids[i] == other_ids[j])
                return true;
    return false;
}

/* Returns whether there is a time between ready and start at which no
 * conflicting node was in progress. */
static bool has_inserted_idle(const mo_inserted_idle *w, int at)
{
    const node *it = &w->nodes[at];
    int64_t kept_ns = it->start_ns;
    int last = at > MAX_LOOKBACK ? at - MAX_LOOKBACK : 0;

    for (int i = at - 1; i >= last && kept_ns > it->ready_ns; i--) {
        const node *other = &w->nodes[i];

        if (other->start_ns < kept_ns && other->end_ns >= kept_ns &&
            share_resource(w, it, other))
            kept_ns = other->start_ns;
    }
    return kept_ns > it->ready_ns;
}

void mo_inserted_idle_find(mo_inserted_idle *w, const mo_schedule *s,
                           int64_t *release_ns, int64_t *send_release_ns)
{
    const mo_instance *x = w->x;

    w->congestion = s->regime.congestion;
    w->once = s->regime.tensors == MO_TENSORS_ONCE;
    w->n = 0;
    for (int i = 0; i < x->n; i++) {
        node *it = &w->nodes[w->n++];

        *it = (node){ .start_ns = s->start_ns[i],
                      .end_ns = op_end_ns(w, s, i),
                      .from = s->device[i],
                      .to = s->device[i],
                      .number = i };
        for (int j = x->in_start[i]; j < x->in_start[i + 1]; j++) {
            int q = x->in_flows[j], from = x->flows[q].from;
            const mo_transfer *t = mo_schedule_transfer(
                s, w->once ? x->flows[q].tensor : q, s->device[i]);
            int64_t there_ns = t ? t->end_ns : op_end_ns(w, s, from);

            it->ready_ns = there_ns > it->ready_ns ? there_ns : it->ready_ns;
        }
    }
    for (int i = 0; i < s->n_transfers; i++) {
        const mo_transfer *t = &s->transfers[i];
        int flow = w->once ? x->tensor_start[t->item] : t->item;

        while (s->device[x->flows[flow].to] != t->to)
            flow++;
        w->nodes[w->n++] =
            (node){ .start_ns = t->start_ns,
                    .end_ns = t->end_ns,
                    .ready_ns = op_end_ns(w, s, x->flows[flow].from),
                    .from = t->from,
                    .to = t->to,
                    .number = flow };
    }
    qsort(w->nodes, (size_t) w->n, sizeof *w->nodes, compare_nodes);
    for (int i = 0; i < x->n; i++)
        release_ns[i] = 0;
    for (int q = 0; q < x->n_flows; q++)
        send_release_ns[q] = 0;
    for (int i = 0; i < w->n; i++) {
        const node *it = &w->nodes[i];
        int64_t *until_ns = it->from == it->to ? release_ns : send_release_ns;

        if (it->start_ns > it->ready_ns && has_inserted_idle(w, i))
            until_ns[it->number] = it->start_ns;
    }
}
