/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/kernels/index_bounds.h"

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
    int64_t i = atomic_load(&indices->first_wrong);

    if (i < 0)
        return MO_OK;
    return mo_fail(err, MO_E_INPUT,
                   "index %lld (number %lld of its indices) is outside of "
                   "%lld elements",
                   (long long) mo_cpu_index_load(indices, i), (long long) i,
                   (long long) size);
}
