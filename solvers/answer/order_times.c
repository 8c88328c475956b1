/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/answer/order_times.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "models/transfer_number.h"
#include "solvers/answer/column_name.h"

/* Nodes are the ops, then the transfers. */
typedef struct arc {
    int from, to;
} arc;

typedef struct order_graph {
    const mo_instance *x;
    mo_schedule *s;
    arc *arcs;
    size_t n_arcs, room;
    int n_nodes;
    int *first, *out; /* arcs by source */
    int *waits;       /* by node: arcs into it that are left */
    int *ready;       /* queue */
} order_graph;

bool mo_answer_has_times(const mo_solution *solution)
{
    for (int i = 0; i < solution->n; i++) {
        mo_column_name name;

        if (mo_column_name_parse(solution->values[i].name, &name) &&
            name.n == 1 &&
            (name.role == MO_VARIABLE_ROLE_START ||
             name.role == MO_VARIABLE_ROLE_SEND))
            return true;
    }
    return false;
}

static mo_status add_arc(order_graph *g, int from, int to, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(g->arcs, g->n_arcs, g->room, err);

    if (status == MO_OK)
        g->arcs[g->n_arcs++] = (arc){ from, to };
    return status;
}

static int transfer_node(const order_graph *g, const mo_transfer *t)
{
    return g->s->n + (int) (t - g->s->transfers);
}

static mo_status add_precedences(order_graph *g, mo_error *err)
{
    const mo_schedule *s = g->s;
    bool once = s->regime.tensors == MO_TENSORS_ONCE;
    mo_status status = MO_OK;

    for (int q = 0; q < g->x->n_flows && status == MO_OK; q++) {
        int from = g->x->flows[q].from, to = g->x->flows[q].to;
        const mo_transfer *t =
            s->device[from] == s->device[to]
                ? NULL
                : mo_schedule_transfer(s, once ? g->x->flows[q].tensor : q,
                                       s->device[to]);

        if (!t) {
            status = add_arc(g, from, to, err);
            continue;
        }
        status = add_arc(g, from, transfer_node(g, t), err);
        if (status == MO_OK)
            status = add_arc(g, transfer_node(g, t), to, err);
    }
    return status;
}

/* Sets *node to that of an op or transfer; -1: it is not sent. */
static mo_status find_node(const order_graph *g, const char *column,
                           const mo_column_name *name, int at, int *node,
                           mo_error *err)
{
    const mo_regime *regime = &g->s->regime;
    bool is_op = name->role == MO_VARIABLE_ROLE_ORDER;
    int64_t n = is_op ? g->x->n : mo_transfer_number_limit(g->x, regime);
    mo_transfer_ends ends;
    const mo_transfer *t;

    if (name->number[at] >= n)
        return mo_fail(err, MO_E_INPUT,
                       "column %.60s is about %s %d, which is not there; is "
                       "it the solution of another graph?",
                       column, is_op ? "op" : "transfer", name->number[at]);
    *node = name->number[at];
    if (is_op)
        return MO_OK;
    *node = -1;
    ends = mo_transfer_from_number(g->x, regime, name->number[at]);
    if (ends.device == MO_FREE && ends.to == MO_FREE)
        return MO_OK;
    if (mo_transfer_is_tensor(regime) != (regime->tensors == MO_TENSORS_ONCE))
        return MO_OK;
    t = mo_schedule_transfer(g->s, ends.item,
                             ends.device == MO_FREE ? g->s->device[ends.to]
                                                    : ends.device);
    if (t)
        *node = transfer_node(g, t);
    return MO_OK;
}

/* Orders of ops on different devices, and of what is not sent, have no
 * effect. */
static mo_status add_orders(const mo_solution *solution, double tolerance,
                            order_graph *g, bool *has_order, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < solution->n && status == MO_OK; i++) {
        const mo_solution_value *c = &solution->values[i];
        mo_column_name name;
        int from = -1, to = -1;

        if (!mo_column_name_parse(c->name, &name) || name.n != 2 ||
            (name.role != MO_VARIABLE_ROLE_ORDER &&
             name.role != MO_VARIABLE_ROLE_SEND_ORDER) ||
            c->value < 1 - tolerance)
            continue;
        *has_order = true;
        status = find_node(g, c->name, &name, 0, &from, err);
        if (status == MO_OK)
            status = find_node(g, c->name, &name, 1, &to, err);
        if (status != MO_OK || from < 0 || to < 0 || from == to)
            continue;
        if (name.role == MO_VARIABLE_ROLE_ORDER &&
            g->s->device[from] != g->s->device[to])
            continue;
        status = add_arc(g, from, to, err);
    }
    return status;
}

static int64_t *start_of(const order_graph *g, int node)
{
    return node < g->s->n ? &g->s->start_ns[node]
                          : &g->s->transfers[node - g->s->n].start_ns;
}

static int64_t end_of(const order_graph *g, int node)
{
    const mo_transfer *t;

    if (node < g->s->n)
        return g->s->start_ns[node] +
               mo_instance_p_ns(g->x, node, g->s->device[node]);
    t = &g->s->transfers[node - g->s->n];
    return t->start_ns +
           mo_schedule_item_ns(g->x, &g->s->regime, t->item, t->from, t->to);
}

/* Longest paths in topological order (Kahn, 1962). */
static mo_status set_longest_paths(order_graph *g, mo_error *err)
{
    int n_ready = 0;

    for (int i = 0; i < g->n_nodes; i++) {
        *start_of(g, i) = 0;
        if (g->waits[i] == 0)
            g->ready[n_ready++] = i;
    }
    for (int at = 0; at < n_ready; at++) {
        int node = g->ready[at];

        for (int a = g->first[node]; a < g->first[node + 1]; a++) {
            int64_t *start = start_of(g, g->out[a]);

            *start = mo_max_i64(*start, end_of(g, node));
            if (--g->waits[g->out[a]] == 0)
                g->ready[n_ready++] = g->out[a];
        }
    }
    if (n_ready == g->n_nodes)
        return MO_OK;
    for (int i = 0; i < g->s->n; i++)
        if (g->waits[i] > 0)
            return mo_fail(err, MO_E_INPUT,
                           "(1e) the order columns have op '%.200s' before "
                           "itself, by way of others",
                           g->x->op_names[i]);
    return mo_fail(err, MO_E_INPUT,
                   "(1g) the order columns of transfers are a cycle");
}

mo_status mo_answer_order_times(const mo_solution *solution,
                                const mo_instance *x, double tolerance,
                                mo_schedule *s, bool *has_order, mo_error *err)
{
    order_graph g = { .x = x, .s = s, .n_nodes = s->n + s->n_transfers };
    mo_status status;

    *has_order = false;
    status = add_orders(solution, tolerance, &g, has_order, err);
    if (status == MO_OK && *has_order) {
        status = add_precedences(&g, err);
        if (status == MO_OK) {
            size_t n = (size_t) g.n_nodes;

            /* Counting sort of the arcs by source. */
            g.first = calloc(n + 2, sizeof *g.first);
            g.out = calloc(g.n_arcs + 1, sizeof *g.out);
            g.waits = calloc(n + 1, sizeof *g.waits);
            g.ready = calloc(n + 1, sizeof *g.ready);
            if (!g.first || !g.out || !g.waits || !g.ready) {
                status = mo_fail_memory(err);
            } else {
                for (size_t a = 0; a < g.n_arcs; a++) {
                    g.first[g.arcs[a].from + 2]++;
                    g.waits[g.arcs[a].to]++;
                }
                for (size_t i = 2; i < n + 2; i++)
                    g.first[i] += g.first[i - 1];
                for (size_t a = 0; a < g.n_arcs; a++)
                    g.out[g.first[g.arcs[a].from + 1]++] = g.arcs[a].to;
            }
        }
        if (status == MO_OK)
            status = set_longest_paths(&g, err);
    }
    free(g.arcs);
    free(g.first);
    free(g.out);
    free(g.waits);
    free(g.ready);
    return status;
}
