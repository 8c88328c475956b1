/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/nn/layers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

mo_status mo_rl_dense_add(mo_rl_dense *dense, mo_rl_params *weights,
                          const char *name, int rows, int cols, uint64_t seed,
                          mo_error *err)
{
    char bias[MO_RL_PARAM_NAME_MAX];

    snprintf(bias, sizeof bias, "0-%s", name);
    dense->matrix = mo_rl_params_add(weights, name, rows, cols, 1, seed);
    dense->bias = mo_rl_params_add(weights, bias, 1, cols, 0, seed);
    return dense->matrix < 0 || dense->bias < 0 ? mo_fail_memory(err) : MO_OK;
}

mo_rl_var mo_rl_dense_linear(const mo_rl_dense *dense, mo_rl_tape *tape,
                             mo_rl_var a)
{
    mo_rl_var product =
        mo_rl_tape_matmul(tape, a, mo_rl_tape_param(tape, dense->matrix));

    return mo_rl_tape_add(tape, product, mo_rl_tape_param(tape, dense->bias));
}

mo_rl_var mo_rl_dense_relu(const mo_rl_dense *dense, mo_rl_tape *tape,
                           mo_rl_var a)
{
    return mo_rl_tape_dense_relu(tape, a, mo_rl_tape_param(tape, dense->matrix),
                                 mo_rl_tape_param(tape, dense->bias));
}

/* Gates, in the order of their columns. */
enum { INPUT_GATE, FORGET_GATE, OUTPUT_GATE, CANDIDATE, N_GATES };

mo_status mo_rl_lstm_add(mo_rl_lstm *lstm, mo_rl_params *weights,
                         const char *name, int n_inputs, int width,
                         uint64_t seed, mo_error *err)
{
    char state[MO_RL_PARAM_NAME_MAX];
    mo_rl_real *bias;

    lstm->width = width;
    if (mo_rl_dense_add(&lstm->input, weights, name, n_inputs, N_GATES * width,
                        seed, err) != MO_OK)
        return MO_E_MEMORY;
    snprintf(state, sizeof state, "%s-state", name);
    lstm->state =
        mo_rl_params_add(weights, state, width, N_GATES * width, 1, seed);
    if (lstm->state < 0)
        return mo_fail_memory(err);
    bias = weights->values + weights->items[lstm->input.bias].offset;
    for (int i = 0; i < width; i++)
        bias[FORGET_GATE * width + i] = 1;
    return MO_OK;
}

mo_rl_lstm_run mo_rl_lstm_run_init(const mo_rl_lstm *lstm, mo_rl_tape *tape,
                                   int rows)
{
    return (mo_rl_lstm_run){
        .width = lstm->width,
        .weights = mo_rl_tape_param(tape, lstm->state),
        .hidden = mo_rl_tape_zeros(tape, rows, lstm->width),
        .cell = mo_rl_tape_zeros(tape, rows, lstm->width),
    };
}

mo_rl_var mo_rl_lstm_gate_inputs(const mo_rl_lstm *lstm, mo_rl_tape *tape,
                                 mo_rl_var inputs)
{
    return mo_rl_dense_linear(&lstm->input, tape, inputs);
}

void mo_rl_lstm_step(mo_rl_lstm_run *run, mo_rl_tape *tape,
                     mo_rl_var gate_inputs)
{
    int w = run->width;
    mo_rl_var sum, gates, input_gate, forget_gate, output_gate, candidate;

    if (mo_rl_tape_failed(tape))
        return;
    sum = mo_rl_tape_add(
        tape, mo_rl_tape_matmul(tape, run->hidden, run->weights), gate_inputs);
    gates = mo_rl_tape_sigmoid(
        tape, mo_rl_tape_slice_cols(tape, sum, 0, CANDIDATE * w));
    input_gate = mo_rl_tape_slice_cols(tape, gates, INPUT_GATE * w, w);
    forget_gate = mo_rl_tape_slice_cols(tape, gates, FORGET_GATE * w, w);
    output_gate = mo_rl_tape_slice_cols(tape, gates, OUTPUT_GATE * w, w);
    candidate = mo_rl_tape_tanh(
        tape, mo_rl_tape_slice_cols(tape, sum, CANDIDATE * w, w));
    run->cell =
        mo_rl_tape_add(tape, mo_rl_tape_mul(tape, forget_gate, run->cell),
                       mo_rl_tape_mul(tape, input_gate, candidate));
    run->hidden =
        mo_rl_tape_mul(tape, output_gate, mo_rl_tape_tanh(tape, run->cell));
}

mo_rl_var mo_rl_lstm_sequence(const mo_rl_lstm *lstm, mo_rl_tape *tape,
                              mo_rl_var inputs, bool from_last)
{
    int n = mo_rl_tape_rows(tape, inputs);
    mo_rl_lstm_run run = mo_rl_lstm_run_init(lstm, tape, 1);
    mo_rl_var gate_inputs = mo_rl_lstm_gate_inputs(lstm, tape, inputs), all;
    mo_rl_var *hidden = malloc(((size_t) n + 1) * sizeof *hidden);

    if (!hidden)
        return mo_rl_tape_fail(tape);
    for (int i = 0; i < n; i++) {
        int row = from_last ? n - 1 - i : i;

        mo_rl_lstm_step(&run, tape,
                        mo_rl_tape_gather_rows(tape, gate_inputs, &row, 1));
        hidden[row] = run.hidden;
    }
    all = mo_rl_tape_concat_rows(tape, hidden, n);
    free(hidden);
    return all;
}

/* Scaled products: without the factor the softmax would saturate for long rows
 * before training (Vaswani et al., 2017). */
mo_rl_var mo_rl_attention(mo_rl_tape *tape, mo_rl_var weight, mo_rl_var query,
                          mo_rl_var memory)
{
    double scale = sqrt((double) mo_rl_tape_cols(tape, memory));
    mo_rl_var projected = mo_rl_tape_matmul(tape, query, weight);
    mo_rl_var scores = mo_rl_tape_matmul_transposed(tape, projected, memory);
    mo_rl_var attention =
        mo_rl_tape_softmax(tape, mo_rl_tape_scale(tape, scores, 1 / scale));

    return mo_rl_tape_matmul(tape, attention, memory);
}
