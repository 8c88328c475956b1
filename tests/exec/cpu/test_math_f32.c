/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/backend/cpu/pointwise/math_f32.h: errors against the C library
 * in double. */
#include "exec/backend/cpu/pointwise/math_f32.h"

#include <math.h>

#include "tests/support/suite.h"

/* Error of a float in units of its last place (ulp). */
static double units_off(float x, double truth)
{
    float nearest = (float) truth;
    int exponent;

    if (truth != truth)
        return x != x ? 0 : INFINITY;
    if (isinf(nearest) || isinf(x))
        return x == nearest ? 0 : INFINITY;
    exponent = nearest == 0 ? -126 : ilogbf(nearest);
    return fabs(x - truth) / ldexp(1, (exponent < -126 ? -126 : exponent) - 23);
}

static double true_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double true_softplus(double x)
{
    return (x > 0 ? x : 0) + log1p(exp(-fabs(x)));
}

static double true_mish(double x)
{
    return x * tanh(true_softplus(x));
}

static double true_gelu(double x)
{
    return 0.5 * x * erfc(-x * sqrt(0.5));
}

static double true_gelu_tanh(double x)
{
    return x * true_sigmoid(sqrt(8 / acos(-1)) * (x + 0.044715 * x * x * x));
}

/* Wrappers: functions that are always inlined have no address. */
#define WRAP(name)                                                             \
    static float name##_of(float x)                                            \
    {                                                                          \
        return mo_cpu_##name(x);                                               \
    }
WRAP(exp_f32)
WRAP(expm1_f32)
WRAP(log_f32)
WRAP(tanh_f32)
WRAP(sigmoid_f32)
WRAP(erf_f32)
WRAP(asin_f32)
WRAP(acos_f32)
WRAP(atan_f32)
WRAP(gelu_f32)
WRAP(gelu_tanh_f32)
WRAP(softplus_f32)
WRAP(mish_f32)

static const struct {
    const char *name;
    float (*fast)(float x);
    double (*truth)(double x);
    float from, to;
    double units;
} functions[] = {
    { "exp", exp_f32_of, exp, -110, 95, 2 },
    { "expm1", expm1_f32_of, expm1, -50, 79, 2.5 },
    { "log", log_f32_of, log, -1, 3e38f, 2 },
    { "log near 1", log_f32_of, log, 0.5f, 2, 2 },
    { "tanh", tanh_f32_of, tanh, -20, 20, 2 },
    { "sigmoid", sigmoid_f32_of, true_sigmoid, -80, 40, 3 },
    { "erf", erf_f32_of, erf, -6, 6, 3 },
    { "asin", asin_f32_of, asin, -1.001f, 1.001f, 2 },
    { "acos", acos_f32_of, acos, -1.001f, 1.001f, 2 },
    { "atan", atan_f32_of, atan, -10, 10, 2 },
    { "atan far", atan_f32_of, atan, -3e38f, 3e38f, 2 },
    /* Far below 0 the result is tiny; its exponent is rounded there. */
    { "gelu", gelu_f32_of, true_gelu, -3, 30, 16 },
    { "gelu below", gelu_f32_of, true_gelu, -9, -3, 200 },
    { "gelu tanh", gelu_tanh_f32_of, true_gelu_tanh, -3, 30, 16 },
    { "softplus", softplus_f32_of, true_softplus, -80, 80, 4 },
    { "mish", mish_f32_of, true_mish, -30, 40, 6 },
};

static void check_function(int f, float x)
{
    float fast = functions[f].fast(x);
    double off = units_off(fast, functions[f].truth((double) x));

    ck_assert_msg(off <= functions[f].units, "%s(%a) is %a, %g units off",
                  functions[f].name, (double) x, (double) fast, off);
}

START_TEST(functions_are_near_the_truth)
{
    float from = functions[_i].from, to = functions[_i].to;
    int steps = is_watched() ? 5000 : 300000;

    for (int i = 0; i <= steps; i++)
        check_function(_i, from + (to - from) * (float) i / (float) steps);
}
END_TEST

/* Random bits: every exponent and sign, beyond what a grid contains. */
START_TEST(functions_are_near_the_truth_for_floats_of_all_sizes)
{
    uint32_t step = is_watched() ? 900001 : 20011;

    for (uint32_t bits = 0; bits < UINT32_MAX - step; bits += step) {
        float x = mo_f32_from_bits(bits);

        if (x >= functions[_i].from && x <= functions[_i].to)
            check_function(_i, x);
    }
}
END_TEST

START_TEST(the_ends_of_the_range_are_right)
{
    ck_assert(exp_f32_of(INFINITY) == INFINITY && exp_f32_of(-INFINITY) == 0);
    ck_assert(exp_f32_of(NAN) != exp_f32_of(NAN));
    ck_assert(log_f32_of(INFINITY) == INFINITY && log_f32_of(0) == -INFINITY);
    ck_assert(log_f32_of(-1) != log_f32_of(-1) &&
              log_f32_of(NAN) != log_f32_of(NAN));
    ck_assert(tanh_f32_of(INFINITY) == 1 && tanh_f32_of(-INFINITY) == -1);
    ck_assert(erf_f32_of(INFINITY) == 1 && erf_f32_of(-INFINITY) == -1);
    ck_assert(sigmoid_f32_of(INFINITY) == 1 && sigmoid_f32_of(-INFINITY) == 0);
    ck_assert(gelu_f32_of(INFINITY) == INFINITY);
    ck_assert(atan_f32_of(INFINITY) == (float) (acos(-1) / 2));
    ck_assert(acos_f32_of(1) == 0 && asin_f32_of(INFINITY) != 0);
    ck_assert(signbit(asin_f32_of(-0.0f)) && signbit(atan_f32_of(-0.0f)));
    ck_assert(softplus_f32_of(INFINITY) == INFINITY);
    ck_assert(softplus_f32_of(-INFINITY) == 0);
    ck_assert(mish_f32_of(INFINITY) == INFINITY);
    for (int f = 0; f < COUNT(functions); f++)
        ck_assert(functions[f].fast(NAN) != functions[f].fast(NAN));
}
END_TEST

SUITE(math_f32)
{
    EACH(functions_are_near_the_truth, COUNT(functions));
    EACH(functions_are_near_the_truth_for_floats_of_all_sizes,
         COUNT(functions));
    TEST(the_ends_of_the_range_are_right);
}
