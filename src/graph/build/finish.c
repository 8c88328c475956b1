/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/build.h"
#include "graph/build/build_internal.h"
#include "graph/build/build_check.h"
#include "graph/build/sort.h"
#include "graph/build/topo_order.h"
#include "graph/build/build_steps.h"

static mo_status fill_memory(mo_builder *b, mo_error *err)
{
    for (size_t i = 0; i < b->n_ops; i++) {
        mo_op *op = &b->ops[i];
        int64_t weight = op->weight_bytes < 0 ? 0 : op->weight_bytes;
        int64_t workspace = op->workspace_bytes < 0 ? 0 : op->workspace_bytes;

        op->memory_told = op->memory_bytes != MO_UNKNOWN;
        if (!op->memory_told &&
            !mo_int64_add(weight, workspace, &op->memory_bytes))
            return mo_fail_at(err, MO_E_INPUT, b->file, op->line,
                              "weights and workspace of op '%.*s' together "
                              "exceed 2^63 bytes; check their sizes",
                              mo_builder_name_width(op->name), op->name);
    }
    return MO_OK;
}

/* An edge that does not say how large it is carries all that its producer puts
 * out, provided that is one tensor. */
static void fill_edge_bytes(mo_builder *b)
{
    for (size_t e = 0; e < b->n_edges; e++) {
        mo_edge *edge = &b->edges[e];
        const mo_op *producer = &b->ops[edge->from];

        if (edge->bytes == MO_UNKNOWN &&
            (!producer->shape || !strchr(producer->shape, ';')))
            edge->bytes = producer->output_bytes;
    }
}

/* The texts stay, in the arena; only what finds them goes. */
static void drop_tables(mo_builder *b)
{
    mo_intern_free(b->names);
    mo_intern_free(b->texts);
    b->names = b->texts = NULL;
}

static void count_kinds(const mo_builder *b, mo_graph *g)
{
    for (size_t i = 0; i < b->n_ops; i++)
        g->n_constants += b->constants[i];
    g->n_ops = (int) b->n_ops - g->n_constants;
}

static void renumber_ends(mo_builder *b, const int *place)
{
    for (size_t e = 0; e < b->n_edges; e++) {
        b->edges[e].from = place[b->edges[e].from];
        b->edges[e].to = place[b->edges[e].to];
    }
}

/* Brings ops into their final order, and with them all that speaks of slots. */
static mo_status pack_ops(mo_builder *b, mo_graph *g, int *place, mo_error *err)
{
    mo_status status = mo_build_topo_order(b, place, err);

    if (status != MO_OK)
        return status;
    drop_tables(b);
    count_kinds(b, g);
    fill_edge_bytes(b);
    renumber_ends(b, place);
    status = mo_build_times(b, g, place, err);
    if (status != MO_OK)
        return status;
    if (b->ids && b->n_ops > 0)
        memcpy(b->ids, place, b->n_ops * sizeof *place);
    mo_sort_permute(b->ops, (int) b->n_ops, sizeof *b->ops, place);
    return MO_OK;
}

/* Finds out where edges belong: numbers[i] is the one to stand at i. */
static mo_status sort_edges(mo_builder *b, mo_graph *g, int *numbers,
                            mo_error *err)
{
    int n = (int) b->n_ops, m = (int) b->n_edges;
    mo_status status;

    g->out_start = mo_arena_array(b->arena, b->n_ops + 1, sizeof *g->out_start);
    if (!g->out_start)
        return mo_fail_memory(err);
    mo_sort_edges_by_end(b->edges, MO_EDGE_FROM, NULL, m, n, g->out_start,
                         numbers);

    /* Constants come last, so their edges do. */
    g->n_edges = g->out_start[g->n_ops];
    g->n_feeds = m - g->n_edges;
    status = mo_build_tensors(b, g, numbers, err);
    if (status != MO_OK)
        return status;
    return mo_build_feeds(b, g, numbers, err);
}

static mo_status pack_edges(mo_builder *b, mo_graph *g, int *numbers,
                            int *place, mo_error *err)
{
    mo_status status = mo_build_ports(b, g, err);

    if (status == MO_OK)
        status = mo_build_marks(b, err);
    if (status == MO_OK)
        status = sort_edges(b, g, numbers, err);
    if (status != MO_OK)
        return status;
    for (size_t i = 0; i < b->n_edges; i++)
        place[numbers[i]] = (int) i;
    status = mo_build_comms(b, g, place, err);
    if (status != MO_OK)
        return status;
    mo_sort_permute(b->edges, (int) b->n_edges, sizeof *b->edges, place);
    return mo_build_inputs(b, g, err);
}

/* A plain array, so that it can go before the arena does. */
static mo_status new_numbers(size_t count, int **numbers, mo_error *err)
{
    *numbers = calloc(count + 1, sizeof **numbers);
    return *numbers ? MO_OK : mo_fail_memory(err);
}

static mo_status pack(mo_builder *b, mo_graph *g, mo_error *err)
{
    int *op_place = NULL, *numbers = NULL, *edge_place = NULL;
    mo_status status;

    status = new_numbers(b->n_ops, &op_place, err);
    if (status == MO_OK)
        status = pack_ops(b, g, op_place, err);
    free(op_place);
    if (status == MO_OK)
        status = new_numbers(b->n_edges, &numbers, err);
    if (status == MO_OK)
        status = new_numbers(b->n_edges, &edge_place, err);
    if (status == MO_OK)
        status = pack_edges(b, g, numbers, edge_place, err);
    free(edge_place);
    free(numbers);
    return status;
}

/* What the builder collected is the graph's now. */
static void hand_over(mo_builder *b, mo_graph *g)
{
    g->name = b->name;
    g->ops = b->ops;
    g->edges = b->edges;
    g->feeds = b->edges ? b->edges + g->n_edges : NULL;
    g->tensors = b->tensors;
    g->n_tensors = (int) b->n_tensors;
    g->arena = b->arena;
    b->ops = NULL;
    b->edges = NULL;
    b->tensors = NULL;
    b->arena = NULL;
}

mo_status mo_builder_finish(mo_builder *builder, mo_graph **graph,
                            mo_error *err)
{
    mo_graph *g = mo_arena_alloc(builder->arena, sizeof *g);
    mo_status status;

    if (!g)
        return mo_fail_memory(err);
    status = mo_build_check_edges(builder, err);
    if (status == MO_OK)
        status = fill_memory(builder, err);
    if (status == MO_OK)
        status = pack(builder, g, err);
    if (status != MO_OK)
        return status;
    hand_over(builder, g);
    *graph = g;
    return MO_OK;
}
