/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dense_layer.h - fully connected (dense) layers: a matrix and a bias.
 */
#ifndef MO_SOLVERS_SEARCH_RL_NN_DENSE_LAYER_H
#define MO_SOLVERS_SEARCH_RL_NN_DENSE_LAYER_H

#include "base/error.h"
#include "solvers/search/rl/nn/autodiff.h"

/* Numbers of weights. */
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

#endif
