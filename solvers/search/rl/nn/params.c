/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/rl/nn/params.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

static uint64_t seed_of(const char *name, uint64_t seed)
{
    for (; *name; name++)
        seed = mo_random_seed(seed, (unsigned char) *name);
    return seed;
}

/* Glorot and Bengio (2010): the range keeps the variance across the layer. */
static void initialize_param(mo_rl_params *weights, const mo_rl_param *w,
                             uint64_t seed)
{
    double range = w->scale * sqrt(6.0 / ((double) w->rows + (double) w->cols));
    mo_random random = { seed_of(w->name, seed) };
    mo_rl_real *values = weights->values + w->offset;

    for (size_t i = 0; i < (size_t) w->rows * (size_t) w->cols; i++)
        values[i] = (mo_rl_real) (range * (2 * mo_random_unit(&random) - 1));
}

void mo_rl_params_randomize(mo_rl_params *weights, uint64_t seed)
{
    for (int i = 0; i < weights->n; i++)
        if (weights->items[i].scale > 0)
            initialize_param(weights, &weights->items[i], seed);
}

int mo_rl_params_add(mo_rl_params *weights, const char *name, int rows,
                     int cols, double scale, uint64_t seed)
{
    size_t size = (size_t) rows * (size_t) cols;
    mo_rl_real *values;
    mo_rl_param *made;

    if (weights->n == MO_RL_PARAMS_MAX)
        return -1;
    values = realloc(weights->values,
                     (weights->n_values + size + 1) * sizeof *values);
    if (!values)
        return -1;
    weights->values = values;
    made = &weights->items[weights->n];
    *made = (mo_rl_param){
        .rows = rows, .cols = cols, .scale = scale, .offset = weights->n_values
    };
    snprintf(made->name, sizeof made->name, "%s", name);
    initialize_param(weights, made, seed);
    weights->n_values += size;
    return weights->n++;
}

void mo_rl_params_clear(mo_rl_params *weights)
{
    free(weights->values);
    *weights = (mo_rl_params){ .n = 0 };
}
