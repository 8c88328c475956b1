/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Move of an in-tree (an op and the ops with no other reader): devices by
 * dynamic programming over the tree with prices on devices and ports,
 * Lagrangian prices by how busy each is while the tree runs, perturbed at
 * random.
 */
#include "solvers/search/primal/anneal_state.h"

#include <string.h>

#include "base/minmax.h"

/* Price of a full resource, and least price of an idle one. */
enum { FULL = 4096, IDLE = 64 };

/* Times are scaled so that the makespan is below this. */
#define MAX_SCALED_TIME (INT64_C(1) << 31)

typedef struct window {
    int64_t from_ns, to_ns;
    int shift; /* from ns to scaled time */
} window;

/* Saturates: sums must not overflow. */
static int64_t scaled_time(const window *it, int64_t ns)
{
    return ns >> it->shift < MAX_SCALED_TIME ? ns >> it->shift
                                             : MAX_SCALED_TIME;
}

static bool may_move(const mo_primal_anneal_state *w, int op)
{
    int unit = w->units->of_op[op];

    return w->units->pin[unit] == MO_FREE &&
           w->units->start[unit + 1] == w->units->start[unit] + 1;
}

static bool has_one_reader(const mo_primal_anneal_state *w, int op)
{
    return w->x->out_start[op + 1] == w->x->out_start[op] + 1;
}

/* The root comes first, and each op behind its reader. */
static void grow_tree(mo_primal_anneal_state *w, int root)
{
    const mo_instance *x = w->x;
    mo_primal_anneal_tree *t = &w->tree;

    t->n = 0;
    t->op[t->n] = root;
    t->reader[t->n++] = MO_PRIMAL_ANNEAL_NO_BLOCKER;
    for (int at = 0; at < t->n; at++)
        for (int j = x->in_start[t->op[at]];
             j < x->in_start[t->op[at] + 1] &&
             t->n < MO_PRIMAL_ANNEAL_TREE_MAX_OPS;
             j++) {
            int from = x->flows[x->in_flows[j]].from;

            if (has_one_reader(w, from) && may_move(w, from)) {
                t->op[t->n] = from;
                t->reader[t->n++] = at;
            }
        }
    for (int i = 0; i < t->n; i++)
        t->is_inside[t->op[i]] = true;
}

/* Returns the time window of the tree: from its inputs to its readers. */
static window find_window(const mo_primal_anneal_state *w)
{
    const mo_primal_anneal_tree *t = &w->tree;
    const mo_instance *x = w->x;
    window it = { w->at->makespan_ns, 0, 0 };

    for (int i = 0; i < t->n; i++) {
        int64_t ready_ns = w->at->ready_ns[t->op[i]];

        it.from_ns = mo_min_i64(ready_ns, it.from_ns);
    }
    it.to_ns = w->at->end_ns[t->op[0]];
    for (int q = x->out_start[t->op[0]]; q < x->out_start[t->op[0] + 1]; q++)
        if (w->at->start_ns[x->flows[q].to] > it.to_ns)
            it.to_ns = w->at->start_ns[x->flows[q].to];
    while (w->at->makespan_ns >> it.shift >= MAX_SCALED_TIME)
        it.shift++;
    return it;
}

/* Computes how long other work uses each device, output port and input port. */
static void compute_busy_times(mo_primal_anneal_state *w, const window *it)
{
    mo_primal_anneal_tree *t = &w->tree;
    int n = w->x->n_devices;

    memset(t->busy_ns, 0, 3 * (size_t) n * sizeof *t->busy_ns);
    for (int i = 0; i < w->at->n_log; i++) {
        int node = w->at->log[i];
        int64_t ns = mo_min_i64(w->at->end_ns[node], it->to_ns) -
                     mo_max_i64(w->at->start_ns[node], it->from_ns);

        if (ns <= 0)
            continue;
        if (mo_primal_anneal_node_is_op(w, node)) {
            t->busy_ns[w->at->device[node]] += t->is_inside[node] ? 0 : ns;
        } else if (!t->is_inside[mo_primal_anneal_node_flow(w, node)->from] &&
                   !t->is_inside[mo_primal_anneal_node_flow(w, node)->to]) {
            t->busy_ns[n + w->at->device[mo_primal_anneal_node_flow(w, node)
                                             ->from]] += ns;
            t->busy_ns[2 * n + w->at->device[mo_primal_anneal_node_flow(w, node)
                                                 ->to]] += ns;
        }
    }
}

static int64_t transfer_cost(const mo_primal_anneal_state *w, const window *it,
                             int q, int from, int to)
{
    const mo_primal_anneal_tree *t = &w->tree;
    int n = w->x->n_devices;
    int item = w->regime.tensors == MO_TENSORS_ONCE ? w->x->flows[q].tensor : q;

    if (from == to)
        return 0;
    return scaled_time(it,
                       mo_schedule_item_ns(w->x, &w->regime, item, from, to)) *
           (t->price[n + from] + t->price[2 * n + to]);
}

/* Whether the flow's tensor is sent to the device for another reader anyway. */
static bool is_sent_anyway(const mo_primal_anneal_state *w, int q, int device)
{
    const mo_instance *x = w->x;
    int tensor = x->flows[q].tensor;

    if (w->regime.tensors != MO_TENSORS_ONCE)
        return false;
    for (int r = x->tensor_start[tensor]; r < x->tensor_start[tensor + 1]; r++)
        if (w->at->device[x->flows[r].to] == device &&
            !w->tree.is_inside[x->flows[r].to])
            return true;
    return false;
}

/* Returns the cost of op i on the device: its run time, inputs from outside
 * the tree and, of the root, its outputs. */
static int64_t op_cost(const mo_primal_anneal_state *w, const window *it, int i,
                       int device)
{
    const mo_instance *x = w->x;
    const mo_primal_anneal_tree *t = &w->tree;
    int op = t->op[i];
    int64_t cost =
        scaled_time(it, mo_instance_p_ns(x, op, device)) * t->price[device];

    for (int j = x->in_start[op]; j < x->in_start[op + 1]; j++) {
        int q = x->in_flows[j], from = x->flows[q].from;

        if (!t->is_inside[from] && !is_sent_anyway(w, q, device))
            cost += transfer_cost(w, it, q, w->at->device[from], device);
    }
    for (int q = x->out_start[op]; i == 0 && q < x->out_start[op + 1]; q++)
        cost += transfer_cost(w, it, q, device, w->at->device[x->flows[q].to]);
    return cost;
}

/* Adds, for each device of the reader, the least cost of the subtree of op i,
 * and stores the device of op i for it. */
static void add_subtree_cost(mo_primal_anneal_state *w, const window *it, int i)
{
    mo_primal_anneal_tree *t = &w->tree;
    int n = w->x->n_devices, q = w->x->out_start[t->op[i]];

    for (int to = 0; to < n; to++) {
        int64_t least = INT64_MAX;

        for (int from = 0; from < n; from++) {
            int64_t cost =
                t->cost[i * n + from] + transfer_cost(w, it, q, from, to);

            if (cost < least) {
                least = cost;
                t->choice[i * n + to] = from;
            }
        }
        t->cost[t->reader[i] * n + to] += least;
    }
}

bool mo_primal_anneal_move_tree(mo_primal_anneal_state *w, int op)
{
    mo_primal_anneal_tree *t = &w->tree;
    bool moved = false, eject;
    window it;

    if (!w->draws.tree)
        return mo_primal_anneal_move_op(w, op);
    if (!may_move(w, op) || w->x->n_devices > MO_PRIMAL_ANNEAL_TREE_MAX_DEVICES)
        return false;
    /* Goes to the only reader of each op, ending at random. */
    while (has_one_reader(w, op) && mo_primal_anneal_random_below(w, 4) > 0 &&
           may_move(w, w->x->flows[w->x->out_start[op]].to))
        op = w->x->flows[w->x->out_start[op]].to;
    grow_tree(w, op);
    it = find_window(w);
    compute_busy_times(w, &it);
    /* The price is the cube of the utilization with a random factor. The price
     * of idle time is random, too: a high one keeps a tree on few devices. */
    int64_t span_ns = it.to_ns - it.from_ns + 1;
    int64_t idle = (int64_t) IDLE << mo_primal_anneal_random_below(w, 4);

    for (int r = 0; r < 3 * w->x->n_devices; r++) {
        int64_t part =
            (int64_t) (1024 * ((double) t->busy_ns[r] / (double) span_ns));
        int64_t cube;

        part = mo_min_i64(part, 2048);
        cube = part * part / 1024 * part / 1024;

        t->price[r] = idle + FULL * cube / 1024 *
                                 (64 + mo_primal_anneal_random_below(w, 256)) /
                                 192;
    }
    int n = w->x->n_devices;

    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < n; k++)
            t->cost[i * n + k] = op_cost(w, &it, i, k);
    for (int i = t->n - 1; i > 0; i--)
        add_subtree_cost(w, &it, i);
    t->device[0] = 0;
    for (int k = 1; k < n; k++)
        if (t->cost[k] < t->cost[t->device[0]])
            t->device[0] = k;
    for (int i = 1; i < t->n; i++)
        t->device[i] = t->choice[i * n + t->device[t->reader[i]]];
    for (int i = 0; i < t->n; i++)
        t->is_inside[t->op[i]] = false;
    eject = mo_primal_anneal_may_eject(w);
    for (int i = 0; i < t->n; i++)
        moved |= eject
                     ? mo_primal_anneal_move_unit(w, t->op[i], t->device[i])
                     : mo_primal_anneal_assign_unit(w, t->op[i], t->device[i]);
    return moved && (!eject || mo_primal_anneal_eject(w));
}
