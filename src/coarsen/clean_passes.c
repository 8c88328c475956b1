/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "coarsen/clean_internal.h"

#include <string.h>

#include "coarsen/operator_cache.h"
#include "coarsen/coarsen_map.h"

static bool is_any_of(const mo_operator *kind, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(kind->name, *names) == 0)
            return true;
    return false;
}

static bool has_any_of(const char *type, const char *const *words)
{
    for (; *words; words++)
        if (strcasestr(type, *words))
            return true;
    return false;
}

/* The user said where it goes: then it stays a thing that goes somewhere. */
static bool is_bound(const mo_op *op)
{
    return op->pin || op->colocate;
}

static bool all_producers_are(const mo_graph *g, int op, const int *group,
                              int mark)
{
    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++)
        if (group[g->edges[g->in_edges[i]].from] != mark)
            return false;
    return true;
}

static bool producers_have_shapes(const mo_graph *g, int op)
{
    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++)
        if (!g->ops[g->edges[g->in_edges[i]].from].shape)
            return false;
    return true;
}

static bool is_filled(const mo_op *op, const mo_operator *kind,
                      const char *const *words)
{
    return strcmp(kind->name, "Broadcast") == 0 && has_any_of(op->type, words);
}

/* Makes up what it puts out.  An op without inputs need not: files leave out
 * the network's inputs, and so do we; they may have been what a Broadcast
 * called "expand" has spread. */
static bool makes_up(const mo_op *op, const mo_operator *kind)
{
    static const char *const makers[] = { "Const", "Range", "Eye", NULL };
    static const char *const fills[] = { "ones",  "zeros",           "full",
                                         "empty", "constantofshape", NULL };

    return is_any_of(kind, makers) || is_filled(op, kind, fills);
}

/* Of what it reads only sizes matter, and those are known. */
static bool reads_shapes(const mo_graph *g, int id, const mo_operator *kind)
{
    static const char *const fills[] = { "ones", "zeros", "empty",
                                         "constantofshape", NULL };
    static const char *const likes[] = { "_like", "new_", NULL };
    const mo_op *op = &g->ops[id];

    if (kind->class == MO_CLASS_SHAPE || is_filled(op, kind, likes))
        return producers_have_shapes(g, id);
    return op->shape && is_filled(op, kind, fills);
}

/* A constant depends on no input, but through the shape of something whose
 * shape is static. */
static bool is_constant(const mo_graph *g, int id, const mo_operator *kind,
                        const int *group)
{
    static const char *const stateful[] = { "ReadValue", "Assign",
                                            "RandomUniform", NULL };
    const mo_op *op = &g->ops[id];

    if (!kind || is_bound(op))
        return false;
    if (mo_graph_in_degree(g, id) == 0)
        return makes_up(op, kind);
    if (kind->class == MO_CLASS_NONE || is_any_of(kind, stateful))
        return false;
    return reads_shapes(g, id, kind) ||
           all_producers_are(g, id, group, MO_COARSEN_MAP_CONSTANT);
}

void mo_clean_mark_constants(const mo_graph *g, int *group, bool *silent)
{
    mo_operator_cache known = { 0 };

    for (int i = 0; i < g->n_ops; i++) {
        const mo_operator *kind =
            mo_operator_cache_find(&known, g->ops[i].type);

        silent[i] = false;
        group[i] = is_constant(g, i, kind, group) ? MO_COARSEN_MAP_CONSTANT : i;
    }
}

/* An input of the network is wherever it is wanted, and so is a view of it. */
void mo_clean_mark_sources(const mo_graph *g, int *group, bool *silent)
{
    mo_operator_cache known = { 0 };

    for (int i = 0; i < g->n_ops; i++) {
        const mo_operator *kind =
            mo_operator_cache_find(&known, g->ops[i].type);
        bool is_source;

        silent[i] = false;
        group[i] = i;
        if (!kind || is_bound(&g->ops[i]))
            continue;
        is_source =
            mo_graph_in_degree(g, i) == 0
                ? kind->class == MO_CLASS_NONE
                : kind->class == MO_CLASS_FREE &&
                      all_producers_are(g, i, group, MO_COARSEN_MAP_REPLICATED);
        if (is_source)
            group[i] = MO_COARSEN_MAP_REPLICATED;
    }
}

/* Results do nothing; their producers remember (mo_op.is_output). */
void mo_clean_mark_results(const mo_graph *g, int *group, bool *silent)
{
    mo_operator_cache known = { 0 };

    for (int i = 0; i < g->n_ops; i++) {
        const mo_operator *kind =
            mo_operator_cache_find(&known, g->ops[i].type);
        bool is_result = kind && kind->class == MO_CLASS_NONE &&
                         mo_graph_out_degree(g, i) == 0;

        silent[i] = false;
        group[i] =
            is_result && !is_bound(&g->ops[i]) ? MO_COARSEN_MAP_REPLICATED : i;
    }
}

/* The group that alone feeds op, or -1. */
static int sole_producer(const mo_graph *g, int op, const int *group)
{
    int producer = -1;

    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++) {
        int from = group[g->edges[g->in_edges[i]].from];

        if (producer >= 0 && from != producer)
            return -1;
        producer = from;
    }
    return producer;
}

/* A view does nothing: it joins what it is a view of.  No cycle can come of it,
 * since nothing but that reaches it. */
void mo_clean_mark_views(const mo_graph *g, int *group, bool *silent)
{
    mo_operator_cache known = { 0 };

    for (int i = 0; i < g->n_ops; i++) {
        const mo_operator *kind =
            mo_operator_cache_find(&known, g->ops[i].type);
        int producer = sole_producer(g, i, group);

        silent[i] = kind && kind->class == MO_CLASS_FREE && producer >= 0 &&
                    !is_bound(&g->ops[i]);
        group[i] = silent[i] ? producer : i;
    }
}

void mo_clean_mark_nothing(const mo_graph *g, int *group, bool *silent)
{
    for (int i = 0; i < g->n_ops; i++) {
        group[i] = i;
        silent[i] = false;
    }
}
