/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/work.h. */
#include "ingest/work.h"

#include <string.h>

#include "graph/build.h"
#include "tests/support/suite.h"
#include "tests/ingest/work_case.h"
#include "ingest/operator.h"

START_TEST(a_product_beyond_any_number_is_unknown)
{
    /* 24 labels of 2^47 each: 2^1128 steps. */
    static const char *const wide = "140737488355328,1";
    work_input inputs[24];
    char equation[128] = "{\"equation\":\"";
    mo_op x = {
        .type = "Einsum", .shape = "1", .dtype = "f32", .attrs = equation
    };
    mo_graph *g;

    for (int i = 0; i < 24; i++) {
        char term[4] = { (char) ('a' + i), 'Z', i < 23 ? ',' : '\0', '\0' };

        inputs[i] = (work_input){ wide, false, i };
        strcat(equation, term);
    }
    strcat(equation, "->\"}");
    g = work_graph(&x, inputs, 24);
    MUST(mo_work_fill(g, &err));
    ck_assert(work_op(g)->flops == MO_UNKNOWN);
    mo_graph_free(g);
}
END_TEST

START_TEST(constants_are_inputs_like_others)
{
    work_input inputs[] = { { "4,5", false, 0 }, { "5,6", true, 1 } };
    mo_op x = { .type = "MatMul", .shape = "4,6", .dtype = "f32" };
    mo_graph *g = work_graph(&x, inputs, 2);

    MUST(mo_work_fill(g, &err));
    ck_assert_double_eq(work_op(g)->flops, 240); /* 2 * 24 * 5 */
    ck_assert_double_eq(work_op(g)->bytes, 296); /* 80 + 120 + 96 */
    ck_assert_int_eq(g->n_feeds, 1);
    ck_assert_int_eq(g->feeds[0].bytes, 120);
    mo_graph_free(g);
}
END_TEST

START_TEST(inputs_without_numbers_fill_the_gaps)
{
    /* The constant has port 0; the other two follow. */
    work_input inputs[] = { { "4,5", false, MO_PORT_NONE },
                            { "6", true, 0 },
                            { "5,6", false, MO_PORT_NONE } };
    mo_op x = { .type = "Addmm", .shape = "4,6", .dtype = "f32" };
    mo_graph *g = work_graph(&x, inputs, 3);

    MUST(mo_work_fill(g, &err));
    ck_assert_double_eq(work_op(g)->flops, 264); /* 2 * 24 * 5 + 24 */
    mo_graph_free(g);
}
END_TEST

/* The same op with its inputs named in either order; "c" in front of a shape
 * makes a constant of it. */
static const struct loose {
    const char *type, *attrs, *first, *second, *output;
    double flops;
} loose[] = {
    /* 2 * (1 * 8 * 32 * 32) * 27 */
    { "Convolution", NULL, "1,3,32,32", "8,3,3,3", "1,8,32,32", 442368 },
    { "GroupConvolution", NULL, "1,4,7,7", "2,3,2,3,3", "1,6,5,5", 5400 },
    { "ConvolutionBackpropData", NULL, "1,8,5,5", "8,3,2,2", "1,3,6,6", 4800 },
    { "MatMul", NULL, "4,5", "5,6", "4,6", 240 },
    { "MatMul", "{\"transpose_b\":true}", "4,5", "6,5", "4,6", 240 },
    { "MatMul", NULL, "5", "5,6", "6", 60 },
    { "Linear", NULL, "2,4,5", "6,5", "2,4,6", 480 },
    { "Einsum", "{\"equation\":\"ij,jk->ik\"}", "3,4", "4,5", "3,5", 120 },
    { "Add", NULL, "2,3", "1,3", "2,3", 6 },
    /* The shapes fit both ways, but one is a constant. */
    { "ReduceSum", NULL, "2,3", "c1", "2", 6 },
    { "ReduceSum", NULL, "c2,3", "c2,3", "2", 6 },
    /* Ambiguous. */
    { "ReduceSum", NULL, "2,3", "1", "2", MO_UNKNOWN },
    { "ReduceSum", NULL, "c2,3", "c1", "2", MO_UNKNOWN },
    { "MatMul", NULL, "4,5", "7,6", "4,6", MO_UNKNOWN },
};

static work_input loose_input(const char *shape)
{
    bool is_constant = shape[0] == 'c';

    return (work_input){ shape + is_constant, is_constant, MO_PORT_NONE };
}

START_TEST(names_do_not_tell_inputs_apart)
{
    const struct loose *c = &loose[_i / 2];
    bool swapped = _i % 2;
    work_input inputs[] = { loose_input(swapped ? c->second : c->first),
                            loose_input(swapped ? c->first : c->second) };
    mo_op x = {
        .type = c->type, .shape = c->output, .dtype = "f32", .attrs = c->attrs
    };
    mo_graph *g = work_graph(&x, inputs, 2);

    MUST(mo_work_fill(g, &err));
    ck_assert_msg(work_op(g)->flops == c->flops, "%s of %s and %s: %g", c->type,
                  inputs[0].shape, inputs[1].shape, work_op(g)->flops);
    mo_graph_free(g);
}
END_TEST

START_TEST(too_many_inputs_without_numbers_are_not_tried)
{
    work_input inputs[6];
    mo_op x = { .type = "LSTMCell", .shape = "2,4", .dtype = "f32" };
    mo_graph *g;

    for (int i = 0; i < 6; i++)
        inputs[i] = (work_input){ "16,4", false, MO_PORT_NONE };
    g = work_graph(&x, inputs, 6);
    MUST(mo_work_fill(g, &err));
    ck_assert(work_op(g)->flops == MO_UNKNOWN);
    mo_graph_free(g);
}
END_TEST

START_TEST(weights_told_in_attrs_are_inputs_and_memory)
{
    work_input inputs[] = { { "128,768", false, MO_PORT_NONE } };
    mo_op x = { .type = "MatMul",
                .shape = "128,1000",
                .dtype = "f32",
                .attrs = "{\"weights\":\"1:768,1000\"}" };
    mo_graph *g = work_graph(&x, inputs, 1);

    MUST(mo_work_fill(g, &err));
    ck_assert_int_eq(work_op(g)->weight_bytes, 3072000); /* 768000 * 4 */
    ck_assert_int_eq(work_op(g)->memory_bytes, 3072000);
    ck_assert_double_eq(work_op(g)->flops, 196608000);
    ck_assert_double_eq(work_op(g)->bytes, 3977216); /* 905216 more */
    mo_graph_free(g);
}
END_TEST

static const char *const bad_weights[] = {
    "{\"weights\":\"1:768,n\"}",
    "{\"weights\":\"1\"}",
    "{\"weights\":\":\"}",
    "{\"weights\":\"1:4;;\"}",
};

START_TEST(weights_that_are_none_leave_memory_unknown)
{
    work_input inputs[] = { { "2,3", false, 0 } };
    mo_op x = {
        .type = "Add", .shape = "2,3", .dtype = "f32", .attrs = bad_weights[_i]
    };
    mo_graph *g = work_graph(&x, inputs, 1);

    MUST(mo_work_fill(g, &err));
    ck_assert_int_eq(work_op(g)->weight_bytes, MO_UNKNOWN);
    ck_assert(work_op(g)->bytes == MO_UNKNOWN);
    mo_graph_free(g);
}
END_TEST

START_TEST(constants_are_memory_of_the_op_that_reads_them)
{
    work_input inputs[] = { { "4,5", false, 0 },
                            { "5,6", true, 1 },
                            { "6", true, 2 } };
    mo_op x = { .type = "Linear", .shape = "4,6", .dtype = "f32" };
    mo_graph *g = work_graph(&x, inputs, 3);

    MUST(mo_work_fill(g, &err));
    ck_assert_int_eq(work_op(g)->weight_bytes, 144); /* 120 + 24 */
    ck_assert_int_eq(work_op(g)->memory_bytes, 144);
    ck_assert_double_eq(work_op(g)->bytes, 320); /* 80 + 144 + 96 */
    mo_graph_free(g);
}
END_TEST

START_TEST(memory_that_is_told_stays)
{
    work_input inputs[] = { { "4,5", false, 0 }, { "5,6", true, 1 } };
    mo_op x = { .type = "MatMul", .shape = "4,6", .dtype = "f32" };
    mo_graph *g = work_graph(&x, inputs, 2);
    mo_op *op = &g->ops[mo_graph_find(g, "x")];

    op->memory_given = true;
    MUST(mo_work_fill(g, &err));
    ck_assert_int_eq(op->weight_bytes, MO_UNKNOWN);
    ck_assert_int_eq(op->memory_bytes, 0);
    mo_graph_free(g);
}
END_TEST

/* An op with n outputs "1,3", each read by the one other op. */
static mo_graph *graph_of_outputs(char *shape, int n)
{
    mo_builder *b;
    mo_graph *g;
    mo_op *op;
    int number;
    mo_builder_edge edge = { .bytes = MO_UNKNOWN };

    for (int i = 0; i < n; i++)
        memcpy(shape + 4 * i, i < n - 1 ? "1,3;" : "1,3", 4);
    MUST(mo_builder_new("inline", &b, &err));
    MUST(mo_builder_slot(b, "s", 1, 0, &edge.from, &err));
    MUST(mo_builder_define(b, edge.from, 0, &op, &err));
    op->shape = shape;
    op->dtype = "f32";
    MUST(mo_builder_slot(b, "x", 1, 0, &edge.to, &err));
    MUST(mo_builder_define(b, edge.to, 0, &op, &err));
    for (int i = 0; i < n; i++) {
        edge.src_port = edge.dst_port = i;
        MUST(mo_builder_add_edge(b, &edge, &number, &err));
    }
    MUST(mo_builder_finish(b, &g, &err));
    mo_operator_resolve(g);
    mo_builder_free(b);
    return g;
}

START_TEST(every_output_has_its_size_however_many)
{
    enum { N = 100000 };
    static char shape[4 * N];
    mo_graph *g = graph_of_outputs(shape, N);

    MUST(mo_work_fill(g, &err));
    ck_assert_int_eq(g->n_tensors, N);
    for (int t = 0; t < N; t++)
        ck_assert_int_eq(g->tensors[t].bytes, 12);
    mo_graph_free(g);
}
END_TEST

START_TEST(inputs_beyond_the_shown_count_as_traffic)
{
    work_input inputs[100];
    mo_op x = { .type = "Concat", .shape = "100,3", .dtype = "f32" };
    mo_graph *g;

    for (int i = 0; i < 100; i++)
        inputs[i] = (work_input){ "1,3", i % 2 == 0, i };
    inputs[99].port = 2000000000;
    g = work_graph(&x, inputs, 100);
    MUST(mo_work_fill(g, &err));
    ck_assert_double_eq(work_op(g)->flops, 0);
    ck_assert_double_eq(work_op(g)->bytes, 2400); /* 300 * 4, twice */
    mo_graph_free(g);
}
END_TEST

START_TEST(weights_told_only_by_their_size_are_read)
{
    work_input inputs[] = { { "4,5", false, MO_PORT_NONE } };
    mo_op x = {
        .type = "Linear", .shape = "4,6", .dtype = "f32", .weight_bytes = 144
    };
    mo_graph *g = work_graph(&x, inputs, 1);

    MUST(mo_work_fill(g, &err));
    ck_assert_double_eq(work_op(g)->flops, 240);
    ck_assert_double_eq(work_op(g)->bytes, 320); /* 80 + 144 + 96 */
    mo_graph_free(g);
}
END_TEST

START_TEST(a_table_told_only_by_its_size_is_not_read_whole)
{
    work_input inputs[] = { { "2", false, MO_PORT_NONE } };
    mo_op x = { .type = "Embedding",
                .shape = "2,3",
                .dtype = "f32",
                .weight_bytes = 1200 };
    mo_graph *g = work_graph(&x, inputs, 1);

    MUST(mo_work_fill(g, &err));
    ck_assert_double_eq(work_op(g)->bytes, 56); /* 8 + 24 read, 24 written */
    mo_graph_free(g);
}
END_TEST

START_TEST(an_activation_without_a_shape_writes_what_it_reads)
{
    const work_input a = { "4,25", false, MO_PORT_NONE };
    const mo_op x = { .type = "ReLU", .dtype = "f32" };
    const mo_op sum = { .type = "Add", .dtype = "f32" };
    mo_graph *g = work_graph(&x, &a, 1);

    MUST(mo_work_fill(g, &err));
    ck_assert(work_op(g)->bytes == 800 && work_op(g)->flops == 100);
    mo_graph_free(g);

    g = work_graph(&sum, &a, 1);
    MUST(mo_work_fill(g, &err));
    ck_assert(work_op(g)->bytes < 0 && work_op(g)->flops < 0);
    mo_graph_free(g);
}
END_TEST

START_TEST(what_the_file_says_stays)
{
    work_input inputs[] = { { "4,5", false, 0 }, { "5,6", false, 1 } };
    mo_op x = { .type = "MatMul", .shape = "4,6", .dtype = "f32" };
    mo_graph *g = work_graph(&x, inputs, 2);
    mo_op *op = &g->ops[mo_graph_find(g, "x")];

    op->flops = 7;
    op->output_bytes = 1000;
    g->edges[0].bytes = 5;
    g->tensors[g->edges[0].tensor].bytes = 5;
    MUST(mo_work_fill(g, &err));
    ck_assert_double_eq(op->flops, 7);
    ck_assert_int_eq(op->output_bytes, 1000);
    ck_assert_int_eq(g->tensors[g->edges[0].tensor].bytes, 5);
    ck_assert_double_eq(op->bytes, 1125); /* 5 + 120 + 1000 */
    mo_graph_free(g);
}
END_TEST

START_TEST(sizes_of_tensors_come_from_their_port)
{
    mo_builder *b;
    mo_graph *g;
    mo_op *op;
    int from, to, number;
    mo_builder_edge edge = { .src_port = 1,
                             .dst_port = 0,
                             .bytes = MO_UNKNOWN };

    MUST(mo_builder_new("inline", &b, &err));
    MUST(mo_builder_slot(b, "s", 1, 0, &from, &err));
    MUST(mo_builder_define(b, from, 0, &op, &err));
    op->type = "TopK";
    op->shape = "2,3;2,4";
    op->dtype = "f32;i64";
    MUST(mo_builder_slot(b, "x", 1, 0, &to, &err));
    MUST(mo_builder_define(b, to, 0, &op, &err));
    op->type = "Abs";
    op->shape = "2,4";
    op->dtype = "i64";
    edge.from = from;
    edge.to = to;
    MUST(mo_builder_add_edge(b, &edge, &number, &err));
    MUST(mo_builder_finish(b, &g, &err));
    mo_operator_resolve(g);
    mo_builder_free(b);

    MUST(mo_work_fill(g, &err));
    ck_assert_int_eq(g->ops[0].output_bytes, 88); /* 6 * 4 + 8 * 8 */
    ck_assert_int_eq(g->edges[0].bytes, 64);
    ck_assert_int_eq(g->tensors[0].bytes, 64);
    ck_assert_double_eq(work_op(g)->bytes, 128);
    mo_graph_free(g);
}
END_TEST

START_TEST(an_unknown_type_has_an_unknown_size)
{
    work_input inputs[] = { { "2,3", false, 0 } };
    mo_op x = { .type = "ReLU", .shape = "2,3", .dtype = "quaternion" };
    mo_graph *g = work_graph(&x, inputs, 1);

    MUST(mo_work_fill(g, &err));
    ck_assert_double_eq(work_op(g)->flops, 6);
    ck_assert(work_op(g)->bytes == MO_UNKNOWN);
    ck_assert(work_op(g)->output_bytes == MO_UNKNOWN);
    mo_graph_free(g);
}
END_TEST

SUITE(work)
{
    TEST(a_product_beyond_any_number_is_unknown);
    TEST(constants_are_inputs_like_others);
    TEST(inputs_without_numbers_fill_the_gaps);
    EACH(names_do_not_tell_inputs_apart, 2 * COUNT(loose));
    TEST(too_many_inputs_without_numbers_are_not_tried);
    TEST(weights_told_in_attrs_are_inputs_and_memory);
    EACH(weights_that_are_none_leave_memory_unknown, COUNT(bad_weights));
    TEST(constants_are_memory_of_the_op_that_reads_them);
    TEST(memory_that_is_told_stays);
    TEST(every_output_has_its_size_however_many);
    TEST(inputs_beyond_the_shown_count_as_traffic);
    TEST(weights_told_only_by_their_size_are_read);
    TEST(a_table_told_only_by_its_size_is_not_read_whole);
    TEST(an_activation_without_a_shape_writes_what_it_reads);
    TEST(what_the_file_says_stays);
    TEST(sizes_of_tensors_come_from_their_port);
    TEST(an_unknown_type_has_an_unknown_size);
}
