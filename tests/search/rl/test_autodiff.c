/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/search/rl/nn/{autodiff,params,adam}.h.  Built with doubles,
 * so that gradient checks are precise. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"
#include "solvers/search/rl/nn/params.h"
#include "solvers/search/rl/nn/autodiff.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

enum { ROWS = 5, COLS = 4, WIDE = 3 };

/* Weights of a test: A and B have one shape, C can be multiplied from the
 * right, D is a row of that shape. */
enum { A, B, C, D };

/* Every operation; the loss is its sum with fixed factors, so that all
 * derivatives differ. */
typedef mo_rl_var maker(mo_rl_tape *t);

static mo_rl_var w(mo_rl_tape *t, int weight)
{
    return mo_rl_tape_param(t, weight);
}

static mo_rl_var product(mo_rl_tape *t)
{
    return mo_rl_tape_matmul(t, w(t, A), w(t, C));
}

static mo_rl_var product_turned(mo_rl_tape *t)
{
    return mo_rl_tape_matmul_transposed(t, w(t, A), w(t, B));
}

static mo_rl_var layer(mo_rl_tape *t)
{
    mo_rl_var turned = mo_rl_tape_slice_cols(t, w(t, D), 0, WIDE);

    return mo_rl_tape_dense_relu(t, w(t, A), w(t, C), turned);
}

static mo_rl_var power(mo_rl_tape *t)
{
    return mo_rl_tape_exp(t, w(t, A));
}

static mo_rl_var sum(mo_rl_tape *t)
{
    return mo_rl_tape_add(t, w(t, A), w(t, B));
}

static mo_rl_var sum_of_row(mo_rl_tape *t)
{
    return mo_rl_tape_add(t, w(t, A), w(t, D));
}

static mo_rl_var times(mo_rl_tape *t)
{
    return mo_rl_tape_mul(t, w(t, A), w(t, B));
}

/* A matrix that is used twice receives both derivatives. */
static mo_rl_var square(mo_rl_tape *t)
{
    mo_rl_var a = w(t, A);

    return mo_rl_tape_mul(t, a, a);
}

static mo_rl_var scaled(mo_rl_tape *t)
{
    return mo_rl_tape_scale(t, w(t, A), -1.7);
}

static mo_rl_var tangent(mo_rl_tape *t)
{
    return mo_rl_tape_tanh(t, w(t, A));
}

static mo_rl_var sigmoid(mo_rl_tape *t)
{
    return mo_rl_tape_sigmoid(t, w(t, A));
}

static mo_rl_var beside(mo_rl_tape *t)
{
    const mo_rl_var parts[] = { w(t, A), product(t), w(t, B) };

    return mo_rl_tape_concat_cols(t, parts, COUNT(parts));
}

static mo_rl_var below(mo_rl_tape *t)
{
    const mo_rl_var parts[] = { w(t, A), w(t, D), w(t, B) };

    return mo_rl_tape_concat_rows(t, parts, COUNT(parts));
}

static mo_rl_var columns(mo_rl_tape *t)
{
    return mo_rl_tape_slice_cols(t, w(t, A), 1, 2);
}

static mo_rl_var rows_of(mo_rl_tape *t)
{
    static const int pick[] = { 3, 0, 3, 1 };

    return mo_rl_tape_gather_rows(t, w(t, A), pick, COUNT(pick));
}

static mo_rl_var gathered(mo_rl_tape *t)
{
    static const int start[] = { 0, 2, 2, 5, 6 };
    static const int list[] = { 4, 1, 0, 4, 4, 2 };

    return mo_rl_tape_segment_sum(t, w(t, A), start, list, COUNT(start) - 1);
}

static mo_rl_var total(mo_rl_tape *t)
{
    return mo_rl_tape_sum_rows(t, w(t, A));
}

static mo_rl_var softmax(mo_rl_tape *t)
{
    return mo_rl_tape_softmax(t, w(t, A));
}

static mo_rl_var log_softmax(mo_rl_tape *t)
{
    return mo_rl_tape_log_softmax(t, w(t, A));
}

static mo_rl_var picked(mo_rl_tape *t)
{
    static const int pick[ROWS] = { 2, 0, 3, 3, 1 };
    static const double factor[ROWS] = { 1, -2, 0.5, 3, 0 };

    return mo_rl_tape_gather_elements(t, log_softmax(t), pick, factor);
}

static mo_rl_var deep(mo_rl_tape *t)
{
    mo_rl_var a = mo_rl_tape_tanh(t, mo_rl_tape_add(t, w(t, A), w(t, D)));
    mo_rl_var b =
        mo_rl_tape_softmax(t, mo_rl_tape_matmul_transposed(t, a, w(t, B)));

    return mo_rl_tape_matmul(t, mo_rl_tape_matmul(t, b, a), w(t, C));
}

static maker *const makers[] = {
    product,  product_turned, sum,     sum_of_row, times,   square,  scaled,
    tangent,  sigmoid,        beside,  below,      columns, rows_of, total,
    gathered, log_softmax,    softmax, picked,     deep,    layer,   power,
};

static mo_rl_params make_weights(uint64_t seed)
{
    mo_rl_params weights = { .n = 0 };

    ck_assert_int_eq(mo_rl_params_add(&weights, "a", ROWS, COLS, 2, seed), A);
    ck_assert_int_eq(mo_rl_params_add(&weights, "b", ROWS, COLS, 2, seed), B);
    ck_assert_int_eq(mo_rl_params_add(&weights, "c", COLS, WIDE, 2, seed), C);
    ck_assert_int_eq(mo_rl_params_add(&weights, "d", 1, COLS, 2, seed), D);
    return weights;
}

static mo_rl_var weighed(mo_rl_tape *t, maker *make)
{
    mo_rl_var a = make(t);
    int rows = mo_rl_tape_rows(t, a), cols = mo_rl_tape_cols(t, a);
    mo_rl_real factors[256];

    ck_assert_int_le(rows * cols, COUNT(factors));
    for (int i = 0; i < rows * cols; i++)
        factors[i] = (mo_rl_real) (sin(1.0 + i) + 0.1 * i);
    return mo_rl_tape_mul(t, a, mo_rl_tape_constant(t, rows, cols, factors));
}

static double value_of(const mo_rl_params *weights, maker *make)
{
    mo_rl_tape *t = mo_rl_tape_new(weights, NULL);
    double value = 0;
    mo_rl_var a = weighed(t, make);

    for (int i = 0; i < mo_rl_tape_rows(t, a) * mo_rl_tape_cols(t, a); i++)
        value += (double) mo_rl_tape_values(t, a)[i];
    ck_assert(!mo_rl_tape_failed(t));
    mo_rl_tape_free(t);
    return value;
}

static double by_difference(mo_rl_params *weights, maker *make, size_t i)
{
    const double step = 1e-5;
    mo_rl_real kept = weights->values[i];
    double above, below_it;

    weights->values[i] = (mo_rl_real) ((double) kept + step);
    above = value_of(weights, make);
    weights->values[i] = (mo_rl_real) ((double) kept - step);
    below_it = value_of(weights, make);
    weights->values[i] = kept;
    return (above - below_it) / (2 * step);
}

START_TEST(derivatives_are_those_of_small_differences)
{
    mo_rl_params weights = make_weights((uint64_t) _i);
    mo_rl_real *gradient = calloc(weights.n_values, sizeof *gradient);
    mo_rl_tape *t = mo_rl_tape_new(&weights, gradient);

    mo_rl_tape_backward(t, weighed(t, makers[_i]));
    ck_assert(!mo_rl_tape_failed(t));
    for (size_t i = 0; i < weights.n_values; i++) {
        double wanted = by_difference(&weights, makers[_i], i);
        double off = fabs((double) gradient[i] - wanted);

        ck_assert_msg(off <= 1e-6 * fmax(1, fabs(wanted)),
                      "maker %d, weight %zu: %g, by differences %g", _i, i,
                      (double) gradient[i], wanted);
    }
    mo_rl_tape_free(t);
    free(gradient);
    mo_rl_params_clear(&weights);
}
END_TEST

START_TEST(a_wiped_tape_computes_the_same)
{
    mo_rl_params weights = make_weights(1);
    mo_rl_real *gradient = calloc(weights.n_values, sizeof *gradient);
    mo_rl_real *first = calloc(weights.n_values, sizeof *first);
    mo_rl_tape *t = mo_rl_tape_new(&weights, gradient);
    size_t bytes = 0;

    for (int round = 0; round < 3; round++) {
        memset(gradient, 0, weights.n_values * sizeof *gradient);
        mo_rl_tape_reset(t);
        for (int k = 0; k < COUNT(makers); k++)
            mo_rl_tape_backward(t, weighed(t, makers[k]));
        if (round == 0) {
            memcpy(first, gradient, weights.n_values * sizeof *first);
            bytes = mo_rl_tape_bytes(t);
        }
        ck_assert_mem_eq(gradient, first, weights.n_values * sizeof *first);
        ck_assert_uint_eq(mo_rl_tape_bytes(t), bytes);
    }
    mo_rl_tape_free(t);
    free(first);
    free(gradient);
    mo_rl_params_clear(&weights);
}
END_TEST

START_TEST(steps_go_to_the_bottom)
{
    mo_rl_params weights = { .n = 0 };
    mo_rl_adam adam = { .rate = 0.05 };
    mo_rl_real gradient[6];

    mo_rl_params_add(&weights, "x", 2, 3, 1, 5);
    MUST(mo_rl_adam_init(&adam, &weights, &err));
    for (int step = 0; step < 2000; step++) {
        for (int i = 0; i < 6; i++)
            gradient[i] = (mo_rl_real) (i + 1) * (weights.values[i] - i);
        mo_rl_adam_step(&adam, &weights, gradient);
    }
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq_tol((double) weights.values[i], i, 1e-3);
    gradient[2] = (mo_rl_real) NAN;
    mo_rl_adam_step(&adam, &weights, gradient);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq_tol((double) weights.values[i], i, 1e-3);
    mo_rl_adam_clear(&adam);
    mo_rl_params_clear(&weights);
}
END_TEST

static const int about[] = { 4, 16 };

static mo_status read_into(mo_rl_params *weights, const char *kind, int devices,
                           mo_error *why)
{
    const int wanted[] = { devices, 16 };

    return mo_rl_params_read(weights, kind, wanted, COUNT(wanted), "policy",
                             why);
}

START_TEST(a_policy_reads_back_as_it_was)
{
    mo_rl_params weights = make_weights(3), back = make_weights(4);
    size_t bytes = weights.n_values * sizeof *weights.values;

    MUST(mo_rl_params_write(&weights, "test", about, COUNT(about), "policy",
                            &err));
    MUST(read_into(&back, "test", 4, &err));
    ck_assert_mem_eq(back.values, weights.values, bytes);
    mo_rl_params_clear(&back);
    mo_rl_params_clear(&weights);
    unlink("policy");
}
END_TEST

static void must_refuse(mo_rl_params *weights, const char *kind, int devices,
                        const char *says)
{
    mo_error why = { 0 };
    mo_rl_real before = weights->values[0];

    ck_assert_int_eq(read_into(weights, kind, devices, &why), MO_E_INPUT);
    ck_assert_msg(strstr(why.text, says) != NULL, "%s", why.text);
    ck_assert(weights->values[0] == before);
}

START_TEST(others_policies_are_refused)
{
    mo_rl_params weights = make_weights(3), other = make_weights(4);

    MUST(mo_rl_params_write(&weights, "test", about, COUNT(about), "policy",
                            &err));
    must_refuse(&other, "else", 4, "another method");
    must_refuse(&other, "test", 5, "another number of devices");
    mo_rl_params_add(&other, "more", 1, 1, 1, 1);
    must_refuse(&other, "test", 4, "other matrices");
    scratch_write("policy", "moirai-policy 2\n");
    must_refuse(&other, "test", 4, "another version");
    scratch_write("policy", "");
    must_refuse(&other, "test", 4, "before its end");
    mo_rl_params_clear(&other);
    mo_rl_params_clear(&weights);
    unlink("policy");
}
END_TEST

/* Truncated behind any byte but the last, which is a newline. */
START_TEST(a_policy_that_was_cut_off_is_refused)
{
    mo_rl_params weights = make_weights(3), other = make_weights(4);
    size_t length;
    char *text;

    MUST(mo_rl_params_write(&weights, "test", about, COUNT(about), "policy",
                            &err));
    text = strdup(scratch_read("policy"));
    length = strlen(text);
    for (size_t cut = 0; cut + 1 < length; cut++) {
        mo_error why = { 0 };
        char kept = text[cut];

        text[cut] = 0;
        scratch_write("policy", text);
        ck_assert_int_eq(read_into(&other, "test", 4, &why), MO_E_INPUT);
        text[cut] = kept;
    }
    free(text);
    mo_rl_params_clear(&other);
    mo_rl_params_clear(&weights);
    unlink("policy");
}
END_TEST

/* Without a writer at its other end. */
START_TEST(nobody_waits_for_a_pipe)
{
    mo_rl_params weights = make_weights(3);

    ck_assert_int_eq(mkfifo("policy", 0600), 0);
    must_refuse(&weights, "test", 4, "is not a plain file");
    mo_rl_params_clear(&weights);
    unlink("policy");
}
END_TEST

SUITE(autodiff)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(derivatives_are_those_of_small_differences, COUNT(makers));
    TEST(a_wiped_tape_computes_the_same);
    TEST(steps_go_to_the_bottom);
    TEST(a_policy_reads_back_as_it_was);
    TEST(others_policies_are_refused);
    TEST(a_policy_that_was_cut_off_is_refused);
    TEST(nobody_waits_for_a_pipe);
}
