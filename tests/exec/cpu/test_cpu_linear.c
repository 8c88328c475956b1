/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of LINEAR, EXPERTS and DEQUANTIZE calls on the CPU backend against the
 * definition in double. */
#include <math.h>

#include "exec/backend/cpu/gemm/block_kernels.h"
#include "exec/tensor/convert.h"
#include "exec/tensor/half.h"
#include "tests/exec/op/op_case.h"
#include "tests/exec/support/call_case.h"
#include "tests/support/suite.h"

/* Fills rows of weights: finite scales and numbers, any quantized ones. */
static void fill_weights(mo_block_format format, void *data, int64_t blocks,
                         uint64_t seed)
{
    mo_random r = { seed };
    size_t bytes = mo_block_format_bytes(format);
    unsigned char *block = data;

    for (int64_t b = 0; b < blocks; b++, block += bytes) {
        float x = (float) (mo_random_unit(&r) * 2 - 1);
        uint16_t half =
            format == MO_BLOCK_BF16 ? mo_f32_to_bf16(x) : mo_f32_to_f16(x);

        if (format == MO_BLOCK_F32)
            memcpy(block, &x, sizeof x);
        else
            memcpy(block, &half, sizeof half);
        for (size_t i = 2; format >= MO_BLOCK_Q8_0 && i < bytes; i++)
            block[i] = (unsigned char) mo_random_below(&r, 256);
    }
}

static void make_linear(call_case *c, mo_call_linear linear, mo_elem elem,
                        uint64_t seed)
{
    mo_block_format format = linear.format;
    int64_t row = mo_block_format_row_bytes(format, linear.k);
    mo_elem stored = mo_block_format_elem(format);
    mo_tensor_dense *weights;

    case_begin(c, MO_CALL_LINEAR);
    c->call.u.linear = linear;
    case_in(c, elem, shape_of(2, linear.m, linear.k), seed);
    weights = case_in(
        c, stored, shape_of(2, linear.n, row / (int64_t) mo_elem_size(stored)),
        seed);
    fill_weights(format, weights->data,
                 linear.n * linear.k / mo_block_format_elements(format), seed);
    case_out(c, elem, shape_of(2, linear.m, linear.n));
    c->constant = 2;
}

/* Replaces a row by what its quantization to int8 stands for. */
static void quantize_row(double *x, int64_t k)
{
    for (int64_t b = 0; b < k; b += MO_BLOCK_ELEMENTS) {
        float most = 0, scale;

        for (int i = 0; i < MO_BLOCK_ELEMENTS; i++)
            most = fmaxf(most, fabsf((float) x[b + i]));
        scale = mo_f16_to_f32(mo_f32_to_f16(most / 127));
        for (int i = 0; i < MO_BLOCK_ELEMENTS; i++)
            x[b + i] = (double) scale *
                       nearbyint((double) ((float) x[b + i] * (127 / most)));
    }
}

static double *expect_linear(const call_case *c, bool quantized)
{
    const mo_call_linear *l = &c->call.u.linear;
    double *expected = calloc((size_t) (l->m * l->n) + 1, sizeof *expected);
    double *x = calloc((size_t) (l->m * l->k) + 1, sizeof *x);
    float *w = calloc((size_t) (l->n * l->k) + 1, sizeof *w);

    mo_block_format_to_f32(l->format, c->in[1].data, l->n * l->k, w);
    for (int64_t i = 0; i < l->m * l->k; i++)
        x[i] = mo_tensor_get_double(&c->in[0], i);
    for (int64_t m = 0; quantized && m < l->m; m++)
        quantize_row(x + m * l->k, l->k);
    for (int64_t i = 0; i < l->m * l->n; i++) {
        double sum = 0;

        for (int64_t k = 0; k < l->k; k++)
            sum += x[i / l->n * l->k + k] * (double) w[i % l->n * l->k + k];
        expected[i] = c->call.after ? case_after_of(c, i, sum) : sum;
    }
    free(w);
    free(x);
    return expected;
}

/* Data are quantized where there are few rows, or kernels for tiles of them;
 * otherwise weights are converted to floats. */
static void check_linear(const char *kernels, mo_block_format format,
                         uint64_t seed)
{
    static const int64_t sizes[] = { 1, 2, 3, 5, 8, 17, 33, 64, 130 };
    static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_F32, MO_ELEM_F16,
                                     MO_ELEM_BF16 };
    mo_random r = { seed };
    mo_call_linear linear = {
        .format = format,
        .m = sizes[mo_random_below(&r, COUNT(sizes))],
        .n = sizes[mo_random_below(&r, COUNT(sizes))],
        .k = MO_BLOCK_ELEMENTS * (1 + mo_random_below(&r, 9)),
    };
    call_case c;
    double *expected;

    if (format < MO_BLOCK_Q8_0)
        linear.k -= mo_random_below(&r, 32);
    make_linear(&c, linear, elems[mo_random_below(&r, COUNT(elems))], seed);
    c.block_kernels = kernels;
    if (mo_random_below(&r, 2))
        case_after(&c, 1, false, seed);
    expected = expect_linear(
        &c, format >= MO_BLOCK_Q8_0 &&
                (linear.m < 16 || mo_cpu_block_kernels_find(kernels)->unpack));
    case_run_threads(&c);
    case_check(&c, expected, false, seed);
    free(expected);
    case_end(&c);
}

START_TEST(products_agree_with_their_definition)
{
    static const char *const names[] = { "amx", "avx512vnni", "avx2", "dotprod",
                                         "plain" };
    const char *kernels = names[_i % COUNT(names)];

    if (mo_cpu_block_kernels_find(kernels))
        check_linear(kernels,
                     (mo_block_format) (_i / COUNT(names) % MO_BLOCK_FORMATS),
                     100 + (uint64_t) _i);
}
END_TEST

/* More rows of data than a job has, and a product that is empty. */
START_TEST(large_and_empty_products)
{
    static const mo_call_linear cases[] = {
        { MO_BLOCK_Q8_0, 300, 70, 64 },   { MO_BLOCK_Q4_0, 2, 3000, 1024 },
        { MO_BLOCK_BF16, 20, 130, 1100 }, { MO_BLOCK_Q8_0, 0, 5, 32 },
        { MO_BLOCK_Q4_0, 17, 0, 32 },     { MO_BLOCK_Q8_0, 20, 5, 0 },
        { MO_BLOCK_F16, 3, 5, 0 }
    };
    call_case c;
    double *expected;

    make_linear(&c, cases[_i], MO_ELEM_F32, 5);
    c.block_kernels = mo_cpu_block_kernels_select()->name;
    expected = expect_linear(
        &c, cases[_i].format >= MO_BLOCK_Q8_0 &&
                (cases[_i].m < 16 || mo_cpu_block_kernels_select()->unpack));
    case_run_threads(&c);
    case_check(&c, expected, false, 5);
    free(expected);
    case_end(&c);
}
END_TEST

/* Numbers that are not finite do not vanish; an outlier and tiny numbers are
 * kept. */
START_TEST(unusual_data_are_quantized)
{
    static const float values[] = { NAN, INFINITY, 3e38f, 1e-30f, 0 };
    mo_call_linear linear = { MO_BLOCK_Q8_0, 1, 4, 32 };
    call_case c;
    float y;

    make_linear(&c, linear, MO_ELEM_F32, 3);
    for (int i = 0; i < 32; i++)
        ((float *) c.in[0].data)[i] = i == 2 ? values[_i] : 0;
    memset(c.in[1].data, 0x3c, 4 * 34); /* q: 60, d: 1.0586 */
    case_run(&c, 1);
    y = ((float *) c.out[0].data)[3];
    if (isfinite(values[_i] * 64))
        ck_assert_msg(fabsf(y - values[_i] * 63.516f) <=
                          fabsf(values[_i]) * 0.05f,
                      "%g", (double) y);
    else
        ck_assert(!isfinite(y));
    case_end(&c);
}
END_TEST

/* The layout of GGUF files, byte by byte. */
START_TEST(blocks_are_those_of_gguf)
{
    unsigned char block[34] = { 0x00, 0x38 }; /* 0.5 */
    float values[MO_BLOCK_ELEMENTS];

    block[2] = 0x80;
    block[33] = 3;
    mo_block_format_to_f32(MO_BLOCK_Q8_0, block, MO_BLOCK_ELEMENTS, values);
    ck_assert(values[0] == -64 && values[1] == 0 && values[31] == 1.5f);
    block[2] = 0x9f;
    mo_block_format_to_f32(MO_BLOCK_Q4_0, block, MO_BLOCK_ELEMENTS, values);
    ck_assert(values[0] == 3.5f && values[16] == 0.5f && values[1] == -4);
}
END_TEST

START_TEST(blocks_are_converted_to_their_values)
{
    mo_block_format format = _i % 2 ? MO_BLOCK_Q8_0 : MO_BLOCK_Q4_0;
    mo_elem elem = _i < 2 ? MO_ELEM_F32 : MO_ELEM_BF16;
    int64_t elements = 3 * 5 * MO_BLOCK_ELEMENTS;
    float values[3 * 5 * MO_BLOCK_ELEMENTS];
    double expected[3 * 5 * MO_BLOCK_ELEMENTS];
    call_case c;

    case_begin(&c, MO_CALL_DEQUANTIZE);
    c.call.u.dequantize = (mo_call_dequantize){ format, elements };
    case_in(&c, MO_ELEM_U8,
            shape_of(2, (int64_t) 3,
                     mo_block_format_row_bytes(format, elements) / 3),
            1);
    fill_weights(format, c.in[0].data, elements / MO_BLOCK_ELEMENTS, 7);
    case_out(&c, elem, shape_of(2, (int64_t) 3, elements / 3));
    mo_block_format_to_f32(format, c.in[0].data, elements, values);
    for (int64_t i = 0; i < elements; i++)
        expected[i] = (double) values[i];
    case_run_threads(&c);
    case_check(&c, expected, false, 1);
    case_end(&c);
}
END_TEST

/* An embedding of bytes: gathered rows, then their values. */
START_TEST(operators_read_quantized_rows)
{
    mo_shape table = { 2, { 5, 2 * 18 } };
    mo_shape picked = { 2, { 3, 2 * 18 } }, rows = { 2, { 3, 64 } };
    mo_shape product = { 2, { 3, 5 } };
    int64_t id[] = { 4, 0, 4 };
    op_case gather = op_case_of("Gather", NULL);
    op_case values = op_case_of("DequantizeBlocks", "{\"format\":\"q4_0\"}");
    op_case linear = op_case_of("Linear", "{\"format\":\"q4_0\"}");
    mo_tensor_dense *w = op_case_data(&gather, MO_ELEM_U8, &table, 1);
    float expected[5 * 64], *got;

    fill_weights(MO_BLOCK_Q4_0, w->data, 10, 3);
    mo_block_format_to_f32(MO_BLOCK_Q4_0, w->data, 5 * 64, expected);
    op_case_list(&gather, id, 3);
    op_case_number(&gather, MO_ELEM_I64, 0);
    op_case_makes(&gather, MO_ELEM_U8, &picked);
    op_case_run(&gather);
    memcpy(op_case_data(&values, MO_ELEM_U8, &picked, 1)->data,
           gather.result[0].data, 3 * 2 * 18);
    op_case_makes(&values, MO_ELEM_F32, &rows);
    op_case_run(&values);
    got = values.result[0].data;
    for (int i = 0; i < 3; i++)
        ck_assert(
            memcmp(got + i * 64, expected + id[i] * 64, 64 * sizeof *got) == 0);

    got = op_case_data(&linear, MO_ELEM_F32, &rows, 2)->data;
    memcpy(op_case_data(&linear, MO_ELEM_U8, &table, 1)->data, w->data,
           5 * 2 * 18);
    op_case_makes(&linear, MO_ELEM_F32, &product);
    op_case_run(&linear);
    for (int i = 0; i < 15; i++) {
        float y = ((float *) linear.result[0].data)[i];
        double sum = 0;

        for (int k = 0; k < 64; k++)
            sum += (double) got[i / 5 * 64 + k] *
                   (double) expected[i % 5 * 64 + k];
        ck_assert_msg(fabs((double) y - sum) < 0.3, "%g, not %g", (double) y,
                      sum);
    }
    op_case_clear(&gather);
    op_case_clear(&values);
    op_case_clear(&linear);
}
END_TEST

/* Each row of the result is that of LINEAR with the weights of its expert;
 * experts without rows, and rows of data that several share. */
START_TEST(experts_agree_with_their_definition)
{
    static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_F32, MO_ELEM_BF16 };
    mo_random r = { (uint64_t) _i };
    mo_block_format format = (mo_block_format) (_i % MO_BLOCK_FORMATS);
    int64_t share = 1 + mo_random_below(&r, 3), k = 32 * (1 + _i % 3);
    int64_t n = 1 + mo_random_below(&r, 70), rows = mo_random_below(&r, 40);
    int64_t m = rows * share, row = mo_block_format_row_bytes(format, k);
    enum { EXPERTS = 5 };
    mo_elem stored = mo_block_format_elem(format);
    double *x = calloc((size_t) (rows * k) + 1, sizeof *x);
    double *expected = calloc((size_t) (m * n) + 1, sizeof *expected);
    float *w = calloc((size_t) (EXPERTS * n * k), sizeof *w);
    static const char *const names[] = { "amx", "avx512vnni", "avx2", "dotprod",
                                         "plain" };
    const char *kernels = names[_i / 6 % COUNT(names)];
    call_case c;

    case_begin(&c, MO_CALL_EXPERTS);
    if (mo_cpu_block_kernels_find(kernels))
        c.block_kernels = kernels;
    c.call.u.experts = (mo_call_experts){ format, m, n, k, EXPERTS, share };
    case_in(&c, elems[_i % 3], shape_of(2, rows, k), (uint64_t) _i);
    case_in(
        &c, stored,
        shape_of(3, (int64_t) EXPERTS, n, row / (int64_t) mo_elem_size(stored)),
        1);
    fill_weights(format, c.in[1].data,
                 EXPERTS * n * k / mo_block_format_elements(format), 7);
    mo_block_format_to_f32(format, c.in[1].data, EXPERTS * n * k, w);
    case_in(&c, _i % 2 ? MO_ELEM_I32 : MO_ELEM_I64, shape_of(1, m), 1);
    case_out(&c, elems[_i % 3], shape_of(2, m, n));
    for (int64_t i = 0; i < rows * k; i++)
        x[i] = mo_tensor_get_double(&c.in[0], i);
    for (int64_t i = 0; i < rows && format >= MO_BLOCK_Q8_0; i++)
        quantize_row(x + i * k, k);
    for (int64_t i = 0; i < m; i++) {
        int expert = mo_random_below(&r, EXPERTS - 1);

        mo_tensor_set_int(&c.in[2], i, expert);
        for (int64_t j = 0; j < n * k; j++)
            expected[i * n + j / k] +=
                x[i / share * k + j % k] * (double) w[expert * n * k + j];
    }
    case_run_threads(&c);
    case_check(&c, expected, false, (uint64_t) _i);
    free(w);
    free(expected);
    free(x);
    case_end(&c);
}
END_TEST

START_TEST(experts_that_do_not_exist_are_refused)
{
    mo_shape rows = { 2, { 2, 32 } }, table = { 3, { 4, 5, 32 } };
    mo_shape product = { 2, { 2, 5 } };
    int64_t chosen[] = { 3, _i == 0 ? 4 : -5 };
    op_case experts = op_case_of("LinearExperts", "{\"format\":\"f32\"}");
    mo_error err;

    op_case_data(&experts, MO_ELEM_F32, &rows, 2);
    op_case_data(&experts, MO_ELEM_F32, &table, 1);
    op_case_list(&experts, chosen, 2);
    op_case_makes(&experts, MO_ELEM_F32, &product);
    ck_assert_int_eq(op_case_try(&experts, &err), MO_E_INPUT);
    op_case_clear(&experts);
}
END_TEST

START_TEST(other_formats_are_refused)
{
    static const struct {
        const char *attrs, *text;
    } cases[] = {
        { "{\"format\":\"q4_k\"}", "q8_0" },
        { "{\"format\":\"q8_0\"}", "does not make" },
        { "{\"format\":\"f16\"}", "weights are no f16" },
    };
    mo_shape rows = { 2, { 3, 64 } }, table = { 2, { 5, 36 } };
    mo_shape product = { 2, { 3, 5 } };
    op_case linear = op_case_of("Linear", cases[_i].attrs);
    mo_error err;

    op_case_data(&linear, MO_ELEM_F32, &rows, 2);
    op_case_data(&linear, MO_ELEM_U8, &table, 1);
    op_case_makes(&linear, MO_ELEM_F32, &product);
    ck_assert_int_ne(op_case_try(&linear, &err), MO_OK);
    ck_assert_msg(strstr(err.text, cases[_i].text), "%s", err.text);
    op_case_clear(&linear);
}
END_TEST

SUITE(cpu_linear)
{
    SOME(products_agree_with_their_definition, 250, 50);
    EACH(large_and_empty_products, 7);
    EACH(unusual_data_are_quantized, 5);
    TEST(blocks_are_those_of_gguf);
    EACH(blocks_are_converted_to_their_values, 4);
    TEST(operators_read_quantized_rows);
    SOME(experts_agree_with_their_definition, 120, 40);
    EACH(experts_that_do_not_exist_are_refused, 2);
    EACH(other_formats_are_refused, 3);
}
