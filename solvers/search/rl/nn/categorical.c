/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/nn/categorical.h"

#include <math.h>

int mo_rl_categorical_argmax(const mo_rl_real *logs, int n)
{
    int best = 0;

    for (int i = 1; i < n; i++)
        if (logs[i] > logs[best])
            best = i;
    return best;
}

/* Inverse transform sampling.  Rounding may leave a remainder at the end: the
 * mode gets it. */
int mo_rl_categorical_sample(const mo_rl_real *logs, int n, mo_random *random)
{
    double left = mo_random_unit(random);

    for (int i = 0; i < n; i++) {
        left -= exp((double) logs[i]);
        if (left < 0)
            return i;
    }
    return mo_rl_categorical_argmax(logs, n);
}

mo_rl_var mo_rl_categorical_neg_entropy(mo_rl_tape *tape, mo_rl_var logs)
{
    mo_rl_var all = mo_rl_tape_sum_rows(
        tape, mo_rl_tape_mul(tape, mo_rl_tape_exp(tape, logs), logs));
    int cols = mo_rl_tape_cols(tape, all);
    mo_rl_var sum = mo_rl_tape_slice_cols(tape, all, 0, cols > 0);

    for (int k = 1; k < cols; k++)
        sum = mo_rl_tape_add(tape, sum, mo_rl_tape_slice_cols(tape, all, k, 1));
    return sum;
}
