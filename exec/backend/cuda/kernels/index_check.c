/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/kernels/index_check.h"

#include <stdio.h>
#include <string.h>

mo_status mo_cuda_check_constant_indices(const mo_backend_operand *indices,
                                         const int64_t *sizes, int n,
                                         mo_error *err)
{
    mo_tensor_dense dense = { .desc = indices->desc };
    bool is_u64 = indices->desc.elem == MO_ELEM_U64;
    int64_t count = mo_tensor_desc_elements(&indices->desc);
    char text[24];

    if (!indices->constant)
        return MO_OK;
    memcpy(&dense.data, &indices->constant, sizeof dense.data);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = mo_tensor_get_int(&dense, i), size = sizes[i % n];

        /* u64 of 2^63 and above are negative here. */
        if (at >= (is_u64 ? 0 : -size) && at < size)
            continue;
        if (is_u64)
            snprintf(text, sizeof text, "%llu", (unsigned long long) at);
        else
            snprintf(text, sizeof text, "%lld", (long long) at);
        return mo_fail(err, MO_E_INPUT,
                       "index %s (number %lld of its indices) is outside of "
                       "%lld elements",
                       text, (long long) i, (long long) size);
    }
    return MO_OK;
}

void mo_cuda_emit_index_check(mo_cuda_source *code, mo_elem elem)
{
    mo_cuda_source_printf(
        code,
        "MO_DEVICE long long mo_index(const %s *indices, long long i, "
        "long long size, long long *wrong)\n"
        "{\n"
        "    long long at = (long long) indices[i];\n"
        "%s"
        "    if (at >= 0 && at < size)\n"
        "        return at;\n"
        "    *wrong = size + 1;\n"
        "    return -1;\n"
        "}\n",
        mo_cuda_elem_type_name(elem),
        elem == MO_ELEM_U64 ? "" : "    at = at < 0 ? at + size : at;\n");
}

void mo_cuda_emit_tuple_offset(mo_cuda_source *code, const char *offset,
                               const char *first, const int64_t *sizes,
                               const int64_t *strides, int n)
{
    mo_cuda_source_append(code, "long long at;\n");
    for (int d = 0; d < n; d++)
        mo_cuda_source_printf(
            code,
            "at = mo_index(indices, %s + %d, %lldLL, wrong);\n"
            "%s = %s < 0 || at < 0 ? -1 : %s + at * %lldLL;\n",
            first, d, (long long) sizes[d], offset, offset, offset,
            (long long) strides[d]);
}

void mo_cuda_emit_offset_except(mo_cuda_source *code, const int64_t *strides,
                                int rank, int axis)
{
    for (int d = 0; d < rank; d++)
        if (d != axis)
            mo_cuda_source_printf(code, " + i%d * %lldLL", d,
                                  (long long) strides[d]);
}

mo_status mo_cuda_index_error_enable(mo_backend_unit *unit, mo_error *err)
{
    void *memory = NULL;
    mo_status status;

    if (unit->index_error)
        return MO_OK;
    status =
        mo_cuda_check(unit->api, "cuMemHostAlloc",
                      unit->api->cuMemHostAlloc(&memory, sizeof(long long),
                                                CU_MEMHOSTALLOC_PORTABLE |
                                                    CU_MEMHOSTALLOC_DEVICEMAP),
                      err);
    if (status != MO_OK)
        return status;
    unit->index_error = memory;
    *unit->index_error = 0;
    return MO_OK;
}

void mo_cuda_index_error_disable(mo_backend_unit *unit)
{
    void *memory;

    if (!unit->index_error)
        return;
    memcpy(&memory, &unit->index_error, sizeof memory);
    unit->api->cuMemFreeHost(memory);
    unit->index_error = NULL;
}

/* Kernels store the size plus one, since the size may be 0. */
mo_status mo_cuda_index_error_check(mo_backend_unit *unit, mo_error *err)
{
    long long reported = unit->index_error ? *unit->index_error : 0;

    if (reported == 0)
        return MO_OK;
    *unit->index_error = 0;
    return mo_fail(err, MO_E_INPUT, "an index is outside of %lld elements",
                   reported - 1);
}
