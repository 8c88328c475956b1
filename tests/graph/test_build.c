/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of graph/build.h: what a graph contains. */
#include "graph/build.h"

#include <math.h>
#include <string.h>

#include "tests/graph/build_case.h"
#include "tests/support/graphs.h"
#include "tests/support/suite.h"

START_TEST(a_defined_op_knows_nothing_but_its_name)
{
    mo_builder *b = build_new();
    const mo_op *op = build_op(b, "a", 4);
    mo_graph *g;

    ck_assert_str_eq(op->name, "a");
    ck_assert_ptr_null(op->type);
    ck_assert_ptr_null(op->shape);
    ck_assert(op->flops == MO_UNKNOWN && op->bytes == MO_UNKNOWN);
    ck_assert_int_eq(op->memory_bytes, MO_UNKNOWN);
    ck_assert_int_eq(op->weight_bytes, MO_UNKNOWN);
    ck_assert_int_eq(op->workspace_bytes, MO_UNKNOWN);
    ck_assert_int_eq(op->output_bytes, MO_UNKNOWN);
    g = build_finish(b);
    ck_assert_int_eq(g->ops[0].memory_bytes, 0);
    ck_assert_int_eq(g->ops[0].line, 4);
    mo_graph_free(g);
}
END_TEST

START_TEST(equal_texts_are_one)
{
    mo_builder *b = build_new();
    const char *text = build_text(b, "conv");

    ck_assert_str_eq(text, "conv");
    ck_assert_ptr_eq(text, build_text(b, "conv"));
    ck_assert_ptr_ne(text, build_text(b, "con"));
    mo_builder_free(b);
    mo_builder_free(NULL);
}
END_TEST

START_TEST(a_text_of_its_own_is_kept_beside_its_equals)
{
    mo_builder *b = build_new();
    const char *one = build_text(b, "conv"), *own = NULL;

    MUST(mo_builder_copy_text(b, "conv2", 4, &own, &err));
    ck_assert_str_eq(own, "conv");
    ck_assert_ptr_ne(own, one);
    ck_assert_ptr_eq(build_text(b, "conv"), one);
    mo_builder_free(b);
}
END_TEST

/* Defined in another order than the graph's. */
START_TEST(finish_returns_the_ids_of_the_slots)
{
    static const char *const names[] = { "c", "b", "a" };
    mo_builder *b = build_new();
    int slot = -1, ids[COUNT(names)];
    mo_graph *g = NULL;
    mo_op *op;

    for (int i = 0; i < COUNT(names); i++) {
        MUST(mo_builder_new_slot(b, names[i], 1, 1, &slot, &err));
        ck_assert_int_eq(slot, i);
        MUST(mo_builder_define(b, slot, 1, &op, &err));
    }
    ck_assert_int_eq(mo_builder_find(b, "a", 1), -1);
    build_add(b, (mo_builder_edge){ .from = 0, .to = 2, .bytes = MO_UNKNOWN });
    mo_builder_map_slots(b, ids);
    MUST(mo_builder_finish(b, &g, &err));
    for (int i = 0; i < COUNT(names); i++)
        ck_assert_int_eq(ids[i], id_of(g, names[i]));
    ck_assert_int_eq(ids[2], 2);
    mo_graph_free(g);
    mo_builder_free(b);
}
END_TEST

static const struct {
    int64_t memory, weights, workspace, wanted;
} memories[] = {
    { MO_UNKNOWN, 10, 5, 15 },
    { MO_UNKNOWN, 10, MO_UNKNOWN, 10 },
    { MO_UNKNOWN, MO_UNKNOWN, 5, 5 },
    { 7, 10, 5, 7 },
    { 0, 10, 5, 0 },
    { MO_UNKNOWN, INT64_MAX, MO_UNKNOWN, INT64_MAX },
};

START_TEST(memory_is_weights_and_workspace_unless_given)
{
    mo_builder *b = build_new();
    mo_op *op = build_op(b, "a", 1);
    mo_graph *g;

    op->memory_bytes = memories[_i].memory;
    op->weight_bytes = memories[_i].weights;
    op->workspace_bytes = memories[_i].workspace;
    g = build_finish(b);
    ck_assert_int_eq(g->ops[0].memory_bytes, memories[_i].wanted);
    mo_graph_free(g);
}
END_TEST

static const struct {
    const char *shape;
    int64_t edge_bytes, output_bytes, wanted;
} sizes[] = {
    { NULL, MO_UNKNOWN, 64, 64 },
    { "4,4", MO_UNKNOWN, 64, 64 },
    { "4,4", 12, 64, 12 },
    { "2,4;2,4", MO_UNKNOWN, 64, MO_UNKNOWN }, /* which of the two? */
    { "2,4;2,4", 32, 64, 32 },
    { "4,4", MO_UNKNOWN, MO_UNKNOWN, MO_UNKNOWN },
    { "4,4", 0, 64, 0 },
};

START_TEST(an_edge_is_as_large_as_its_producers_one_output)
{
    mo_builder *b = build_new();
    mo_op *op = build_op(b, "a", 1);
    mo_builder_edge edge;
    mo_graph *g;

    op->output_bytes = sizes[_i].output_bytes;
    op->shape = sizes[_i].shape ? build_text(b, sizes[_i].shape) : NULL;
    build_op(b, "b", 1);
    edge = build_edge(b, "a", "b");
    edge.bytes = sizes[_i].edge_bytes;
    build_add(b, edge);
    g = build_finish(b);
    ck_assert_int_eq(g->edges[0].bytes, sizes[_i].wanted);
    ck_assert_int_eq(g->tensors[0].bytes, sizes[_i].wanted);
    mo_graph_free(g);
}
END_TEST

/* The ports and keys of three edges of one op, and the number of tensors. */
static const struct {
    struct {
        int port;
        const char *key;
    } edges[3];
    int n_tensors;
} carried[] = {
    { { { -1, NULL }, { -1, NULL }, { -1, NULL } }, 1 }, /* one output */
    { { { 0, NULL }, { 1, NULL }, { 0, NULL } }, 2 },    /* by port */
    { { { 0, "t" }, { 1, "t" }, { -1, "t" } }, 1 },      /* a key wins */
    { { { 0, "t" }, { 0, "u" }, { 0, "t" } }, 2 },
    { { { 0, "t" }, { 0, NULL }, { -1, NULL } }, 3 },
    { { { 5, NULL }, { -1, NULL }, { 3, NULL } }, 3 },
};

START_TEST(a_tensor_is_its_key_or_its_port_or_the_one_output)
{
    mo_builder *b = build_new();
    mo_graph *g;

    build_op(b, "a", 1);
    build_op(b, "b", 1);
    for (int i = 0; i < COUNT(carried[_i].edges); i++) {
        const char *key = carried[_i].edges[i].key;
        mo_builder_edge edge = build_edge(b, "a", "b");
        edge.src_port = carried[_i].edges[i].port;
        edge.tensor = key ? build_text(b, key) : NULL;
        edge.bytes = 10 + i;
        build_add(b, edge);
    }
    g = build_finish(b);
    ck_assert_int_eq(g->n_tensors, carried[_i].n_tensors);
    ck_assert_int_eq(g->tensor_start[1], carried[_i].n_tensors);
    if (g->n_tensors == 1)
        ck_assert_int_eq(g->tensors[0].bytes, 12); /* the largest */
    mo_graph_free(g);
}
END_TEST

START_TEST(tensors_are_sorted_by_port_and_then_key)
{
    static const char *const keys[] = { "z", "b", "a", "z" };
    static const int ports[] = { 2, 0, MO_PORT_NONE, 1 };
    mo_builder *b = build_new();
    mo_graph *g;

    build_op(b, "from", 1);
    build_op(b, "to", 1);
    for (int i = 0; i < COUNT(keys); i++) {
        mo_builder_edge edge = build_edge(b, "from", "to");
        edge.src_port = ports[i];
        edge.tensor = build_text(b, keys[i]);
        build_add(b, edge);
    }
    g = build_finish(b);
    ck_assert_int_eq(g->n_tensors, 3);
    ck_assert_str_eq(g->tensors[0].key, "a");
    ck_assert_int_eq(g->tensors[0].port, MO_PORT_NONE);
    ck_assert_str_eq(g->tensors[1].key, "b");
    ck_assert_str_eq(g->tensors[2].key, "z");
    ck_assert_int_eq(g->tensors[2].port, 1); /* the first one given */
    ck_assert_int_eq(g->tensors[2].n_edges, 2);
    mo_graph_free(g);
}
END_TEST

START_TEST(inputs_stand_in_the_order_of_ports)
{
    mo_builder *b = build_new();
    int ports[] = { build_port(b, "beta"), 1, 0, build_port(b, "alpha"),
                    MO_PORT_NONE };
    const char *from[] = { "n_beta", "n_1", "n_0", "n_alpha", "n_none" };
    const char *wanted[] = { "n_none", "n_0", "n_1", "n_alpha", "n_beta" };
    mo_graph *g;

    build_op(b, "to", 1);
    for (int i = 0; i < COUNT(ports); i++) {
        mo_builder_edge edge;
        build_op(b, from[i], 1);
        edge = build_edge(b, from[i], "to");
        edge.dst_port = ports[i];
        build_add(b, edge);
    }
    g = build_finish(b);
    for (int i = 0; i < COUNT(wanted); i++) {
        int e = g->in_edges[g->in_start[id_of(g, "to")] + i];
        ck_assert_str_eq(g->ops[g->edges[e].from].name, wanted[i]);
    }
    ck_assert_int_eq(g->n_port_names, 2);
    ck_assert_str_eq(g->port_names[0], "alpha");
    ck_assert_str_eq(g->port_names[1], "beta");
    mo_graph_free(g);
}
END_TEST

START_TEST(feeds_keep_the_port_they_leave)
{
    mo_builder *b = build_new();
    mo_builder_edge edge;
    mo_graph *g;

    build_op(b, "w", 1)->output_bytes = 40;
    mo_builder_mark_constant(b, build_slot(b, "w", 1));
    build_op(b, "a", 1);
    build_op(b, "b", 1);
    build_add(b, build_edge(b, "a", "b"));
    edge = build_edge(b, "w", "b");
    edge.src_port = 3;
    edge.dst_port = 1;
    build_add(b, edge);
    edge.src_port = build_port(b, "out");
    edge.dst_port = 0;
    build_add(b, edge);
    g = build_finish(b);

    ck_assert_int_eq(g->n_ops, 2);
    ck_assert_int_eq(g->n_constants, 1);
    ck_assert_int_eq(g->n_edges, 1);
    ck_assert_int_eq(g->n_feeds, 2);
    ck_assert_int_eq(g->n_tensors, 1);
    ck_assert_int_eq(g->feed_start[1], 0);
    ck_assert_int_eq(g->feed_start[2], 2);
    ck_assert_int_eq(g->feeds[0].dst_port, 0);
    ck_assert_str_eq(g->port_names[-2 - g->feed_port[0]], "out");
    ck_assert_int_eq(g->feed_port[1], 3);
    ck_assert_int_eq(g->feeds[1].tensor, MO_UNKNOWN);
    ck_assert_int_eq(g->feeds[1].bytes, 40);
    ck_assert_str_eq(g->ops[g->feeds[1].from].name, "w");
    mo_graph_free(g);
}
END_TEST

static int time_column(mo_builder *b, const char *key)
{
    int column = -1;

    MUST(mo_builder_time_column(b, key, strlen(key), &column, &err));
    return column;
}

START_TEST(times_are_kept_by_op_and_sorted_column)
{
    mo_builder *b = build_new();
    int slow = time_column(b, "slow"), fast = time_column(b, "fast"), x;
    mo_graph *g;

    ck_assert_int_eq(time_column(b, "slow"), slow);
    x = build_slot(b, "x", 1);
    build_op(b, "a", 1);
    build_op(b, "x", 1);
    mo_builder_time_fallback(b, slow, 100);
    MUST(mo_builder_time(b, x, slow, 7, &err));
    MUST(mo_builder_time(b, x, fast, 1, &err));
    MUST(mo_builder_time(b, x, slow, 9, &err)); /* the last one wins */
    g = build_finish(b);

    ck_assert_int_eq(g->n_time_columns, 2);
    ck_assert_str_eq(g->time_columns[0].key, "fast");
    ck_assert_str_eq(g->time_columns[1].key, "slow");
    ck_assert(isnan(g->time_columns[0].fallback_us));
    ck_assert_int_eq(g->time_start[2], 2);
    ck_assert(mo_graph_time_us(g, 1, 0) == 1);
    ck_assert(mo_graph_time_us(g, 1, 1) == 9);
    ck_assert(isnan(mo_graph_time_us(g, 0, 0)));
    ck_assert(mo_graph_time_us(g, 0, 1) == 100);
    mo_graph_free(g);
}
END_TEST

START_TEST(transfer_times_go_with_their_edge)
{
    mo_builder *b = build_new();
    int column = -1, late, early, feed;
    mo_graph *g;

    build_op(b, "a", 1);
    build_op(b, "b", 1);
    build_op(b, "c", 1);
    build_op(b, "w", 1);
    mo_builder_mark_constant(b, build_slot(b, "w", 1));
    feed = build_add(b, build_edge(b, "w", "c"));
    late = build_add(b, build_edge(b, "b", "c"));
    early = build_add(b, build_edge(b, "a", "c"));
    MUST(mo_builder_comm_column(b, "A.B", 3, &column, &err));
    mo_builder_comm_fallback(b, column, 5);
    MUST(mo_builder_comm(b, late, column, 20, &err));
    MUST(mo_builder_comm(b, feed, column, 30, &err)); /* never sent */
    g = build_finish(b);

    ck_assert_int_eq(late, 1);
    ck_assert_int_eq(early, 2);
    ck_assert_str_eq(g->ops[g->edges[1].from].name, "b");
    ck_assert(mo_graph_comm_us(g, 0, 0) == 5);
    ck_assert(mo_graph_comm_us(g, 1, 0) == 20);
    ck_assert_int_eq(g->comm_start[g->n_edges], 1);
    mo_graph_free(g);
}
END_TEST

SUITE(build)
{
    TEST(a_defined_op_knows_nothing_but_its_name);
    TEST(equal_texts_are_one);
    TEST(a_text_of_its_own_is_kept_beside_its_equals);
    TEST(finish_returns_the_ids_of_the_slots);
    EACH(memory_is_weights_and_workspace_unless_given, COUNT(memories));
    EACH(an_edge_is_as_large_as_its_producers_one_output, COUNT(sizes));
    EACH(a_tensor_is_its_key_or_its_port_or_the_one_output, COUNT(carried));
    TEST(tensors_are_sorted_by_port_and_then_key);
    TEST(inputs_stand_in_the_order_of_ports);
    TEST(feeds_keep_the_port_they_leave);
    TEST(times_are_kept_by_op_and_sorted_column);
    TEST(transfer_times_go_with_their_edge);
}
