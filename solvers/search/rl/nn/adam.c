/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/nn/adam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

mo_status mo_rl_adam_init(mo_rl_adam *adam, const mo_rl_params *weights,
                          mo_error *err)
{
    adam->first_moment =
        calloc(weights->n_values + 1, sizeof *adam->first_moment);
    adam->second_moment =
        calloc(weights->n_values + 1, sizeof *adam->second_moment);
    adam->steps = 0;
    return adam->first_moment && adam->second_moment ? MO_OK
                                                     : mo_fail_memory(err);
}

void mo_rl_adam_clear(mo_rl_adam *adam)
{
    free(adam->first_moment);
    free(adam->second_moment);
    adam->first_moment = adam->second_moment = NULL;
}

void mo_rl_adam_reset(mo_rl_adam *adam, const mo_rl_params *weights)
{
    memset(adam->first_moment, 0,
           weights->n_values * sizeof *adam->first_moment);
    memset(adam->second_moment, 0,
           weights->n_values * sizeof *adam->second_moment);
    adam->steps = 0;
}

/* A NaN or infinite gradient would never leave the moments again. */
void mo_rl_adam_step(mo_rl_adam *adam, mo_rl_params *weights,
                     const mo_rl_real *gradient)
{
    size_t n = weights->n_values;
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double) gradient[i] * (double) gradient[i];
    double norm = sqrt(sum), clip = 1, rate;

    if (!isfinite(norm))
        return;
    if (adam->max_norm > 0 && norm > adam->max_norm)
        clip = adam->max_norm / norm;
    adam->steps++;
    rate = adam->rate * sqrt(1 - pow(beta2, (double) adam->steps)) /
           (1 - pow(beta1, (double) adam->steps));
    for (size_t i = 0; i < weights->n_values; i++) {
        double g = clip * (double) gradient[i];
        double m = beta1 * (double) adam->first_moment[i] + (1 - beta1) * g;
        double s =
            beta2 * (double) adam->second_moment[i] + (1 - beta2) * g * g;

        adam->first_moment[i] = (mo_rl_real) m;
        adam->second_moment[i] = (mo_rl_real) s;
        weights->values[i] -= (mo_rl_real) (rate * m / (sqrt(s) + epsilon));
    }
}
