/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "graph/cut.h"

enum { MAX_HEAVIEST = 10 };

/* Returns the root of i's set in the union-find forest, with path halving. */
static int root_of(int *parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Ids are topological: when an op is visited, its depth is final. */
static void measure_depth(const mo_graph *g, mo_summary *s, int *depth,
                          int *ops_at_depth)
{
    for (int i = 0; i < g->n_ops; i++)
        depth[i] = 1;
    for (int e = 0; e < g->n_edges; e++)
        if (depth[g->edges[e].to] <= depth[g->edges[e].from])
            depth[g->edges[e].to] = depth[g->edges[e].from] + 1;
    for (int i = 0; i < g->n_ops; i++) {
        int count = ++ops_at_depth[depth[i]];
        if (s->depth < depth[i])
            s->depth = depth[i];
        if (s->width < count)
            s->width = count;
    }
}

static mo_status measure_shape(const mo_graph *g, mo_summary *s, mo_error *err)
{
    int *scratch = calloc((size_t) g->n_ops + 1, sizeof *scratch);
    int *ops_at_depth = calloc((size_t) g->n_ops + 1, sizeof *ops_at_depth);
    mo_status status = MO_OK;

    if (!scratch || !ops_at_depth) {
        status = mo_fail_memory(err);
    } else {
        for (int i = 0; i < g->n_ops; i++) {
            s->sources += mo_graph_in_degree(g, i) == 0;
            s->sinks += mo_graph_out_degree(g, i) == 0;
        }
        s->components = g->n_ops;
        for (int i = 0; i < g->n_ops; i++)
            scratch[i] = i;
        for (int e = 0; e < g->n_edges; e++) {
            int a = root_of(scratch, g->edges[e].from);
            int b = root_of(scratch, g->edges[e].to);
            if (a == b)
                continue;
            scratch[a < b ? b : a] = a < b ? a : b;
            s->components--;
        }
        measure_depth(g, s, scratch, ops_at_depth);
    }
    free(ops_at_depth);
    free(scratch);
    return status;
}

static mo_status measure_cuts(const mo_graph *g, mo_summary *s, mo_error *err)
{
    mo_dag dag = mo_graph_dag(g);
    int *cuts, before = -1;
    mo_status status = mo_dag_clean_cuts(&dag, &cuts, &s->clean_cuts, err);

    if (status != MO_OK)
        return status;
    for (int i = 0; i <= s->clean_cuts; i++) {
        int cut = i < s->clean_cuts ? cuts[i] : g->n_ops;
        if (s->largest_segment < cut - before - 1)
            s->largest_segment = cut - before - 1;
        before = cut;
    }
    free(cuts);
    return MO_OK;
}

/* Adds a known amount. A sum that overflows is unknown, and remains so
 * whatever else is added. */
static void add_bytes(int64_t *sum, int64_t bytes)
{
    if (*sum != MO_UNKNOWN && bytes > 0 && !mo_int64_add(*sum, bytes, sum))
        *sum = MO_UNKNOWN;
}

static void add_known(double *sum, double amount)
{
    if (*sum == MO_UNKNOWN || amount < 0)
        return;
    *sum += amount;
    if (!isfinite(*sum))
        *sum = MO_UNKNOWN;
}

/* Each constant once, however many ops it feeds. */
static mo_status sum_constants(const mo_graph *g, mo_summary *s, mo_error *err)
{
    bool *counted = calloc((size_t) g->n_constants + 1, sizeof *counted);

    if (!counted)
        return mo_fail_memory(err);
    for (int f = 0; f < g->feed_start[g->n_ops]; f++) {
        int constant = g->feeds[f].from;
        if (!counted[constant - g->n_ops])
            add_bytes(&s->weight_bytes,
                      g->ops[constant].weight_bytes != MO_UNKNOWN
                          ? g->ops[constant].weight_bytes
                          : g->ops[constant].output_bytes);
        counted[constant - g->n_ops] = true;
    }
    free(counted);
    return MO_OK;
}

static int compare_types(const void *a, const void *b)
{
    const mo_type_count *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->type, y->type);
}

static mo_status count_type(const mo_op *op, mo_intern *types, mo_summary *s,
                            size_t *room, mo_error *err)
{
    const char *type = op->type ? op->type : "";
    size_t n_types = (size_t) s->n_types;
    mo_status status;
    int number;

    status = mo_intern_put(types, type, strlen(type), &number, err);
    if (status == MO_OK)
        status = MO_ARRAY_GROW(s->types, n_types, *room, err);
    if (status != MO_OK)
        return status;
    if (number == s->n_types)
        s->types[s->n_types++] = (mo_type_count){ .type = type };
    s->types[number].count++;
    add_known(&s->types[number].flops, op->flops);
    return MO_OK;
}

/* Insertion into a short sorted list; of equal ops the smaller id stays
 * first. */
static bool is_heavier(const mo_op *a, const mo_op *b)
{
    return a->flops != b->flops ? a->flops > b->flops : a->bytes > b->bytes;
}

static void insert_if_heavy(const mo_graph *g, mo_summary *s, int op)
{
    int at = s->n_heaviest;

    while (at > 0 && is_heavier(&g->ops[op], &g->ops[s->heaviest[at - 1]]))
        at--;
    if (at == MAX_HEAVIEST)
        return;
    if (s->n_heaviest < MAX_HEAVIEST)
        s->n_heaviest++;
    for (int i = s->n_heaviest - 1; i > at; i--)
        s->heaviest[i] = s->heaviest[i - 1];
    s->heaviest[at] = op;
}

mo_status mo_summary_make(const mo_graph *g, mo_summary *summary, mo_error *err)
{
    mo_summary s = { .ops = g->n_ops,
                     .constants = g->n_constants,
                     .edges = g->n_edges,
                     .tensors = g->n_tensors };
    mo_status status = measure_shape(g, &s, err);

    if (status == MO_OK)
        status = measure_cuts(g, &s, err);
    if (status == MO_OK) {
        for (int i = 0; i < g->n_ops; i++) {
            const mo_op *op = &g->ops[i];

            add_bytes(&s.memory_bytes, op->memory_bytes);
            add_known(&s.flops, op->flops);
            add_known(&s.bytes, op->bytes);
            s.ops_without_flops += op->flops < 0;
            if (g->n_constants == 0)
                add_bytes(&s.weight_bytes, op->weight_bytes);
        }
        for (int t = 0; t < g->n_tensors; t++)
            add_bytes(&s.tensor_bytes, g->tensors[t].bytes);
        status = g->n_constants > 0 ? sum_constants(g, &s, err) : MO_OK;
    }
    if (status == MO_OK) {
        mo_arena *arena = mo_arena_new();
        mo_intern *types = arena ? mo_intern_new(arena) : NULL;
        size_t room = 0;

        status = types ? MO_OK : mo_fail_memory(err);
        for (int i = 0; i < g->n_ops && status == MO_OK; i++)
            status = count_type(&g->ops[i], types, &s, &room, err);
        mo_intern_free(types);
        mo_arena_free(arena);
        if (status == MO_OK && s.n_types > 0)
            qsort(s.types, (size_t) s.n_types, sizeof *s.types, compare_types);
    }
    if (status == MO_OK) {
        s.heaviest = calloc(MAX_HEAVIEST, sizeof *s.heaviest);
        if (!s.heaviest) {
            status = mo_fail_memory(err);
        } else {
            for (int i = 0; i < g->n_ops; i++)
                if (g->ops[i].flops >= 0 || g->ops[i].bytes >= 0)
                    insert_if_heavy(g, &s, i);
        }
    }
    if (status != MO_OK)
        mo_summary_clear(&s);
    else
        *summary = s;
    return status;
}

void mo_summary_clear(mo_summary *summary)
{
    free(summary->types);
    free(summary->heaviest);
    *summary = (mo_summary){ 0 };
}
