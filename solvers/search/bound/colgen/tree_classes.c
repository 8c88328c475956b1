/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/tree_classes.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/intern.h"

/*
 * Canonical forms of rooted trees, by hash-consing: the shape of an op is made
 * of its times and devices, its comm rows, and the sorted shapes of its
 * inputs, and interned as a number. From the root on, an op joins the child of
 * its reader's node that has its shape, or adds that child.
 */

enum { NONE = -1 };

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

static int compare_ints(const void *a, const void *b)
{
    int s = *(const int *) a, t = *(const int *) b;

    return (s > t) - (s < t);
}

static mo_status intern_times(tree_builder *m, int op, int *number,
                              mo_error *err)
{
    const mo_allowed_devices *places = m->fork->places;
    size_t n_devices = (size_t) places->x->n_devices;

    for (int k = 0; k < places->x->n_devices; k++)
        m->key_ns[k] = mo_allowed_devices_has(places, op, k)
                           ? mo_instance_p_ns(places->x, op, k)
                           : -1;
    return mo_intern_put(m->times, (const char *) m->key_ns,
                         n_devices * sizeof *m->key_ns, number, err);
}

static mo_status intern_shape(tree_builder *m, const mo_forkjoin_class *class,
                              int j, mo_error *err)
{
    size_t n = 3;
    mo_status status = intern_times(m, class->ops[j].op, m->key, err);

    if (status != MO_OK)
        return status;
    m->key[1] = class->ops[j].row;
    m->key[2] = class->ops[j].u_row;
    for (int i = m->child[j]; i != NONE; i = m->next[i])
        m->key[n++] = m->shape[i];
    qsort(m->key + 3, n - 3, sizeof *m->key, compare_ints);
    return mo_intern_put(m->shapes, (const char *) m->key, n * sizeof *m->key,
                         &m->shape[j], err);
}

static mo_status intern_shapes(tree_builder *m, const mo_forkjoin_class *class,
                               mo_error *err)
{
    mo_status status = MO_OK;

    for (int j = 0; j < class->n; j++)
        m->child[j] = NONE;
    for (int j = 0; j < class->n && status == MO_OK; j++) {
        int reader = class->ops[j].reader;

        status = intern_shape(m, class, j, err);
        if (reader != MO_FREE) {
            m->next[j] = m->child[reader];
            m->child[reader] = j;
        }
    }
    return status;
}

static int add_node(tree_builder *m, int class, const mo_forkjoin_op *op,
                    int reader, int shape)
{
    mo_cg_tree *tree = m->tree;
    int node = tree->n++;

    tree->nodes[node] =
        (mo_cg_tree_node){ op->op, reader, op->row, op->u_row, class,
                           0,      0,      NONE,    NONE };
    if (reader != MO_FREE) {
        tree->nodes[node].next = tree->nodes[reader].first_child;
        tree->nodes[reader].first_child = node;
    }
    m->node_shape[node] = shape;
    return node;
}

static int find_child(const tree_builder *m, int reader, int shape)
{
    const mo_cg_tree_node *nodes = m->tree->nodes;
    int node = nodes[reader].first_child;

    while (node != NONE && m->node_shape[node] != shape)
        node = nodes[node].next;
    return node;
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
        int node =
            reader == MO_FREE ? NONE : find_child(m, reader, m->shape[j]);

        if (node == NONE)
            node = add_node(m, c, op, reader, m->shape[j]);
        node_of[j] = node;
        tree->nodes[node].total++;
    }
}

static mo_status allocate_builder(tree_builder *m, mo_error *err)
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
    mo_status status = allocate_builder(&m, err);

    for (int c = 0; c < fork->n_classes && status == MO_OK; c++) {
        status = intern_shapes(&m, &fork->classes[c], err);
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
