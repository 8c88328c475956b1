/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion of a graph: validation, canonical numbering of ops and edges,
 * adjacency arrays.
 */
#include "graph/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "graph/build/build_internal.h"
#include "graph/build/sort.h"
#include "graph/op_attrs.h"
#include "graph/output_types.h"

static mo_status refuse_undefined(const mo_builder *b, int slot, mo_error *err)
{
    const char *name = mo_intern_text(b->names, slot);
    int line = b->ops[slot].line, shown = mo_builder_name_width(name);

    for (size_t e = 0; e < b->n_edges; e++) {
        const mo_edge *edge = &b->edges[e];
        if (edge->from == slot || edge->to == slot)
            return mo_fail_at(err, MO_E_INPUT, b->file, line,
                              "edge %s '%.*s', which is no op of this graph; "
                              "define it or remove the edge",
                              edge->to == slot ? "to" : "from", shown, name);
    }
    return mo_fail_at(err, MO_E_INPUT, b->file, line,
                      "'%.*s' is no op of this graph; define it", shown, name);
}

static mo_status check_edges(const mo_builder *builder, mo_error *err)
{
    for (size_t i = 0; i < builder->n_ops; i++)
        if (!builder->ops[i].name)
            return refuse_undefined(builder, (int) i, err);
    for (size_t e = 0; e < builder->n_edges; e++) {
        const mo_edge *edge = &builder->edges[e];
        const char *from = builder->ops[edge->from].name;
        const char *to = builder->ops[edge->to].name;

        if (builder->constants[edge->to] && !builder->constants[edge->from])
            return mo_fail_at(
                err, MO_E_INPUT, builder->file, edge->line,
                "constant '%.*s' depends on op '%.*s', but may depend on "
                "constants only; make it an op or remove the edge",
                mo_builder_name_width(to), to, mo_builder_name_width(from),
                from);
    }
    return MO_OK;
}

/* Returns the new number of a port; place maps old to new name numbers. */
static int renumber_port(int port, const int *place)
{
    return port >= MO_PORT_NONE ? port : -2 - place[-2 - port];
}

static mo_status rank_port_names(mo_builder *b, const char **names, int *place,
                                 int *by_rank, mo_error *err)
{
    mo_status status = mo_intern_rank_texts(b->ports, by_rank, err);

    if (status != MO_OK)
        return status;
    for (int r = 0; r < mo_intern_count(b->ports); r++) {
        names[r] = mo_intern_text(b->ports, by_rank[r]);
        place[by_rank[r]] = r;
    }
    return MO_OK;
}

static mo_status sort_port_names(mo_builder *builder, mo_graph *g,
                                 mo_error *err)
{
    size_t n = (size_t) mo_intern_count(builder->ports);
    int *by_rank, *place;
    mo_status status;

    if (n == 0)
        return MO_OK;
    g->n_port_names = (int) n;
    g->port_names = mo_arena_array(builder->arena, n, sizeof *g->port_names);
    place = calloc(n, sizeof *place);
    by_rank = calloc(n, sizeof *by_rank);
    if (!g->port_names || !place || !by_rank)
        status = mo_fail_memory(err);
    else
        status = rank_port_names(builder, g->port_names, place, by_rank, err);
    if (status == MO_OK) {
        for (size_t e = 0; e < builder->n_edges; e++)
            builder->edges[e].dst_port =
                renumber_port(builder->edges[e].dst_port, place);
        for (size_t i = 0; i < builder->n_outputs; i++)
            builder->outputs[i].port =
                renumber_port(builder->outputs[i].port, place);
    }
    free(by_rank);
    free(place);
    return status;
}

/* An input edge of an op, with its sort keys. */
struct input {
    const mo_edge *edge;
    int64_t port_rank;
    int src_port; /* of feeds only */
};

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Edges stand in their final order, so their addresses break ties. */
static int compare_inputs(const void *a, const void *b)
{
    const struct input *x = a, *y = b;
    int order = compare_numbers(x->port_rank, y->port_rank);

    return order != 0 ? order : (x->edge > y->edge) - (x->edge < y->edge);
}

/* Line numbers order only feeds that are equal in everything else. */
static int compare_feeds(const void *a, const void *b)
{
    const struct input *x = a, *y = b;
    int order = compare_numbers(x->port_rank, y->port_rank);

    if (order == 0)
        order = compare_numbers(x->edge->from, y->edge->from);
    if (order == 0)
        order = compare_numbers(mo_port_rank(x->src_port),
                                mo_port_rank(y->src_port));
    if (order == 0)
        order = compare_numbers(x->edge->bytes, y->edge->bytes);
    if (order == 0)
        order = compare_numbers(x->edge->line, y->edge->line);
    return order;
}

static int source_port_of(const mo_builder *b, const mo_edge *edge)
{
    return edge->tensor == MO_UNKNOWN ? MO_PORT_NONE
                                      : b->outputs[edge->tensor].port;
}

struct input_sort {
    const mo_builder *b;
    int *numbers;
    struct input *inputs; /* of one op */
    size_t room;
    bool are_feeds;
};

static mo_status sort_inputs_of_op(struct input_sort *s, int first, int end,
                                   mo_error *err)
{
    size_t count = (size_t) (end - first);
    mo_status status;

    status = mo_array_reserve((void **) &s->inputs, &s->room, count,
                              sizeof *s->inputs, err);
    if (status != MO_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        const mo_edge *edge = &s->b->edges[s->numbers[(size_t) first + i]];
        s->inputs[i] = (struct input){ edge, mo_port_rank(edge->dst_port),
                                       s->are_feeds ? source_port_of(s->b, edge)
                                                    : MO_PORT_NONE };
    }
    mo_sort_nearly_sorted(s->inputs, count, sizeof *s->inputs,
                          s->are_feeds ? compare_feeds : compare_inputs);
    for (size_t i = 0; i < count; i++)
        s->numbers[(size_t) first + i] =
            (int) (s->inputs[i].edge - s->b->edges);
    return MO_OK;
}

static mo_status sort_inputs(const mo_builder *b, bool are_feeds,
                             const int *start, int n, int *numbers,
                             mo_error *err)
{
    struct input_sort s = { .b = b,
                            .numbers = numbers,
                            .are_feeds = are_feeds };
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++)
        if (start[i + 1] - start[i] > 1)
            status = sort_inputs_of_op(&s, start[i], start[i + 1], err);
    free(s.inputs);
    return status;
}

static mo_status build_in_edges(mo_builder *builder, mo_graph *g, mo_error *err)
{
    mo_arena *arena = builder->arena;

    g->in_start =
        mo_arena_array(arena, (size_t) g->n_ops + 1, sizeof *g->in_start);
    g->in_edges =
        mo_arena_array(arena, (size_t) g->n_edges, sizeof *g->in_edges);
    if (!g->in_start || !g->in_edges)
        return mo_fail_memory(err);
    mo_sort_edges_by_end(builder->edges, MO_EDGE_TO, NULL, g->n_edges, g->n_ops,
                         g->in_start, g->in_edges);
    return sort_inputs(builder, false, g->in_start, g->n_ops, g->in_edges, err);
}

static mo_status build_feeds(mo_builder *builder, mo_graph *g, int *numbers,
                             mo_error *err)
{
    int n = g->n_ops + g->n_constants;
    int *sorted = calloc((size_t) g->n_feeds + 1, sizeof *sorted);
    mo_status status = MO_E_MEMORY;

    g->feed_start =
        mo_arena_array(builder->arena, (size_t) n + 1, sizeof *g->feed_start);
    g->feed_port = mo_arena_array(builder->arena, (size_t) g->n_feeds,
                                  sizeof *g->feed_port);
    if (!sorted || !g->feed_start || !g->feed_port) {
        mo_fail_memory(err);
        goto out;
    }
    mo_sort_edges_by_end(builder->edges, MO_EDGE_TO, numbers + g->n_edges,
                         g->n_feeds, n, g->feed_start, sorted);
    status = sort_inputs(builder, true, g->feed_start, n, sorted, err);
    if (status == MO_OK) {
        for (int i = 0; i < g->n_feeds; i++) {
            mo_edge *feed = &builder->edges[sorted[i]];

            g->feed_port[i] = source_port_of(builder, feed);
            feed->tensor = MO_UNKNOWN;
            numbers[g->n_edges + i] = sorted[i];
        }
    }
out:
    free(sorted);
    return status;
}

/* Equal texts are mostly the same pointer, and layers repeat: the last result
 * for a pointer saves nearly all the parsing. */
enum { CACHE_SIZE = 256 };

struct type_cache {
    const char *shapes[CACHE_SIZE], *dtypes[CACHE_SIZE], *attrs[CACHE_SIZE];
    const mo_shape_list *shape_lists[CACHE_SIZE];
    const mo_dtype_list *dtype_lists[CACHE_SIZE];
    const mo_attr_list *attr_lists[CACHE_SIZE];
};

static size_t cache_slot(const char *text)
{
    return ((uintptr_t) text >> 3) % CACHE_SIZE;
}

static bool parse_types_of_op(struct type_cache *cache, mo_arena *arena,
                              mo_op *op)
{
    size_t s = cache_slot(op->shape), d = cache_slot(op->dtype);
    size_t a = cache_slot(op->attrs);

    if (op->shape && cache->shapes[s] != op->shape) {
        cache->shape_lists[s] = mo_shape_list_parse(op->shape, arena);
        cache->shapes[s] = op->shape;
    }
    if (op->dtype && cache->dtypes[d] != op->dtype) {
        cache->dtype_lists[d] = mo_dtype_list_parse(op->dtype, arena);
        cache->dtypes[d] = op->dtype;
    }
    if (op->attrs && cache->attrs[a] != op->attrs) {
        cache->attr_lists[a] = mo_attr_list_parse(op->attrs, arena);
        cache->attrs[a] = op->attrs;
    }
    op->shapes = op->shape ? cache->shape_lists[s] : NULL;
    op->dtypes = op->dtype ? cache->dtype_lists[d] : NULL;
    op->attr_list = op->attrs ? cache->attr_lists[a] : NULL;
    return !op->shape == !op->shapes && !op->dtype == !op->dtypes &&
           !op->attrs == !op->attr_list;
}

static mo_status parse_types(mo_builder *b, mo_error *err)
{
    struct type_cache *cache = calloc(1, sizeof *cache);
    bool done = cache != NULL;

    for (size_t i = 0; i < b->n_ops && done; i++)
        done = parse_types_of_op(cache, b->arena, &b->ops[i]);
    free(cache);
    return done ? MO_OK : mo_fail_memory(err);
}

static mo_status fill_memory(mo_builder *b, mo_error *err)
{
    for (size_t i = 0; i < b->n_ops; i++) {
        mo_op *op = &b->ops[i];
        int64_t weight = op->weight_bytes < 0 ? 0 : op->weight_bytes;
        int64_t workspace = op->workspace_bytes < 0 ? 0 : op->workspace_bytes;

        op->memory_given = op->memory_bytes != MO_UNKNOWN;
        if (!op->memory_given &&
            !mo_int64_add(weight, workspace, &op->memory_bytes))
            return mo_fail_at(err, MO_E_INPUT, b->file, op->line,
                              "weights and workspace of op '%.*s' together "
                              "exceed 2^63 bytes; check their sizes",
                              mo_builder_name_width(op->name), op->name);
    }
    return MO_OK;
}

/* Permutes ops into their final order and renumbers everything that refers to
 * slots. */
static mo_status order_ops(mo_builder *b, mo_graph *g, int *place,
                           mo_error *err)
{
    mo_status status = mo_build_topo_order(b, place, err);

    if (status != MO_OK)
        return status;
    /* The texts stay in the arena. */
    mo_intern_free(b->names);
    mo_intern_free(b->texts);
    b->names = b->texts = NULL;
    for (size_t i = 0; i < b->n_ops; i++)
        g->n_constants += b->constants[i];
    g->n_ops = (int) b->n_ops - g->n_constants;
    /* An edge without a size carries the whole output of its producer, provided
     * that is one tensor. */
    for (size_t e = 0; e < b->n_edges; e++) {
        mo_edge *edge = &b->edges[e];
        const mo_op *producer = &b->ops[edge->from];

        if (edge->bytes == MO_UNKNOWN && mo_op_n_outputs(producer) <= 1)
            edge->bytes = producer->output_bytes;
    }
    for (size_t e = 0; e < b->n_edges; e++) {
        b->edges[e].from = place[b->edges[e].from];
        b->edges[e].to = place[b->edges[e].to];
    }
    status = mo_build_times(b, g, place, err);
    if (status != MO_OK)
        return status;
    if (b->ids && b->n_ops > 0)
        memcpy(b->ids, place, b->n_ops * sizeof *place);
    mo_sort_permute(b->ops, (int) b->n_ops, sizeof *b->ops, place);
    return MO_OK;
}

/* Computes the final order of edges: numbers[i] is the edge that goes to i. */
static mo_status number_edges(mo_builder *b, mo_graph *g, int *numbers,
                              mo_error *err)
{
    int n = (int) b->n_ops, m = (int) b->n_edges;
    mo_status status;

    g->out_start = mo_arena_array(b->arena, b->n_ops + 1, sizeof *g->out_start);
    if (!g->out_start)
        return mo_fail_memory(err);
    mo_sort_edges_by_end(b->edges, MO_EDGE_FROM, NULL, m, n, g->out_start,
                         numbers);

    /* Constants have the largest ids, so their edges come last. */
    g->n_edges = g->out_start[g->n_ops];
    g->n_feeds = m - g->n_edges;
    status = mo_build_tensors(b, g, numbers, err);
    if (status != MO_OK)
        return status;
    return build_feeds(b, g, numbers, err);
}

static mo_status order_edges(mo_builder *b, mo_graph *g, int *numbers,
                             int *place, mo_error *err)
{
    mo_status status = sort_port_names(b, g, err);

    if (status == MO_OK)
        status = mo_build_marks(b, err);
    if (status == MO_OK)
        status = number_edges(b, g, numbers, err);
    if (status != MO_OK)
        return status;
    for (size_t i = 0; i < b->n_edges; i++)
        place[numbers[i]] = (int) i;
    status = mo_build_comms(b, g, place, err);
    if (status != MO_OK)
        return status;
    mo_sort_permute(b->edges, (int) b->n_edges, sizeof *b->edges, place);
    return build_in_edges(b, g, err);
}

/* From the heap and not from the arena, so that it can be freed early. */
static mo_status allocate_numbers(size_t count, int **numbers, mo_error *err)
{
    *numbers = calloc(count + 1, sizeof **numbers);
    return *numbers ? MO_OK : mo_fail_memory(err);
}

static mo_status order_graph(mo_builder *b, mo_graph *g, mo_error *err)
{
    int *op_place = NULL, *numbers = NULL, *edge_place = NULL;
    mo_status status;

    status = allocate_numbers(b->n_ops, &op_place, err);
    if (status == MO_OK)
        status = order_ops(b, g, op_place, err);
    free(op_place);
    if (status == MO_OK)
        status = allocate_numbers(b->n_edges, &numbers, err);
    if (status == MO_OK)
        status = allocate_numbers(b->n_edges, &edge_place, err);
    if (status == MO_OK)
        status = order_edges(b, g, numbers, edge_place, err);
    free(edge_place);
    free(numbers);
    return status;
}

mo_status mo_builder_finish(mo_builder *builder, mo_graph **graph,
                            mo_error *err)
{
    mo_graph *g = mo_arena_alloc(builder->arena, sizeof *g);
    mo_status status;

    if (!g)
        return mo_fail_memory(err);
    status = check_edges(builder, err);
    if (status == MO_OK)
        status = parse_types(builder, err);
    if (status == MO_OK)
        status = fill_memory(builder, err);
    if (status == MO_OK)
        status = order_graph(builder, g, err);
    if (status != MO_OK)
        return status;
    /* The collected arrays are the graph's from here on. */
    g->name = builder->name;
    g->ops = builder->ops;
    g->edges = builder->edges;
    g->feeds = builder->edges ? builder->edges + g->n_edges : NULL;
    g->tensors = builder->tensors;
    g->n_tensors = (int) builder->n_tensors;
    g->arena = builder->arena;
    builder->ops = NULL;
    builder->edges = NULL;
    builder->tensors = NULL;
    builder->arena = NULL;
    *graph = g;
    return MO_OK;
}
