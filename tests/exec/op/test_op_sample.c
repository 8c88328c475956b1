/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of GridSample, Fourier transforms and embedding bags, by definition.
 * tests/oracles/ops.sh has random ones of all attributes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/exec/op/op_case.h"
#include "tests/support/suite.h"

static void check_near(const op_case *c, int64_t i, double wanted)
{
    double ours = mo_tensor_get_double(&c->result[0], i);

    ck_assert_msg(fabs(ours - wanted) <= 1e-5 * (1 + fabs(wanted)),
                  "%s %s, %lld: %.9g, not %.9g", c->type,
                  c->attrs ? c->attrs : "", (long long) i, ours, wanted);
}

/* GridSample: a row of 3 elements, 1, 2 and 4. */

START_TEST(points_beyond_the_data_are_padded)
{
    static const struct {
        const char *attrs;
        double x, wanted;
    } rows[] = {
        { "{\"align_corners\":\"true\"}", -1, 1 },
        { "{\"align_corners\":\"true\"}", 0.5, 3 },
        { "{\"align_corners\":\"true\"}", 2, 0 },
        { "{\"align_corners\":\"false\"}", 1, 2 },
        { "{\"padding_mode\":\"border\"}", 9, 4 },
        { "{\"padding_mode\":\"border\"}", NAN, 1 },
        { "{\"padding_mode\":\"reflection\"}", 1.5, 3.5 },
        { "{\"padding_mode\":\"reflection\",\"align_corners\":\"true\"}", 1.5,
          3 },
        { "{\"mode\":\"nearest\",\"align_corners\":\"true\"}", 0.5, 4 },
        { "{\"mode\":\"bicubic\",\"align_corners\":\"true\"}", 0, 2 },
    };
    mo_shape data = { 4, { 1, 1, 1, 3 } }, grid = { 4, { 1, 1, 1, 2 } };
    mo_shape made = { 4, { 1, 1, 1, 1 } };
    op_case c = op_case_of("GridSample", rows[_i].attrs);
    float *x = op_case_data(&c, MO_ELEM_F32, &data, 1)->data, *at;

    x[0] = 1;
    x[1] = 2;
    x[2] = 4;
    at = op_case_data(&c, MO_ELEM_F32, &grid, 1)->data;
    at[0] = (float) rows[_i].x;
    at[1] = 0;
    op_case_makes(&c, MO_ELEM_F32, &made);
    op_case_run(&c);
    check_near(&c, 0, rows[_i].wanted);
    op_case_clear(&c);
}
END_TEST

enum { SIZE = 6, INNER = 3 };

START_TEST(a_transform_is_its_sum)
{
    mo_shape shape = { 3, { SIZE, INNER, 2 } };
    int64_t axis = 0;
    double sign = _i ? 1 : -1;
    op_case c = op_case_of(_i ? "IDFT" : "DFT", NULL);
    mo_tensor_dense *x = op_case_data(&c, MO_ELEM_F32, &shape, 3);

    op_case_list(&c, &axis, 1);
    op_case_makes(&c, MO_ELEM_F32, &shape);
    op_case_run(&c);
    for (int k = 0; k < SIZE; k++)
        for (int j = 0; j < INNER; j++) {
            double re = 0, im = 0;

            for (int n = 0; n < SIZE; n++) {
                int64_t at = (n * INNER + j) * 2;
                double a = sign * 2 * acos(-1) * n * k / SIZE;
                double p = mo_tensor_get_double(x, at);
                double q = mo_tensor_get_double(x, at + 1);

                re += p * cos(a) - q * sin(a);
                im += p * sin(a) + q * cos(a);
            }
            check_near(&c, (k * INNER + j) * 2, _i ? re / SIZE : re);
            check_near(&c, (k * INNER + j) * 2 + 1, _i ? im / SIZE : im);
        }
    op_case_clear(&c);
}
END_TEST

/* Of an even and an odd number of elements. */
START_TEST(half_a_spectrum_is_enough)
{
    mo_shape shape = { 1, { 6 + _i } }, half = { 2, { 4, 2 } };
    int64_t axis = 0, size = 6 + _i;
    op_case there = op_case_of("RDFT", NULL), back = op_case_of("IRDFT", NULL);
    mo_tensor_dense *x = op_case_data(&there, MO_ELEM_F32, &shape, 3), *y;

    op_case_list(&there, &axis, 1);
    op_case_makes(&there, MO_ELEM_F32, &half);
    op_case_run(&there);
    y = op_case_data(&back, MO_ELEM_F32, &half, 1);
    memcpy(y->data, there.result[0].data, 8 * sizeof(float));
    op_case_list(&back, &axis, 1);
    op_case_list(&back, &size, 1);
    op_case_makes(&back, MO_ELEM_F32, &shape);
    op_case_run(&back);
    for (int i = 0; i < size; i++)
        check_near(&back, i, mo_tensor_get_double(x, i));
    op_case_clear(&there);
    op_case_clear(&back);
}
END_TEST

/* Embedding bags: rows 1 and 3; none; rows 0, 0 and 2. */

START_TEST(bags_are_reduced)
{
    static const char *const attrs[] = { "{\"reduction\":\"sum\"}",
                                         "{\"reduction\":\"mean\"}",
                                         "{\"reduction\":\"max\"}" };
    static const int64_t picked[] = { 1, 3, 0, 0, 2 }, offsets[] = { 0, 2, 2 };
    static const double wanted[3][3] = { { 40, 0, 20 + 2 },
                                         { 20, 0, 22.0 / 3 },
                                         { 30, 0, 20 } };
    mo_shape table = { 2, { 4, 1 } }, bags = { 2, { 3, 1 } };
    op_case c = op_case_of("EmbeddingBagOffsets", attrs[_i]);
    mo_tensor_dense *rows = op_case_data(&c, MO_ELEM_F32, &table, 1);

    mo_tensor_set_double(rows, 0, 1);
    for (int i = 1; i < 4; i++)
        mo_tensor_set_double(rows, i, 10 * i);
    op_case_list(&c, picked, 5);
    op_case_list(&c, offsets, 3);
    op_case_makes(&c, MO_ELEM_F32, &bags);
    op_case_run(&c);
    for (int i = 0; i < 3; i++)
        check_near(&c, i, wanted[_i][i]);
    op_case_clear(&c);
}
END_TEST

SUITE(op_sample)
{
    EACH(points_beyond_the_data_are_padded, 10);
    EACH(a_transform_is_its_sum, 2);
    EACH(half_a_spectrum_is_enough, 2);
    EACH(bags_are_reduced, 3);
}
