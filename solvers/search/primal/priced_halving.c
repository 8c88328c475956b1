/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/primal/priced_halving.h"

#include <stdlib.h>

#include "base/minmax.h"
#include "schedule/allowed_devices.h"
#include "solvers/search/bound/load/load_bound.h"

/* Target times range from the bound to 1/12 above it. */
enum { TARGET_PART = 12 };

/* Budget relative to that of the load bound; with less, rounding finds no
 * schedule. */
#define BUDGET_FACTOR 1.02

static int device_at(const mo_schedule *s, int op)
{
    return op == MO_FREE ? MO_FREE : s->device[op];
}

/* Sets the target times and the budget by the bound at the devices of the
 * start. */
static mo_status find_targets(const mo_schedule *start, const mo_regime *regime,
                              mo_primal_halving_options *options, mo_error *err)
{
    const mo_allowed_devices *places = options->fork->places;
    const double *price_ns = options->anneal->price_ns;
    size_t n_devices = (size_t) places->x->n_devices;
    int64_t *op_price =
        calloc((size_t) places->x->n + 1, n_devices * sizeof *op_price);
    double *used_bytes = calloc(n_devices + 1, sizeof *used_bytes);
    int64_t bound_ns = 0;
    mo_status status = op_price && used_bytes ? MO_OK : mo_fail_memory(err);

    for (int i = 0; status == MO_OK && i < places->x->n; i++)
        for (int k = 0; k < places->x->n_devices; k++)
            op_price[mo_allowed_devices_index(places, i, k)] =
                (int64_t) (price_ns[k] *
                           (double) mo_allowed_devices_resident_bytes(places,
                                                                      i));
    if (status == MO_OK)
        status = mo_load_bound_priced(
            options->fork, regime, device_at(start, options->fork->segment.u),
            device_at(start, options->fork->segment.v), op_price, 0, &bound_ns,
            used_bytes, err);
    for (size_t k = 0; k < n_devices && status == MO_OK; k++)
        options->budget_ns += price_ns[k] * used_bytes[k];
    options->from_ns = mo_max_i64(bound_ns - (int64_t) options->budget_ns, 1);
    options->to_ns = options->from_ns + options->from_ns / TARGET_PART;
    options->budget_ns *= BUDGET_FACTOR;
    free(op_price);
    free(used_bytes);
    return status;
}

mo_status mo_primal_priced_halving(
    const mo_instance *x, const mo_regime *regime, const mo_schedule *start,
    const mo_forkjoin *fork, const mo_primal_anneal_options *anneal, bool stay,
    mo_primal_halving_others *others, mo_schedule **best, mo_error *err)
{
    int a = device_at(start, fork->segment.u),
        b = device_at(start, fork->segment.v);
    mo_primal_halving_options options = {
        .fork = fork,
        .boundary = mo_max_int(a, 0) * x->n_devices + mo_max_int(b, 0),
        .anneal = anneal,
        .stay = stay,
        .others = others
    };
    mo_status status = find_targets(start, regime, &options, err);

    return status == MO_OK ? mo_primal_successive_halving(x, regime, start,
                                                          &options, best, err)
                           : status;
}
