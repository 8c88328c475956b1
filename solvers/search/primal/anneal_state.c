/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of an annealing run: the critical path of its schedule (the ops and
 * transfers that determine the makespan, found backwards from the op that ends
 * last), moves in the neighbourhood of orders, and the random choice of moves.
 */
#include "solvers/search/primal/anneal_state.h"

#include <assert.h>
#include <stdlib.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "schedule/resource.h"

/* After a new placement one move in so many is a justification of its order. */
enum { JUSTIFY_EVERY = 16 };

/* Returns when flow q has arrived; *by is the node that delivered it. */
static int64_t arrival_ns(const mo_primal_anneal_state *w, int q, int *by)
{
    const mo_flow *flow = &w->x->flows[q];
    int from = w->at->device[flow->from], to = w->at->device[flow->to];
    int pair[2];
    const int *ids;

    *by = flow->from;
    if (from == to)
        return w->at->end_ns[flow->from];
    if (mo_resource_list(w->x, w->regime.congestion, from, to, pair, &ids) == 0)
        return w->at->end_ns[flow->from] +
               mo_schedule_flow_ns(w->x, &w->regime, q, from, to);
    /* The transfer that carries it to its reader. */
    if (w->regime.tensors == MO_TENSORS_ONCE) {
        q = w->x->tensor_start[flow->tensor];
        while (w->at->device[w->x->flows[q].to] != to)
            q++;
    }
    *by = w->x->n + q;
    return w->at->end_ns[*by];
}

/* Returns the node that delivered the last input, MO_PRIMAL_ANNEAL_NO_BLOCKER:
 * none. */
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

/* Whether the nodes need the device or a resource one after the other. */
static bool are_exclusive(const mo_primal_anneal_state *w, int node, int other)
{
    const int *device = w->at->device;
    const mo_flow *f, *g;

    if (mo_primal_anneal_node_is_op(w, node) !=
        mo_primal_anneal_node_is_op(w, other))
        return false;
    if (mo_primal_anneal_node_is_op(w, node))
        return device[node] == device[other];
    f = mo_primal_anneal_node_flow(w, node);
    g = mo_primal_anneal_node_flow(w, other);
    return mo_resource_is_shared(w->x, w->regime.congestion, device[f->from],
                                 device[f->to], device[g->from], device[g->to]);
}

/* Searches the log backwards from *at for the node that ended when this one
 * started on the same resource. */
static int find_blocker(const mo_primal_anneal_state *w, int node, int *at)
{
    while (*at > 0) {
        int other = w->at->log[--*at];

        if (other != node && w->at->end_ns[other] == w->at->start_ns[node] &&
            w->at->start_ns[other] < w->at->start_ns[node] &&
            are_exclusive(w, node, other))
            return other;
    }
    return MO_PRIMAL_ANNEAL_NO_BLOCKER;
}

static void find_critical_path(mo_primal_anneal_state *w)
{
    int at = w->at->n_log, node = 0;

    while (node < w->x->n && w->at->end_ns[node] != w->at->makespan_ns)
        node++;
    if (node == w->x->n)
        node = MO_PRIMAL_ANNEAL_NO_BLOCKER;
    w->n_chain = 0;
    while (node != MO_PRIMAL_ANNEAL_NO_BLOCKER) {
        mo_primal_anneal_critical_node *critical = &w->chain[w->n_chain++];
        int64_t input_ns;
        int input = last_input(w, node, &input_ns), before = at;

        *critical =
            (mo_primal_anneal_critical_node){ node, MO_PRIMAL_ANNEAL_NO_BLOCKER,
                                              0 };
        if (w->at->start_ns[node] > input_ns)
            critical->blocker = find_blocker(w, node, &at);
        if (critical->blocker == MO_PRIMAL_ANNEAL_NO_BLOCKER)
            at = before; /* delayed by its release time */
        critical->log_at = at;
        node = critical->blocker == MO_PRIMAL_ANNEAL_NO_BLOCKER
                   ? input
                   : critical->blocker;
    }
}

static int64_t send_key_of(const mo_primal_anneal_state *w, int node)
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

static void order_before(mo_primal_anneal_state *w, int node, int other)
{
    if (mo_primal_anneal_node_is_op(w, node))
        mo_incremental_sim_order_op(w->trial, node, w->at->key[other] - 1);
    else {
        /* Sets the key of all flows that the transfer carries. */
        int64_t key = send_key_of(w, other) - 1;
        const mo_instance *x = w->x;
        const mo_flow *flow = mo_primal_anneal_node_flow(w, node);
        int q = node - x->n, last = q + 1;

        if (w->regime.tensors == MO_TENSORS_ONCE)
            last = x->tensor_start[flow->tensor + 1];
        for (; q < last; q++)
            if (w->at->device[x->flows[q].to] == w->at->device[flow->to])
                mo_incremental_sim_order_transfer(w->trial, q, key);
    }
}

/* Returns a random node of those, up to log_at, that took the node's resource
 * when it was ready already; MO_PRIMAL_ANNEAL_NO_BLOCKER: none. */
static int find_favoured(mo_primal_anneal_state *w, int node, int log_at)
{
    int64_t ready_ns = w->at->ready_ns[node];
    int n = 0, favoured = MO_PRIMAL_ANNEAL_NO_BLOCKER;

    for (int i = log_at; i >= 0; i--) {
        int other = w->at->log[i];

        if (w->at->start_ns[other] < ready_ns)
            break;
        if (other != node && are_exclusive(w, node, other) &&
            mo_primal_anneal_random_below(w, ++n) == 0)
            favoured = other;
    }
    return favoured;
}

static bool move_before_favoured(mo_primal_anneal_state *w, int op)
{
    int at = w->at->n_log - 1, favoured;

    if (!w->draws.order)
        return mo_primal_anneal_move_op(w, op);
    while (at > 0 && w->at->log[at] != op)
        at--;
    favoured = find_favoured(w, op, at - 1);
    if (favoured == MO_PRIMAL_ANNEAL_NO_BLOCKER)
        return false;
    order_before(w, op, favoured);
    return true;
}

static void set_justified_order(mo_primal_anneal_state *w,
                                const int64_t *end_ns)
{
    const mo_instance *x = w->x;

    mo_justification_keys(w->back, w->at->device, end_ns, w->key, w->send_key);
    for (int i = 0; i < x->n; i++)
        mo_incremental_sim_order_op(w->trial, i, w->key[i]);
    for (int q = 0; q < x->n_flows; q++)
        mo_incremental_sim_order_transfer(w->trial, q, w->send_key[q]);
}

void mo_primal_anneal_justify_trial(mo_primal_anneal_state *w)
{
    mo_incremental_sim_end_times(w->trial, w->end_ns);
    set_justified_order(w, w->end_ns);
}

mo_status mo_primal_anneal_state_open(mo_primal_anneal_state *w,
                                      const mo_instance *x,
                                      const mo_regime *regime,
                                      const mo_primal_anneal_options *options,
                                      mo_error *err)
{
    size_t n = (size_t) x->n + 1, n_nodes = n + (size_t) x->n_flows;
    mo_status status;

    *w = (mo_primal_anneal_state){ .x = x,
                                   .regime = *regime,
                                   .options = options,
                                   .random = { options->seed } };
    w->draws.group = !mo_ablated(MO_ABLATION_anneal_group);
    w->draws.tree = !mo_ablated(MO_ABLATION_anneal_tree);
    w->draws.order = !mo_ablated(MO_ABLATION_anneal_order);
    w->draws.release = !mo_ablated(MO_ABLATION_anneal_release);
    w->draws.justify = !mo_ablated(MO_ABLATION_anneal_justify);
    status = mo_placement_units_make(x, regime, &w->units, err);
    if (status == MO_OK)
        status = mo_incremental_sim_new(x, regime, &w->trial, err);
    if (status == MO_OK)
        status = mo_justification_new(x, regime, &w->back, err);
    w->key = calloc(n, sizeof *w->key);
    w->send_key = calloc(n_nodes, sizeof *w->send_key);
    w->end_ns = calloc(n_nodes, sizeof *w->end_ns);
    w->room_bytes = calloc((size_t) x->n_devices + 1, sizeof *w->room_bytes);
    w->moves = calloc(n, sizeof *w->moves);
    w->chain = calloc(n_nodes, sizeof *w->chain);
    w->set = calloc(n, sizeof *w->set);
    w->tree.is_inside = calloc(n, sizeof *w->tree.is_inside);
    if (status == MO_OK &&
        (!w->key || !w->send_key || !w->end_ns || !w->room_bytes || !w->moves ||
         !w->chain || !w->set || !w->tree.is_inside))
        status = mo_fail_memory(err);
    if (status == MO_OK)
        w->at = mo_incremental_sim_current(w->trial);
    else
        mo_primal_anneal_state_close(w);
    return status;
}

void mo_primal_anneal_set_start(mo_primal_anneal_state *w,
                                const mo_schedule *start)
{
    mo_placement_units_free_bytes(w->x, w->units, w->room_bytes);
    for (int u = 0; u < w->units->n; u++)
        if (w->units->pin[u] == MO_FREE)
            w->room_bytes[start->device[w->units->ops[w->units->start[u]]]] -=
                w->units->bytes[u];
    w->overflow_bytes = 0;
    for (int k = 0; k < w->x->n_devices; k++)
        w->overflow_bytes -= mo_min_i64(w->room_bytes[k], 0);
    mo_incremental_sim_begin(w->trial, start);
    w->n_moves = 0;
    w->n_chain = 0;
}

void mo_primal_anneal_state_close(mo_primal_anneal_state *w)
{
    free(w->tree.is_inside);
    free(w->set);
    free(w->chain);
    free(w->moves);
    free(w->room_bytes);
    mo_justification_free(w->back);
    free(w->end_ns);
    free(w->send_key);
    free(w->key);
    mo_incremental_sim_free(w->trial);
    mo_placement_units_free(w->units);
}

/* Returns the op of a node; for a transfer its sender or its reader. */
static int op_of(mo_primal_anneal_state *w, int node)
{
    if (mo_primal_anneal_node_is_op(w, node))
        return node;
    return mo_primal_anneal_random_below(w, 2)
               ? mo_primal_anneal_node_flow(w, node)->to
               : mo_primal_anneal_node_flow(w, node)->from;
}

/* The shares of the moves below, out of 16, did best on transformer layers and
 * convolutional networks; none of them matters much alone. Exchanges are for
 * equal branches: there devices are full. */
static bool propose_critical_move(mo_primal_anneal_state *w)
{
    const mo_primal_anneal_critical_node *critical;
    int pick;

    if (w->n_chain == 0)
        find_critical_path(w);
    assert(w->n_chain > 0);
    critical = &w->chain[mo_primal_anneal_random_below(w, w->n_chain)];
    pick = mo_primal_anneal_random_below(w, 16);
    if (critical->blocker != MO_PRIMAL_ANNEAL_NO_BLOCKER && pick < 4 &&
        w->draws.order) {
        /* Moves a node before one that took its resource when it was ready
         * already. Where there is none, its blocker had started before: delays
         * that until then, i.e. inserts idle time. */
        int node = critical->node, blocker = critical->blocker;
        int favoured = find_favoured(w, node, critical->log_at);

        if (favoured != MO_PRIMAL_ANNEAL_NO_BLOCKER) {
            order_before(w, node, favoured);
            return true;
        }
        if (mo_primal_anneal_random_below(w, 4) > 0)
            return false;
        if (mo_primal_anneal_node_is_op(w, node))
            mo_incremental_sim_delay_op(w->trial, blocker,
                                        w->at->ready_ns[node]);
        else
            mo_incremental_sim_delay_transfer(w->trial, blocker - w->x->n,
                                              w->at->ready_ns[node]);
        order_before(w, node, blocker);
        return true;
    }
    if (critical->blocker != MO_PRIMAL_ANNEAL_NO_BLOCKER && pick < 9)
        return mo_primal_anneal_move_op(w, op_of(w, critical->blocker));
    pick = mo_primal_anneal_random_below(w, 16);
    if (pick < 4)
        return mo_primal_anneal_move_group(w, op_of(w, critical->node));
    if (pick < 5)
        return move_before_favoured(w, op_of(w, critical->node));
    if (pick < 9)
        return mo_primal_anneal_move_tree(w, op_of(w, critical->node));
    if (pick < 12 && w->options->branch_ops)
        return mo_primal_anneal_move_exchange(w, op_of(w, critical->node));
    return mo_primal_anneal_move_op(w, op_of(w, critical->node));
}

bool mo_primal_anneal_propose(mo_primal_anneal_state *w)
{
    if (w->is_new && w->draws.justify &&
        mo_primal_anneal_random_below(w, JUSTIFY_EVERY) == 0) {
        w->is_new = false;
        set_justified_order(w, w->at->end_ns);
        return true;
    }
    if (mo_primal_anneal_random_below(w, 4) > 0) {
        return propose_critical_move(w);
    }

    int op = mo_primal_anneal_random_below(w, w->x->n),
        pick = mo_primal_anneal_random_below(w, 16);

    if (pick < 1 || (pick < 4 && !w->options->branch_ops)) {
        /* Sets a release time, at the end of another op of the device, or
         * clears it. */
        int other;

        if (!w->draws.release)
            return mo_primal_anneal_move_op(w, op);
        if (w->at->release_ns[op] > 0 &&
            mo_primal_anneal_random_below(w, 2) == 0) {
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
    if (pick < 4)
        return mo_primal_anneal_move_branch(w);
    if (pick < 7)
        return move_before_favoured(w, op);
    if (pick < 10)
        return mo_primal_anneal_move_group(w, op);
    if (pick < 12)
        return mo_primal_anneal_move_tree(w, op);
    if (pick < 14 && w->options->branch_ops)
        return mo_primal_anneal_move_exchange(w, op);
    return mo_primal_anneal_move_op(w, op);
}
