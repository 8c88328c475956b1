/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why it takes so long: from the op that ends last back to the beginning, each
 * time to what the start was waiting for.
 */
#include "schedule/resource.h"
#include "solvers/search/primal/anneal_state.h"

/* The transfer that brings flow q to its reader. */
static int transfer_of(const mo_primal_anneal_state *w, int q)
{
    const mo_instance *x = w->x;
    int to = w->at->device[x->flows[q].to], first;

    if (w->regime.tensors != MO_TENSORS_ONCE)
        return x->n + q;
    first = x->tensor_start[x->flows[q].tensor];
    while (w->at->device[x->flows[first].to] != to)
        first++;
    return x->n + first;
}

static bool is_open(const mo_primal_anneal_state *w, int from, int to)
{
    int pair[2];
    const int *ids;

    return mo_resource_list(w->x, w->regime.congestion, from, to, pair, &ids) ==
           0;
}

/* When flow q has arrived, and what brought it. */
static int64_t arrival_ns(const mo_primal_anneal_state *w, int q, int *by)
{
    const mo_flow *flow = &w->x->flows[q];
    int from = w->at->device[flow->from], to = w->at->device[flow->to];

    *by = flow->from;
    if (from == to)
        return w->at->end_ns[flow->from];
    if (is_open(w, from, to))
        return w->at->end_ns[flow->from] +
               mo_schedule_item_ns(
                   w->x, &w->regime,
                   w->regime.tensors == MO_TENSORS_ONCE ? flow->tensor : q,
                   from, to);
    *by = transfer_of(w, q);
    return w->at->end_ns[*by];
}

/* What came last of all that it reads, or MO_PRIMAL_ANNEAL_NO_BLOCKER. */
static int last_input(const mo_primal_anneal_state *w, int node, int64_t *at_ns)
{
    const mo_instance *x = w->x;
    int last = MO_PRIMAL_ANNEAL_NO_BLOCKER;

    *at_ns = 0;
    if (!mo_primal_anneal_node_is_op(w, node)) {
        *at_ns = w->at->ready_ns[node];
        return mo_primal_anneal_node_flow(w, node)->from;
    }
    for (int j = x->in_start[node]; j < x->in_start[node + 1]; j++) {
        int by;
        int64_t ns = arrival_ns(w, x->in_flows[j], &by);

        if (last == MO_PRIMAL_ANNEAL_NO_BLOCKER || ns > *at_ns) {
            last = by;
            *at_ns = ns;
        }
    }
    return last;
}

static bool share(const mo_primal_anneal_state *w, const mo_flow *f,
                  const mo_flow *g)
{
    const int *device = w->at->device;
    int pair[2], other_pair[2];
    const int *ids, *other_ids;
    int n = mo_resource_list(w->x, w->regime.congestion, device[f->from],
                             device[f->to], pair, &ids);
    int m = mo_resource_list(w->x, w->regime.congestion, device[g->from],
                             device[g->to], other_pair, &other_ids);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (ids[i] == other_ids[j])
                return true;
    return false;
}

bool mo_primal_anneal_are_exclusive(const mo_primal_anneal_state *w, int node,
                                    int other)
{
    if (mo_primal_anneal_node_is_op(w, node) !=
        mo_primal_anneal_node_is_op(w, other))
        return false;
    return mo_primal_anneal_node_is_op(w, node)
               ? w->at->device[node] == w->at->device[other]
               : share(w, mo_primal_anneal_node_flow(w, node),
                       mo_primal_anneal_node_flow(w, other));
}

/* The blocker stands in the log before place *at, which goes back to it. */
static int find_blocker(const mo_primal_anneal_state *w, int node, int *at)
{
    while (*at > 0) {
        int other = w->at->log[--*at];

        if (other != node && w->at->end_ns[other] == w->at->start_ns[node] &&
            w->at->start_ns[other] < w->at->start_ns[node] &&
            mo_primal_anneal_are_exclusive(w, node, other))
            return other;
    }
    return MO_PRIMAL_ANNEAL_NO_BLOCKER;
}

static int last_op(const mo_primal_anneal_state *w)
{
    for (int i = 0; i < w->x->n; i++)
        if (w->at->end_ns[i] == w->at->makespan_ns)
            return i;
    return MO_PRIMAL_ANNEAL_NO_BLOCKER;
}

static void find_chain(mo_primal_anneal_state *w)
{
    int at = w->at->n_log, node = last_op(w);

    w->n_chain = 0;
    while (node != MO_PRIMAL_ANNEAL_NO_BLOCKER) {
        mo_primal_anneal_critical_node *delay = &w->chain[w->n_chain++];
        int64_t input_ns;
        int input = last_input(w, node, &input_ns), before = at;

        *delay =
            (mo_primal_anneal_critical_node){ node, MO_PRIMAL_ANNEAL_NO_BLOCKER,
                                              0 };
        if (w->at->start_ns[node] > input_ns)
            delay->blocker = find_blocker(w, node, &at);
        if (delay->blocker == MO_PRIMAL_ANNEAL_NO_BLOCKER)
            at = before; /* it was told to wait */
        delay->log_at = at;
        node = delay->blocker == MO_PRIMAL_ANNEAL_NO_BLOCKER ? input
                                                             : delay->blocker;
    }
}

const mo_primal_anneal_critical_node *
mo_primal_anneal_pick_critical(mo_primal_anneal_state *w)
{
    if (w->n_chain == 0)
        find_chain(w);
    return w->n_chain == 0
               ? NULL
               : &w->chain[mo_primal_anneal_random_below(w, w->n_chain)];
}
