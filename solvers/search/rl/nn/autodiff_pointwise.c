/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activations, softmax and element gathers of autodiff, with their gradients.
 */
#include <assert.h>
#include <math.h>

#include "solvers/search/rl/nn/autodiff_internal.h"

/* A node of a's shape; *x: a's values. */
static mo_rl_tape_node *new_node_like(mo_rl_tape *tape, mo_rl_var a,
                                      mo_rl_tape_backward_fn *backward,
                                      const mo_rl_real **x)
{
    mo_rl_tape_node *made = mo_rl_tape_new_node(
        tape, mo_rl_tape_rows(tape, a), mo_rl_tape_cols(tape, a), backward);

    if (made)
        made->a = a;
    *x = mo_rl_tape_values(tape, a);
    return made;
}

static void backward_tanh(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    mo_rl_real *to = mo_rl_tape_node_gradient(tape, made->a);

    for (size_t i = 0; to && i < mo_rl_tape_node_size(made); i++)
        to[i] += made->gradient[i] * (1 - made->values[i] * made->values[i]);
}

mo_rl_var mo_rl_tape_tanh(mo_rl_tape *tape, mo_rl_var a)
{
    const mo_rl_real *x;
    mo_rl_tape_node *made = new_node_like(tape, a, backward_tanh, &x);

    for (size_t i = 0; made && i < mo_rl_tape_node_size(made); i++)
        made->values[i] = 1 - 2 / (1 + mo_rl_real_exp(2 * x[i]));
    return mo_rl_tape_node_var(tape, made);
}

static void backward_exp(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    mo_rl_real *to = mo_rl_tape_node_gradient(tape, made->a);

    for (size_t i = 0; to && i < mo_rl_tape_node_size(made); i++)
        to[i] += made->gradient[i] * made->values[i];
}

mo_rl_var mo_rl_tape_exp(mo_rl_tape *tape, mo_rl_var a)
{
    const mo_rl_real *x;
    mo_rl_tape_node *made = new_node_like(tape, a, backward_exp, &x);

    for (size_t i = 0; made && i < mo_rl_tape_node_size(made); i++)
        made->values[i] = mo_rl_real_exp(x[i]);
    return mo_rl_tape_node_var(tape, made);
}

static void backward_sigmoid(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    mo_rl_real *to = mo_rl_tape_node_gradient(tape, made->a);

    for (size_t i = 0; to && i < mo_rl_tape_node_size(made); i++)
        to[i] += made->gradient[i] * made->values[i] * (1 - made->values[i]);
}

mo_rl_var mo_rl_tape_sigmoid(mo_rl_tape *tape, mo_rl_var a)
{
    const mo_rl_real *x;
    mo_rl_tape_node *made = new_node_like(tape, a, backward_sigmoid, &x);

    for (size_t i = 0; made && i < mo_rl_tape_node_size(made); i++)
        made->values[i] = 1 / (1 + mo_rl_real_exp(-x[i]));
    return mo_rl_tape_node_var(tape, made);
}

/* log-sum-exp; the maximum is factored out, so that nothing overflows. */
static double log_sum_exp(const mo_rl_real *x, int n)
{
    double largest = -INFINITY, sum = 0;

    for (int i = 0; i < n; i++)
        largest = fmax(largest, (double) x[i]);
    for (int i = 0; i < n; i++)
        sum += exp((double) x[i] - largest);
    return largest + log(sum);
}

static void backward_softmax(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    mo_rl_real *to = mo_rl_tape_node_gradient(tape, made->a);

    for (int i = 0; to && i < made->rows; i++) {
        size_t at = (size_t) i * (size_t) made->cols;
        double sum = 0;

        for (int j = 0; j < made->cols; j++)
            sum += (double) made->gradient[at + (size_t) j] *
                   (double) made->values[at + (size_t) j];
        for (int j = 0; j < made->cols; j++)
            to[at + (size_t) j] +=
                made->values[at + (size_t) j] *
                (made->gradient[at + (size_t) j] - (mo_rl_real) sum);
    }
}

static void backward_log_softmax(mo_rl_tape *tape, const mo_rl_tape_node *made)
{
    mo_rl_real *to = mo_rl_tape_node_gradient(tape, made->a);

    for (int i = 0; to && i < made->rows; i++) {
        size_t at = (size_t) i * (size_t) made->cols;
        double sum = 0;

        for (int j = 0; j < made->cols; j++)
            sum += (double) made->gradient[at + (size_t) j];
        for (int j = 0; j < made->cols; j++)
            to[at + (size_t) j] +=
                made->gradient[at + (size_t) j] -
                (mo_rl_real) (exp((double) made->values[at + (size_t) j]) *
                              sum);
    }
}

mo_rl_var mo_rl_tape_softmax(mo_rl_tape *tape, mo_rl_var a)
{
    const mo_rl_real *x;
    mo_rl_tape_node *made = new_node_like(tape, a, backward_softmax, &x);

    for (int i = 0; made && i < made->rows; i++) {
        size_t at = (size_t) i * (size_t) made->cols;
        double sum = log_sum_exp(x + at, made->cols);

        for (size_t j = at; j < at + (size_t) made->cols; j++)
            made->values[j] = (mo_rl_real) exp((double) x[j] - sum);
    }
    return mo_rl_tape_node_var(tape, made);
}

mo_rl_var mo_rl_tape_log_softmax(mo_rl_tape *tape, mo_rl_var a)
{
    const mo_rl_real *x;
    mo_rl_tape_node *made = new_node_like(tape, a, backward_log_softmax, &x);

    for (int i = 0; made && i < made->rows; i++) {
        size_t at = (size_t) i * (size_t) made->cols;
        double sum = log_sum_exp(x + at, made->cols);

        for (size_t j = at; j < at + (size_t) made->cols; j++)
            made->values[j] = (mo_rl_real) ((double) x[j] - sum);
    }
    return mo_rl_tape_node_var(tape, made);
}

static double factor_of(const double *factor, int i)
{
    return factor ? factor[i] : 1;
}

static void backward_gather_elements(mo_rl_tape *tape,
                                     const mo_rl_tape_node *made)
{
    size_t cols = (size_t) mo_rl_tape_cols(tape, made->a);
    mo_rl_real *to = mo_rl_tape_node_gradient(tape, made->a);

    for (int i = 0; to && i < made->rows; i++)
        to[(size_t) i * cols + (size_t) made->pick[i]] +=
            made->gradient[i] * (mo_rl_real) factor_of(made->factor, i);
}

mo_rl_var mo_rl_tape_gather_elements(mo_rl_tape *tape, mo_rl_var a,
                                     const int *pick, const double *factor)
{
    int rows = mo_rl_tape_rows(tape, a), cols = mo_rl_tape_cols(tape, a);
    size_t n = (size_t) rows;
    const int *picks = mo_rl_tape_save(tape, pick, n * sizeof *pick);
    const double *factors = mo_rl_tape_save(tape, factor, n * sizeof *factor);
    mo_rl_tape_node *made =
        mo_rl_tape_new_node(tape, rows, 1, backward_gather_elements);
    const mo_rl_real *x;

    if (!made)
        return 0;
    made->a = a;
    made->pick = picks;
    made->factor = factors;
    x = mo_rl_tape_values(tape, a);
    for (int i = 0; i < rows; i++) {
        assert(pick[i] >= 0 && pick[i] < cols);
        made->values[i] = x[(size_t) i * (size_t) cols + (size_t) pick[i]] *
                          (mo_rl_real) factor_of(factor, i);
    }
    return mo_rl_tape_node_var(tape, made);
}
