/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of quantized operators: their definitions, exactly. */
#include <math.h>
#include <string.h>

#include "tests/exec/op/op_case.h"
#include "tests/support/suite.h"

static const mo_shape one = { .rank = 0 };

static double saturate(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

START_TEST(halves_are_rounded_to_even_and_saturated)
{
    static const double x[] = { 0.5, 1.5,  2.5,   -0.5, -1.5,
                                300, -300, 1e30f, 63.5, 64.5 };
    mo_shape shape = { 1, { COUNT(x) } };
    mo_elem elem = _i ? MO_ELEM_I8 : MO_ELEM_U8;
    double zero = _i ? -3 : 7;
    op_case c = op_case_of("QuantizeLinear", NULL);
    mo_tensor_dense *in = op_case_data(&c, MO_ELEM_F32, &shape, 1);

    for (int i = 0; i < COUNT(x); i++)
        mo_tensor_set_double(in, i, x[i] * 0.25);
    op_case_number(&c, MO_ELEM_F32, 0.25);
    op_case_number(&c, elem, zero);
    op_case_makes(&c, elem, &shape);
    op_case_run(&c);
    for (int i = 0; i < COUNT(x); i++)
        ck_assert_double_eq(
            mo_tensor_get_double(&c.result[0], i),
            saturate(nearbyint(x[i]) + zero, _i ? -128 : 0, _i ? 127 : 255));
    op_case_clear(&c);
}
END_TEST

START_TEST(all_zeros_have_scale_1)
{
    mo_shape shape = { 1, { 3 } };
    op_case c = op_case_of("DynamicQuantizeLinear", NULL);
    mo_tensor_dense *in = op_case_data(&c, MO_ELEM_F32, &shape, 1);

    for (int i = 0; i < 3; i++)
        mo_tensor_set_double(in, i, _i * (i - 1));
    op_case_makes(&c, MO_ELEM_U8, &shape);
    op_case_makes(&c, MO_ELEM_F32, &one);
    op_case_makes(&c, MO_ELEM_U8, &one);
    op_case_run(&c);
    ck_assert_float_eq(*(float *) c.result[1].data, _i ? 2.0f / 255 : 1);
    ck_assert_int_eq(*(uint8_t *) c.result[2].data,
                     _i ? lrintf(1 / (2.0f / 255)) : 0);
    ck_assert_int_eq(*(uint8_t *) c.result[0].data, 0);
    op_case_clear(&c);
}
END_TEST

/* Sums above 2^24, which floats do not hold. */
START_TEST(long_sums_are_exact)
{
    enum { DEPTH = 3001 };
    mo_shape left = { 2, { 1, DEPTH } }, right = { 2, { DEPTH, 1 } };
    mo_shape made = { 2, { 1, 1 } };
    op_case c = op_case_of("MatMulInteger", NULL);
    mo_tensor_dense *a = op_case_data(&c, MO_ELEM_U8, &left, 1);
    mo_tensor_dense *b = op_case_data(&c, MO_ELEM_U8, &right, 2);
    int64_t sum = 0;

    for (int i = 0; i < DEPTH; i++) {
        mo_tensor_set_int(a, i, 255 - i % 3);
        mo_tensor_set_int(b, i, 255 - i % 2);
        sum += (int64_t) (255 - i % 3) * (255 - i % 2);
    }
    op_case_makes(&c, MO_ELEM_I32, &made);
    op_case_run(&c);
    ck_assert_int_gt(sum, 1 << 24);
    ck_assert_int_eq(mo_tensor_get_int(&c.result[0], 0), sum);
    op_case_clear(&c);
}
END_TEST

/* A filter of each channel with a scale for it, and padding by the zero
 * point. */
START_TEST(channels_are_scaled_by_their_own)
{
    enum { CHANNELS = 2, SIZE = 4 };
    mo_shape data = { 3, { 1, CHANNELS, SIZE } };
    mo_shape filter = { 3, { CHANNELS, 1, 3 } }, by = { 1, { CHANNELS } };
    op_case c = op_case_of("QLinearConv", "{\"group\":2,\"pads_begin\":\"1\","
                                          "\"pads_end\":\"1\"}");
    mo_tensor_dense *x = op_case_data(&c, MO_ELEM_U8, &data, 1), *w, *scale;

    op_case_number(&c, MO_ELEM_F32, 0.5);
    op_case_number(&c, MO_ELEM_U8, 100);
    w = op_case_data(&c, MO_ELEM_I8, &filter, 2);
    scale = op_case_data(&c, MO_ELEM_F32, &by, 3);
    mo_tensor_set_double(scale, 0, 0.25);
    mo_tensor_set_double(scale, 1, 0.125);
    op_case_number(&c, MO_ELEM_I8, 1);
    op_case_number(&c, MO_ELEM_F32, 2);
    op_case_number(&c, MO_ELEM_I8, -5);
    op_case_makes(&c, MO_ELEM_I8, &data);
    op_case_run(&c);
    for (int i = 0; i < CHANNELS * SIZE; i++) {
        int channel = i / SIZE, at = i % SIZE;
        double sum = 0;

        for (int k = 0; k < 3; k++)
            if (at + k >= 1 && at + k <= SIZE)
                sum += (mo_tensor_get_double(x, i + k - 1) - 100) *
                       (mo_tensor_get_double(w, channel * 3 + k) - 1);
        sum *= 0.5 * (channel ? 0.125 : 0.25) / 2;
        ck_assert_double_eq(mo_tensor_get_double(&c.result[0], i),
                            saturate(nearbyint(sum) - 5, -128, 127));
    }
    op_case_clear(&c);
}
END_TEST

/* Groups of channels and windows whose sums floats do not hold: in chunks of
 * channels (a prime number of them, too), and in digits of weights. */
START_TEST(long_convolutions_are_exact)
{
    static const struct {
        int64_t channels, taps;
        bool zeros;
    } cases[] = { { 600, 1, false }, { 257, 3, true },  { 259, 1, true },
                  { 1, 300, true },  { 1, 4000, true }, { 2, 2100, false },
                  { 20, 1500, true } };
    enum { GROUPS = 2, ROWS = 2, PLACES = 3 };
    int64_t n = cases[_i].channels, taps = cases[_i].taps, most = 0;
    int64_t size = taps + PLACES - 2; /* one is padding */
    mo_shape data = { 3, { 1, GROUPS * n, size } };
    mo_shape filter = { 3, { GROUPS * ROWS, n, taps } };
    mo_shape by = { 1, { GROUPS * ROWS } };
    mo_shape made = { 3, { 1, GROUPS * ROWS, PLACES } };
    op_case c = op_case_of("ConvInteger", "{\"group\":2,\"pads_begin\":\"1\"}");
    mo_tensor_dense *x = op_case_data(&c, MO_ELEM_U8, &data, 1), *zero;
    mo_tensor_dense *w = op_case_data(&c, MO_ELEM_I8, &filter, 2);

    for (int64_t i = 0; i < GROUPS * n * size; i++)
        mo_tensor_set_int(x, i, 255 - i % 2);
    for (int64_t i = 0; i < GROUPS * ROWS * n * taps; i++)
        mo_tensor_set_int(w, i, i / (n * taps) == 1 ? -128 : 127 - i % 2);
    if (cases[_i].zeros) {
        op_case_number(&c, MO_ELEM_U8, 0);
        zero = op_case_data(&c, MO_ELEM_I8, &by, 3);
        for (int i = 0; i < GROUPS * ROWS; i++)
            mo_tensor_set_int(zero, i, i == 1 ? 127 : -128 + i);
    }
    op_case_makes(&c, MO_ELEM_I32, &made);
    op_case_run(&c);
    for (int64_t i = 0; i < GROUPS * ROWS * PLACES; i++) {
        int64_t row = i / PLACES, place = i % PLACES, sum = 0;

        for (int64_t k = 0; k < n * taps; k++) {
            int64_t at = place + k % taps - 1;
            int64_t from = (row / ROWS * n + k / taps) * size + at;

            if (at >= 0)
                sum += mo_tensor_get_int(x, from) *
                       (mo_tensor_get_int(w, row * n * taps + k) -
                        (cases[_i].zeros ? mo_tensor_get_int(zero, row) : 0));
        }
        ck_assert_int_eq(mo_tensor_get_int(&c.result[0], i), sum);
        most = sum > most ? sum : most;
    }
    ck_assert_int_gt(most, 1 << 24);
    op_case_clear(&c);
}
END_TEST

START_TEST(windows_that_are_too_long_are_refused)
{
    enum { TAPS = 1 << 13 };
    mo_shape data = { 3, { 1, 1, TAPS } }, made = { 3, { 1, 1, 1 } };
    op_case c = op_case_of("ConvInteger", NULL);
    mo_error err = { 0 };

    op_case_data(&c, MO_ELEM_U8, &data, 1);
    op_case_data(&c, MO_ELEM_I8, &data, 2);
    op_case_makes(&c, MO_ELEM_I32, &made);
    ck_assert_int_eq(op_case_try(&c, &err), MO_E_SUPPORT);
    ck_assert_msg(strstr(err.text, "4112"), "%s", err.text);
    op_case_clear(&c);
}
END_TEST

START_TEST(other_types_are_refused)
{
    mo_shape shape = { 1, { 3 } };
    op_case c = op_case_of(_i ? "DequantizeLinear" : "QuantizeLinear", NULL);
    mo_error err = { 0 };

    op_case_data(&c, MO_ELEM_F32, &shape, 1);
    op_case_number(&c, MO_ELEM_F32, 1);
    op_case_makes(&c, MO_ELEM_F32, &shape);
    ck_assert_int_eq(op_case_try(&c, &err), MO_E_SUPPORT);
    ck_assert_msg(strstr(err.text, "f32"), "%s", err.text);
    op_case_clear(&c);
}
END_TEST

SUITE(op_quantize)
{
    EACH(halves_are_rounded_to_even_and_saturated, 2);
    EACH(long_convolutions_are_exact, 7);
    EACH(windows_that_are_too_long_are_refused, 1);
    EACH(all_zeros_have_scale_1, 2);
    EACH(long_sums_are_exact, 1);
    EACH(channels_are_scaled_by_their_own, 1);
    EACH(other_types_are_refused, 2);
}
