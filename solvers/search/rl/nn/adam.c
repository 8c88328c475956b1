/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/nn/adam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double mean_keeps = 0.9, square_keeps = 0.999, least = 1e-8;

mo_status mo_rl_adam_init(mo_rl_adam *adam, const mo_rl_params *weights,
                          mo_error *err)
{
    adam->mean = calloc(weights->n_values + 1, sizeof *adam->mean);
    adam->square = calloc(weights->n_values + 1, sizeof *adam->square);
    adam->steps = 0;
    return adam->mean && adam->square ? MO_OK : mo_fail_memory(err);
}

void mo_rl_adam_clear(mo_rl_adam *adam)
{
    free(adam->mean);
    free(adam->square);
    adam->mean = adam->square = NULL;
}

void mo_rl_adam_reset(mo_rl_adam *adam, const mo_rl_params *weights)
{
    memset(adam->mean, 0, weights->n_values * sizeof *adam->mean);
    memset(adam->square, 0, weights->n_values * sizeof *adam->square);
    adam->steps = 0;
}

static double length(const mo_rl_real *gradient, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double) gradient[i] * (double) gradient[i];
    return sqrt(sum);
}

/* A gradient that is no number would never leave the means again. */
void mo_rl_adam_step(mo_rl_adam *adam, mo_rl_params *weights,
                     const mo_rl_real *gradient)
{
    double norm = length(gradient, weights->n_values), shorten = 1, rate;

    if (!isfinite(norm))
        return;
    if (adam->most > 0 && norm > adam->most)
        shorten = adam->most / norm;
    adam->steps++;
    rate = adam->rate * sqrt(1 - pow(square_keeps, (double) adam->steps)) /
           (1 - pow(mean_keeps, (double) adam->steps));
    for (size_t i = 0; i < weights->n_values; i++) {
        double g = shorten * (double) gradient[i];
        double m = mean_keeps * (double) adam->mean[i] + (1 - mean_keeps) * g;
        double s = square_keeps * (double) adam->square[i] +
                   (1 - square_keeps) * g * g;

        adam->mean[i] = (mo_rl_real) m;
        adam->square[i] = (mo_rl_real) s;
        weights->values[i] -= (mo_rl_real) (rate * m / (sqrt(s) + least));
    }
}
