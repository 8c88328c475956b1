/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/price_bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "schedule/bound/bundle_method.h"

enum { MIN_GAIN = 50000 /* a bundle that gains less than a part in it ends */ };

#define TOLERANCE 1e-7

typedef struct ascent {
    mo_priced_labelling *l;
    const mo_period_step *step;
    int64_t best_ns;
    double *best_point; /* prices; those of resources sum to 1 */
} ascent;

/*
 * The function that is maximised has T in [0, upper] and no condition on the
 * sum of the prices,
 *
 *     g(u, v) = min_x { u load(x) + v (used(x) - capacity) }
 *               + min(0, upper (1 - sum u))
 */
static void evaluate_prices(void *context, const double *point, double *value,
                            double *gradient)
{
    ascent *a = context;
    mo_priced_labelling *l = a->l;
    int n_resources = l->problem->n_resources;
    double sum_u = 0, least, clip;
    int64_t bound_ns = mo_priced_labelling_minimize(l, point, &least);

    for (int r = 0; r < n_resources; r++)
        sum_u += point[r];
    clip = sum_u > 1 ? (double) mo_max_i64(a->step->upper_ns, 1) : 0;
    if (bound_ns == INT64_MIN) { /* prices beyond any use */
        *value = sum_u > 1e-9 ? -1e300 : 0;
        for (int r = 0; r < l->n_prices; r++)
            gradient[r] = sum_u > 1e-9 ? -1 : 1;
        return;
    }
    if (bound_ns > a->best_ns) {
        a->best_ns = bound_ns;
        for (int r = 0; r < l->n_prices; r++)
            a->best_point[r] = point[r] / sum_u;
    }
    if (a->step->offer)
        a->step->offer(a->step->context, l->device);
    *value = least + clip * (1 - sum_u);
    for (int r = 0; r < n_resources; r++)
        gradient[r] = (double) l->state.load_ns[r] - clip;
    for (int i = 0; i < l->n_limited; i++) {
        int k = l->limited[i];

        gradient[n_resources + i] =
            ((double) l->state.used_bytes[k] -
             (double) l->problem->x->capacity_bytes[k]) *
            l->memory_unit[k];
    }
}

mo_status mo_period_price_ascend(mo_priced_labelling *l,
                                 const mo_period_step *step,
                                 int max_evaluations, int64_t *lower_ns,
                                 double *prices, mo_error *err)
{
    size_t n = (size_t) l->n_prices;
    int K = l->problem->x->n_devices;
    ascent a = {
        .l = l, .step = step, .best_ns = *lower_ns, .best_point = prices
    };
    double *point = calloc(n + 1, sizeof *point), value;
    const mo_bundle_problem problem = { .n = l->n_prices,
                                        .evaluate = evaluate_prices,
                                        .context = &a,
                                        .max_evaluations = max_evaluations,
                                        .tolerance = TOLERANCE,
                                        .stop = step->stop };
    mo_status status;

    if (!point)
        return mo_fail_memory(err);
    if (*lower_ns == 0) {
        memset(prices, 0, n * sizeof *prices);
        for (int k = 0; k < K; k++)
            prices[k] = 1.0 / K;
    }
    memcpy(point, prices, n * sizeof *point);
    status = mo_bundle_maximize(&problem, point, &value, err);
    *lower_ns = mo_max_i64(a.best_ns, 0);
    free(point);
    return status;
}

bool mo_period_price_gained(int64_t before_ns, int64_t lower_ns)
{
    return lower_ns - before_ns > before_ns / MIN_GAIN;
}

mo_status mo_period_price_bound(const mo_period_problem *p, int64_t upper_ns,
                                const mo_stop *stop, int64_t *lower_ns,
                                mo_error *err)
{
    const mo_period_step step = { .upper_ns = upper_ns, .stop = stop };
    mo_priced_labelling l;
    mo_status status = mo_priced_labelling_init(&l, p, upper_ns, err);
    double *prices = calloc((size_t) l.n_prices + 1, sizeof *prices);
    int idle = 0;

    if (status == MO_OK && !prices)
        status = mo_fail_memory(err);
    *lower_ns = 0;
    while (status == MO_OK && idle < MO_PERIOD_PRICE_IDLE &&
           *lower_ns < upper_ns && !mo_stop_reached(stop)) {
        int64_t before_ns = *lower_ns;

        status = mo_period_price_ascend(&l, &step, MO_PERIOD_PRICE_EVALUATIONS,
                                        lower_ns, prices, err);
        idle = mo_period_price_gained(before_ns, *lower_ns) ? 0 : idle + 1;
    }
    free(prices);
    mo_priced_labelling_clear(&l);
    return status;
}
