/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/driver/staging_buffer.h"

static mo_status wait_for(mo_backend_unit *unit, mo_cuda_staging_buffer *piece,
                          mo_error *err)
{
    if (!piece->sent)
        return MO_OK;
    piece->sent = false;
    return mo_cuda_check(unit->api, "cuEventSynchronize",
                         unit->api->cuEventSynchronize(piece->done), err);
}

static void clear_piece(mo_backend_unit *unit, mo_cuda_staging_buffer *piece)
{
    /* What failed here would have been told by the stream. */
    (void) wait_for(unit, piece, NULL);
    if (piece->done)
        unit->api->cuEventDestroy(piece->done);
    if (piece->memory)
        unit->api->cuMemFreeHost(piece->memory);
    *piece = (mo_cuda_staging_buffer){ 0 };
}

static mo_status make_piece(mo_backend_unit *unit, size_t bytes,
                            mo_cuda_staging_buffer *piece, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    mo_status status;

    clear_piece(unit, piece);
    status = mo_cuda_check(
        api, "cuMemHostAlloc",
        api->cuMemHostAlloc(&piece->memory, bytes, CU_MEMHOSTALLOC_PORTABLE),
        err);
    if (status != MO_OK) {
        piece->memory = NULL;
        return status;
    }
    piece->room = bytes;
    status = mo_cuda_check(
        api, "cuEventCreate",
        api->cuEventCreate(&piece->done, CU_EVENT_DISABLE_TIMING), err);
    if (status != MO_OK)
        piece->done = NULL;
    return status;
}

mo_status mo_cuda_staging_acquire(mo_backend_unit *unit, size_t bytes,
                                  void **memory, mo_error *err)
{
    mo_cuda_staging_buffer *piece;
    mo_status status = MO_OK;

    unit->staging = !unit->staging;
    piece = &unit->stages[unit->staging];
    if (!piece->done || piece->room < bytes)
        status = make_piece(
            unit, bytes > MO_CUDA_STAGING_BYTES ? bytes : MO_CUDA_STAGING_BYTES,
            piece, err);
    else
        status = wait_for(unit, piece, err);
    *memory = piece->memory;
    return status;
}

mo_status mo_cuda_staging_copy_async(mo_backend_unit *unit, CUdeviceptr to,
                                     size_t bytes, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    mo_cuda_staging_buffer *piece = &unit->stages[unit->staging];
    mo_status status = mo_cuda_check(
        api, "cuMemcpyHtoDAsync",
        api->cuMemcpyHtoDAsync(to, piece->memory, bytes, unit->stream), err);

    if (status != MO_OK)
        return status;
    status = mo_cuda_check(api, "cuEventRecord",
                           api->cuEventRecord(piece->done, unit->stream), err);
    piece->sent = status == MO_OK;
    return status;
}

void mo_cuda_staging_free(mo_backend_unit *unit)
{
    for (int i = 0; i < 2; i++)
        clear_piece(unit, &unit->stages[i]);
}
