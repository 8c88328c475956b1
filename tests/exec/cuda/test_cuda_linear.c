/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cuda/kernels/linear.c: products with weights in a
 * storage format, and their values, against the definition in double. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/tensor/block_format.h"
#include "exec/tensor/half.h"
#include "tests/exec/cuda/cuda_pair.h"
#include "tests/exec/support/run_calls.h"
#include "tests/support/suite.h"

/* Rows of weights: finite scales and numbers, any quantized ones. */
static void fill_weights(mo_block_format format, mo_tensor_dense *weights,
                         int64_t blocks, uint64_t seed)
{
    mo_random r = { seed };
    size_t bytes = mo_block_format_bytes(format);
    unsigned char *block = weights->data;

    for (int64_t b = 0; format >= MO_BLOCK_Q8_0 && b < blocks; b++) {
        float x = (float) (mo_random_unit(&r) * 2 - 1);
        uint16_t half = mo_f32_to_f16(x);

        memcpy(block, &half, sizeof half);
        for (size_t i = 2; i < bytes; i++)
            block[i] = (unsigned char) mo_random_below(&r, 256);
        block += bytes;
    }
}

static float *values_of(mo_block_format format, const mo_tensor_dense *weights,
                        int64_t n)
{
    float *values = calloc((size_t) n + 1, sizeof *values);

    ck_assert(values);
    mo_block_format_to_f32(format, weights->data, n, values);
    return values;
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

/* Data; of few rows they are quantized if the weights are. */
static double *data_of(const mo_call_linear *l, const mo_tensor_dense *data)
{
    double *x = calloc((size_t) (l->m * l->k) + 1, sizeof *x);

    ck_assert(x);
    for (int64_t i = 0; i < l->m * l->k; i++)
        x[i] = mo_tensor_get_double(data, i);
    for (int64_t m = 0; l->format >= MO_BLOCK_Q8_0 && l->m <= 8 &&
                        l->k % 64 == 0 && m < l->m;
         m++)
        quantize_row(x + m * l->k, l->k);
    return x;
}

static void run(call_case *c)
{
    case_run_on(c, &mo_backend_cuda,
                tested_unit(&mo_backend_cuda, MO_BACKEND_PRECISION_F32));
}

static void check_linear(mo_call_linear l, mo_elem elem, bool ends)
{
    uint64_t seed = (uint64_t) (l.m * l.n + l.k + (int64_t) l.format);
    mo_elem stored = mo_block_format_elem(l.format);
    int64_t row = mo_block_format_row_bytes(l.format, l.k);
    double *expected = calloc((size_t) (l.m * l.n) + 1, sizeof *expected);
    mo_tensor_dense *data, *weights;
    double *x;
    float *w;
    call_case c;

    case_begin(&c, MO_CALL_LINEAR);
    c.call.u.linear = l;
    data = case_in(&c, elem, shape_of(2, l.m, l.k), seed);
    weights = case_in(&c, stored,
                      shape_of(2, l.n, row / (int64_t) mo_elem_size(stored)),
                      seed + 1);
    fill_weights(l.format, weights,
                 l.n * l.k / mo_block_format_elements(l.format), seed);
    case_out(&c, elem, shape_of(2, l.m, l.n));
    if (ends)
        case_after(&c, 1, false, seed);
    c.constant = 2;
    w = values_of(l.format, weights, l.n * l.k);
    x = data_of(&l, data);
    ck_assert(expected);
    for (int64_t i = 0; i < l.m * l.n; i++) {
        for (int64_t k = 0; k < l.k; k++)
            expected[i] += x[i / l.n * l.k + k] *
                           (double) w[i % l.n * l.k + k];
        if (ends)
            expected[i] = case_after_of(&c, i, expected[i]);
    }
    run(&c);
    case_check(&c, expected, false, seed);
    case_end(&c);
    free(w);
    free(x);
    free(expected);
}

static const mo_elem elems[] = { MO_ELEM_F32, MO_ELEM_F16, MO_ELEM_BF16 };

START_TEST(products_are_those_of_the_definition)
{
    static const struct {
        int64_t m, n, k;
    } sizes[] = { { 1, 1, 32 },   { 1, 70, 64 },  { 2, 33, 160 },
                  { 7, 5, 1056 }, { 9, 12, 96 },  { 21, 40, 256 },
                  { 0, 4, 32 },   { 3, 130, 32 }, { 1, 9, 2080 },
                  { 1, 301, 512 }, { 8, 19, 192 }, { 2, 70, 2368 },
                  { 1, 3, 4352 },   { 2, 5, 8256 } };
    mo_block_format format = (mo_block_format) (_i % MO_BLOCK_FORMATS);
    mo_elem elem = elems[_i / MO_BLOCK_FORMATS];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        /* Plain rows have any length. */
        int64_t k = sizes[i].k - (format < MO_BLOCK_Q8_0 && i < 9
                                      ? (int64_t) i : 0);
        mo_call_linear l = { format, sizes[i].m, sizes[i].n, k };

        check_linear(l, elem, i % 2 == 1);
    }
}
END_TEST

START_TEST(values_are_those_of_the_definition)
{
    mo_block_format format = _i % 2 ? MO_BLOCK_Q8_0 : MO_BLOCK_Q4_0;
    int64_t rows = _i < 2 ? 1 : 70, k = 96, n = rows * k;
    int64_t bytes = mo_block_format_row_bytes(format, k);
    double *expected = calloc((size_t) n, sizeof *expected);
    mo_tensor_dense *blocks;
    float *values;
    call_case c;

    case_begin(&c, MO_CALL_DEQUANTIZE);
    c.call.u.dequantize.format = format;
    blocks = case_in(&c, MO_ELEM_U8, shape_of(2, rows, bytes), 1);
    fill_weights(format, blocks, n / MO_BLOCK_ELEMENTS, 7);
    case_out(&c, elems[_i / 2], shape_of(2, rows, k));
    values = values_of(format, blocks, n);
    ck_assert(expected);
    for (int64_t i = 0; i < n; i++)
        expected[i] = (double) values[i];
    run(&c);
    case_check(&c, expected, false, 7);
    case_end(&c);
    free(values);
    free(expected);
}
END_TEST

SUITE(cuda_linear)
{
    use_cuda();
    EACH(products_are_those_of_the_definition, in_ci(3, 1) * MO_BLOCK_FORMATS);
    EACH(values_are_those_of_the_definition, 6);
}
