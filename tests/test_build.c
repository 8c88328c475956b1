/* Claims of graph/build.h: what it keeps and what it refuses. */
#include "graph/build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/graphs.h"
#include "tests/suite.h"

static mo_builder *builder_new(void)
{
    mo_builder *b = NULL;

    MUST(mo_builder_new("file.graphml", &b, &err));
    return b;
}

static int slot_of(mo_builder *b, const char *name, int line)
{
    int slot = -1;

    MUST(mo_builder_slot(b, name, strlen(name), line, &slot, &err));
    return slot;
}

static mo_op *define(mo_builder *b, const char *name, int line)
{
    mo_op *op = NULL;

    MUST(mo_builder_define(b, slot_of(b, name, line), line, &op, &err));
    return op;
}

static const char *text_of(mo_builder *b, const char *text)
{
    const char *kept = NULL;

    MUST(mo_builder_text(b, text, strlen(text), &kept, &err));
    return kept;
}

static int port_of(mo_builder *b, const char *name)
{
    int port = MO_PORT_NONE;

    MUST(mo_builder_port(b, name, strlen(name), &port, &err));
    return port;
}

static mo_builder_edge edge_of(mo_builder *b, const char *from, const char *to)
{
    return (mo_builder_edge){ .from = slot_of(b, from, 1),
                              .to = slot_of(b, to, 1),
                              .src_port = MO_PORT_NONE,
                              .dst_port = MO_PORT_NONE,
                              .bytes = MO_UNKNOWN };
}

static int add(mo_builder *b, mo_builder_edge edge)
{
    int number = -1;

    MUST(mo_builder_add_edge(b, &edge, &number, &err));
    return number;
}

static mo_graph *finish(mo_builder *b)
{
    mo_graph *g = NULL;

    MUST(mo_builder_finish(b, &g, &err));
    mo_builder_free(b);
    return g;
}

/* What finish has against it, as "file:line: text". */
static const char *refusal_of(mo_builder *b)
{
    static char text[2048];
    mo_graph *g = NULL;
    mo_error err;

    ck_assert_int_eq(mo_builder_finish(b, &g, &err), MO_E_INPUT);
    ck_assert_ptr_null(g);
    mo_builder_free(b);
    return mo_error_format(&err, text, sizeof text);
}

START_TEST(a_defined_op_knows_nothing_but_its_name)
{
    mo_builder *b = builder_new();
    const mo_op *op = define(b, "a", 4);
    mo_graph *g;

    ck_assert_str_eq(op->name, "a");
    ck_assert_ptr_null(op->type);
    ck_assert_ptr_null(op->shape);
    ck_assert(op->flops == MO_UNKNOWN && op->bytes == MO_UNKNOWN);
    ck_assert_int_eq(op->memory_bytes, MO_UNKNOWN);
    ck_assert_int_eq(op->weight_bytes, MO_UNKNOWN);
    ck_assert_int_eq(op->workspace_bytes, MO_UNKNOWN);
    ck_assert_int_eq(op->output_bytes, MO_UNKNOWN);
    g = finish(b);
    ck_assert_int_eq(g->ops[0].memory_bytes, 0);
    ck_assert_int_eq(g->ops[0].line, 4);
    mo_graph_free(g);
}
END_TEST

START_TEST(equal_texts_are_one)
{
    mo_builder *b = builder_new();
    const char *text = text_of(b, "conv");

    ck_assert_str_eq(text, "conv");
    ck_assert_ptr_eq(text, text_of(b, "conv"));
    ck_assert_ptr_ne(text, text_of(b, "con"));
    mo_builder_free(b);
    mo_builder_free(NULL);
}
END_TEST

START_TEST(a_text_of_its_own_is_kept_beside_its_equals)
{
    mo_builder *b = builder_new();
    const char *one = text_of(b, "conv"), *own = NULL;

    MUST(mo_builder_own_text(b, "conv2", 4, &own, &err));
    ck_assert_str_eq(own, "conv");
    ck_assert_ptr_ne(own, one);
    ck_assert_ptr_eq(text_of(b, "conv"), one);
    mo_builder_free(b);
}
END_TEST

/* Told in an order that is not the graph's. */
START_TEST(finish_tells_the_ids_of_the_slots)
{
    static const char *const names[] = { "c", "b", "a" };
    mo_builder *b = builder_new();
    int slot = -1, ids[COUNT(names)];
    mo_graph *g = NULL;
    mo_op *op;

    for (int i = 0; i < COUNT(names); i++) {
        MUST(mo_builder_new_slot(b, names[i], 1, 1, &slot, &err));
        ck_assert_int_eq(slot, i);
        MUST(mo_builder_define(b, slot, 1, &op, &err));
    }
    ck_assert_int_eq(mo_builder_find(b, "a", 1), -1);
    add(b, (mo_builder_edge){ .from = 0, .to = 2, .bytes = MO_UNKNOWN });
    mo_builder_ask_ids(b, ids);
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
    mo_builder *b = builder_new();
    mo_op *op = define(b, "a", 1);
    mo_graph *g;

    op->memory_bytes = memories[_i].memory;
    op->weight_bytes = memories[_i].weights;
    op->workspace_bytes = memories[_i].workspace;
    g = finish(b);
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
    mo_builder *b = builder_new();
    mo_op *op = define(b, "a", 1);
    mo_builder_edge edge;
    mo_graph *g;

    op->output_bytes = sizes[_i].output_bytes;
    op->shape = sizes[_i].shape ? text_of(b, sizes[_i].shape) : NULL;
    define(b, "b", 1);
    edge = edge_of(b, "a", "b");
    edge.bytes = sizes[_i].edge_bytes;
    add(b, edge);
    g = finish(b);
    ck_assert_int_eq(g->edges[0].bytes, sizes[_i].wanted);
    ck_assert_int_eq(g->tensors[0].bytes, sizes[_i].wanted);
    mo_graph_free(g);
}
END_TEST

/* What three edges of one op say, and how many tensors that makes. */
static const struct {
    struct {
        int port;
        const char *key;
    } says[3];
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
    mo_builder *b = builder_new();
    mo_graph *g;

    define(b, "a", 1);
    define(b, "b", 1);
    for (int i = 0; i < COUNT(carried[_i].says); i++) {
        const char *key = carried[_i].says[i].key;
        mo_builder_edge edge = edge_of(b, "a", "b");
        edge.src_port = carried[_i].says[i].port;
        edge.tensor = key ? text_of(b, key) : NULL;
        edge.bytes = 10 + i;
        add(b, edge);
    }
    g = finish(b);
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
    mo_builder *b = builder_new();
    mo_graph *g;

    define(b, "from", 1);
    define(b, "to", 1);
    for (int i = 0; i < COUNT(keys); i++) {
        mo_builder_edge edge = edge_of(b, "from", "to");
        edge.src_port = ports[i];
        edge.tensor = text_of(b, keys[i]);
        add(b, edge);
    }
    g = finish(b);
    ck_assert_int_eq(g->n_tensors, 3);
    ck_assert_str_eq(g->tensors[0].key, "a");
    ck_assert_int_eq(g->tensors[0].port, MO_PORT_NONE);
    ck_assert_str_eq(g->tensors[1].key, "b");
    ck_assert_str_eq(g->tensors[2].key, "z");
    ck_assert_int_eq(g->tensors[2].port, 1); /* the first that was said */
    ck_assert_int_eq(g->tensors[2].n_edges, 2);
    mo_graph_free(g);
}
END_TEST

START_TEST(inputs_stand_in_the_order_of_ports)
{
    mo_builder *b = builder_new();
    int ports[] = { port_of(b, "beta"), 1, 0, port_of(b, "alpha"),
                    MO_PORT_NONE };
    const char *from[] = { "n_beta", "n_1", "n_0", "n_alpha", "n_none" };
    const char *wanted[] = { "n_none", "n_0", "n_1", "n_alpha", "n_beta" };
    mo_graph *g;

    define(b, "to", 1);
    for (int i = 0; i < COUNT(ports); i++) {
        mo_builder_edge edge;
        define(b, from[i], 1);
        edge = edge_of(b, from[i], "to");
        edge.dst_port = ports[i];
        add(b, edge);
    }
    g = finish(b);
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
    mo_builder *b = builder_new();
    mo_builder_edge edge;
    mo_graph *g;

    define(b, "w", 1)->output_bytes = 40;
    mo_builder_constant(b, slot_of(b, "w", 1));
    define(b, "a", 1);
    define(b, "b", 1);
    add(b, edge_of(b, "a", "b"));
    edge = edge_of(b, "w", "b");
    edge.src_port = 3;
    edge.dst_port = 1;
    add(b, edge);
    edge.src_port = port_of(b, "out");
    edge.dst_port = 0;
    add(b, edge);
    g = finish(b);

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
    mo_builder *b = builder_new();
    int slow = time_column(b, "slow"), fast = time_column(b, "fast"), x;
    mo_graph *g;

    ck_assert_int_eq(time_column(b, "slow"), slow);
    x = slot_of(b, "x", 1);
    define(b, "a", 1);
    define(b, "x", 1);
    mo_builder_time_fallback(b, slow, 100);
    MUST(mo_builder_time(b, x, slow, 7, &err));
    MUST(mo_builder_time(b, x, fast, 1, &err));
    MUST(mo_builder_time(b, x, slow, 9, &err)); /* the last one wins */
    g = finish(b);

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
    mo_builder *b = builder_new();
    int column = -1, late, early, feed;
    mo_graph *g;

    define(b, "a", 1);
    define(b, "b", 1);
    define(b, "c", 1);
    define(b, "w", 1);
    mo_builder_constant(b, slot_of(b, "w", 1));
    feed = add(b, edge_of(b, "w", "c"));
    late = add(b, edge_of(b, "b", "c"));
    early = add(b, edge_of(b, "a", "c"));
    MUST(mo_builder_comm_column(b, "A.B", 3, &column, &err));
    mo_builder_comm_fallback(b, column, 5);
    MUST(mo_builder_comm(b, late, column, 20, &err));
    MUST(mo_builder_comm(b, feed, column, 30, &err)); /* never sent */
    g = finish(b);

    ck_assert_int_eq(late, 1);
    ck_assert_int_eq(early, 2);
    ck_assert_str_eq(g->ops[g->edges[1].from].name, "b");
    ck_assert(mo_graph_comm_us(g, 0, 0) == 5);
    ck_assert(mo_graph_comm_us(g, 1, 0) == 20);
    ck_assert_int_eq(g->comm_start[g->n_edges], 1);
    mo_graph_free(g);
}
END_TEST

START_TEST(an_op_defined_twice_names_both_lines)
{
    mo_builder *b = builder_new();
    mo_error err;
    char text[2048];
    mo_op *op;

    define(b, "conv1", 12);
    ck_assert_int_eq(
        mo_builder_define(b, slot_of(b, "conv1", 30), 30, &op, &err),
        MO_E_INPUT);
    ck_assert_str_eq(mo_error_format(&err, text, sizeof text),
                     "file.graphml:30: op 'conv1' is defined twice, first on "
                     "line 12; give one of them another id");
    mo_builder_free(b);
}
END_TEST

START_TEST(an_id_is_neither_empty_nor_broken)
{
    mo_builder *b = builder_new();
    mo_error err;
    int slot;

    ck_assert_int_eq(mo_builder_slot(b, "", 0, 3, &slot, &err), MO_E_INPUT);
    ck_assert_int_eq(err.line, 3);
    ck_assert_int_eq(mo_builder_slot(b, "a\0b", 3, 4, &slot, &err), MO_E_INPUT);
    mo_builder_free(b);
}
END_TEST

START_TEST(an_edge_to_nowhere_is_told_where_it_first_was)
{
    mo_builder *b = builder_new();
    mo_builder_edge edge;

    define(b, "a", 1);
    edge = edge_of(b, "a", "a");
    edge.to = slot_of(b, "ghost", 17);
    add(b, edge);
    ck_assert_str_eq(refusal_of(b),
                     "file.graphml:17: edge to 'ghost', which is no op of this "
                     "graph; define it or remove the edge");
}
END_TEST

START_TEST(an_edge_from_nowhere_is_told_as_well)
{
    mo_builder *b = builder_new();
    mo_builder_edge edge;

    define(b, "a", 1);
    edge = edge_of(b, "a", "a");
    edge.from = slot_of(b, "ghost", 18);
    add(b, edge);
    ck_assert_str_eq(refusal_of(b),
                     "file.graphml:18: edge from 'ghost', which is no op of "
                     "this graph; define it or remove the edge");
}
END_TEST

START_TEST(an_op_that_is_only_mentioned_is_refused)
{
    mo_builder *b = builder_new();

    slot_of(b, "ghost", 19);
    ck_assert_str_eq(refusal_of(b), "file.graphml:19: 'ghost' is no op of this "
                                    "graph; define it");
}
END_TEST

START_TEST(memory_that_overflows_is_refused)
{
    mo_builder *b = builder_new();
    mo_op *op = define(b, "a", 6);

    op->weight_bytes = INT64_MAX;
    op->workspace_bytes = 1;
    ck_assert_str_eq(refusal_of(b),
                     "file.graphml:6: weights and workspace of op 'a' together "
                     "exceed 2^63 bytes; check their sizes");
}
END_TEST

static const struct {
    const char *graph, *refusal;
} refusals[] = {
    { "a -> a", "text:1: the graph has a cycle: a -> a (line 1); remove this "
                "edge" },
    { "a -> b\nb -> c\nc -> a",
      "text:1: the graph has a cycle: a -> b (line 1) -> c (line 2) -> a (line "
      "3); remove one of these edges" },
    /* The shortest way round, and none of what leads to it or away. */
    { "in -> a -> b -> c -> d -> a\nb -> a\nd -> out",
      "text:1: the graph has a cycle: a -> b (line 1) -> a (line 2); remove "
      "one of these edges" },
    { "x; y\n$a -> $b\n$b -> $a",
      "text:2: the graph has a cycle: a -> b (line 2) -> a (line 3); remove "
      "one of these edges" },
    { "a\n$w\na -> w", "text:3: constant 'w' depends on op 'a', but may depend "
                       "on constants only; make it an op or remove the edge" },
};

START_TEST(what_is_no_graph_is_refused)
{
    mo_graph *g = NULL;
    char text[2048];
    mo_error err;

    ck_assert_int_eq(graph_parse(refusals[_i].graph, &g, &err), MO_E_INPUT);
    ck_assert_ptr_null(g);
    ck_assert_str_eq(mo_error_format(&err, text, sizeof text),
                     refusals[_i].refusal);
}
END_TEST

/* A ring of that many ops with names of that length. */
static mo_builder *ring(int n_ops, int name_length)
{
    mo_builder *b = builder_new();
    char name[4096], next[4096];

    for (int i = 0; i < n_ops; i++) {
        snprintf(name, sizeof name, "%0*d", name_length, i);
        snprintf(next, sizeof next, "%0*d", name_length, (i + 1) % n_ops);
        define(b, name, i + 1);
        add(b, edge_of(b, name, next));
    }
    return b;
}

START_TEST(a_long_cycle_is_told_in_short)
{
    ck_assert_str_eq(refusal_of(ring(100, 2)),
                     "file.graphml: the graph has a cycle: 00 -> 01 -> 02 -> "
                     "03 -> 04 -> ... 93 more ... -> 98 -> 99 -> 00; remove "
                     "one of these edges");
}
END_TEST

START_TEST(long_names_leave_room_for_advice)
{
    const char *refusal = refusal_of(ring(9, 4000));

    ck_assert_uint_lt(strlen(refusal), 1000);
    ck_assert_ptr_nonnull(strstr(refusal, " -> ... 2 more ... -> "));
    ck_assert_ptr_nonnull(strstr(refusal, "; remove one of these edges"));
}
END_TEST

START_TEST(a_large_cycle_takes_no_stack)
{
    const char *refusal = refusal_of(ring(200000, 6));

    ck_assert_ptr_nonnull(strstr(refusal, " ... 199993 more ... "));
}
END_TEST

SUITE(build)
{
    TEST(a_defined_op_knows_nothing_but_its_name);
    TEST(equal_texts_are_one);
    TEST(a_text_of_its_own_is_kept_beside_its_equals);
    TEST(finish_tells_the_ids_of_the_slots);
    EACH(memory_is_weights_and_workspace_unless_given, COUNT(memories));
    EACH(an_edge_is_as_large_as_its_producers_one_output, COUNT(sizes));
    EACH(a_tensor_is_its_key_or_its_port_or_the_one_output, COUNT(carried));
    TEST(tensors_are_sorted_by_port_and_then_key);
    TEST(inputs_stand_in_the_order_of_ports);
    TEST(feeds_keep_the_port_they_leave);
    TEST(times_are_kept_by_op_and_sorted_column);
    TEST(transfer_times_go_with_their_edge);
    TEST(an_op_defined_twice_names_both_lines);
    TEST(an_id_is_neither_empty_nor_broken);
    TEST(an_edge_to_nowhere_is_told_where_it_first_was);
    TEST(an_edge_from_nowhere_is_told_as_well);
    TEST(an_op_that_is_only_mentioned_is_refused);
    TEST(memory_that_overflows_is_refused);
    EACH(what_is_no_graph_is_refused, COUNT(refusals));
    TEST(a_long_cycle_is_told_in_short);
    TEST(long_names_leave_room_for_advice);
    TEST(a_large_cycle_takes_no_stack);
}
