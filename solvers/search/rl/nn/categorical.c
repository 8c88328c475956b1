#include "solvers/search/rl/nn/categorical.h"

#include <math.h>

int mo_draw_likeliest(const mo_real *logs, int n)
{
    int best = 0;

    for (int i = 1; i < n; i++)
        if (logs[i] > logs[best])
            best = i;
    return best;
}

/* Rounding may leave a little at the end, which nobody has: the likeliest gets
 * it. */
int mo_draw(const mo_real *logs, int n, mo_random *random)
{
    double left = mo_random_unit(random);

    for (int i = 0; i < n; i++) {
        left -= exp((double) logs[i]);
        if (left < 0)
            return i;
    }
    return mo_draw_likeliest(logs, n);
}

mo_var mo_draw_unevenness(mo_tape *tape, mo_var logs)
{
    mo_var all =
        mo_tape_total(tape, mo_tape_times(tape, mo_tape_exp(tape, logs), logs));
    int cols = mo_tape_cols(tape, all);
    mo_var sum = mo_tape_columns(tape, all, 0, cols > 0);

    for (int k = 1; k < cols; k++)
        sum = mo_tape_sum(tape, sum, mo_tape_columns(tape, all, k, 1));
    return sum;
}
