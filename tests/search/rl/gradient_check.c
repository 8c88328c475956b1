/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/search/rl/gradient_check.h"

#include <math.h>

#include "base/random.h"
#include "tests/support/suite.h"

static double by_difference(mo_rl_params *weights, size_t i,
                            gradient_value *value, void *context)
{
    const double step = 1e-5;
    mo_rl_real kept = weights->values[i];
    double above, below;

    weights->values[i] = (mo_rl_real) ((double) kept + step);
    above = value(context);
    weights->values[i] = (mo_rl_real) ((double) kept - step);
    below = value(context);
    weights->values[i] = kept;
    return (above - below) / (2 * step);
}

static void check_one(mo_rl_params *weights, const mo_rl_real *gradient,
                      size_t i, const char *name, gradient_value *value,
                      void *context)
{
    double wanted = by_difference(weights, i, value, context);
    double off = fabs((double) gradient[i] - wanted);

    ck_assert_msg(off <= 1e-6 * fmax(1, fabs(wanted)),
                  "%s, weight %zu: %g, by differences %g", name, i,
                  (double) gradient[i], wanted);
}

void gradient_check(mo_rl_params *weights, const mo_rl_real *gradient,
                    gradient_value *value, void *context, int most)
{
    for (int w = 0; w < weights->n; w++) {
        const mo_rl_param *is = &weights->items[w];
        int size = is->rows * is->cols, n = size < most ? size : most;

        for (int i = 0; i < n; i++) {
            int at = n > 1 ? (int) ((int64_t) (size - 1) * i / (n - 1)) : 0;

            check_one(weights, gradient, is->offset + (size_t) at, is->name,
                      value, context);
        }
    }
}
