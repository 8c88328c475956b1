/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of mo_workload_of: sizes and types of products, convolutions and
 * attention in a graph, and which model their times come from. */
#include "cost/predict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ingest/read.h"
#include "tests/support/graphs.h"
#include "tests/support/suite.h"

/* Two inputs, or one and a constant, and the op that reads them. */
static mo_graph *graph_with(const char *type, const char *attrs,
                            const char *a_shape, const char *a_dtype,
                            const char *b_type, const char *b_shape,
                            const char *b_dtype, const char *shape)
{
    char text[4096];
    mo_graph *g;

    snprintf(
        text, sizeof text,
        "<graphml><key id='o' for='node' attr.name='op' attr.type='string'/>"
        "<key id='s' for='node' attr.name='shape' attr.type='string'/>"
        "<key id='d' for='node' attr.name='dtype' attr.type='string'/>"
        "<key id='t' for='node' attr.name='attrs' attr.type='string'/>"
        "<key id='p' for='edge' attr.name='dst_port' attr.type='int'/>"
        "<graph edgedefault='directed'>"
        "<node id='a'><data key='o'>Parameter</data><data key='s'>%s</data>"
        "<data key='d'>%s</data></node>"
        "<node id='b'><data key='o'>%s</data><data key='s'>%s</data>"
        "<data key='d'>%s</data></node>"
        "<node id='v'><data key='o'>Parameter</data><data key='s'>%s</data>"
        "<data key='d'>%s</data></node>"
        "<node id='x'><data key='o'>%s</data><data key='s'>%s</data>"
        "<data key='d'>%s</data><data key='t'>%s</data></node>"
        "<edge source='a' target='x'><data key='p'>0</data></edge>"
        "<edge source='b' target='x'><data key='p'>1</data></edge>"
        "%s</graph></graphml>",
        a_shape, a_dtype, b_type, b_shape, b_dtype, b_shape, b_dtype, type,
        shape, a_dtype, attrs,
        strstr(type, "Attention")
            ? "<edge source='v' target='x'><data key='p'>2</data></edge>"
            : "");
    MUST(mo_read_memory("g", text, strlen(text), NULL, &g, NULL, &err));
    return g;
}

static const struct {
    const char *type, *attrs, *a, *a_dtype, *b_type, *b, *b_dtype, *out;
    mo_math math;
    mo_product product;
} products[] = {
    { "MatMul",
      "{}",
      "8,512,64",
      "f16",
      "Parameter",
      "64,128",
      "f16",
      "8,512,128",
      MO_MATH_F16,
      { 1, 4096, 128, 64, 2, 2, 2, 0 } },
    { "MatMul",
      "{}",
      "8,16,512,64",
      "bf16",
      "Parameter",
      "8,16,64,512",
      "bf16",
      "8,16,512,512",
      MO_MATH_BF16,
      { 128, 512, 512, 64, 2, 2, 2, 0 } },
    { "MatMul",
      "{\"transpose_b\": true}",
      "1,4096",
      "f16",
      "Const",
      "11008,4096",
      "f16",
      "1,11008",
      MO_MATH_F16,
      { 1, 1, 11008, 4096, 2, 2, 2, 0 } },
    { "MatMul",
      "{\"transpose_b\": true}",
      "1,4096",
      "f16",
      "Const",
      "11008,4096",
      "i4",
      "1,11008",
      MO_MATH_F16,
      { 1, 1, 11008, 4096, 2, 0.5, 2, 0 } },
    { "MatMul",
      "{}",
      "32,64",
      "i8",
      "Parameter",
      "64,128",
      "i8",
      "32,128",
      MO_MATH_INT8,
      { 1, 32, 128, 64, 1, 1, 1, 0 } },
    { "MatMul",
      "{}",
      "32,64",
      "f8e4m3",
      "Parameter",
      "64,128",
      "f8e4m3",
      "32,128",
      MO_MATH_FP8,
      { 1, 32, 128, 64, 1, 1, 1, 0 } },
    { "MatMul",
      "{}",
      "32,64",
      "f32",
      "Parameter",
      "64,128",
      "f32",
      "32,128",
      MO_MATH_F32,
      { 1, 32, 128, 64, 4, 4, 4, 0 } },
    { "Convolution",
      "{}",
      "2,64,56,56",
      "f16",
      "Parameter",
      "128,64,3,3",
      "f16",
      "2,128,56,56",
      MO_MATH_F16,
      { 1, 6272, 128, 576, 2, 2, 2,
        2.0 * (2 * 64 * 3136 + 128 * 576 + 2 * 128 * 3136) } },
    { "Convolution",
      "{\"groups\": 4}",
      "1,64,8,8",
      "f16",
      "Parameter",
      "128,16,3,3",
      "f16",
      "1,128,8,8",
      MO_MATH_F16,
      { 4, 64, 32, 144, 2, 2, 2, 2.0 * (64 * 64 + 128 * 144 + 128 * 64) } },
    /* A depthwise convolution is no product. */
    { "GroupConvolution",
      "{}",
      "1,64,8,8",
      "f16",
      "Parameter",
      "64,1,1,3,3",
      "f16",
      "1,64,8,8",
      MO_MATH_F16,
      { 0, 0, 0, 0, 0, 0, 0, 0 } },
};

START_TEST(products_have_the_sizes_of_their_operands)
{
    mo_graph *g =
        graph_with(products[_i].type, products[_i].attrs, products[_i].a,
                   products[_i].a_dtype, products[_i].b_type, products[_i].b,
                   products[_i].b_dtype, products[_i].out);
    mo_workload work = mo_workload_of(g, id_of(g, "x"));
    const mo_product *got = &work.product, *wanted = &products[_i].product;

    ck_assert_int_eq(work.math, products[_i].math);
    ck_assert_double_eq(got->batch, wanted->batch);
    ck_assert_double_eq(got->m, wanted->m);
    ck_assert_double_eq(got->n, wanted->n);
    ck_assert_double_eq(got->k, wanted->k);
    ck_assert_double_eq(got->a_bytes, wanted->a_bytes);
    ck_assert_double_eq(got->b_bytes, wanted->b_bytes);
    ck_assert_double_eq(got->c_bytes, wanted->c_bytes);
    ck_assert_double_eq(got->bytes, wanted->bytes);
    mo_graph_free(g);
}
END_TEST

START_TEST(attention_has_the_heads_of_its_operands)
{
    mo_graph *g = graph_with("ScaledDotProductAttention", "{\"causal\": true}",
                             "2,32,512,128", "f16", "Parameter", "2,8,2048,128",
                             "f16", "2,32,512,128");
    mo_workload work = mo_workload_of(g, id_of(g, "x"));
    const mo_attention *a = &work.attention;

    ck_assert_int_eq(work.math, MO_MATH_F16);
    ck_assert_double_eq(a->batch, 2);
    ck_assert_double_eq(a->queries, 512);
    ck_assert_double_eq(a->keys, 2048);
    ck_assert_double_eq(a->heads, 32);
    ck_assert_double_eq(a->kv_heads, 8);
    ck_assert_double_eq(a->head_size, 128);
    ck_assert_double_eq(a->element_bytes, 2);
    ck_assert(a->is_causal);
    mo_graph_free(g);
}
END_TEST

static mo_workload work_in(const char *dtype)
{
    mo_graph *g = graph_with("MatMul", "{}", "2048,4096", dtype, "Parameter",
                             "4096,4096", dtype, "2048,4096");
    mo_workload work = mo_workload_of(g, id_of(g, "x"));

    mo_graph_free(g);
    return work;
}

/* Half precision on a known model, without any option. */
START_TEST(products_in_half_precision_run_on_tensor_cores)
{
    mo_workload half = work_in("f16"), single = work_in("f32");
    mo_device h100 = mo_device_from_model(mo_device_find("h100"));
    double us = mo_predict_roofline_us(NULL, &half, &h100);

    /* 89 us in public measurements. */
    ck_assert_double_ge(us, 70);
    ck_assert_double_le(us, 110);
    ck_assert_double_eq(us, mo_predict_kernel_us(&half, &h100));
    ck_assert_double_ge(mo_predict_roofline_us(NULL, &single, &h100), 5 * us);
}
END_TEST

START_TEST(the_roofline_stays_where_the_model_does_not_apply)
{
    mo_workload half = work_in("f16"), single = work_in("f32");
    mo_device h100 = mo_device_from_model(mo_device_find("h100"));
    mo_device cpu = { .id = "c",
                      .is_cpu = true,
                      .gflops = { 100 },
                      .bandwidth_gbs = 90,
                      .clock_mhz = 3000,
                      .sms = 8 };
    mo_device vague = { .id = "v", .gflops = { 1e5 }, .bandwidth_gbs = 1e5 };

    ck_assert(isnan(mo_predict_kernel_us(&single, &h100)));
    ck_assert(isnan(mo_predict_kernel_us(&half, &cpu)));
    ck_assert(isnan(mo_predict_kernel_us(&half, &vague)));
    /* By its flops, the same in both types; the bytes do not matter. */
    ck_assert_double_eq(mo_predict_roofline_us(NULL, &half, &cpu),
                        mo_predict_roofline_us(NULL, &single, &cpu));
    vague.gflops[MO_MATH_F16] = 1e6;
    ck_assert_double_lt(mo_predict_roofline_us(NULL, &half, &vague),
                        mo_predict_roofline_us(NULL, &single, &vague) / 2);
}
END_TEST

/* What decides a placement is how many times faster one device is. */
START_TEST(devices_differ_by_what_differs_in_their_data_sheets)
{
    mo_workload half = work_in("f16");
    mo_device a100 = mo_device_from_model(mo_device_find("a100-80gb"));
    mo_device h100 = mo_device_from_model(mo_device_find("h100"));
    mo_device b200 = mo_device_from_model(mo_device_find("b200"));
    double a = mo_predict_roofline_us(NULL, &half, &a100);
    double h = mo_predict_roofline_us(NULL, &half, &h100);
    double b = mo_predict_roofline_us(NULL, &half, &b200);

    /* 289, 89 and 47 us in public measurements. */
    ck_assert_double_eq_tol(a / h, 289 / 89.0, 0.5);
    ck_assert_double_eq_tol(h / b, 89 / 47.0, 0.3);
}
END_TEST

SUITE(workload)
{
    EACH(products_have_the_sizes_of_their_operands, COUNT(products));
    TEST(attention_has_the_heads_of_its_operands);
    TEST(products_in_half_precision_run_on_tensor_cores);
    TEST(the_roofline_stays_where_the_model_does_not_apply);
    TEST(devices_differ_by_what_differs_in_their_data_sheets);
}
