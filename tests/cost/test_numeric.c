/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/numeric.h, sizes counted by hand. */
#include "cost/numeric.h"

#include <string.h>

#include "cost/predict.h"
#include "ingest/read.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

static const struct {
    const char *precision, *weights, *text;
} formats[] = {
    { NULL, NULL, "" },
    { "f32", NULL, "" },
    { "tf32", NULL, "tf32" },
    { "f16", NULL, "f16" },
    { "bf16", "int4", "bf16+int4:4.5" },
    { NULL, "int4:4.25", "+int4:4.25" },
    { NULL, "int8", "+int8:8" },
    { "fp8", "fp4:4", "fp8+fp4:4" },
    { "int8", "bf16:16.0", "int8+bf16:16" },
};

START_TEST(formats_are_written_and_read)
{
    mo_numeric numeric, again;
    char text[MO_NUMERIC_TEXT], other[MO_NUMERIC_TEXT];

    MUST(mo_numeric_parse(formats[_i].precision, formats[_i].weights, &numeric,
                          &err));
    mo_numeric_write(&numeric, text);
    ck_assert_str_eq(text, formats[_i].text);
    MUST(mo_numeric_read(text, &again, &err));
    mo_numeric_write(&again, other);
    ck_assert_str_eq(other, text);
}
END_TEST

static const struct {
    const char *precision, *weights, *why;
} refused[] = {
    { "f8", NULL, "is none of f32, tf32" },
    { "fp4", NULL, "is none of f32, tf32" },
    { "", NULL, "is none of f32, tf32" },
    { NULL, "", "is no type of weights" },
    { NULL, "int3", "is no type of weights" },
    { NULL, "int44", "is no type of weights" },
    { NULL, "int4:", "is no number of bits" },
    { NULL, "int4:x", "is no number of bits" },
    { NULL, "int4:0", "is no number of bits" },
    { NULL, "int4:-4", "is no number of bits" },
    { NULL, "int4:33", "is no number of bits" },
    { NULL, "int4:nan", "is no number of bits" },
};

START_TEST(what_is_no_format_is_refused)
{
    mo_numeric numeric;
    mo_error err = { 0 };

    ck_assert_int_eq(mo_numeric_parse(refused[_i].precision,
                                      refused[_i].weights, &numeric, &err),
                     MO_E_USAGE);
    ck_assert_msg(strstr(err.text, refused[_i].why) != NULL, "%s", err.text);
}
END_TEST

/*
 *   x [8, 64] -> fc (weights [64, 32], bias [32]) -> act [8, 32]
 *   2048         8192 + 128                         1024, read and written
 */
#define KEYS                                                                   \
    "<key id='t' for='node' attr.name='type' attr.type='string'/>"             \
    "<key id='s' for='node' attr.name='shape' attr.type='string'/>"            \
    "<key id='d' for='node' attr.name='dtype' attr.type='string'/>"            \
    "<key id='c' for='node' attr.name='constant' attr.type='boolean'/>"        \
    "<key id='p' for='edge' attr.name='dst_port' attr.type='int'/>"
#define NODE(id, type, shape, dtype, constant)                                 \
    "<node id='" id "'><data key='t'>" type "</data><data key='s'>" shape      \
    "</data><data key='d'>" dtype "</data><data key='c'>" constant             \
    "</data></node>"
#define EDGE(from, to, port)                                                   \
    "<edge source='" from "' target='" to "'><data key='p'>" port              \
    "</data></edge>"
/* clang-format off */
#define GRAPH(dtype)                                                           \
    "<graphml>" KEYS "<graph edgedefault='directed'>"                          \
    NODE("x", "Parameter", "8,64", dtype, "false")                             \
    NODE("w", "Const", "64,32", dtype, "true")                                 \
    NODE("b", "Const", "32", dtype, "true")                                    \
    NODE("fc", "Linear", "8,32", dtype, "false")                               \
    NODE("act", "Relu", "8,32", dtype, "false")                                \
    EDGE("x", "fc", "0") EDGE("w", "fc", "1") EDGE("b", "fc", "2")             \
    EDGE("fc", "act", "0") "</graph></graphml>"
/* clang-format on */

static mo_graph *graph_of(const char *text)
{
    const mo_read_options options = { 0 };
    mo_graph *g = NULL;

    MUST(mo_read_memory("g.graphml", text, strlen(text), &options, &g, NULL,
                        &err));
    return g;
}

static int op_named(const mo_graph *g, const char *name)
{
    for (int i = 0; i < g->n_ops; i++)
        if (strcmp(g->ops[i].name, name) == 0)
            return i;
    ck_abort_msg("no op %s", name);
}

static const struct {
    const char *dtype, *precision, *weights;
    double fc_bytes, act_bytes;
    int64_t fc_weights, edge_bytes;
    mo_math fc, act;
} sizes[] = {
    { "f32", NULL, NULL, 2048 + 8320 + 1024, 2048, 8320, 1024, MO_MATH_F32,
      MO_MATH_F32 },
    { "f32", "tf32", NULL, 2048 + 8320 + 1024, 2048, 8320, 1024, MO_MATH_TF32,
      MO_MATH_F32 },
    { "f32", "f16", NULL, 1024 + 4160 + 512, 1024, 4160, 512, MO_MATH_F16,
      MO_MATH_F16 },
    { "f32", "bf16", "int4:4.5", 1024 + 1152 + 64 + 512, 1024, 1152 + 64, 512,
      MO_MATH_BF16, MO_MATH_BF16 },
    { "f32", NULL, "int8", 2048 + 2048 + 128 + 1024, 2048, 2048 + 128, 1024,
      MO_MATH_F32, MO_MATH_F32 },
    { "f32", "fp8", NULL, 1024 + 2048 + 64 + 512, 1024, 2048 + 64, 512,
      MO_MATH_FP8, MO_MATH_F16 },
    { "f16", NULL, NULL, 1024 + 4160 + 512, 1024, 4160, 512, MO_MATH_F16,
      MO_MATH_F16 },
    { "f16", "bf16", NULL, 1024 + 4160 + 512, 1024, 4160, 512, MO_MATH_F16,
      MO_MATH_F16 },
    { "bf16", "int8", "int4:4", 1024 + 1024 + 64 + 512, 1024, 1024 + 64, 512,
      MO_MATH_INT8, MO_MATH_BF16 },
    /* Weights never grow. */
    { "f16", NULL, "int8:32", 1024 + 4160 + 512, 1024, 4160, 512, MO_MATH_F16,
      MO_MATH_F16 },
};

START_TEST(sizes_are_those_of_the_formats)
{
    mo_graph *g =
        graph_of(strcmp(sizes[_i].dtype, "f32") == 0   ? GRAPH("f32")
                 : strcmp(sizes[_i].dtype, "f16") == 0 ? GRAPH("f16")
                                                       : GRAPH("bf16"));
    int fc = op_named(g, "fc"), act = op_named(g, "act");
    mo_numeric numeric;

    MUST(mo_numeric_parse(sizes[_i].precision, sizes[_i].weights, &numeric,
                          &err));
    ck_assert_int_eq(mo_numeric_math(&numeric, g, fc, MO_CLASS_MATMUL),
                     sizes[_i].fc);
    ck_assert_int_eq(mo_numeric_math(&numeric, g, act, MO_CLASS_ACTIVATION),
                     sizes[_i].act);
    mo_numeric_apply(&numeric, g);
    ck_assert_double_eq_tol(g->ops[fc].bytes, sizes[_i].fc_bytes, 1e-6);
    ck_assert_double_eq_tol(g->ops[act].bytes, sizes[_i].act_bytes, 1e-6);
    ck_assert_int_eq(g->ops[fc].weight_bytes, sizes[_i].fc_weights);
    ck_assert_int_eq(g->ops[fc].memory_bytes, sizes[_i].fc_weights);
    for (int e = 0; e < g->n_edges; e++)
        if (g->edges[e].from == fc) {
            ck_assert_int_eq(g->edges[e].bytes, sizes[_i].edge_bytes);
            ck_assert_int_eq(g->tensors[g->edges[e].tensor].bytes,
                             sizes[_i].edge_bytes);
        }
    ck_assert_int_eq(g->ops[fc].output_bytes, sizes[_i].edge_bytes);
    mo_graph_free(g);
}
END_TEST

/* Graphs without constants give the bytes of weights; a table is gathered from
 * as it is. */
START_TEST(weights_without_constants_are_those_of_the_op)
{
    mo_graph *g = problem_graph(
        "a op=MatMul dtype=f32 flops=1 bytes=1000 weight_bytes=800 "
        "memory_bytes=900;"
        "b op=Gather dtype=f32 flops=0 bytes=64 weight_bytes=640 "
        "memory_bytes=640;"
        "c op=MatMul flops=1 bytes=400 memory_bytes=400");
    mo_numeric numeric;

    MUST(mo_numeric_parse("bf16", "int4:4", &numeric, &err));
    mo_numeric_apply(&numeric, g);
    for (int i = 0; i < g->n_ops; i++) {
        const mo_op *op = &g->ops[i];
        static const struct {
            double bytes;
            int64_t memory_bytes;
        } wanted[] = { { 125, 200 }, { 32, 320 }, { 200, 50 } };
        int which = op->name[0] - 'a';

        ck_assert_double_eq_tol(op->bytes, wanted[which].bytes, 1e-9);
        ck_assert_int_eq(op->memory_bytes, wanted[which].memory_bytes);
    }
    mo_graph_free(g);
}
END_TEST

/* Products of 1 GFLOP on a device of 10, 100 and 400 TFLOP/s by type. */
START_TEST(products_run_at_the_peak_of_their_type)
{
    static const mo_efficiencies whole = {
        .n = 2,
        .rows = { { MO_CLASS_MATMUL, MO_GEN_UNKNOWN, 1, 1, 0, MO_MATH_F32 },
                  { MO_CLASS_ELEMENTWISE, MO_GEN_UNKNOWN, 1, 1, 0,
                    MO_MATH_F32 } },
    };
    static const mo_device device = {
        .id = "A",
        .gflops = { [MO_MATH_F32] = 1e4,
                    [MO_MATH_F16] = 1e5,
                    [MO_MATH_INT8] = 4e5 },
        .bandwidth_gbs = 1e6,
    };
    static const double us[MO_MATHS] = {
        [MO_MATH_F32] = 100,  [MO_MATH_TF32] = 100, [MO_MATH_F16] = 10,
        [MO_MATH_BF16] = 100, [MO_MATH_FP8] = 10,   [MO_MATH_INT8] = 2.5,
        [MO_MATH_FP4] = 10,
    };

    for (int m = 0; m < MO_MATHS; m++) {
        mo_workload work = { .class = MO_CLASS_MATMUL,
                             .flops = 1e9,
                             .bytes = 8,
                             .math = (mo_math) m };

        ck_assert_double_eq_tol(mo_predict_roofline_us(&whole, &work, &device),
                                us[m], 1e-9);
        work.class = MO_CLASS_ELEMENTWISE;
        ck_assert_double_eq_tol(mo_predict_roofline_us(&whole, &work, &device),
                                100, 1e-9);
    }
}
END_TEST

SUITE(numeric)
{
    EACH(formats_are_written_and_read, COUNT(formats));
    EACH(what_is_no_format_is_refused, COUNT(refused));
    EACH(sizes_are_those_of_the_formats, COUNT(sizes));
    TEST(weights_without_constants_are_those_of_the_op);
    TEST(products_run_at_the_peak_of_their_type);
}
