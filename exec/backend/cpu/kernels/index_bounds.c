/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/kernels/index_bounds.h"

#include <stdio.h>

void mo_cpu_index_set_out_of_range(mo_cpu_indices *indices, int64_t i)
{
    int64_t known = atomic_load(&indices->first_wrong);

    while ((known < 0 || i < known) &&
           !atomic_compare_exchange_weak(&indices->first_wrong, &known, i))
        continue;
}

mo_status mo_cpu_index_status(const mo_cpu_indices *indices, int64_t size,
                              mo_error *err)
{
    int64_t i = atomic_load(&indices->first_wrong), at;
    char text[24];

    if (i < 0)
        return MO_OK;
    at = mo_cpu_index_load(indices, i);
    if (indices->elem == MO_ELEM_U64)
        snprintf(text, sizeof text, "%llu", (unsigned long long) at);
    else
        snprintf(text, sizeof text, "%lld", (long long) at);
    return mo_fail(err, MO_E_INPUT,
                   "index %s (number %lld of its indices) is outside of "
                   "%lld elements",
                   text, (long long) i, (long long) size);
}
