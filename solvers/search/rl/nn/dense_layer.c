#include "solvers/search/rl/nn/dense_layer.h"

#include <stdio.h>

mo_status mo_dense_add(mo_dense *dense, mo_weights *weights, const char *name,
                       int rows, int cols, uint64_t seed, mo_error *err)
{
    char bias[MO_WEIGHTS_NAME];

    snprintf(bias, sizeof bias, "0-%s", name);
    dense->matrix = mo_weights_add(weights, name, rows, cols, 1, seed);
    dense->bias = mo_weights_add(weights, bias, 1, cols, 0, seed);
    return dense->matrix < 0 || dense->bias < 0 ? mo_fail_memory(err) : MO_OK;
}

mo_var mo_dense_linear(const mo_dense *dense, mo_tape *tape, mo_var a)
{
    mo_var product =
        mo_tape_product(tape, a, mo_tape_weight(tape, dense->matrix));

    return mo_tape_sum(tape, product, mo_tape_weight(tape, dense->bias));
}

mo_var mo_dense_layer(const mo_dense *dense, mo_tape *tape, mo_var a)
{
    return mo_tape_layer(tape, a, mo_tape_weight(tape, dense->matrix),
                         mo_tape_weight(tape, dense->bias));
}
