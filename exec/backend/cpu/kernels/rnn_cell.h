/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rnn_cell.h - one step of one row of a recurrent layer: activations and the
 * new state, behind the products of the gates.
 *
 * Floats; all arrays are the caller's.  Pure functions: any thread may call
 * them.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_RNN_CELL_H
#define MO_EXEC_BACKEND_CPU_KERNELS_RNN_CELL_H

#include <stdint.h>

#include "exec/op/call.h"

typedef struct mo_cpu_rnn_row {
    const mo_call_rnn *rnn;
    int direction;
    float *gates;       /* [gates][hidden] by block: product of the state on
                           entry, scratch on return */
    const float *input; /* product of the data */
    const float *bias;  /* of the gates */
    const float *state_bias; /* GRU with linear_before_reset: that of the
                                hidden gate's product of the state */
    const float *peephole;   /* [3][hidden], or NULL */
    float *state, *cell;     /* updated */
    float *reset;            /* GRU: scratch */
} mo_cpu_rnn_row;

/* Computes the new state, and of an LSTM the new cell. */
void mo_cpu_rnn_plain_step(const mo_cpu_rnn_row *row);
void mo_cpu_rnn_lstm_step(const mo_cpu_rnn_row *row);

/* GRU in two parts: gates of update and reset; then, with the hidden gate's
 * product of row->reset where that was reset first, the state. */
void mo_cpu_rnn_gru_reset(const mo_cpu_rnn_row *row);
void mo_cpu_rnn_gru_step(const mo_cpu_rnn_row *row);

#endif
