/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/nn/lstm.h"

#include <stdio.h>
#include <stdlib.h>

/* Gates, in the order of their columns. */
enum { TAKES, FORGETS, SHOWS, NEWS, GATES };

mo_status mo_rl_lstm_add(mo_rl_lstm *lstm, mo_rl_params *weights,
                         const char *name, int n_inputs, int width,
                         uint64_t seed, mo_error *err)
{
    char state[MO_RL_PARAM_NAME_MAX];
    mo_rl_real *bias;

    lstm->width = width;
    if (mo_rl_dense_add(&lstm->input, weights, name, n_inputs, GATES * width,
                        seed, err) != MO_OK)
        return MO_E_MEMORY;
    snprintf(state, sizeof state, "%s-state", name);
    lstm->state =
        mo_rl_params_add(weights, state, width, GATES * width, 1, seed);
    if (lstm->state < 0)
        return mo_fail_memory(err);
    bias = weights->values + weights->items[lstm->input.bias].offset;
    for (int i = 0; i < width; i++)
        bias[FORGETS * width + i] = 1;
    return MO_OK;
}

mo_rl_lstm_run mo_rl_lstm_run_init(const mo_rl_lstm *lstm, mo_rl_tape *tape,
                                   int rows)
{
    return (mo_rl_lstm_run){
        .width = lstm->width,
        .weights = mo_rl_tape_param(tape, lstm->state),
        .shown = mo_rl_tape_zeros(tape, rows, lstm->width),
        .kept = mo_rl_tape_zeros(tape, rows, lstm->width),
    };
}

mo_rl_var mo_rl_lstm_gate_inputs(const mo_rl_lstm *lstm, mo_rl_tape *tape,
                                 mo_rl_var inputs)
{
    return mo_rl_dense_linear(&lstm->input, tape, inputs);
}

void mo_rl_lstm_step(mo_rl_lstm_run *run, mo_rl_tape *tape, mo_rl_var heard)
{
    int w = run->width;
    mo_rl_var sum, gates, takes, forgets, shows, news;

    if (mo_rl_tape_failed(tape))
        return;
    sum = mo_rl_tape_add(
        tape, mo_rl_tape_matmul(tape, run->shown, run->weights), heard);
    gates =
        mo_rl_tape_sigmoid(tape, mo_rl_tape_slice_cols(tape, sum, 0, NEWS * w));
    takes = mo_rl_tape_slice_cols(tape, gates, TAKES * w, w);
    forgets = mo_rl_tape_slice_cols(tape, gates, FORGETS * w, w);
    shows = mo_rl_tape_slice_cols(tape, gates, SHOWS * w, w);
    news = mo_rl_tape_tanh(tape, mo_rl_tape_slice_cols(tape, sum, NEWS * w, w));
    run->kept = mo_rl_tape_add(tape, mo_rl_tape_mul(tape, forgets, run->kept),
                               mo_rl_tape_mul(tape, takes, news));
    run->shown = mo_rl_tape_mul(tape, shows, mo_rl_tape_tanh(tape, run->kept));
}

mo_rl_var mo_rl_lstm_sequence(const mo_rl_lstm *lstm, mo_rl_tape *tape,
                              mo_rl_var inputs, bool from_last)
{
    int n = mo_rl_tape_rows(tape, inputs);
    mo_rl_lstm_run run = mo_rl_lstm_run_init(lstm, tape, 1);
    mo_rl_var heard = mo_rl_lstm_gate_inputs(lstm, tape, inputs), all;
    mo_rl_var *shown = malloc(((size_t) n + 1) * sizeof *shown);

    if (!shown)
        return mo_rl_tape_fail(tape);
    for (int i = 0; i < n; i++) {
        int row = from_last ? n - 1 - i : i;

        mo_rl_lstm_step(&run, tape,
                        mo_rl_tape_gather_rows(tape, heard, &row, 1));
        shown[row] = run.shown;
    }
    all = mo_rl_tape_concat_rows(tape, shown, n);
    free(shown);
    return all;
}
