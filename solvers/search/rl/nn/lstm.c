#include "solvers/search/rl/nn/lstm.h"

#include <stdio.h>
#include <stdlib.h>

/* Gates, in the order of their columns. */
enum { TAKES, FORGETS, SHOWS, NEWS, GATES };

mo_status mo_lstm_add(mo_lstm *lstm, mo_weights *weights, const char *name,
                      int n_inputs, int width, uint64_t seed, mo_error *err)
{
    char state[MO_WEIGHTS_NAME];
    mo_real *bias;

    lstm->width = width;
    if (mo_dense_add(&lstm->input, weights, name, n_inputs, GATES * width, seed,
                     err) != MO_OK)
        return MO_E_MEMORY;
    snprintf(state, sizeof state, "%s-state", name);
    lstm->state = mo_weights_add(weights, state, width, GATES * width, 1, seed);
    if (lstm->state < 0)
        return mo_fail_memory(err);
    bias = weights->values + weights->items[lstm->input.bias].offset;
    for (int i = 0; i < width; i++)
        bias[FORGETS * width + i] = 1;
    return MO_OK;
}

mo_lstm_run mo_lstm_begin(const mo_lstm *lstm, mo_tape *tape, int rows)
{
    return (mo_lstm_run){
        .width = lstm->width,
        .weights = mo_tape_weight(tape, lstm->state),
        .shown = mo_tape_zeros(tape, rows, lstm->width),
        .kept = mo_tape_zeros(tape, rows, lstm->width),
    };
}

mo_var mo_lstm_heard(const mo_lstm *lstm, mo_tape *tape, mo_var inputs)
{
    return mo_dense_linear(&lstm->input, tape, inputs);
}

void mo_lstm_step(mo_lstm_run *run, mo_tape *tape, mo_var heard)
{
    int w = run->width;
    mo_var sum, gates, takes, forgets, shows, news;

    if (mo_tape_failed(tape))
        return;
    sum = mo_tape_sum(tape, mo_tape_product(tape, run->shown, run->weights),
                      heard);
    gates = mo_tape_sigmoid(tape, mo_tape_columns(tape, sum, 0, NEWS * w));
    takes = mo_tape_columns(tape, gates, TAKES * w, w);
    forgets = mo_tape_columns(tape, gates, FORGETS * w, w);
    shows = mo_tape_columns(tape, gates, SHOWS * w, w);
    news = mo_tape_tanh(tape, mo_tape_columns(tape, sum, NEWS * w, w));
    run->kept = mo_tape_sum(tape, mo_tape_times(tape, forgets, run->kept),
                            mo_tape_times(tape, takes, news));
    run->shown = mo_tape_times(tape, shows, mo_tape_tanh(tape, run->kept));
}

mo_var mo_lstm_read(const mo_lstm *lstm, mo_tape *tape, mo_var inputs,
                    bool from_last)
{
    int n = mo_tape_rows(tape, inputs);
    mo_lstm_run run = mo_lstm_begin(lstm, tape, 1);
    mo_var heard = mo_lstm_heard(lstm, tape, inputs), all;
    mo_var *shown = malloc(((size_t) n + 1) * sizeof *shown);

    if (!shown)
        return mo_tape_fail(tape);
    for (int i = 0; i < n; i++) {
        int row = from_last ? n - 1 - i : i;

        mo_lstm_step(&run, tape, mo_tape_rows_of(tape, heard, &row, 1));
        shown[row] = run.shown;
    }
    all = mo_tape_below(tape, shown, n);
    free(shown);
    return all;
}
