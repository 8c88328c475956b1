/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/problem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/intern.h"
#include "base/minmax.h"
#include "schedule/resource.h"

/* So that a few horizons can be added without overflow. */
#define MAX_TICKS (INT64_MAX / 16)

enum { NONE = -1, MAX_RESOURCES = 100 };

static int64_t to_ticks(const mo_cg_problem *c, int64_t ns)
{
    return ns > c->cell ? c->horizon + 1 : ns * c->cells;
}

/* Returns the new number of a comm row, the next free one when it is new. */
static int number_comm_row(mo_cg_problem *c, int *number_of, int row)
{
    if (row < 0)
        return NONE;
    if (number_of[row] == 0)
        number_of[row] = ++c->n_comm_rows;
    return number_of[row] - 1;
}

/*
 * With tensors sent once, only of the broadcast tensor it is known that no
 * other op sends it to the same device, so that its transfers can be modelled.
 * Tensors with equal comm rows are treated as one: the first to arrive serves
 * all readers. This relaxes the problem, as does a mere delay for the other
 * tensors.
 */
static mo_cg_input classify_u_input(const mo_cg_problem *c, int u_row)
{
    if (u_row == NONE || c->u_device == MO_FREE)
        return MO_CG_INPUT_NONE;
    if (c->regime.congestion == MO_CONGESTION_NONE)
        return MO_CG_INPUT_DELAY;
    if (c->regime.tensors != MO_TENSORS_ONCE)
        return MO_CG_INPUT_TRANSFER;
    return u_row == c->fork->broadcast_row ? MO_CG_INPUT_BROADCAST
                                           : MO_CG_INPUT_DELAY;
}

static mo_status make_comm_rows(mo_cg_problem *c, mo_error *err)
{
    const mo_instance *x = c->fork->places->x;
    size_t n = (size_t) x->comm.n_rows, size;
    int k = c->n_devices, pairs = k * k;
    int *number_of = calloc(n + 1, sizeof *number_of);

    if (!number_of)
        return mo_fail_memory(err);
    for (int i = 0; i < c->n_nodes; i++) {
        const mo_cg_tree_node *node = &c->tree->nodes[i];
        bool sent = node->reader != MO_FREE || c->v_device != MO_FREE;

        assert(node->reader == MO_FREE || node->row >= 0);
        c->comm_row[i] = sent ? number_comm_row(c, number_of, node->row) : NONE;
        c->u_comm_row[i] = c->u_input[i] == MO_CG_INPUT_NONE
                               ? NONE
                               : number_comm_row(c, number_of, node->u_row);
        if (c->u_input[i] == MO_CG_INPUT_BROADCAST)
            c->broadcast_row = c->u_comm_row[i];
    }
    if (mo_size_mul((size_t) pairs, (size_t) c->n_comm_rows + 1, &size))
        c->transfer = calloc(size, sizeof *c->transfer);
    for (size_t row = 0; row < n && c->transfer; row++)
        for (int i = 0; number_of[row] > 0 && i < pairs; i++)
            c->transfer[(int64_t) (number_of[row] - 1) * pairs + i] =
                i / k == i % k ? 0
                               : to_ticks(c, mo_instance_row_ns(x, (int) row,
                                                                i / k, i % k));
    free(number_of);
    return c->transfer ? MO_OK : mo_fail_memory(err);
}

static mo_status make_pair_resources(mo_cg_problem *c, mo_error *err)
{
    const mo_instance *x = c->fork->places->x;
    mo_congestion congestion = c->regime.congestion;
    int k = c->n_devices, two[2], n = 0;
    const int *ids;

    c->n_resources = k + mo_resource_count(x, congestion);
    for (int pair = 0; pair < k * k; pair++) {
        c->pair_start[pair] = n;
        if (pair / k != pair % k)
            n += mo_resource_list(x, congestion, pair / k, pair % k, two, &ids);
    }
    c->pair_start[(size_t) k * k] = n;
    c->pair_resource = calloc((size_t) n + 1, sizeof *c->pair_resource);
    if (!c->pair_resource)
        return mo_fail_memory(err);
    for (int pair = 0; pair < k * k; pair++) {
        mo_resource_list(x, congestion, pair / k, pair % k, two, &ids);
        for (int i = c->pair_start[pair]; i < c->pair_start[pair + 1]; i++)
            c->pair_resource[i] = k + ids[i - c->pair_start[pair]];
    }
    return MO_OK;
}

static mo_status fill_problem(mo_cg_problem *c, mo_error *err)
{
    size_t k = (size_t) c->n_devices, n = (size_t) c->n_nodes + 1, size;
    mo_status status;

    if (!mo_size_mul(n, k, &size))
        return mo_fail_memory(err);
    c->p = calloc(size, sizeof *c->p);
    c->allowed = calloc(size, sizeof *c->allowed);
    c->comm_row = calloc(n, sizeof *c->comm_row);
    c->u_comm_row = calloc(n, sizeof *c->u_comm_row);
    c->u_input = calloc(n, sizeof *c->u_input);
    c->pair_start = calloc(k * k + 1, sizeof *c->pair_start);
    if (!c->p || !c->allowed || !c->comm_row || !c->u_comm_row || !c->u_input ||
        !c->pair_start)
        return mo_fail_memory(err);

    const mo_allowed_devices *places = c->fork->places;

    for (int i = 0; i < c->n_nodes; i++) {
        int op = c->tree->nodes[i].op;

        c->u_input[i] = classify_u_input(c, c->tree->nodes[i].u_row);
        for (int j = 0; j < c->n_devices; j++) {
            int at = mo_cg_index(c, i, j);

            c->p[at] = to_ticks(c, mo_instance_p_ns(places->x, op, j));
            c->allowed[at] = mo_allowed_devices_has(places, op, j);
        }
    }
    status = make_pair_resources(c, err);
    return status == MO_OK ? make_comm_rows(c, err) : status;
}

mo_status mo_cg_problem_new(const mo_forkjoin_case *at, const mo_cg_tree *tree,
                            int64_t time_ns, int cells, mo_cg_problem **made,
                            mo_error *err)
{
    const mo_instance *x = at->fork->places->x;
    mo_cg_problem *c;
    mo_status status;

    *made = NULL;
    if (time_ns < 1 || time_ns > MAX_TICKS / cells)
        return MO_OK;
    c = calloc(1, sizeof *c);
    if (!c)
        return mo_fail_memory(err);
    c->fork = at->fork;
    c->tree = tree;
    /* With very many channels or links each is rarely full; they are dropped,
     * which relaxes the problem. */
    c->regime = at->fork->places->regime;
    if (mo_resource_count(x, c->regime.congestion) > MAX_RESOURCES)
        c->regime.congestion = MO_CONGESTION_NONE;
    c->u_device = at->a;
    c->v_device = at->b;
    c->n_devices = x->n_devices;
    c->n_nodes = tree->n;
    c->cells = cells;
    c->cell = time_ns;
    c->horizon = time_ns * cells;
    c->broadcast_row = NONE;
    status = fill_problem(c, err);
    if (status == MO_OK)
        *made = c;
    else
        mo_cg_problem_free(c);
    return status;
}

void mo_cg_problem_free(mo_cg_problem *c)
{
    if (!c)
        return;
    free(c->pair_start);
    free(c->pair_resource);
    free(c->transfer);
    free(c->comm_row);
    free(c->u_comm_row);
    free(c->u_input);
    free(c->p);
    free(c->allowed);
    free(c->budget_part);
    free(c);
}

mo_status mo_cg_problem_set_budget(mo_cg_problem *c, const mo_cg_budget *budget,
                                   mo_error *err)
{
    c->budget_part = calloc((size_t) c->n_nodes + 1,
                            (size_t) c->n_devices * sizeof *c->budget_part);
    if (!c->budget_part)
        return mo_fail_memory(err);
    c->budget_ns = budget->ns;
    c->sum_ns = budget->sum_ns;
    c->last_sum_cell =
        (int) mo_min_i64(budget->from_ns * c->cells / c->cell, c->cells - 1);
    if (budget->op_price_ns) {
        for (int i = 0; i < c->n_nodes * c->n_devices; i++)
            c->budget_part[i] = INFINITY;
        for (int i = 0; i < c->fork->n_classes; i++) {
            const mo_forkjoin_class *class = &c->fork->classes[i];

            for (int j = 0; j < class->count * class->n; j++) {
                const int64_t *price_ns =
                    budget->op_price_ns +
                    (size_t) class->members[j] * (size_t) c->n_devices;
                int node = c->tree->node_of[c->tree->start[i] + j % class->n];

                /* Lowers the budget parts of the node of an op to its prices.
                 */
                for (int k = 0; k < c->n_devices; k++) {
                    double *part = &c->budget_part[mo_cg_index(c, node, k)];

                    *part = fmin(*part, (double) price_ns[k] / budget->ns);
                }
            }
        }
        return MO_OK;
    }
    for (int i = 0; i < c->n_nodes; i++)
        for (int k = 0; k < c->n_devices; k++)
            c->budget_part[mo_cg_index(c, i, k)] =
                budget->price_ns[k] *
                (double) mo_allowed_devices_resident_bytes(
                    c->fork->places, c->tree->nodes[i].op) /
                budget->ns;
    return MO_OK;
}

bool mo_cg_pairs_conflict(const mo_cg_problem *c, int pair, int other)
{
    for (int i = c->pair_start[pair]; i < c->pair_start[pair + 1]; i++)
        for (int j = c->pair_start[other]; j < c->pair_start[other + 1]; j++)
            if (c->pair_resource[i] == c->pair_resource[j])
                return true;
    return false;
}

/*
 * Merged trees.
 */

/*
 * Canonical forms of rooted trees, by hash-consing: the shape of an op is made
 * of its times and devices, its comm rows, and the sorted shapes of its
 * inputs, and interned as a number. From the root on, an op joins the child of
 * its reader's node that has its shape, or adds that child.
 */

typedef struct tree_builder {
    const mo_forkjoin *fork;
    mo_cg_tree *tree;
    mo_arena *arena;
    mo_intern *times, *shapes;
    int64_t *key_ns; /* by device */
    int *key;
    int *shape;      /* by op of the class */
    int *node_shape; /* by node */
    int *child;      /* by op: first input, ... */
    int *next;       /* ... and the next input of its reader; NONE: end */
} tree_builder;

static mo_status intern_shape(tree_builder *m, const mo_forkjoin_class *class,
                              int j, mo_error *err)
{
    size_t n = 3;
    int op = class->ops[j].op;
    const mo_allowed_devices *places = m->fork->places;
    size_t n_devices = (size_t) places->x->n_devices;

    for (int k = 0; k < places->x->n_devices; k++)
        m->key_ns[k] = mo_allowed_devices_has(places, op, k)
                           ? mo_instance_p_ns(places->x, op, k)
                           : -1;
    mo_status status =
        mo_intern_put(m->times, (const char *) m->key_ns,
                      n_devices * sizeof *m->key_ns, m->key, err);

    if (status != MO_OK)
        return status;
    m->key[1] = class->ops[j].row;
    m->key[2] = class->ops[j].u_row;
    for (int i = m->child[j]; i != NONE; i = m->next[i])
        m->key[n++] = m->shape[i];
    qsort(m->key + 3, n - 3, sizeof *m->key, mo_compare_int);
    return mo_intern_put(m->shapes, (const char *) m->key, n * sizeof *m->key,
                         &m->shape[j], err);
}

static void add_class(tree_builder *m, int c)
{
    mo_cg_tree *tree = m->tree;
    const mo_forkjoin_class *class = &m->fork->classes[c];
    int *node_of = tree->node_of + tree->start[c];

    tree->root[c] = tree->n;
    for (int j = class->n - 1; j >= 0; j--) {
        const mo_forkjoin_op *op = &class->ops[j];
        int reader = op->reader == MO_FREE ? MO_FREE : node_of[op->reader];
        int node;

        if (reader == MO_FREE) {
            node = NONE;
        } else {
            int shape = m->shape[j];
            const mo_cg_tree_node *nodes = m->tree->nodes;
            node = nodes[reader].first_child;

            while (node != NONE && m->node_shape[node] != shape)
                node = nodes[node].next;
        }

        if (node == NONE) {
            int shape = m->shape[j];
            node = tree->n++;

            tree->nodes[node] =
                (mo_cg_tree_node){ op->op, reader, op->row, op->u_row, c,
                                   0,      0,      NONE,    NONE };
            if (reader != MO_FREE) {
                tree->nodes[node].next = tree->nodes[reader].first_child;
                tree->nodes[reader].first_child = node;
            }
            m->node_shape[node] = shape;
        }
        node_of[j] = node;
        tree->nodes[node].total++;
    }
}

static mo_status allocate_tree_builder(tree_builder *m, mo_error *err)
{
    const mo_forkjoin *fork = m->fork;
    size_t n_classes = (size_t) fork->n_classes, n = 0;
    size_t n_devices = (size_t) fork->places->x->n_devices;

    for (int c = 0; c < fork->n_classes; c++)
        n += (size_t) fork->classes[c].n;
    m->tree = calloc(1, sizeof *m->tree);
    m->arena = mo_arena_new();
    if (!m->tree || !m->arena)
        return mo_fail_memory(err);
    m->times = mo_intern_new(m->arena);
    m->shapes = mo_intern_new(m->arena);
    m->key_ns = mo_arena_array(m->arena, n_devices, sizeof *m->key_ns);
    m->key = mo_arena_array(m->arena, n + 3, sizeof *m->key);
    m->shape = mo_arena_array(m->arena, n, sizeof *m->shape);
    m->node_shape = mo_arena_array(m->arena, n, sizeof *m->node_shape);
    m->child = mo_arena_array(m->arena, n, sizeof *m->child);
    m->next = mo_arena_array(m->arena, n, sizeof *m->next);
    m->tree->nodes = calloc(n + 1, sizeof *m->tree->nodes);
    m->tree->root = calloc(n_classes + 1, sizeof *m->tree->root);
    m->tree->start = calloc(n_classes + 1, sizeof *m->tree->start);
    m->tree->node_of = calloc(n + 1, sizeof *m->tree->node_of);
    if (!m->times || !m->shapes || !m->key_ns || !m->key || !m->shape ||
        !m->node_shape || !m->child || !m->next || !m->tree->nodes ||
        !m->tree->root || !m->tree->start || !m->tree->node_of)
        return mo_fail_memory(err);
    for (int c = 0; c < fork->n_classes; c++)
        m->tree->start[c + 1] = m->tree->start[c] + fork->classes[c].n;
    return MO_OK;
}

mo_status mo_cg_tree_new(const mo_forkjoin *fork, mo_cg_tree **tree,
                         mo_error *err)
{
    tree_builder m = { .fork = fork };
    mo_status status = allocate_tree_builder(&m, err);

    for (int c = 0; c < fork->n_classes && status == MO_OK; c++) {
        for (int j = 0; j < fork->classes[c].n; j++)
            m.child[j] = NONE;
        for (int j = 0; j < fork->classes[c].n && status == MO_OK; j++) {
            int reader = fork->classes[c].ops[j].reader;

            status = intern_shape(&m, &fork->classes[c], j, err);
            if (reader != MO_FREE) {
                m.next[j] = m.child[reader];
                m.child[reader] = j;
            }
        }
        if (status == MO_OK)
            add_class(&m, c);
    }
    mo_intern_free(m.times);
    mo_intern_free(m.shapes);
    mo_arena_free(m.arena);
    if (status != MO_OK) {
        mo_cg_tree_free(m.tree);
        return status;
    }
    for (int i = 0; i < m.tree->n; i++) {
        mo_cg_tree_node *node = &m.tree->nodes[i];
        int readers =
            node->reader == MO_FREE ? 1 : m.tree->nodes[node->reader].total;

        node->times = node->total / readers;
    }
    *tree = m.tree;
    return MO_OK;
}

void mo_cg_tree_free(mo_cg_tree *tree)
{
    if (!tree)
        return;
    free(tree->nodes);
    free(tree->root);
    free(tree->start);
    free(tree->node_of);
    free(tree);
}
