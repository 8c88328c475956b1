/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layers.h - layers of the policy networks: dense, LSTM and attention.
 *
 * Weights are added to mo_rl_params once; the functions below append the
 * forward pass to a tape.
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_LAYERS_H
#define MO_SOLVERS_SEARCH_RL_NN_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "solvers/search/rl/nn/autodiff.h"

/* A dense (fully connected) layer, a matrix and a bias: numbers of weights. */
typedef struct mo_rl_dense {
    int matrix, bias;
} mo_rl_dense;

/* Adds both to weights; the bias is initialized to zeros. */
mo_status mo_rl_dense_add(mo_rl_dense *dense, mo_rl_params *weights,
                          const char *name, int rows, int cols, uint64_t seed,
                          mo_error *err);

mo_rl_var mo_rl_dense_linear(const mo_rl_dense *dense, mo_rl_tape *tape,
                             mo_rl_var a);
/* With the activation max(x, 0). */
mo_rl_var mo_rl_dense_relu(const mo_rl_dense *dense, mo_rl_tape *tape,
                           mo_rl_var a);

/*
 * Long short-term memory, LSTM (Hochreiter and Schmidhuber, 1997; with the
 * forget gate of Gers et al., 2000).  A batch of sequences advances together:
 * each is a row.
 */
typedef struct mo_rl_lstm {
    int width;         /* of the cell and hidden state */
    mo_rl_dense input; /* to all four gates: 4 width columns */
    int state;         /* the same from the previous hidden state */
} mo_rl_lstm;

/* Adds the weights of an LSTM over rows of n_inputs numbers.  The bias of the
 * forget gates is initialized to 1, so that gradients reach far back. */
mo_status mo_rl_lstm_add(mo_rl_lstm *lstm, mo_rl_params *weights,
                         const char *name, int n_inputs, int width,
                         uint64_t seed, mo_error *err);

/* State on a tape, with the weights that every step needs. */
typedef struct mo_rl_lstm_run {
    int width;
    mo_rl_var weights;
    mo_rl_var hidden, cell; /* hidden and cell state after the last step */
} mo_rl_lstm_run;

mo_rl_lstm_run mo_rl_lstm_run_init(const mo_rl_lstm *lstm, mo_rl_tape *tape,
                                   int rows);

/* The contribution of inputs to the gates; computing that of all steps at once
 * is faster. */
mo_rl_var mo_rl_lstm_gate_inputs(const mo_rl_lstm *lstm, mo_rl_tape *tape,
                                 mo_rl_var inputs);

/* gate_inputs: as of mo_rl_lstm_gate_inputs, as many rows as the run was
 * initialized with. */
void mo_rl_lstm_step(mo_rl_lstm_run *run, mo_rl_tape *tape,
                     mo_rl_var gate_inputs);

/* Returns the hidden states after each row of inputs, read from the first to
 * the last, or in reverse: as many rows, in their order. */
mo_rl_var mo_rl_lstm_sequence(const mo_rl_lstm *lstm, mo_rl_tape *tape,
                              mo_rl_var inputs, bool from_last);

/* Attention with a learned bilinear score (Luong et al., 2015, "general"):
 * softmax(query weight memory^T / sqrt(d)) memory: for each row of query a
 * weighted mean of the rows of memory; as many columns as memory has. */
mo_rl_var mo_rl_attention(mo_rl_tape *tape, mo_rl_var weight, mo_rl_var query,
                          mo_rl_var memory);

#endif
