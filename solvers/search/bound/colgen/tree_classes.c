/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/tree_classes.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/intern.h"

/*
 * Ops of a branch have a form: times and devices, rows, and the sorted forms of
 * what they read, numbered by what they hold.  From the root on, an op is added
 * to the node below its reader's that has its form, or makes that node.
 */

enum { NONE = -1 };

typedef struct maker {
    const mo_forkjoin *fork;
    mo_cg_tree *tree;
    mo_arena *arena;
    mo_intern *times, *forms;
    int64_t *key_ns; /* by device */
    int *key;
    int *form;      /* by op of the class */
    int *node_form; /* by node */
    int *child;     /* by op: the first that it reads, ... */
    int *next;      /* ... and the next that its reader reads; NONE: the end */
} maker;

static int compare_ints(const void *a, const void *b)
{
    int s = *(const int *) a, t = *(const int *) b;

    return (s > t) - (s < t);
}

static mo_status number_times(maker *m, int op, int *number, mo_error *err)
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

static mo_status find_form(maker *m, const mo_forkjoin_class *class, int j,
                           mo_error *err)
{
    size_t n = 3;
    mo_status status = number_times(m, class->ops[j].op, m->key, err);

    if (status != MO_OK)
        return status;
    m->key[1] = class->ops[j].row;
    m->key[2] = class->ops[j].u_row;
    for (int i = m->child[j]; i != NONE; i = m->next[i])
        m->key[n++] = m->form[i];
    qsort(m->key + 3, n - 3, sizeof *m->key, compare_ints);
    return mo_intern_put(m->forms, (const char *) m->key, n * sizeof *m->key,
                         &m->form[j], err);
}

static mo_status find_forms(maker *m, const mo_forkjoin_class *class,
                            mo_error *err)
{
    mo_status status = MO_OK;

    for (int j = 0; j < class->n; j++)
        m->child[j] = NONE;
    for (int j = 0; j < class->n && status == MO_OK; j++) {
        int reader = class->ops[j].reader;

        status = find_form(m, class, j, err);
        if (reader != MO_FREE) {
            m->next[j] = m->child[reader];
            m->child[reader] = j;
        }
    }
    return status;
}

static int make_node(maker *m, int class, const mo_forkjoin_op *op, int reader,
                     int form)
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
    m->node_form[node] = form;
    return node;
}

static int node_below(const maker *m, int reader, int form)
{
    const mo_cg_tree_node *nodes = m->tree->nodes;
    int node = nodes[reader].first_child;

    while (node != NONE && m->node_form[node] != form)
        node = nodes[node].next;
    return node;
}

static void add_class(maker *m, int c)
{
    mo_cg_tree *tree = m->tree;
    const mo_forkjoin_class *class = &m->fork->classes[c];
    int *node_of = tree->node_of + tree->start[c];

    tree->root[c] = tree->n;
    for (int j = class->n - 1; j >= 0; j--) {
        const mo_forkjoin_op *op = &class->ops[j];
        int reader = op->reader == MO_FREE ? MO_FREE : node_of[op->reader];
        int node = reader == MO_FREE ? NONE : node_below(m, reader, m->form[j]);

        if (node == NONE)
            node = make_node(m, c, op, reader, m->form[j]);
        node_of[j] = node;
        tree->nodes[node].total++;
    }
}

static void count_times(mo_cg_tree *tree)
{
    for (int i = 0; i < tree->n; i++) {
        mo_cg_tree_node *node = &tree->nodes[i];
        int readers =
            node->reader == MO_FREE ? 1 : tree->nodes[node->reader].total;

        node->times = node->total / readers;
    }
}

static mo_status begin(maker *m, mo_error *err)
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
    m->forms = mo_intern_new(m->arena);
    m->key_ns = mo_arena_array(m->arena, n_devices, sizeof *m->key_ns);
    m->key = mo_arena_array(m->arena, n + 3, sizeof *m->key);
    m->form = mo_arena_array(m->arena, n, sizeof *m->form);
    m->node_form = mo_arena_array(m->arena, n, sizeof *m->node_form);
    m->child = mo_arena_array(m->arena, n, sizeof *m->child);
    m->next = mo_arena_array(m->arena, n, sizeof *m->next);
    m->tree->nodes = calloc(n + 1, sizeof *m->tree->nodes);
    m->tree->root = calloc(n_classes + 1, sizeof *m->tree->root);
    m->tree->start = calloc(n_classes + 1, sizeof *m->tree->start);
    m->tree->node_of = calloc(n + 1, sizeof *m->tree->node_of);
    if (!m->times || !m->forms || !m->key_ns || !m->key || !m->form ||
        !m->node_form || !m->child || !m->next || !m->tree->nodes ||
        !m->tree->root || !m->tree->start || !m->tree->node_of)
        return mo_fail_memory(err);
    for (int c = 0; c < fork->n_classes; c++)
        m->tree->start[c + 1] = m->tree->start[c] + fork->classes[c].n;
    return MO_OK;
}

mo_status mo_cg_tree_new(const mo_forkjoin *fork, mo_cg_tree **tree,
                         mo_error *err)
{
    maker m = { .fork = fork };
    mo_status status = begin(&m, err);

    for (int c = 0; c < fork->n_classes && status == MO_OK; c++) {
        status = find_forms(&m, &fork->classes[c], err);
        if (status == MO_OK)
            add_class(&m, c);
    }
    mo_intern_free(m.times);
    mo_intern_free(m.forms);
    mo_arena_free(m.arena);
    if (status != MO_OK) {
        mo_cg_tree_free(m.tree);
        return status;
    }
    count_times(m.tree);
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
