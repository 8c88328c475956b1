/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/search/rl/nn/layers.h.  Built with doubles,
 * so that gradient checks are precise. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "solvers/search/rl/nn/layers.h"
#include "tests/search/rl/gradient_check.h"
#include "tests/support/suite.h"

enum { STEPS = 5, INPUTS = 3, WIDTH = 4 };

/* Weights of a test, and values computed from them. */
typedef struct pieces {
    mo_rl_params weights;
    mo_rl_lstm lstm;
    int inputs, query, attention;
    mo_rl_var (*make)(const struct pieces *p, mo_rl_tape *t);
} pieces;

static mo_rl_var read_forth(const pieces *p, mo_rl_tape *t)
{
    return mo_rl_lstm_sequence(&p->lstm, t, mo_rl_tape_param(t, p->inputs),
                               false);
}

static mo_rl_var read_back(const pieces *p, mo_rl_tape *t)
{
    return mo_rl_lstm_sequence(&p->lstm, t, mo_rl_tape_param(t, p->inputs),
                               true);
}

static mo_rl_var attended(const pieces *p, mo_rl_tape *t)
{
    return mo_rl_attention(t, mo_rl_tape_param(t, p->attention),
                           mo_rl_tape_param(t, p->query),
                           mo_rl_tape_param(t, p->inputs));
}

static mo_rl_var (*const makers[])(const pieces *p, mo_rl_tape *t) = {
    read_forth,
    read_back,
    attended,
};

static pieces make_pieces(uint64_t seed)
{
    pieces p = { .inputs = -1 };

    p.inputs = mo_rl_params_add(&p.weights, "in", STEPS, INPUTS, 2, seed);
    p.query = mo_rl_params_add(&p.weights, "asked", 2, WIDTH, 2, seed);
    p.attention = mo_rl_params_add(&p.weights, "ask", WIDTH, INPUTS, 2, seed);
    MUST(
        mo_rl_lstm_add(&p.lstm, &p.weights, "lstm", INPUTS, WIDTH, seed, &err));
    return p;
}

/* Factors, so that all derivatives differ. */
static mo_rl_var weighed(const pieces *p, mo_rl_tape *t)
{
    mo_rl_var a = p->make(p, t);
    int rows = mo_rl_tape_rows(t, a), cols = mo_rl_tape_cols(t, a);
    mo_rl_real factors[STEPS * WIDTH];

    ck_assert_int_le(rows * cols, COUNT(factors));
    for (int i = 0; i < rows * cols; i++)
        factors[i] = (mo_rl_real) (sin(1.0 + i) + 0.1 * i);
    return mo_rl_tape_mul(t, a, mo_rl_tape_constant(t, rows, cols, factors));
}

static double value_of_pieces(void *context)
{
    const pieces *p = context;
    mo_rl_tape *t = mo_rl_tape_new(&p->weights, NULL);
    mo_rl_var a = weighed(p, t);
    double value = 0;

    for (int i = 0; i < mo_rl_tape_rows(t, a) * mo_rl_tape_cols(t, a); i++)
        value += (double) mo_rl_tape_values(t, a)[i];
    ck_assert(!mo_rl_tape_failed(t));
    mo_rl_tape_free(t);
    return value;
}

START_TEST(derivatives_of_pieces_are_those_of_small_differences)
{
    pieces p = make_pieces((uint64_t) _i);
    mo_rl_real *gradient = calloc(p.weights.n_values, sizeof *gradient);
    mo_rl_tape *t = mo_rl_tape_new(&p.weights, gradient);

    p.make = makers[_i];
    mo_rl_tape_backward(t, weighed(&p, t));
    ck_assert(!mo_rl_tape_failed(t));
    gradient_check(&p.weights, gradient, value_of_pieces, &p, 1000);
    mo_rl_tape_free(t);
    free(gradient);
    mo_rl_params_clear(&p.weights);
}
END_TEST

static const mo_rl_real *values_of(const mo_rl_params *weights, int weight)
{
    return weights->values + weights->items[weight].offset;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* The equations of the paper, one number after the other. */
static void step_by_hand(const pieces *p, const mo_rl_real *in, double *shown,
                         double *kept)
{
    const mo_rl_real *from_in = values_of(&p->weights, p->lstm.input.matrix);
    const mo_rl_real *bias = values_of(&p->weights, p->lstm.input.bias);
    const mo_rl_real *from_state = values_of(&p->weights, p->lstm.state);
    double gates[4 * WIDTH];

    for (int g = 0; g < 4 * WIDTH; g++) {
        gates[g] = (double) bias[g];
        for (int i = 0; i < INPUTS; i++)
            gates[g] += (double) (in[i] * from_in[i * 4 * WIDTH + g]);
        for (int i = 0; i < WIDTH; i++)
            gates[g] += shown[i] * (double) from_state[i * 4 * WIDTH + g];
    }
    for (int i = 0; i < WIDTH; i++) {
        kept[i] = sigmoid(gates[WIDTH + i]) * kept[i] +
                  sigmoid(gates[i]) * tanh(gates[3 * WIDTH + i]);
        shown[i] = sigmoid(gates[2 * WIDTH + i]) * tanh(kept[i]);
    }
}

START_TEST(memory_is_kept_as_in_print)
{
    pieces p = make_pieces(7);
    mo_rl_tape *t = mo_rl_tape_new(&p.weights, NULL);
    mo_rl_var all = _i ? read_back(&p, t) : read_forth(&p, t);
    double shown[WIDTH] = { 0 }, kept[WIDTH] = { 0 };

    for (int step = 0; step < STEPS; step++) {
        int row = _i ? STEPS - 1 - step : step;

        step_by_hand(&p, values_of(&p.weights, p.inputs) + row * INPUTS, shown,
                     kept);
        for (int i = 0; i < WIDTH; i++)
            ck_assert_double_eq_tol(
                (double) mo_rl_tape_values(t, all)[row * WIDTH + i], shown[i],
                1e-12);
    }
    mo_rl_tape_free(t);
    mo_rl_params_clear(&p.weights);
}
END_TEST

/* One row of memory is far more similar to the query than the others. */
START_TEST(attention_selects_the_similar_row)
{
    pieces p = make_pieces(3);
    mo_rl_tape *t = mo_rl_tape_new(&p.weights, NULL);
    const mo_rl_real memory[] = { 1, 2, 3, 30, 40, 50, -7, 8, 9 };
    mo_rl_real question[WIDTH * INPUTS] = { 0 };
    mo_rl_real asked[WIDTH] = { 1, 0, 0, 0 };
    mo_rl_var found;

    question[0] = question[1] = question[2] = 9;
    found = mo_rl_attention(t, mo_rl_tape_constant(t, WIDTH, INPUTS, question),
                            mo_rl_tape_constant(t, 1, WIDTH, asked),
                            mo_rl_tape_constant(t, 3, INPUTS, memory));
    for (int i = 0; i < INPUTS; i++)
        ck_assert_double_eq_tol((double) mo_rl_tape_values(t, found)[i],
                                (double) memory[INPUTS + i], 1e-9);
    mo_rl_tape_free(t);
    mo_rl_params_clear(&p.weights);
}
END_TEST

SUITE(rl_layers)
{
    EACH(derivatives_of_pieces_are_those_of_small_differences, COUNT(makers));
    EACH(memory_is_kept_as_in_print, 2);
    TEST(attention_selects_the_similar_row);
}
