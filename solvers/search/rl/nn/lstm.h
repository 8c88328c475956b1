/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lstm.h - long short-term memory (Hochreiter and Schmidhuber, 1997; with the
 * forget gate of Gers et al., 2000).
 *
 * Several sequences may go on side by side: each is a row.
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_LSTM_H
#define MO_SOLVERS_SEARCH_RL_NN_LSTM_H

#include "base/error.h"
#include "solvers/search/rl/nn/dense_layer.h"

typedef struct mo_rl_lstm {
    int width;         /* of what it keeps and shows */
    mo_rl_dense input; /* to all four gates: 4 width columns */
    int state;         /* the same from what it showed last */
} mo_rl_lstm;

/* One that reads rows of n_inputs numbers.  Gates that forget begin as good as
 * open, so that what is far back is heard of. */
mo_status mo_rl_lstm_add(mo_rl_lstm *lstm, mo_rl_params *weights,
                         const char *name, int n_inputs, int width,
                         uint64_t seed, mo_error *err);

/* On a tape, with the weights that every step needs. */
typedef struct mo_rl_lstm_run {
    int width;
    mo_rl_var weights;
    mo_rl_var shown, kept; /* after the last step */
} mo_rl_lstm_run;

mo_rl_lstm_run mo_rl_lstm_run_init(const mo_rl_lstm *lstm, mo_rl_tape *tape,
                                   int rows);

/* What inputs come to at the gates; those of all steps at once are faster. */
mo_rl_var mo_rl_lstm_gate_inputs(const mo_rl_lstm *lstm, mo_rl_tape *tape,
                                 mo_rl_var inputs);

/* heard: as many rows as it was begun with. */
void mo_rl_lstm_step(mo_rl_lstm_run *run, mo_rl_tape *tape, mo_rl_var heard);

/* What it shows after each row of inputs, read from the first to the last, or
 * the other way round: as many rows, in their order. */
mo_rl_var mo_rl_lstm_sequence(const mo_rl_lstm *lstm, mo_rl_tape *tape,
                              mo_rl_var inputs, bool from_last);

#endif
