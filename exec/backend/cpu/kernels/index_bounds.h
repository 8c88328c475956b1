/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_bounds.h - bounds check of indices that are data.
 *
 * A negative index counts from the end; one of an unsigned type is never
 * negative, so that 2^64 - 1 is out of range. No access leaves a tensor,
 * whatever the indices are: the first one out of range, in the order of the
 * indices, becomes an error when the kernel ends.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_INDEX_BOUNDS_H
#define MO_EXEC_BACKEND_CPU_KERNELS_INDEX_BOUNDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/tensor/elem.h"

typedef struct mo_cpu_indices {
    const void *data;
    mo_elem elem;                /* an integer type */
    _Atomic int64_t first_wrong; /* -1: none so far */
} mo_cpu_indices;

/* Returns index i; u64 of 2^63 and above are negative. */
static inline int64_t mo_cpu_index_load(const mo_cpu_indices *indices,
                                        int64_t i)
{
    switch (indices->elem) {
    case MO_ELEM_I64:
    case MO_ELEM_U64:
        return ((const int64_t *) indices->data)[i];
    case MO_ELEM_I32:
        return ((const int32_t *) indices->data)[i];
    case MO_ELEM_U32:
        return ((const uint32_t *) indices->data)[i];
    case MO_ELEM_I16:
        return ((const int16_t *) indices->data)[i];
    case MO_ELEM_U16:
        return ((const uint16_t *) indices->data)[i];
    case MO_ELEM_I8:
        return ((const int8_t *) indices->data)[i];
    default:
        return ((const uint8_t *) indices->data)[i];
    }
}

/* Records that index i is out of range; any worker may call it. */
void mo_cpu_index_set_out_of_range(mo_cpu_indices *indices, int64_t i);

/* Returns index i as an offset from the front of size elements; -1 if it is
 * out of range, which is recorded. */
static inline int64_t mo_cpu_index_resolve(mo_cpu_indices *indices, int64_t i,
                                           int64_t size)
{
    int64_t at = mo_cpu_index_load(indices, i);

    if (at < 0 && indices->elem != MO_ELEM_U64)
        at += size;
    if (at >= 0 && at < size)
        return at;
    mo_cpu_index_set_out_of_range(indices, i);
    return -1;
}

/* The same for n indices from first on, into at; returns whether all are in
 * range. */
bool mo_cpu_index_resolve_all(mo_cpu_indices *indices, int64_t first, int n,
                              int64_t size, int64_t *at);

/* Returns MO_OK, or MO_E_INPUT naming the first index that was not within size
 * elements. */
mo_status mo_cpu_index_status(const mo_cpu_indices *indices, int64_t size,
                              mo_error *err);

#endif
