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

/* Numbers whose spread keeps sums of rows about as large as what is summed. */
static void fill(mo_weights *weights, const mo_weight *w, uint64_t seed)
{
    double range = w->scale * sqrt(6.0 / ((double) w->rows + (double) w->cols));
    mo_random random = { seed_of(w->name, seed) };
    mo_real *values = weights->values + w->offset;

    for (size_t i = 0; i < (size_t) w->rows * (size_t) w->cols; i++)
        values[i] = (mo_real) (range * (2 * mo_random_unit(&random) - 1));
}

void mo_weights_draw(mo_weights *weights, uint64_t seed)
{
    for (int i = 0; i < weights->n; i++)
        if (weights->items[i].scale > 0)
            fill(weights, &weights->items[i], seed);
}

int mo_weights_add(mo_weights *weights, const char *name, int rows, int cols,
                   double scale, uint64_t seed)
{
    size_t size = (size_t) rows * (size_t) cols;
    mo_real *values;
    mo_weight *made;

    if (weights->n == MO_WEIGHTS_MOST)
        return -1;
    values = realloc(weights->values,
                     (weights->n_values + size + 1) * sizeof *values);
    if (!values)
        return -1;
    weights->values = values;
    made = &weights->items[weights->n];
    *made = (mo_weight){
        .rows = rows, .cols = cols, .scale = scale, .offset = weights->n_values
    };
    snprintf(made->name, sizeof made->name, "%s", name);
    fill(weights, made, seed);
    weights->n_values += size;
    return weights->n++;
}

void mo_weights_clear(mo_weights *weights)
{
    free(weights->values);
    *weights = (mo_weights){ .n = 0 };
}
