/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/pseudocost.h"

#include <stdlib.h>

#include "base/minmax.h"

/* As many gains as the expected one of a unit weighs. */
enum { PRIOR_GAINS = 8 };

/* Returns the least memory of the devices whose memory may bind, or 0. */
static int64_t least_limited_bytes(const mo_priced_labelling *l)
{
    int64_t least = INT64_MAX;

    for (int i = 0; i < l->n_limited; i++)
        least = mo_min_i64(least, l->problem->x->capacity_bytes[l->limited[i]]);
    return l->n_limited > 0 ? least : 0;
}

/* The processing time of a unit at its shortest, the tensors that it sends and
 * receives, by the first kind of pair, and its part of a memory in periods. */
static void compute_weights(mo_period_pseudocosts *c,
                            const mo_priced_labelling *labelling,
                            int64_t period_ns)
{
    const mo_instance *x = labelling->problem->x;
    const mo_placement_units *units = labelling->problem->units;
    int64_t limited_bytes = least_limited_bytes(labelling);

    for (int i = 0; i < x->n; i++) {
        int64_t least_ns = INT64_MAX;

        for (int k = 0; k < x->n_devices; k++)
            least_ns = mo_min_i64(least_ns, mo_instance_p_ns(x, i, k));
        c->weight_ns[units->of_op[i]] += least_ns;
    }
    for (int q = 0; q < x->n_flows && x->n_devices > 1; q++) {
        int from = units->of_op[x->flows[q].from];
        int to = units->of_op[x->flows[q].to];
        int64_t ns = mo_instance_flow_ns(x, q, 0, 1);

        if (from == to)
            continue;
        c->weight_ns[from] += ns;
        c->weight_ns[to] += ns;
    }
    for (int u = 0; u < units->n && limited_bytes > 0; u++)
        c->weight_ns[u] +=
            (int64_t) ((double) units->bytes[u] / (double) limited_bytes *
                       (double) period_ns);
}

mo_status mo_period_pseudocosts_init(mo_period_pseudocosts *c,
                                     const mo_priced_labelling *labelling,
                                     int64_t period_ns, mo_error *err)
{
    size_t n = (size_t) labelling->problem->units->n + 1;

    *c = (mo_period_pseudocosts){ .n_units = labelling->problem->units->n };
    c->weight_ns = calloc(n, sizeof *c->weight_ns);
    c->gain_ns = calloc(n, sizeof *c->gain_ns);
    c->n_gains = calloc(n, sizeof *c->n_gains);
    if (!c->weight_ns || !c->gain_ns || !c->n_gains)
        return mo_fail_memory(err);
    compute_weights(c, labelling, period_ns);
    return MO_OK;
}

void mo_period_pseudocosts_clear(mo_period_pseudocosts *c)
{
    free(c->weight_ns);
    free(c->gain_ns);
    free(c->n_gains);
    *c = (mo_period_pseudocosts){ 0 };
}

double mo_period_pseudocosts_expect(const mo_period_pseudocosts *c, int unit)
{
    double by_weight = (double) c->weight_ns[unit];

    if (c->gain_rate > 0)
        by_weight *= c->gain_rate;
    return (c->gain_ns[unit] + PRIOR_GAINS * by_weight) /
           (c->n_gains[unit] + PRIOR_GAINS);
}

void mo_period_pseudocosts_add(mo_period_pseudocosts *c, int unit,
                               int64_t gain_ns)
{
    c->gain_ns[unit] += (double) gain_ns;
    c->n_gains[unit]++;
}

void mo_period_pseudocosts_update(mo_period_pseudocosts *c)
{
    double gain_ns = 0, weight_ns = 0;

    for (int u = 0; u < c->n_units; u++) {
        gain_ns += c->gain_ns[u];
        weight_ns += (double) c->weight_ns[u] * c->n_gains[u];
    }
    c->gain_rate = weight_ns > 0 ? gain_ns / weight_ns : 0;
}
