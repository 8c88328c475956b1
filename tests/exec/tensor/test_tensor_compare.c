/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/tensor/dense_tensor.h: relative and absolute errors. */
#include "exec/tensor/dense_tensor.h"

#include <math.h>

#include "tests/support/suite.h"

static mo_tensor_dense reals(const float *numbers, int n)
{
    mo_tensor_desc desc = { MO_ELEM_F32, { 1, { n } } };
    mo_tensor_dense dense = { 0 };

    MUST(mo_tensor_new(&desc, &dense, &err));
    for (int i = 0; i < n; i++)
        mo_tensor_set_double(&dense, i, numbers[i]);
    return dense;
}

static const struct {
    float a[3], b[3];
    double relative, absolute;
    int at;
} cases[] = {
    { { 1, 2, 3 }, { 1, 2, 3 }, 0, 0, 0 },
    { { 1, 2, 4 }, { 1, 2, 3 }, 1.0 / 3, 1, 2 },
    { { 1, 2, -8 }, { 1, 3, -8 }, 1.0 / 8, 1, 1 },
    { { 0, 0, 0 }, { 0, 0, 0 }, 0, 0, 0 },
    { { NAN, 1, 1 }, { NAN, 1, 2 }, 0.5, 1, 2 },
    { { NAN, 1, 1 }, { 1, 1, 1 }, INFINITY, INFINITY, 0 },
    { { 1, NAN, 1 }, { 1, 1, 1 }, INFINITY, INFINITY, 1 },
    { { 1, 1, 1 }, { 1, 1, NAN }, INFINITY, INFINITY, 2 },
    { { INFINITY, 1, 1 }, { INFINITY, 1, 1 }, 0, 0, 0 },
    { { INFINITY, 1, 1 }, { -INFINITY, 1, 1 }, INFINITY, INFINITY, 0 },
    { { 1, 1, INFINITY }, { 1, 1, 1 }, INFINITY, INFINITY, 2 },
    /* An infinity in both does not scale the error of the others. */
    { { INFINITY, 1, 2 }, { INFINITY, 1, 1 }, 1, 1, 2 },
};

START_TEST(the_largest_difference_counts)
{
    mo_tensor_dense a = reals(cases[_i].a, 3), b = reals(cases[_i].b, 3);
    mo_tensor_difference d = mo_tensor_compare(&a, &b);

    ck_assert(d.same_shape);
    if (isinf(cases[_i].absolute)) {
        ck_assert(isinf(d.absolute) && isinf(d.relative));
    } else {
        ck_assert_double_eq(d.absolute, cases[_i].absolute);
        ck_assert_double_eq_tol(d.relative, cases[_i].relative, 1e-12);
    }
    ck_assert_int_eq(d.at, cases[_i].at);
    mo_tensor_clear(&a);
    mo_tensor_clear(&b);
}
END_TEST

START_TEST(other_shapes_are_as_far_apart_as_can_be)
{
    mo_tensor_dense a = reals((float[]){ 1, 2, 3 }, 3),
                    b = reals((float[]){ 1 }, 1);
    mo_tensor_difference d = mo_tensor_compare(&a, &b);

    ck_assert(!d.same_shape);
    ck_assert(isinf(d.relative));
    mo_tensor_clear(&a);
    mo_tensor_clear(&b);
}
END_TEST

START_TEST(large_integers_that_differ_by_one_differ)
{
    mo_tensor_desc desc = { MO_ELEM_I64, { 0, { 0 } } };
    mo_tensor_dense a = { 0 }, b = { 0 };

    MUST(mo_tensor_new(&desc, &a, &err));
    MUST(mo_tensor_new(&desc, &b, &err));
    mo_tensor_set_int(&a, 0, INT64_C(9007199254740993));
    mo_tensor_set_int(&b, 0, INT64_C(9007199254740992));
    ck_assert_double_eq(mo_tensor_compare(&a, &b).absolute, 1);
    mo_tensor_clear(&a);
    mo_tensor_clear(&b);
}
END_TEST

START_TEST(types_may_differ)
{
    mo_tensor_desc desc = { MO_ELEM_I32, { 1, { 3 } } };
    mo_tensor_dense a = { 0 }, b = reals((float[]){ 1, 2, 3 }, 3);

    MUST(mo_tensor_new(&desc, &a, &err));
    for (int i = 0; i < 3; i++)
        mo_tensor_set_int(&a, i, i + 1);
    ck_assert_double_eq(mo_tensor_compare(&a, &b).absolute, 0);
    mo_tensor_clear(&a);
    mo_tensor_clear(&b);
}
END_TEST

SUITE(tensor_compare)
{
    EACH(the_largest_difference_counts, COUNT(cases));
    TEST(other_shapes_are_as_far_apart_as_can_be);
    TEST(large_integers_that_differ_by_one_differ);
    TEST(types_may_differ);
}
