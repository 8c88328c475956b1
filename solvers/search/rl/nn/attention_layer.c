/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/nn/attention_layer.h"

#include <math.h>

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
