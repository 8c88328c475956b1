/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/nn/dense_layer.h"

#include <stdio.h>

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
