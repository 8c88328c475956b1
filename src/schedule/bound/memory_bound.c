/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/memory_bound.h"

#include <math.h>

#include "base/ablation.h"
#include "schedule/bound/memory_packing.h"
#include "schedule/placement_units.h"

/* Rounding errors of the sums are far smaller. */
#define ROUNDING 1e-6

mo_memory_totals mo_bound_memory_totals(const mo_instance *x,
                                        const mo_regime *regime)
{
    const int64_t *bytes =
        regime->memory == MO_MEMORY_LIVE ? x->weight_bytes : x->memory_bytes;
    mo_memory_totals sum = { 0 };

    for (int i = 0; i < x->n; i++)
        sum.needed += (double) bytes[i];
    for (int k = 0; k < x->n_devices; k++)
        sum.available += x->capacity_bytes[k] < INT64_MAX
                             ? (double) x->capacity_bytes[k]
                             : INFINITY;
    return sum;
}

mo_status mo_bound_memory(const mo_instance *x, const mo_regime *regime,
                          mo_error *err)
{
    mo_memory_totals sum = mo_bound_memory_totals(x, regime);
    mo_placement_units *units = NULL;
    mo_status status;

    if (regime->memory == MO_MEMORY_NONE ||
        mo_ablated(MO_ABLATION_memory_bound))
        return MO_OK;
    if (sum.needed > sum.available * (1 + ROUNDING))
        return mo_fail(err, MO_E_INFEASIBLE,
                       "the ops need %.0f bytes of memory, all devices "
                       "together have %.0f",
                       sum.needed, sum.available);
    if (mo_ablated(MO_ABLATION_memory_packing))
        return MO_OK;
    status = mo_placement_units_make(x, regime, &units, err);
    if (status == MO_OK)
        status = mo_packing_check(x, units, err);
    mo_placement_units_free(units);
    return status;
}
