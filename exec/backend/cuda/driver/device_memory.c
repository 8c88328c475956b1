/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: allocation, and copies between host and device. */
#include <stdlib.h>

#include "base/array.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

static double mib(size_t bytes)
{
    return (double) bytes / (1 << 20);
}

mo_status mo_cuda_alloc_untracked(mo_backend_unit *unit, size_t bytes,
                                  CUdeviceptr *memory, mo_error *err)
{
    CUresult result = unit->api->cuMemAlloc(memory, bytes > 0 ? bytes : 1);

    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        size_t left = 0, total = 0;

        if (unit->api->cuMemGetInfo(&left, &total) != CUDA_SUCCESS)
            left = total = 0;
        return mo_fail(
            err, MO_E_MEMORY,
            "CUDA: cuMemAlloc: %s is out of memory: %.1f MiB are "
            "wanted, %.1f of %.1f MiB are free; use a smaller batch or "
            "precision, or place less on this device",
            unit->name, mib(bytes), mib(left), mib(total));
    }
    return mo_cuda_check(unit->api, "cuMemAlloc", result, err);
}

mo_status mo_cuda_alloc(mo_backend_unit *unit, size_t bytes,
                        CUdeviceptr *memory, mo_error *err)
{
    CUdeviceptr at = 0;
    mo_status status = MO_ARRAY_GROW(unit->allocations, unit->n_allocations,
                                     unit->allocations_room, err);

    if (status == MO_OK)
        status = mo_cuda_alloc_untracked(unit, bytes, &at, err);
    if (status != MO_OK)
        return status;
    unit->allocations[unit->n_allocations++] =
        (mo_cuda_allocation){ at, bytes };
    unit->allocated_bytes += (int64_t) bytes;
    *memory = at;
    return MO_OK;
}

void mo_cuda_free(mo_backend_unit *unit, CUdeviceptr memory)
{
    for (size_t i = unit->n_allocations; memory && i-- > 0;)
        if (unit->allocations[i].at == memory) {
            unit->allocated_bytes -= (int64_t) unit->allocations[i].bytes;
            unit->allocations[i] = unit->allocations[--unit->n_allocations];
            unit->api->cuMemFree(memory);
            return;
        }
}

mo_status mo_cuda_enqueue_upload(const mo_cuda_api *api, CUstream stream,
                                 CUdeviceptr to, const void *from, size_t bytes,
                                 mo_error *err)
{
    if (bytes == 0)
        return MO_OK;
    return mo_cuda_check(api, "cuMemcpyHtoDAsync",
                         api->cuMemcpyHtoDAsync(to, from, bytes, stream), err);
}

mo_status mo_cuda_enqueue_download(const mo_cuda_api *api, CUstream stream,
                                   void *to, CUdeviceptr from, size_t bytes,
                                   mo_error *err)
{
    if (bytes == 0)
        return MO_OK;
    return mo_cuda_check(api, "cuMemcpyDtoHAsync",
                         api->cuMemcpyDtoHAsync(to, from, bytes, stream), err);
}

/* Waits for a copy that was enqueued with this status. */
static mo_status complete_copy(const mo_backend_unit *unit, mo_status status,
                               size_t bytes, mo_error *err)
{
    if (status != MO_OK || bytes == 0)
        return status;
    return mo_cuda_check(unit->api, "cuStreamSynchronize",
                         unit->api->cuStreamSynchronize(unit->stream), err);
}

/* The copy from pageable memory has left from when the call returns, that from
 * pinned memory only after the synchronisation. */
mo_status mo_cuda_copy_to_device(mo_backend_unit *unit, CUdeviceptr to,
                                 const void *from, size_t bytes, mo_error *err)
{
    mo_status status =
        mo_cuda_enqueue_upload(unit->api, unit->stream, to, from, bytes, err);

    return complete_copy(unit, status, bytes, err);
}

mo_status mo_cuda_copy_from_device(mo_backend_unit *unit, void *to,
                                   CUdeviceptr from, size_t bytes,
                                   mo_error *err)
{
    mo_status status =
        mo_cuda_enqueue_download(unit->api, unit->stream, to, from, bytes, err);

    return complete_copy(unit, status, bytes, err);
}
