/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu */
/*
 * Tests of exec/op/lower/generate.c and its kernels: OneHot, Range, Eye,
 * ShapeOf.
 */
#include <math.h>
#include <stdio.h>

#include "tests/exec/op/op_case.h"
#include "tests/support/suite.h"

START_TEST(one_hot_has_one_where_the_index_is)
{
    mo_random random = { (uint64_t) _i };
    bool from_end = _i % 2 == 1;
    mo_shape indices = random_shape(&random, 0, 3), out = { 0 };
    int axis = mo_random_below(&random, indices.rank + 1), depth = 4;
    mo_elem elem = mo_random_below(&random, 2) ? MO_ELEM_F32 : MO_ELEM_I64;
    char attrs[96] = "";
    op_case c = op_case_of("OneHot", attrs);

    snprintf(
        attrs, sizeof attrs, "{\"axis\":%d,\"negative_indices_mode\":\"%s\"}",
        axis - indices.rank - 1, from_end ? "normalize" : "ignore_negative");
    out.rank = indices.rank + 1;
    for (int d = 0; d < out.rank; d++)
        out.dims[d] = d == axis ? depth : indices.dims[d - (d > axis)];
    op_case_indices(&c, &random, MO_ELEM_I32, &indices, depth + 2);
    op_case_number(&c, MO_ELEM_I64, depth);
    op_case_number(&c, elem, 7);
    op_case_number(&c, elem, -3);
    op_case_makes(&c, elem, &out);
    op_case_run(&c);
    for (int64_t i = 0; i < mo_shape_elements(&out); i++) {
        int64_t at[MO_MAX_RANK], index, place;

        coordinates_of(&out, i, at);
        place = at[axis];
        memmove(at + axis, at + axis + 1,
                (size_t) (out.rank - axis - 1) * sizeof *at);
        index = mo_tensor_get_int(&c.value[0], element_at(&indices, at));
        if (from_end && index < 0)
            index += depth;
        ck_assert_msg(mo_tensor_get_double(&c.result[0], i) ==
                          (index == place ? 7 : -3),
                      "seed %d", _i);
    }
    op_case_clear(&c);
}
END_TEST

static const struct {
    mo_elem in, out;
    double start, stop, step;
    int count;
} ranges[] = {
    { MO_ELEM_I64, MO_ELEM_I64, 2, 11, 3, 3 },
    { MO_ELEM_I32, MO_ELEM_F32, 5, 0, -2, 3 },
    { MO_ELEM_F32, MO_ELEM_F32, 0, 1, 0.25, 4 },
    { MO_ELEM_F32, MO_ELEM_I32, 1.5, 4.5, 1, 3 },
    { MO_ELEM_I64, MO_ELEM_I64, 3, 3, 1, 0 },
    { MO_ELEM_I64, MO_ELEM_I64, 1099511627776.0, 1099511627779.0, 1, 3 },
};

START_TEST(ranges_count)
{
    mo_shape out = { .rank = 1, .dims = { ranges[_i].count } };
    op_case c = op_case_of("Range", NULL);
    bool whole = !mo_elem_is_float(ranges[_i].out);

    op_case_number(&c, ranges[_i].in, ranges[_i].start);
    op_case_number(&c, ranges[_i].in, ranges[_i].stop);
    op_case_number(&c, ranges[_i].in, ranges[_i].step);
    op_case_makes(&c, ranges[_i].out, &out);
    op_case_run(&c);
    for (int i = 0; i < ranges[_i].count; i++) {
        double start = whole ? trunc(ranges[_i].start) : ranges[_i].start;

        ck_assert_double_eq(mo_tensor_get_double(&c.result[0], i),
                            start + i * ranges[_i].step);
    }
    op_case_clear(&c);
}
END_TEST

START_TEST(eyes_have_a_diagonal)
{
    int shift = _i - 5;
    mo_shape out = { .rank = 3, .dims = { 2, 3, 4 } };
    const int64_t batch = 2;
    op_case c = op_case_of("Eye", "{\"output_type\":\"f32\"}");

    op_case_number(&c, MO_ELEM_I64, 3);
    op_case_number(&c, MO_ELEM_I64, 4);
    op_case_number(&c, MO_ELEM_I64, shift);
    op_case_list(&c, &batch, 1);
    op_case_makes(&c, MO_ELEM_F32, &out);
    op_case_run(&c);
    for (int i = 0; i < 24; i++)
        ck_assert_double_eq(mo_tensor_get_double(&c.result[0], i),
                            i % 4 - i / 4 % 3 == shift);
    op_case_clear(&c);
}
END_TEST

START_TEST(shapes_are_told)
{
    mo_shape in = { .rank = 3, .dims = { 2, 0, 5 } };
    mo_shape out = { .rank = 1, .dims = { 3 } };
    op_case c = op_case_of("ShapeOf", NULL);

    op_case_data(&c, MO_ELEM_F32, &in, 1);
    op_case_makes(&c, MO_ELEM_I64, &out);
    op_case_run(&c);
    for (int d = 0; d < 3; d++)
        ck_assert_int_eq(mo_tensor_get_int(&c.result[0], d), in.dims[d]);
    op_case_clear(&c);
}
END_TEST

SUITE(op_generate)
{
    SOME(one_hot_has_one_where_the_index_is, 100, 20);
    EACH(ranges_count, COUNT(ranges));
    EACH(eyes_have_a_diagonal, 11);
    TEST(shapes_are_told);
}
