/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/nn/attention_layer.h"

#include <math.h>

/* Products of long rows are large; what they are divided by keeps the softmax
 * from choosing one before anything is learned (Vaswani et al., 2017). */
mo_rl_var mo_rl_attention(mo_rl_tape *tape, mo_rl_var weight, mo_rl_var asked,
                          mo_rl_var memory)
{
    double wide = sqrt((double) mo_rl_tape_cols(tape, memory));
    mo_rl_var question = mo_rl_tape_matmul(tape, asked, weight);
    mo_rl_var alike = mo_rl_tape_matmul_transposed(tape, question, memory);
    mo_rl_var shares =
        mo_rl_tape_softmax(tape, mo_rl_tape_scale(tape, alike, 1 / wide));

    return mo_rl_tape_matmul(tape, shares, memory);
}
