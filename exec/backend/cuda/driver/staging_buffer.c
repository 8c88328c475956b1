/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/driver/staging_buffer.h"

static mo_status wait_for_copy(mo_backend_unit *unit,
                               mo_cuda_staging_buffer *buffer, mo_error *err)
{
    if (!buffer->sent)
        return MO_OK;
    buffer->sent = false;
    return mo_cuda_check(unit->api, "cuEventSynchronize",
                         unit->api->cuEventSynchronize(buffer->done), err);
}

static void clear_buffer(mo_backend_unit *unit, mo_cuda_staging_buffer *buffer)
{
    /* A failure of the copy is reported by the next call on the stream. */
    (void) wait_for_copy(unit, buffer, NULL);
    if (buffer->done)
        unit->api->cuEventDestroy(buffer->done);
    if (buffer->memory)
        unit->api->cuMemFreeHost(buffer->memory);
    *buffer = (mo_cuda_staging_buffer){ 0 };
}

static mo_status allocate_buffer(mo_backend_unit *unit, size_t bytes,
                                 mo_cuda_staging_buffer *buffer, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    mo_status status;

    clear_buffer(unit, buffer);
    status = mo_cuda_check(
        api, "cuMemHostAlloc",
        api->cuMemHostAlloc(&buffer->memory, bytes, CU_MEMHOSTALLOC_PORTABLE),
        err);
    if (status != MO_OK) {
        buffer->memory = NULL;
        return status;
    }
    buffer->room = bytes;
    status = mo_cuda_check(
        api, "cuEventCreate",
        api->cuEventCreate(&buffer->done, CU_EVENT_DISABLE_TIMING), err);
    if (status != MO_OK)
        buffer->done = NULL;
    return status;
}

mo_status mo_cuda_staging_acquire(mo_backend_unit *unit, size_t bytes,
                                  void **memory, mo_error *err)
{
    mo_cuda_staging_buffer *buffer;
    mo_status status = MO_OK;

    unit->staging_current = !unit->staging_current;
    buffer = &unit->staging[unit->staging_current];
    if (!buffer->done || buffer->room < bytes)
        status = allocate_buffer(
            unit, bytes > MO_CUDA_STAGING_BYTES ? bytes : MO_CUDA_STAGING_BYTES,
            buffer, err);
    else
        status = wait_for_copy(unit, buffer, err);
    *memory = buffer->memory;
    return status;
}

mo_status mo_cuda_staging_copy_async(mo_backend_unit *unit, CUdeviceptr to,
                                     size_t bytes, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    mo_cuda_staging_buffer *buffer = &unit->staging[unit->staging_current];
    mo_status status = mo_cuda_check(
        api, "cuMemcpyHtoDAsync",
        api->cuMemcpyHtoDAsync(to, buffer->memory, bytes, unit->stream), err);

    if (status != MO_OK)
        return status;
    status = mo_cuda_check(api, "cuEventRecord",
                           api->cuEventRecord(buffer->done, unit->stream), err);
    buffer->sent = status == MO_OK;
    return status;
}

void mo_cuda_staging_free(mo_backend_unit *unit)
{
    for (int i = 0; i < 2; i++)
        clear_buffer(unit, &unit->staging[i]);
}
