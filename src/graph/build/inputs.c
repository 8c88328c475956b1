/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/array.h"
#include "graph/build/sort.h"
#include "graph/build/build_steps.h"

/* An edge on its way into an op, among others that go there. */
struct input {
    const mo_edge *edge;
    int64_t port_rank;
    int src_port; /* of feeds */
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

/* Lines decide only between feeds that are the same. */
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

static int source_port(const mo_builder *b, const mo_edge *edge)
{
    return edge->tensor == MO_UNKNOWN ? MO_PORT_NONE
                                      : b->outputs[edge->tensor].port;
}

struct sorting {
    const mo_builder *b;
    int *numbers;
    struct input *inputs; /* of one op */
    size_t room;
    bool are_feeds;
};

static mo_status sort_group(struct sorting *s, int first, int end,
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
                                       s->are_feeds ? source_port(s->b, edge)
                                                    : MO_PORT_NONE };
    }
    mo_sort_nearly_sorted(s->inputs, count, sizeof *s->inputs,
                          s->are_feeds ? compare_feeds : compare_inputs);
    for (size_t i = 0; i < count; i++)
        s->numbers[(size_t) first + i] =
            (int) (s->inputs[i].edge - s->b->edges);
    return MO_OK;
}

static mo_status sort_groups(const mo_builder *b, bool are_feeds,
                             const int *start, int n, int *numbers,
                             mo_error *err)
{
    struct sorting s = { .b = b, .numbers = numbers, .are_feeds = are_feeds };
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++)
        if (start[i + 1] - start[i] > 1)
            status = sort_group(&s, start[i], start[i + 1], err);
    free(s.inputs);
    return status;
}

mo_status mo_build_inputs(mo_builder *builder, mo_graph *g, mo_error *err)
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
    return sort_groups(builder, false, g->in_start, g->n_ops, g->in_edges, err);
}

/* Writes the sorted numbers behind those of the edges, and what a feed says of
 * its port to where feeds keep it: they belong to no tensor. */
static void settle_feeds(mo_builder *b, mo_graph *g, const int *sorted,
                         int *numbers)
{
    for (int i = 0; i < g->n_feeds; i++) {
        mo_edge *feed = &b->edges[sorted[i]];

        g->feed_port[i] = source_port(b, feed);
        feed->tensor = MO_UNKNOWN;
        numbers[g->n_edges + i] = sorted[i];
    }
}

mo_status mo_build_feeds(mo_builder *builder, mo_graph *g, int *numbers,
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
    status = sort_groups(builder, true, g->feed_start, n, sorted, err);
    if (status == MO_OK)
        settle_feeds(builder, g, sorted, numbers);
out:
    free(sorted);
    return status;
}
