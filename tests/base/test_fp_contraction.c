/* SPDX-License-Identifier: Apache-2.0 */
/* Test of the floating-point environment: a product and the sum it is added to
 * are rounded one after the other (no contraction to FMA), on every
 * processor. */
#include <float.h>

#include "tests/support/suite.h"

/* Opaque to the compiler, which would round once and for all. */
static volatile double one_and_a_bit = 1 + DBL_EPSILON;
static volatile float one_and_a_bit_f = 1 + FLT_EPSILON;

/* (1 + e)^2 = 1 + 2 e + e^2, of which a product keeps all but e^2. */
START_TEST(a_product_is_rounded_before_it_is_added)
{
    double x = one_and_a_bit, least = -(1 + 2 * DBL_EPSILON);
    float y = one_and_a_bit_f, least_f = -(1 + 2 * FLT_EPSILON);

    ck_assert(x * x + least == 0);
    ck_assert(y * y + least_f == 0);
}
END_TEST

SUITE(fp_contraction)
{
    TEST(a_product_is_rounded_before_it_is_added);
}
