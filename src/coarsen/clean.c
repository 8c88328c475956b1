/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "coarsen/clean.h"

#include <stdlib.h>
#include <string.h>

#include "coarsen/contract.h"
#include "ingest/operator.h"

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

/* An op with a placement constraint of the user stays an op that is placed. */
static bool is_pinned_or_colocated(const mo_op *op)
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

static bool is_filled(const mo_op *op, const mo_operator *kind,
                      const char *const *words)
{
    return strcmp(kind->name, "Broadcast") == 0 && has_any_of(op->type, words);
}

/* Returns whether the op generates its output. An op without inputs need not:
 * files may omit the network's inputs, and so does this program; they may have
 * been the operand of a Broadcast called "expand". */
static bool generates_output(const mo_op *op, const mo_operator *kind)
{
    static const char *const makers[] = { "Const", "Range", "Eye", NULL };
    static const char *const fills[] = { "ones",  "zeros",           "full",
                                         "empty", "constantofshape", NULL };

    return is_any_of(kind, makers) || is_filled(op, kind, fills);
}

/* Returns whether the op uses only the sizes of its inputs, and those are
 * known. */
static bool reads_only_shapes(const mo_graph *g, int id,
                              const mo_operator *kind)
{
    static const char *const fills[] = { "ones", "zeros", "empty",
                                         "constantofshape", NULL };
    static const char *const likes[] = { "_like", "new_", NULL };
    const mo_op *op = &g->ops[id];

    if (kind->class == MO_CLASS_SHAPE || is_filled(op, kind, likes)) {
        for (int i = g->in_start[id]; i < g->in_start[id + 1]; i++)
            if (!g->ops[g->edges[g->in_edges[i]].from].shape)
                return false;
        return true;
    }
    return op->shape && is_filled(op, kind, fills);
}

/* Constant folding: returns whether the op depends on no input, except through
 * static shapes. */
static bool is_constant(const mo_graph *g, int id, const mo_operator *kind,
                        const int *group)
{
    static const char *const stateful[] = { "ReadValue", "Assign",
                                            "RandomUniform", NULL };
    const mo_op *op = &g->ops[id];

    if (!kind || is_pinned_or_colocated(op))
        return false;
    if (mo_graph_in_degree(g, id) == 0)
        return generates_output(op, kind);
    if (kind->class == MO_CLASS_NONE || is_any_of(kind, stateful))
        return false;
    return reads_only_shapes(g, id, kind) ||
           all_producers_are(g, id, group, MO_COARSEN_MAP_CONSTANT);
}

static void mark_constants(const mo_graph *g, int *group, bool *silent)
{
    for (int i = 0; i < g->n_ops; i++) {
        const mo_operator *kind = g->ops[i].kind;

        silent[i] = false;
        group[i] = is_constant(g, i, kind, group) ? MO_COARSEN_MAP_CONSTANT : i;
    }
}

/* An input of the network, and a view of one, is replicated: available on
 * every device that reads it. */
static void mark_sources(const mo_graph *g, int *group, bool *silent)
{
    for (int i = 0; i < g->n_ops; i++) {
        const mo_operator *kind = g->ops[i].kind;
        bool is_source;

        silent[i] = false;
        group[i] = i;
        if (!kind || is_pinned_or_colocated(&g->ops[i]))
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

/* Results do no work; their producers carry the mark (mo_op.is_output). */
static void mark_results(const mo_graph *g, int *group, bool *silent)
{
    for (int i = 0; i < g->n_ops; i++) {
        const mo_operator *kind = g->ops[i].kind;
        bool is_result = kind && kind->class == MO_CLASS_NONE &&
                         mo_graph_out_degree(g, i) == 0;

        silent[i] = false;
        group[i] = is_result && !is_pinned_or_colocated(&g->ops[i])
                       ? MO_COARSEN_MAP_REPLICATED
                       : i;
    }
}

/* Returns the only group that feeds op, or -1. */
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

/* A view does no work: it joins the producer of what it is a view of. That
 * cannot close a cycle, since nothing else reaches the view. */
static void mark_views(const mo_graph *g, int *group, bool *silent)
{
    for (int i = 0; i < g->n_ops; i++) {
        const mo_operator *kind = g->ops[i].kind;
        int producer = sole_producer(g, i, group);

        silent[i] = kind && kind->class == MO_CLASS_FREE && producer >= 0 &&
                    !is_pinned_or_colocated(&g->ops[i]);
        group[i] = silent[i] ? producer : i;
    }
}

static void mark_nothing(const mo_graph *g, int *group, bool *silent)
{
    for (int i = 0; i < g->n_ops; i++) {
        group[i] = i;
        silent[i] = false;
    }
}

const mo_clean_pass mo_clean_passes[] = {
    { "constants",
      "ops that depend on no input, or on its shape only, are folded", false,
      mark_constants },
    { "sources", "inputs and views of them are available on every device",
      false, mark_sources },
    { "results", "result nodes are merged into the producers of outputs", false,
      mark_results },
    { "views",
      "ops that only reinterpret a tensor are merged into its producer", false,
      mark_views },
    { "parallel", "edges of one tensor between the same two ops are merged",
      true, mark_nothing },
    { NULL, NULL, false, NULL },
};

static bool has_parallels(const mo_graph *g)
{
    for (int e = 1; e < g->n_edges; e++)
        if (g->edges[e].tensor == g->edges[e - 1].tensor &&
            g->edges[e].to == g->edges[e - 1].to)
            return true;
    return false;
}

/* Leaves *clean and *map unchanged when the pass removes nothing. */
static mo_status run_pass(const mo_clean_pass *pass, const mo_graph *g,
                          mo_graph **clean, mo_coarsen_map **map, mo_error *err)
{
    int *group = calloc((size_t) g->n_ops + 1, sizeof *group);
    bool *silent = calloc((size_t) g->n_ops + 1, sizeof *silent);
    mo_grouping grouping = { .group = group,
                             .silent = silent,
                             .merge_parallel = pass->merges_edges };
    mo_status status = group && silent ? MO_OK : mo_fail_memory(err);

    if (status == MO_OK) {
        pass->mark(g, group, silent);
        /* Renumbers groups: from the ids of their first members to 0, 1, ... */
        grouping.n_groups = 0;
        for (int i = 0; i < g->n_ops; i++)
            if (group[i] == i)
                group[i] = grouping.n_groups++;
            else if (group[i] >= 0)
                group[i] = group[group[i]];
        if (grouping.n_groups < g->n_ops ||
            (pass->merges_edges && has_parallels(g)))
            status = mo_contract(g, &grouping, clean, map, err);
    }
    free(group);
    free(silent);
    return status;
}

/* Replaces *g and *map by the results of a pass; takes ownership of both. */
static mo_status replace_graph(mo_graph **g, mo_coarsen_map **map,
                               mo_graph *after, mo_coarsen_map *moved,
                               mo_error *err)
{
    mo_coarsen_map *whole = moved;
    mo_status status = MO_OK;

    if (*map) {
        status = mo_coarsen_map_compose(*map, moved, &whole, err);
        mo_coarsen_map_free(moved);
    }
    if (status != MO_OK) {
        mo_graph_free(after);
        return status;
    }
    mo_graph_free(*g);
    mo_coarsen_map_free(*map);
    *g = after;
    *map = whole;
    return MO_OK;
}

/* Runs one pass on *g or, before the first pass that removed anything, on
 * given. */
static mo_status apply_pass(const mo_clean_pass *pass, const mo_graph *given,
                            mo_graph **g, mo_coarsen_map **map, int *removed,
                            mo_error *err)
{
    const mo_graph *before = *g ? *g : given;
    mo_graph *after = NULL;
    mo_coarsen_map *moved = NULL;
    mo_status status = run_pass(pass, before, &after, &moved, err);

    if (status != MO_OK || !after)
        return status;
    *removed = pass->merges_edges ? before->n_edges - after->n_edges
                                  : before->n_ops - after->n_ops;
    return replace_graph(g, map, after, moved, err);
}

mo_status mo_clean_unless_noop(const mo_graph *g, unsigned which,
                               mo_graph **clean, mo_coarsen_map **map,
                               mo_clean_report *report, mo_error *err)
{
    mo_graph *made = NULL;
    mo_coarsen_map *whole = NULL;
    mo_status status = MO_OK;

    memset(report, 0, sizeof *report);
    for (int k = 0; k < MO_CLEAN_PASSES && status == MO_OK; k++)
        if (which & 1u << k)
            status = apply_pass(&mo_clean_passes[k], g, &made, &whole,
                                &report->removed[k], err);
    if (status != MO_OK) {
        mo_graph_free(made);
        mo_coarsen_map_free(whole);
        return status;
    }
    *clean = made;
    *map = whole;
    return MO_OK;
}

static mo_status copy_graph(const mo_graph *g, mo_graph **clean,
                            mo_coarsen_map **map, mo_error *err)
{
    int *group = calloc((size_t) g->n_ops + 1, sizeof *group);
    mo_grouping grouping = { .group = group, .n_groups = g->n_ops };
    mo_status status;

    if (!group)
        return mo_fail_memory(err);
    for (int i = 0; i < g->n_ops; i++)
        group[i] = i;
    status = mo_contract(g, &grouping, clean, map, err);
    free(group);
    return status;
}

mo_status mo_clean(const mo_graph *g, unsigned which, mo_graph **clean,
                   mo_coarsen_map **map, mo_clean_report *report, mo_error *err)
{
    mo_graph *made = NULL;
    mo_coarsen_map *whole = NULL;
    mo_status status =
        mo_clean_unless_noop(g, which, &made, &whole, report, err);

    if (status == MO_OK && !made)
        status = copy_graph(g, &made, &whole, err);
    if (status != MO_OK)
        return status;
    *clean = made;
    *map = whole;
    return MO_OK;
}

/* Returns the bit of the pass named by the length bytes at word; 0 if there is
 * none. */
static unsigned bit_of(const char *word, size_t length)
{
    if (length == 3 && strncmp(word, "all", length) == 0)
        return MO_CLEAN_ALL;
    for (int k = 0; k < MO_CLEAN_PASSES; k++)
        if (strlen(mo_clean_passes[k].name) == length &&
            strncmp(mo_clean_passes[k].name, word, length) == 0)
            return 1u << k;
    return 0;
}

mo_status mo_clean_parse(const char *text, unsigned *which, mo_error *err)
{
    unsigned bits = *text == '-' ? MO_CLEAN_ALL : 0;

    for (const char *word = text;; word++) {
        size_t length = strcspn(word, ",");
        bool is_off = length > 0 && *word == '-';
        unsigned bit = bit_of(word + is_off, length - is_off);

        if (bit == 0 && !(length == 4 && strncmp(word, "none", 4) == 0))
            return mo_fail(err, MO_E_USAGE,
                           "'%.*s' is no cleaning pass; there are constants, "
                           "sources, results, views and parallel, and all and "
                           "none",
                           (int) length, word);
        bits = is_off ? bits & ~bit : bits | bit;
        word += length;
        if (*word == '\0')
            break;
    }
    *which = bits;
    return MO_OK;
}
