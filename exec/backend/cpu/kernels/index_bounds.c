/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/kernels/index_bounds.h"

#include <stdio.h>

#include "exec/backend/cpu/unit/multiversion.h"

void mo_cpu_index_set_out_of_range(mo_cpu_indices *indices, int64_t i)
{
    int64_t known = atomic_load(&indices->first_wrong);

    while ((known < 0 || i < known) &&
           !atomic_compare_exchange_weak(&indices->first_wrong, &known, i))
        continue;
}

/* Offsets of n indices of a signed type; whether all are in range. */
#define RESOLVE(name, type)                                                    \
    MO_CPU_MULTIVERSION static bool name(const type *restrict from, int n,     \
                                         int64_t size, int64_t *restrict at)   \
    {                                                                          \
        uint64_t wrong = 0;                                                    \
                                                                               \
        for (int i = 0; i < n; i++) {                                          \
            int64_t index = from[i];                                           \
                                                                               \
            index += index < 0 ? size : 0;                                     \
            /* Negative: the index is below 0, or above size - 1. */           \
            wrong |= (uint64_t) index | (uint64_t) (size - 1 - index);         \
            at[i] = index;                                                     \
        }                                                                      \
        return wrong >> 63 == 0;                                               \
    }

RESOLVE(resolve_i64, int64_t)
RESOLVE(resolve_i32, int32_t)

bool mo_cpu_index_resolve_all(mo_cpu_indices *indices, int64_t first, int n,
                              int64_t size, int64_t *at)
{
    bool valid = true;

    if (indices->elem == MO_ELEM_I64 &&
        resolve_i64((const int64_t *) indices->data + first, n, size, at))
        return true;
    if (indices->elem == MO_ELEM_I32 &&
        resolve_i32((const int32_t *) indices->data + first, n, size, at))
        return true;
    for (int i = 0; i < n; i++) {
        at[i] = mo_cpu_index_resolve(indices, first + i, size);
        valid = valid && at[i] >= 0;
    }
    return valid;
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
