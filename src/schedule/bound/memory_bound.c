/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/memory_bound.h"

#include <math.h>

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

    if (regime->memory == MO_MEMORY_NONE ||
        sum.needed <= sum.available * (1 + ROUNDING))
        return MO_OK;
    return mo_fail(err, MO_E_INFEASIBLE,
                   "the ops need %.0f bytes of memory, all devices together "
                   "have %.0f",
                   sum.needed, sum.available);
}
