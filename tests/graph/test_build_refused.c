/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of graph/build.h: graphs that are rejected, and the messages. */
#include "graph/build.h"

#include <stdio.h>
#include <string.h>

#include "tests/graph/build_case.h"
#include "tests/support/graphs.h"
#include "tests/support/suite.h"

/* Returns the error of finish as "file:line: text". */
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

START_TEST(an_op_defined_twice_names_both_lines)
{
    mo_builder *b = build_new();
    mo_error err;
    char text[2048];
    mo_op *op;

    build_op(b, "conv1", 12);
    ck_assert_int_eq(
        mo_builder_define(b, build_slot(b, "conv1", 30), 30, &op, &err),
        MO_E_INPUT);
    ck_assert_str_eq(mo_error_format(&err, text, sizeof text),
                     "file.graphml:30: op 'conv1' is defined twice, first on "
                     "line 12; give one of them another id");
    mo_builder_free(b);
}
END_TEST

START_TEST(an_id_is_neither_empty_nor_broken)
{
    mo_builder *b = build_new();
    mo_error err;
    int slot;

    ck_assert_int_eq(mo_builder_slot(b, "", 0, 3, &slot, &err), MO_E_INPUT);
    ck_assert_int_eq(err.line, 3);
    ck_assert_int_eq(mo_builder_slot(b, "a\0b", 3, 4, &slot, &err), MO_E_INPUT);
    mo_builder_free(b);
}
END_TEST

START_TEST(an_edge_to_nowhere_is_reported_where_it_first_was)
{
    mo_builder *b = build_new();
    mo_builder_edge edge;

    build_op(b, "a", 1);
    edge = build_edge(b, "a", "a");
    edge.to = build_slot(b, "ghost", 17);
    build_add(b, edge);
    ck_assert_str_eq(refusal_of(b),
                     "file.graphml:17: edge to 'ghost', which is no op of this "
                     "graph; define it or remove the edge");
}
END_TEST

START_TEST(an_edge_from_nowhere_is_reported_as_well)
{
    mo_builder *b = build_new();
    mo_builder_edge edge;

    build_op(b, "a", 1);
    edge = build_edge(b, "a", "a");
    edge.from = build_slot(b, "ghost", 18);
    build_add(b, edge);
    ck_assert_str_eq(refusal_of(b),
                     "file.graphml:18: edge from 'ghost', which is no op of "
                     "this graph; define it or remove the edge");
}
END_TEST

START_TEST(an_op_that_is_only_mentioned_is_refused)
{
    mo_builder *b = build_new();

    build_slot(b, "ghost", 19);
    ck_assert_str_eq(refusal_of(b), "file.graphml:19: 'ghost' is no op of this "
                                    "graph; define it");
}
END_TEST

START_TEST(memory_that_overflows_is_refused)
{
    mo_builder *b = build_new();
    mo_op *op = build_op(b, "a", 6);

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
    mo_builder *b = build_new();
    char name[4096], next[4096];

    for (int i = 0; i < n_ops; i++) {
        snprintf(name, sizeof name, "%0*d", name_length, i);
        snprintf(next, sizeof next, "%0*d", name_length, (i + 1) % n_ops);
        build_op(b, name, i + 1);
        build_add(b, build_edge(b, name, next));
    }
    return b;
}

START_TEST(a_long_cycle_is_abbreviated)
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

SUITE(build_refused)
{
    TEST(an_op_defined_twice_names_both_lines);
    TEST(an_id_is_neither_empty_nor_broken);
    TEST(an_edge_to_nowhere_is_reported_where_it_first_was);
    TEST(an_edge_from_nowhere_is_reported_as_well);
    TEST(an_op_that_is_only_mentioned_is_refused);
    TEST(memory_that_overflows_is_refused);
    EACH(what_is_no_graph_is_refused, COUNT(refusals));
    TEST(a_long_cycle_is_abbreviated);
    TEST(long_names_leave_room_for_advice);
    SOME(a_large_cycle_takes_no_stack, 1, 0);
}
