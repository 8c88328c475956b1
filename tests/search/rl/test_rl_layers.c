/* Claims of solvers/search/learn/{lstm,attend}.h.  Built with doubles, so that
 * a wrong derivative shows. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "solvers/search/rl/nn/attention_layer.h"
#include "solvers/search/rl/nn/lstm.h"
#include "tests/search/rl/gradient_check.h"
#include "tests/support/suite.h"

enum { STEPS = 5, INPUTS = 3, WIDTH = 4 };

/* Weights of a test, and what is made of them. */
typedef struct pieces {
    mo_weights weights;
    mo_lstm lstm;
    int inputs, asked, ask;
    mo_var (*make)(const struct pieces *p, mo_tape *t);
} pieces;

static mo_var read_forth(const pieces *p, mo_tape *t)
{
    return mo_lstm_read(&p->lstm, t, mo_tape_weight(t, p->inputs), false);
}

static mo_var read_back(const pieces *p, mo_tape *t)
{
    return mo_lstm_read(&p->lstm, t, mo_tape_weight(t, p->inputs), true);
}

static mo_var attended(const pieces *p, mo_tape *t)
{
    return mo_attend(t, mo_tape_weight(t, p->ask), mo_tape_weight(t, p->asked),
                     mo_tape_weight(t, p->inputs));
}

static mo_var (*const makers[])(const pieces *p, mo_tape *t) = {
    read_forth,
    read_back,
    attended,
};

static pieces make_pieces(uint64_t seed)
{
    pieces p = { .inputs = -1 };

    p.inputs = mo_weights_add(&p.weights, "in", STEPS, INPUTS, 2, seed);
    p.asked = mo_weights_add(&p.weights, "asked", 2, WIDTH, 2, seed);
    p.ask = mo_weights_add(&p.weights, "ask", WIDTH, INPUTS, 2, seed);
    MUST(mo_lstm_add(&p.lstm, &p.weights, "lstm", INPUTS, WIDTH, seed, &err));
    return p;
}

/* Factors, so that no derivative is the same as another. */
static mo_var weighed(const pieces *p, mo_tape *t)
{
    mo_var a = p->make(p, t);
    int rows = mo_tape_rows(t, a), cols = mo_tape_cols(t, a);
    mo_real factors[STEPS * WIDTH];

    ck_assert_int_le(rows * cols, COUNT(factors));
    for (int i = 0; i < rows * cols; i++)
        factors[i] = (mo_real) (sin(1.0 + i) + 0.1 * i);
    return mo_tape_times(t, a, mo_tape_given(t, rows, cols, factors));
}

static double value_of_pieces(void *context)
{
    const pieces *p = context;
    mo_tape *t = mo_tape_new(&p->weights, NULL);
    mo_var a = weighed(p, t);
    double value = 0;

    for (int i = 0; i < mo_tape_rows(t, a) * mo_tape_cols(t, a); i++)
        value += (double) mo_tape_values(t, a)[i];
    ck_assert(!mo_tape_failed(t));
    mo_tape_free(t);
    return value;
}

START_TEST(derivatives_of_pieces_are_those_of_small_differences)
{
    pieces p = make_pieces((uint64_t) _i);
    mo_real *gradient = calloc(p.weights.n_values, sizeof *gradient);
    mo_tape *t = mo_tape_new(&p.weights, gradient);

    p.make = makers[_i];
    mo_tape_back(t, weighed(&p, t));
    ck_assert(!mo_tape_failed(t));
    gradient_check(&p.weights, gradient, value_of_pieces, &p, 1000);
    mo_tape_free(t);
    free(gradient);
    mo_weights_clear(&p.weights);
}
END_TEST

static const mo_real *values_of(const mo_weights *weights, int weight)
{
    return weights->values + weights->items[weight].offset;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* As in print, one number after the other. */
static void step_by_hand(const pieces *p, const mo_real *in, double *shown,
                         double *kept)
{
    const mo_real *from_in = values_of(&p->weights, p->lstm.input.matrix);
    const mo_real *bias = values_of(&p->weights, p->lstm.input.bias);
    const mo_real *from_state = values_of(&p->weights, p->lstm.state);
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
    mo_tape *t = mo_tape_new(&p.weights, NULL);
    mo_var all = _i ? read_back(&p, t) : read_forth(&p, t);
    double shown[WIDTH] = { 0 }, kept[WIDTH] = { 0 };

    for (int step = 0; step < STEPS; step++) {
        int row = _i ? STEPS - 1 - step : step;

        step_by_hand(&p, values_of(&p.weights, p.inputs) + row * INPUTS, shown,
                     kept);
        for (int i = 0; i < WIDTH; i++)
            ck_assert_double_eq_tol(
                (double) mo_tape_values(t, all)[row * WIDTH + i], shown[i],
                1e-12);
    }
    mo_tape_free(t);
    mo_weights_clear(&p.weights);
}
END_TEST

/* One row of memory is far more alike to the question than the others. */
START_TEST(attention_finds_what_is_asked_for)
{
    pieces p = make_pieces(3);
    mo_tape *t = mo_tape_new(&p.weights, NULL);
    const mo_real memory[] = { 1, 2, 3, 30, 40, 50, -7, 8, 9 };
    mo_real question[WIDTH * INPUTS] = { 0 };
    mo_real asked[WIDTH] = { 1, 0, 0, 0 };
    mo_var found;

    question[0] = question[1] = question[2] = 9;
    found = mo_attend(t, mo_tape_given(t, WIDTH, INPUTS, question),
                      mo_tape_given(t, 1, WIDTH, asked),
                      mo_tape_given(t, 3, INPUTS, memory));
    for (int i = 0; i < INPUTS; i++)
        ck_assert_double_eq_tol((double) mo_tape_values(t, found)[i],
                                (double) memory[INPUTS + i], 1e-9);
    mo_tape_free(t);
    mo_weights_clear(&p.weights);
}
END_TEST

SUITE(learn_pieces)
{
    EACH(derivatives_of_pieces_are_those_of_small_differences, COUNT(makers));
    EACH(memory_is_kept_as_in_print, 2);
    TEST(attention_finds_what_is_asked_for);
}
