/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step for an op and all that is made for it alone: an in-tree, for which the
 * cheapest devices are found all at once when time on devices and ports has a
 * price.  What is busy while the tree runs is expensive; chance does the rest.
 */
#include "solvers/search/primal/anneal_state.h"

#include <string.h>

/* Prices of a full resource, and the least of one that is idle. */
enum { FULL = 4096, IDLE = 64 };

/* Times are counted in units so large that the makespan is less than this. */
#define MOST_TIME (INT64_C(1) << 31)

typedef struct window {
    int64_t from_ns, to_ns;
    int shift; /* from ns to units of time */
} window;

/* What takes longer than all that stands is out of the question, however much
 * longer: sums must not overflow. */
static int64_t units_of(const window *it, int64_t ns)
{
    return ns >> it->shift < MOST_TIME ? ns >> it->shift : MOST_TIME;
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

/* From op to one that uses it alone, and so on, until chance says stop. */
static int find_root(mo_primal_anneal_state *w, int op)
{
    while (has_one_reader(w, op) && mo_primal_anneal_random_below(w, 4) > 0) {
        int reader = w->x->flows[w->x->out_start[op]].to;

        if (!may_move(w, reader))
            break;
        op = reader;
    }
    return op;
}

/* The root comes first, and each op behind its reader. */
static void find_tree(mo_primal_anneal_state *w, int root)
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

static void forget_tree(mo_primal_anneal_state *w)
{
    for (int i = 0; i < w->tree.n; i++)
        w->tree.is_inside[w->tree.op[i]] = false;
}

/* While it runs: from what it reads to what reads it. */
static window find_window(const mo_primal_anneal_state *w)
{
    const mo_primal_anneal_tree *t = &w->tree;
    const mo_instance *x = w->x;
    window it = { w->at->makespan_ns, 0, 0 };

    for (int i = 0; i < t->n; i++) {
        int64_t ready_ns = w->at->ready_ns[t->op[i]];

        it.from_ns = ready_ns < it.from_ns ? ready_ns : it.from_ns;
    }
    it.to_ns = w->at->end_ns[t->op[0]];
    for (int q = x->out_start[t->op[0]]; q < x->out_start[t->op[0] + 1]; q++)
        if (w->at->start_ns[x->flows[q].to] > it.to_ns)
            it.to_ns = w->at->start_ns[x->flows[q].to];
    while (w->at->makespan_ns >> it.shift >= MOST_TIME)
        it.shift++;
    return it;
}

static int64_t overlap_ns(const mo_primal_anneal_state *w, const window *it,
                          int node)
{
    int64_t from_ns = w->at->start_ns[node], to_ns = w->at->end_ns[node];

    from_ns = from_ns > it->from_ns ? from_ns : it->from_ns;
    to_ns = to_ns < it->to_ns ? to_ns : it->to_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* By device, port out and port in: how long others use them. */
static void find_busy(mo_primal_anneal_state *w, const window *it)
{
    mo_primal_anneal_tree *t = &w->tree;
    int n = w->x->n_devices;

    memset(t->busy_ns, 0, 3 * (size_t) n * sizeof *t->busy_ns);
    for (int i = 0; i < w->at->n_log; i++) {
        int node = w->at->log[i];
        int64_t ns = overlap_ns(w, it, node);

        if (ns == 0)
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

/* The third power of how busy it is, times chance.  How much time costs that
 * nobody else wants is chance, too: with much, trees stay close together. */
static void find_prices(mo_primal_anneal_state *w, const window *it)
{
    mo_primal_anneal_tree *t = &w->tree;
    int64_t span_ns = it->to_ns - it->from_ns + 1;
    int64_t idle = (int64_t) IDLE << mo_primal_anneal_random_below(w, 4);

    for (int r = 0; r < 3 * w->x->n_devices; r++) {
        int64_t part =
            (int64_t) (1024 * ((double) t->busy_ns[r] / (double) span_ns));
        int64_t cube;

        part = part < 2048 ? part : 2048;
        cube = part * part / 1024 * part / 1024;

        t->price[r] = idle + FULL * cube / 1024 *
                                 (64 + mo_primal_anneal_random_below(w, 256)) /
                                 192;
    }
}

static int64_t send_cost(const mo_primal_anneal_state *w, const window *it,
                         int q, int from, int to)
{
    const mo_primal_anneal_tree *t = &w->tree;
    int n = w->x->n_devices;
    int item = w->regime.tensors == MO_TENSORS_ONCE ? w->x->flows[q].tensor : q;

    if (from == to)
        return 0;
    return units_of(it, mo_schedule_item_ns(w->x, &w->regime, item, from, to)) *
           (t->price[n + from] + t->price[2 * n + to]);
}

/* Whether somebody else on the device is sent the flow's tensor anyhow. */
static bool is_sent_anyhow(const mo_primal_anneal_state *w, int q, int device)
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

/* What the op costs there by itself, with what it reads from outside and, the
 * root, with what it sends. */
static int64_t own_cost(const mo_primal_anneal_state *w, const window *it,
                        int i, int device)
{
    const mo_instance *x = w->x;
    const mo_primal_anneal_tree *t = &w->tree;
    int op = t->op[i];
    int64_t cost =
        units_of(it, mo_instance_p_ns(x, op, device)) * t->price[device];

    for (int j = x->in_start[op]; j < x->in_start[op + 1]; j++) {
        int q = x->in_flows[j], from = x->flows[q].from;

        if (!t->is_inside[from] && !is_sent_anyhow(w, q, device))
            cost += send_cost(w, it, q, w->at->device[from], device);
    }
    for (int q = x->out_start[op]; i == 0 && q < x->out_start[op + 1]; q++)
        cost += send_cost(w, it, q, device, w->at->device[x->flows[q].to]);
    return cost;
}

/* From the leaves to the root: what the tree below op i costs when its reader
 * is on a device, and where op i is then. */
static void choose_for_reader(mo_primal_anneal_state *w, const window *it,
                              int i)
{
    mo_primal_anneal_tree *t = &w->tree;
    int n = w->x->n_devices, q = w->x->out_start[t->op[i]];

    for (int to = 0; to < n; to++) {
        int64_t least = INT64_MAX;

        for (int from = 0; from < n; from++) {
            int64_t cost =
                t->cost[i * n + from] + send_cost(w, it, q, from, to);

            if (cost < least) {
                least = cost;
                t->choice[i * n + to] = from;
            }
        }
        t->cost[t->reader[i] * n + to] += least;
    }
}

static int choose_root(const mo_primal_anneal_state *w)
{
    int best = 0;

    for (int k = 1; k < w->x->n_devices; k++)
        if (w->tree.cost[k] < w->tree.cost[best])
            best = k;
    return best;
}

static void find_devices(mo_primal_anneal_state *w, const window *it)
{
    mo_primal_anneal_tree *t = &w->tree;
    int n = w->x->n_devices;

    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < n; k++)
            t->cost[i * n + k] = own_cost(w, it, i, k);
    for (int i = t->n - 1; i > 0; i--)
        choose_for_reader(w, it, i);
    t->device[0] = choose_root(w);
    for (int i = 1; i < t->n; i++)
        t->device[i] = t->choice[i * n + t->device[t->reader[i]]];
}

bool mo_primal_anneal_move_tree(mo_primal_anneal_state *w, int op)
{
    mo_primal_anneal_tree *t = &w->tree;
    bool moved = false;
    window it;

    if (!may_move(w, op) || w->x->n_devices > MO_PRIMAL_ANNEAL_TREE_MAX_DEVICES)
        return false;
    find_tree(w, find_root(w, op));
    it = find_window(w);
    find_busy(w, &it);
    find_prices(w, &it);
    find_devices(w, &it);
    forget_tree(w);
    for (int i = 0; i < t->n; i++)
        moved |= mo_primal_anneal_assign_unit(w, t->op[i], t->device[i]);
    return moved;
}
