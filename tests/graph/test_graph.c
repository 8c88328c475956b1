/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of graph/graph.h: the arrays are consistent, and the digest depends
 * exactly on what it should. */
#include "graph/graph.h"

#include <string.h>

#include "graph/build.h"
#include "tests/support/graphs.h"
#include "tests/support/suite.h"

START_TEST(free_accepts_null)
{
    mo_graph_free(NULL);
}
END_TEST

START_TEST(an_empty_graph_has_valid_rows)
{
    mo_graph *g = graph_of("");

    ck_assert_int_eq(g->n_ops + g->n_constants + g->n_edges + g->n_feeds, 0);
    ck_assert_int_eq(g->out_start[0], 0);
    ck_assert_int_eq(g->in_start[0], 0);
    ck_assert_int_eq(g->tensor_start[0], 0);
    ck_assert_int_eq(g->feed_start[0], 0);
    ck_assert_int_eq(g->time_start[0], 0);
    ck_assert_int_eq(g->comm_start[0], 0);
    mo_graph_free(g);
}
END_TEST

START_TEST(ops_and_constants_are_found_by_name)
{
    mo_graph *g = graph_of("$w -> b; a -> b");

    ck_assert_int_eq(mo_graph_find(g, "a"), 0);
    ck_assert_int_eq(mo_graph_find(g, "b"), 1);
    ck_assert_int_eq(mo_graph_find(g, "w"), 2);
    ck_assert_int_eq(mo_graph_find(g, "c"), -1);
    ck_assert_int_eq(mo_graph_find(g, ""), -1);
    mo_graph_free(g);
}
END_TEST

START_TEST(degrees_count_edges_and_not_feeds)
{
    mo_graph *g = graph_of("$w -> b; a -> b; a -> b -> c");
    int b = id_of(g, "b");

    ck_assert_int_eq(mo_graph_in_degree(g, b), 2);
    ck_assert_int_eq(mo_graph_out_degree(g, b), 1);
    ck_assert_int_eq(mo_graph_in_degree(g, id_of(g, "a")), 0);
    mo_graph_free(g);
}
END_TEST

/* Numbers first, in the order of the numbers; then names, in theirs. */
static bool ports_ascend(int a, int b)
{
    if (a < MO_PORT_NONE || b < MO_PORT_NONE)
        return b < MO_PORT_NONE && (a >= MO_PORT_NONE || a >= b);
    return a <= b;
}

static bool edges_ascend(const mo_edge *a, const mo_edge *b)
{
    if (a->from != b->from)
        return a->from < b->from;
    if (a->tensor != b->tensor)
        return a->tensor < b->tensor;
    if (a->to != b->to)
        return a->to < b->to;
    return ports_ascend(a->dst_port, b->dst_port);
}

static void check_edges(const mo_graph *g, int seed)
{
    for (int e = 0; e < g->n_edges; e++) {
        const mo_edge *edge = &g->edges[e];

        ck_assert_msg(edge->from >= 0 && edge->from < edge->to &&
                          edge->to < g->n_ops,
                      "seed %d, edge %d", seed, e);
        ck_assert_msg(e >= g->out_start[edge->from] &&
                          e < g->out_start[edge->from + 1],
                      "seed %d, edge %d", seed, e);
        ck_assert_msg(e == 0 || edges_ascend(edge - 1, edge),
                      "seed %d, edge %d", seed, e);
    }
    ck_assert_msg(g->out_start[g->n_ops] == g->n_edges, "seed %d", seed);
}

static void check_inputs(const mo_graph *g, int seed)
{
    bool *seen = calloc((size_t) g->n_edges + 1, sizeof *seen);

    for (int op = 0; op < g->n_ops; op++)
        for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++) {
            int e = g->in_edges[i], before = i > 0 ? g->in_edges[i - 1] : 0;
            ck_assert_msg(g->edges[e].to == op && !seen[e], "seed %d, input %d",
                          seed, i);
            ck_assert_msg(i == g->in_start[op] ||
                              ports_ascend(g->edges[before].dst_port,
                                           g->edges[e].dst_port),
                          "seed %d, input %d", seed, i);
            seen[e] = true;
        }
    ck_assert_msg(g->in_start[g->n_ops] == g->n_edges, "seed %d", seed);
    free(seen);
}

static void check_tensor(const mo_graph *g, int t, int seed)
{
    const mo_tensor *tensor = &g->tensors[t];
    int64_t largest = MO_UNKNOWN;

    ck_assert_msg(t >= g->tensor_start[tensor->producer] &&
                      t < g->tensor_start[tensor->producer + 1],
                  "seed %d, tensor %d", seed, t);
    ck_assert_msg(tensor->n_edges > 0, "seed %d, tensor %d", seed, t);
    for (int i = 0; i < tensor->n_edges; i++) {
        const mo_edge *edge = &g->edges[tensor->first_edge + i];
        ck_assert_msg(edge->tensor == t && edge->from == tensor->producer,
                      "seed %d, tensor %d", seed, t);
        if (largest < edge->bytes)
            largest = edge->bytes;
    }
    ck_assert_msg(tensor->bytes == largest, "seed %d, tensor %d", seed, t);
}

static void check_tensors(const mo_graph *g, int seed)
{
    int n_edges = 0;

    for (int t = 0; t < g->n_tensors; t++) {
        check_tensor(g, t, seed);
        ck_assert_msg(g->tensors[t].first_edge == n_edges, "seed %d", seed);
        n_edges += g->tensors[t].n_edges;
    }
    ck_assert_msg(n_edges == g->n_edges, "seed %d", seed);
    ck_assert_msg(g->tensor_start[g->n_ops] == g->n_tensors, "seed %d", seed);
}

static void check_feeds(const mo_graph *g, int seed)
{
    int n = g->n_ops + g->n_constants;

    for (int to = 0; to < n; to++)
        for (int f = g->feed_start[to]; f < g->feed_start[to + 1]; f++) {
            const mo_edge *feed = &g->feeds[f];
            ck_assert_msg(feed->to == to && feed->tensor == MO_UNKNOWN &&
                              feed->from >= g->n_ops && feed->from < n,
                          "seed %d, feed %d", seed, f);
            ck_assert_msg(to < g->n_ops || feed->from < to, "seed %d, feed %d",
                          seed, f);
            ck_assert_msg(f == g->feed_start[to] ||
                              ports_ascend(feed[-1].dst_port, feed->dst_port),
                          "seed %d, feed %d", seed, f);
        }
    ck_assert_msg(g->feed_start[n] == g->n_feeds, "seed %d", seed);
}

START_TEST(all_arrays_agree)
{
    mo_graph *g = random_graph((unsigned) _i, _i % 50);

    check_edges(g, _i);
    check_inputs(g, _i);
    check_tensors(g, _i);
    check_feeds(g, _i);
    mo_graph_free(g);
}
END_TEST

/*
 * A graph with everything in it, then the same with one thing changed.
 */
struct parts {
    mo_builder *b;
    mo_op *op;            /* of "a" */
    mo_builder_edge edge; /* from a to b */
    int constant;         /* slot of w, which feeds b */
    int time, comm;       /* columns */
    double time_us, comm_us;
};

static const char *text_of(mo_builder *b, const char *text)
{
    const char *kept = NULL;

    MUST(mo_builder_text(b, text, strlen(text), &kept, &err));
    return kept;
}

static int define(mo_builder *b, const char *name, mo_op **op)
{
    int slot = -1;

    MUST(mo_builder_slot(b, name, strlen(name), 1, &slot, &err));
    MUST(mo_builder_define(b, slot, 1, op, &err));
    return slot;
}

typedef void change(struct parts *p);

#define CHANGE(name, statement)                                                \
    static void name(struct parts *p)                                          \
    {                                                                          \
        statement;                                                             \
    }

CHANGE(nothing, (void) p)
CHANGE(line, p->op->line = p->edge.line = 99)
CHANGE(label, p->op->label = text_of(p->b, "x"))
CHANGE(graph_name, mo_builder_name(p->b, text_of(p->b, "x")))

CHANGE(type, p->op->type = text_of(p->b, "x"))
CHANGE(large_type, p->op->type = text_of(p->b, "X"))
CHANGE(tight_json, p->op->attrs = text_of(p->b, "{\"a\":\"x y\"}"))
CHANGE(loose_json, p->op->attrs = text_of(p->b, " { \"a\" :\n\"x y\" }"))
CHANGE(other_json, p->op->attrs = text_of(p->b, "{\"a\":\"xy\"}"))
CHANGE(unused, MUST(mo_builder_time_column(p->b, "0", 1, &(int){ 0 }, &err)))
CHANGE(shape, p->op->shape = text_of(p->b, "x"))
CHANGE(no_shape, p->op->shape = text_of(p->b, ""))
CHANGE(dtype, p->op->dtype = text_of(p->b, "x"))
CHANGE(attrs, p->op->attrs = text_of(p->b, "x"))
CHANGE(weights, p->op->weights = text_of(p->b, "x"))
CHANGE(weights_here, p->op->weights = text_of(p->b, "w.bin:8:4:f32:1,2"))
CHANGE(weights_there, p->op->weights = text_of(p->b, "C:/a:b.bin:8:4:f32:1,2"))
CHANGE(other_weights, p->op->weights = text_of(p->b, "w.bin:0:4:f32:1,2"))
CHANGE(a_scalar, p->op->weights = text_of(p->b, "w.bin:8:4:f32:"))
CHANGE(half_weights, p->op->weights = text_of(p->b, "w.bin:8"))
CHANGE(other_half, p->op->weights = text_of(p->b, "v.bin:8"))
CHANGE(pin, p->op->pin = text_of(p->b, "x"))
CHANGE(colocate, p->op->colocate = text_of(p->b, "x"))
CHANGE(members, p->op->members = text_of(p->b, "x"))
CHANGE(is_output, p->op->is_output = true)
CHANGE(flops, p->op->flops = 2)
CHANGE(bytes, p->op->bytes = 2)
CHANGE(memory, p->op->memory_bytes = 2)
CHANGE(weight, p->op->weight_bytes = 0)
CHANGE(workspace, p->op->workspace_bytes = 0)
CHANGE(output, p->op->output_bytes = 2)
CHANGE(src_port, p->edge.src_port = 1)
CHANGE(dst_port, p->edge.dst_port = 1)
CHANGE(key, p->edge.tensor = text_of(p->b, "x"))
CHANGE(size, p->edge.bytes = 2)
CHANGE(time_us, p->time_us = 2)
CHANGE(comm_us, p->comm_us = 2)
CHANGE(fallback, mo_builder_time_fallback(p->b, p->time, 2))
CHANGE(port_x, MUST(mo_builder_port(p->b, "x", 1, &p->edge.dst_port, &err)))
CHANGE(port_y, MUST(mo_builder_port(p->b, "y", 1, &p->edge.dst_port, &err)))

static void start_parts(struct parts *p)
{
    static const mo_builder_edge edge = { .src_port = MO_PORT_NONE,
                                          .dst_port = MO_PORT_NONE,
                                          .bytes = MO_UNKNOWN };
    mo_op *op = NULL;

    MUST(mo_builder_new(NULL, &p->b, &err));
    p->edge = edge;
    p->edge.to = define(p->b, "b", &op);
    p->constant = define(p->b, "w", &op);
    mo_builder_mark_constant(p->b, p->constant);
    MUST(mo_builder_time_column(p->b, "A", 1, &p->time, &err));
    MUST(mo_builder_comm_column(p->b, "A.B", 3, &p->comm, &err));
    p->time_us = p->comm_us = 1;
    p->edge.from = define(p->b, "a", &p->op);
}

static uint64_t digest_with(change *apply)
{
    mo_builder_edge feed;
    struct parts p;
    uint64_t digest = 0;
    mo_graph *g = NULL;
    int number = -1;

    start_parts(&p);
    feed = p.edge;
    feed.from = p.constant;
    apply(&p);
    MUST(mo_builder_add_edge(p.b, &p.edge, &number, &err));
    MUST(mo_builder_add_edge(p.b, &feed, NULL, &err));
    MUST(mo_builder_time(p.b, p.edge.from, p.time, p.time_us, &err));
    MUST(mo_builder_comm(p.b, number, p.comm, p.comm_us, &err));
    MUST(mo_builder_finish(p.b, &g, &err));
    MUST(mo_graph_digest(g, &digest, &err));
    mo_builder_free(p.b);
    mo_graph_free(g);
    return digest;
}

static change *const ignored[] = { nothing, line, label, graph_name, unused };

START_TEST(the_digest_ignores_what_is_only_for_people)
{
    ck_assert_uint_eq(digest_with(ignored[_i]), digest_with(nothing));
}
END_TEST

START_TEST(the_digest_ignores_how_a_thing_is_spelt)
{
    ck_assert_uint_eq(digest_with(type), digest_with(large_type));
    ck_assert_uint_eq(digest_with(tight_json), digest_with(loose_json));
    ck_assert_uint_ne(digest_with(tight_json), digest_with(other_json));
}
END_TEST

/* Where the weights stand in a file counts, the file's name does not. */
START_TEST(the_digest_ignores_what_files_are_called)
{
    ck_assert_uint_eq(digest_with(weights_here), digest_with(weights_there));
}
END_TEST

static change *const counted[] = {
    nothing,    type,   shape,        no_shape,  dtype,        attrs,
    weights,    pin,    colocate,     members,   is_output,    flops,
    bytes,      memory, weight,       workspace, output,       src_port,
    key,        size,   dst_port,     time_us,   comm_us,      fallback,
    port_x,     port_y, weights_here, a_scalar,  half_weights, other_weights,
    other_half,
};

START_TEST(the_digest_counts_everything_else)
{
    uint64_t digest = digest_with(counted[_i]);

    for (int i = 0; i < _i; i++)
        ck_assert_msg(digest != digest_with(counted[i]), "changes %d and %d", i,
                      _i);
}
END_TEST

static const char *const different[] = {
    "",      "a",       "b",      "$a",
    "a; b",  "a -> b",  "b -> a", "a -> b; a -> b",
    "a; $b", "$b -> a", "a:b",    "a:c",
};

START_TEST(different_graphs_have_different_digests)
{
    uint64_t digests[COUNT(different)];

    for (int i = 0; i < COUNT(different); i++) {
        mo_graph *g = graph_of(different[i]);
        MUST(mo_graph_digest(g, &digests[i], &err));
        mo_graph_free(g);
        for (int j = 0; j < i; j++)
            ck_assert_msg(digests[i] != digests[j], "'%s' and '%s'",
                          different[i], different[j]);
    }
}
END_TEST

SUITE(graph)
{
    TEST(free_accepts_null);
    TEST(an_empty_graph_has_valid_rows);
    TEST(ops_and_constants_are_found_by_name);
    TEST(degrees_count_edges_and_not_feeds);
    SOME(all_arrays_agree, 500, 20);
    EACH(the_digest_ignores_what_is_only_for_people, COUNT(ignored));
    TEST(the_digest_ignores_how_a_thing_is_spelt);
    TEST(the_digest_ignores_what_files_are_called);
    EACH(the_digest_counts_everything_else, COUNT(counted));
    TEST(different_graphs_have_different_digests);
}
