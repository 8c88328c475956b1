/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of graph/summary.h. */
#include "graph/summary.h"

#include <float.h>
#include <string.h>

#include "graph/build.h"
#include "tests/support/graphs.h"
#include "tests/support/suite.h"

static mo_summary summary_of(const mo_graph *g)
{
    mo_summary s;

    MUST(mo_summary_make(g, &s, &err));
    return s;
}

static const struct {
    const char *graph;
    int sources, sinks, components, depth, width, cuts, segment;
} shapes[] = {
    { "", 0, 0, 0, 0, 0, 0, 0 },
    { "a", 1, 1, 1, 1, 1, 1, 0 },
    { "a; b; c", 3, 3, 3, 1, 3, 0, 3 },
    { "a -> b -> c", 1, 1, 1, 3, 1, 3, 0 },
    { "a -> b -> e; a -> c -> e; a -> d -> e", 1, 1, 1, 3, 3, 2, 3 },
    { "a -> b -> c; a -> c", 1, 1, 1, 3, 1, 2, 1 },
    { "a -> b; c -> d; d -> e", 2, 2, 2, 3, 2, 0, 5 },
    { "x -> m; y -> m; z -> m -> n", 3, 1, 1, 3, 3, 2, 3 }, /* before */
    { "m -> x; m -> y; m -> z", 1, 3, 1, 2, 3, 1, 3 },      /* after */
    { "a -> b; a -> b", 1, 1, 1, 2, 1, 2, 0 },
    { "$w -> a; $w -> b; $v -> $w", 2, 2, 2, 1, 2, 0, 2 },
};

START_TEST(the_shape_is_measured)
{
    mo_graph *g = graph_of(shapes[_i].graph);
    mo_summary s = summary_of(g);

    ck_assert_int_eq(s.ops, g->n_ops);
    ck_assert_int_eq(s.constants, g->n_constants);
    ck_assert_int_eq(s.edges, g->n_edges);
    ck_assert_int_eq(s.tensors, g->n_tensors);
    ck_assert_int_eq(s.sources, shapes[_i].sources);
    ck_assert_int_eq(s.sinks, shapes[_i].sinks);
    ck_assert_int_eq(s.components, shapes[_i].components);
    ck_assert_int_eq(s.depth, shapes[_i].depth);
    ck_assert_int_eq(s.width, shapes[_i].width);
    ck_assert_int_eq(s.clean_cuts, shapes[_i].cuts);
    ck_assert_int_eq(s.largest_segment, shapes[_i].segment);
    mo_summary_clear(&s);
    mo_graph_free(g);
}
END_TEST

/* Components by the definition: mutual reachability over undirected edges. */
static int count_components(const mo_graph *g)
{
    int *mark = calloc((size_t) g->n_ops + 1, sizeof *mark), count = 0;
    bool changed = true;

    for (int i = 0; i < g->n_ops; i++)
        mark[i] = i;
    while (changed) {
        changed = false;
        for (int e = 0; e < g->n_edges; e++) {
            int *a = &mark[g->edges[e].from], *b = &mark[g->edges[e].to];
            changed |= *a != *b;
            *a = *b = *a < *b ? *a : *b;
        }
    }
    for (int i = 0; i < g->n_ops; i++)
        count += mark[i] == i;
    free(mark);
    return count;
}

/* The longest path that ends in op, by the definition. */
static int depth_of(const mo_graph *g, int op)
{
    int longest = 0;

    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++) {
        int before = depth_of(g, g->edges[g->in_edges[i]].from);
        longest = before > longest ? before : longest;
    }
    return longest + 1;
}

START_TEST(the_shape_agrees_with_its_definition)
{
    mo_graph *g = random_graph((unsigned) _i, _i % 13);
    mo_summary s = summary_of(g);
    int depth = 0, width = 0;
    int at[16] = { 0 };

    for (int op = 0; op < g->n_ops; op++) {
        int d = depth_of(g, op);
        at[d]++;
        depth = d > depth ? d : depth;
        width = at[d] > width ? at[d] : width;
    }
    ck_assert_msg(s.depth == depth, "seed %d", _i);
    ck_assert_msg(s.width == width, "seed %d", _i);
    ck_assert_msg(s.components == count_components(g), "seed %d", _i);
    mo_summary_clear(&s);
    mo_graph_free(g);
}
END_TEST

static mo_op *define(mo_builder *b, const char *name, int *slot)
{
    mo_op *op = NULL;

    MUST(mo_builder_slot(b, name, strlen(name), 1, slot, &err));
    MUST(mo_builder_define(b, *slot, 1, &op, &err));
    return op;
}

static void connect(mo_builder *b, int from, int to)
{
    mo_builder_edge edge = { .from = from,
                             .to = to,
                             .src_port = MO_PORT_NONE,
                             .dst_port = MO_PORT_NONE,
                             .bytes = MO_UNKNOWN };

    MUST(mo_builder_add_edge(b, &edge, NULL, &err));
}

/* a -> b, a -> c with numbers; a's one output is a tensor of 100 bytes. */
static mo_builder *three_ops(int slots[3])
{
    mo_builder *b = NULL;
    mo_op *op;

    MUST(mo_builder_new(NULL, &b, &err));
    op = define(b, "a", &slots[0]);
    op->flops = 5;
    op->bytes = 50;
    op->weight_bytes = 8;
    op->output_bytes = 100;
    op = define(b, "b", &slots[1]);
    op->bytes = 70;
    op->workspace_bytes = 3;
    op = define(b, "c", &slots[2]);
    op->flops = 7;
    op->weight_bytes = 16;
    connect(b, slots[0], slots[1]);
    connect(b, slots[0], slots[2]);
    return b;
}

START_TEST(sums_are_of_what_is_known)
{
    int slots[3];
    mo_builder *b = three_ops(slots);
    mo_graph *g = NULL;
    mo_summary s;

    MUST(mo_builder_finish(b, &g, &err));
    s = summary_of(g);
    ck_assert(s.flops == 12);
    ck_assert(s.bytes == 120);
    ck_assert_int_eq(s.ops_without_flops, 1);
    ck_assert_int_eq(s.weight_bytes, 24);
    ck_assert_int_eq(s.memory_bytes, 27);
    ck_assert_int_eq(s.tensor_bytes, 100); /* once, for both consumers */
    mo_summary_clear(&s);
    mo_graph_free(g);
    mo_builder_free(b);
}
END_TEST

START_TEST(a_constant_weighs_once_and_only_if_an_op_reads_it)
{
    int slots[3], shared, raw, unread;
    mo_builder *b = three_ops(slots);
    mo_graph *g = NULL;
    mo_summary s;

    define(b, "shared", &shared)->weight_bytes = 1000;
    define(b, "raw", &raw)->output_bytes = 500;
    define(b, "unread", &unread)->weight_bytes = 7;
    mo_builder_mark_constant(b, shared);
    mo_builder_mark_constant(b, raw);
    mo_builder_mark_constant(b, unread);
    connect(b, shared, slots[1]);
    connect(b, shared, slots[2]);
    connect(b, raw, slots[2]);
    connect(b, unread, shared);
    MUST(mo_builder_finish(b, &g, &err));
    s = summary_of(g);
    ck_assert_int_eq(s.constants, 3);
    ck_assert_int_eq(s.weight_bytes, 1500);
    ck_assert_int_eq(s.memory_bytes, 27);
    mo_summary_clear(&s);
    mo_graph_free(g);
    mo_builder_free(b);
}
END_TEST

START_TEST(sums_beyond_any_number_are_unknown)
{
    int slots[3];
    mo_builder *b = three_ops(slots);
    mo_graph *g = NULL;
    mo_summary s;

    for (int i = 0; i < 3; i++) {
        mo_builder_op(b, slots[i])->memory_bytes = INT64_MAX - i;
        mo_builder_op(b, slots[i])->flops = DBL_MAX;
    }
    MUST(mo_builder_finish(b, &g, &err));
    s = summary_of(g);
    ck_assert_int_eq(s.memory_bytes, MO_UNKNOWN);
    ck_assert(s.flops == MO_UNKNOWN);
    ck_assert_int_eq(s.n_heaviest, 3);
    mo_summary_clear(&s);
    mo_graph_free(g);
    mo_builder_free(b);
}
END_TEST

START_TEST(types_come_most_frequent_first_then_by_name)
{
    mo_graph *g = graph_of("a:relu; b:conv; c:relu; d:add; e; f:conv; g:relu");
    static const struct {
        const char *type;
        int count;
    } wanted[] = { { "relu", 3 }, { "conv", 2 }, { "", 1 }, { "add", 1 } };
    mo_summary s = summary_of(g);

    ck_assert_int_eq(s.n_types, COUNT(wanted));
    for (int i = 0; i < COUNT(wanted); i++) {
        ck_assert_str_eq(s.types[i].type, wanted[i].type);
        ck_assert_int_eq(s.types[i].count, wanted[i].count);
        ck_assert(s.types[i].flops == 0);
    }
    mo_summary_clear(&s);
    mo_graph_free(g);
}
END_TEST

START_TEST(the_heaviest_come_by_flops_then_bytes_then_id)
{
    static const struct {
        double flops, bytes;
    } ops[] = { { 1, 0 },  { 9, 1 },   { 9, 2 }, { -1, 5 }, { 9, 2 },
                { 3, -1 }, { -1, -1 }, { 0, 0 }, { 4, 0 },  { 5, 0 },
                { 6, 0 },  { 7, 0 },   { 8, 0 } };
    static const int wanted[] = { 2, 4, 1, 12, 11, 10, 9, 8, 5, 0 };
    mo_builder *b = NULL;
    mo_graph *g = NULL;
    mo_summary s;

    MUST(mo_builder_new(NULL, &b, &err));
    for (int i = 0; i < COUNT(ops); i++) {
        char name[] = { (char) ('a' + i), '\0' };
        int slot;
        mo_op *op = define(b, name, &slot);
        op->flops = ops[i].flops;
        op->bytes = ops[i].bytes;
    }
    MUST(mo_builder_finish(b, &g, &err));
    s = summary_of(g);
    ck_assert_int_eq(s.n_heaviest, COUNT(wanted));
    for (int i = 0; i < COUNT(wanted); i++)
        ck_assert_int_eq(s.heaviest[i], wanted[i]);
    mo_summary_clear(&s);
    mo_graph_free(g);
    mo_builder_free(b);
}
END_TEST

START_TEST(ops_that_know_nothing_are_not_heavy)
{
    mo_graph *g = graph_of("a -> b");
    mo_summary s = summary_of(g);

    ck_assert_int_eq(s.n_heaviest, 0);
    mo_summary_clear(&s);
    mo_graph_free(g);
}
END_TEST

SUITE(summary)
{
    EACH(the_shape_is_measured, COUNT(shapes));
    SOME(the_shape_agrees_with_its_definition, 500, 20);
    TEST(sums_are_of_what_is_known);
    TEST(a_constant_weighs_once_and_only_if_an_op_reads_it);
    TEST(sums_beyond_any_number_are_unknown);
    TEST(types_come_most_frequent_first_then_by_name);
    TEST(the_heaviest_come_by_flops_then_bytes_then_id);
    TEST(ops_that_know_nothing_are_not_heavy);
}
