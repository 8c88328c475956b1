/* SPDX-License-Identifier: Apache-2.0 */
/* Steps to other orders. */
#include "schedule/resource.h"
#include "solvers/search/primal/anneal_state.h"

/* All flows that go with the transfer get the key. */
static void send_by(mo_primal_anneal_state *w, int node, int64_t key)
{
    const mo_instance *x = w->x;
    const mo_flow *flow = mo_primal_anneal_node_flow(w, node);
    int q = node - x->n, last = q + 1;

    if (w->regime.tensors == MO_TENSORS_ONCE)
        last = x->tensor_start[flow->tensor + 1];
    for (; q < last; q++)
        if (w->at->device[x->flows[q].to] == w->at->device[flow->to])
            mo_incremental_sim_order_transfer(w->trial, q, key);
}

static int64_t send_key(const mo_primal_anneal_state *w, int node)
{
    const mo_instance *x = w->x;
    const mo_flow *flow = mo_primal_anneal_node_flow(w, node);
    int q = node - x->n, last = q + 1;
    int64_t key = w->at->send_key[q];

    if (w->regime.tensors == MO_TENSORS_ONCE)
        last = x->tensor_start[flow->tensor + 1];
    for (; q < last; q++)
        if (w->at->device[x->flows[q].to] == w->at->device[flow->to] &&
            w->at->send_key[q] < key)
            key = w->at->send_key[q];
    return key;
}

static void put_before(mo_primal_anneal_state *w, int node, int other)
{
    if (mo_primal_anneal_node_is_op(w, node))
        mo_incremental_sim_order_op(w->trial, node, w->at->key[other] - 1);
    else
        send_by(w, node, send_key(w, other) - 1);
}

/* One by chance of those, up to that place in the log, that took what the node
 * needs when it was ready already; MO_PRIMAL_ANNEAL_NO_BLOCKER: none did. */
static int find_favoured(mo_primal_anneal_state *w, int node, int log_at)
{
    int64_t ready_ns = w->at->ready_ns[node];
    int n = 0, favoured = MO_PRIMAL_ANNEAL_NO_BLOCKER;

    for (int i = log_at; i >= 0; i--) {
        int other = w->at->log[i];

        if (w->at->start_ns[other] < ready_ns)
            break;
        if (other != node && mo_primal_anneal_are_exclusive(w, node, other) &&
            mo_primal_anneal_random_below(w, ++n) == 0)
            favoured = other;
    }
    return favoured;
}

/* Where the blocker had started before there was a choice, it has to wait for
 * what it does not know of yet. */
static bool hold_back(mo_primal_anneal_state *w, int node, int blocker)
{
    if (mo_primal_anneal_node_is_op(w, node))
        mo_incremental_sim_delay_op(w->trial, blocker, w->at->ready_ns[node]);
    else
        mo_incremental_sim_delay_transfer(w->trial, blocker - w->x->n,
                                          w->at->ready_ns[node]);
    put_before(w, node, blocker);
    return true;
}

bool mo_primal_anneal_move_before_blocker(
    mo_primal_anneal_state *w, const mo_primal_anneal_critical_node *delay)
{
    int favoured = find_favoured(w, delay->node, delay->log_at);

    if (favoured == MO_PRIMAL_ANNEAL_NO_BLOCKER)
        return mo_primal_anneal_random_below(w, 4) == 0 &&
               hold_back(w, delay->node, delay->blocker);
    put_before(w, delay->node, favoured);
    return true;
}

bool mo_primal_anneal_move_order(mo_primal_anneal_state *w, int op)
{
    int at = w->at->n_log - 1, favoured;

    while (at > 0 && w->at->log[at] != op)
        at--;
    favoured = find_favoured(w, op, at - 1);
    if (favoured == MO_PRIMAL_ANNEAL_NO_BLOCKER)
        return false;
    put_before(w, op, favoured);
    return true;
}

/* Until some other op of the device has ended, or at once again. */
bool mo_primal_anneal_move_release(mo_primal_anneal_state *w, int op)
{
    int other;

    if (w->at->release_ns[op] > 0 && mo_primal_anneal_random_below(w, 2) == 0) {
        mo_incremental_sim_delay_op(w->trial, op, 0);
        return true;
    }
    other = mo_primal_anneal_random_below(w, w->x->n);
    if (w->at->device[other] != w->at->device[op] ||
        w->at->end_ns[other] <= w->at->start_ns[op] || other == op)
        return false;
    mo_incremental_sim_delay_op(w->trial, op, w->at->end_ns[other]);
    return true;
}

static void order_from_behind(mo_primal_anneal_state *w, const int64_t *end_ns)
{
    const mo_instance *x = w->x;

    mo_justification_keys(w->back, w->at->device, end_ns, w->key, w->send_key);
    for (int i = 0; i < x->n; i++)
        mo_incremental_sim_order_op(w->trial, i, w->key[i]);
    for (int q = 0; q < x->n_flows; q++)
        mo_incremental_sim_order_transfer(w->trial, q, w->send_key[q]);
}

bool mo_primal_anneal_move_justify(mo_primal_anneal_state *w)
{
    w->is_new = false;
    order_from_behind(w, w->at->end_ns);
    return true;
}

void mo_primal_anneal_justify_trial(mo_primal_anneal_state *w)
{
    mo_incremental_sim_end_times(w->trial, w->end_ns);
    order_from_behind(w, w->end_ns);
}
