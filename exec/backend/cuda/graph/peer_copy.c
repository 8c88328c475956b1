/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/graph/peer_copy.h"

#include "exec/backend/cuda/graph/link_emulation.h"

static bool can_access_peer(const mo_backend_unit *from,
                            const mo_backend_unit *to)
{
    int can = 0;

    return from->api->cuDeviceCanAccessPeer(&can, from->device, to->device) ==
               CUDA_SUCCESS &&
           can;
}

/* Where a GPU cannot access another one's memory the driver copies through
 * host memory: that is no error. Another unit of the same GPU may have enabled
 * it before. */
static mo_status enable_peer_access(mo_backend_unit *from,
                                    const mo_backend_unit *to, mo_error *err)
{
    const mo_cuda_api *api = from->api;
    CUresult result;
    mo_status status;

    if (from->device == to->device || !can_access_peer(from, to))
        return MO_OK;
    status = mo_cuda_unit_make_current(from, err);
    if (status != MO_OK)
        return status;
    result = api->cuCtxEnablePeerAccess(to->context, 0);
    if (result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED ||
        result == CUDA_ERROR_TOO_MANY_PEERS)
        return MO_OK;
    return mo_cuda_check(api, "cuCtxEnablePeerAccess", result, err);
}

static bool is_emulated(const mo_backend_transfer *transfer)
{
    return transfer->from_unit && transfer->to_unit &&
           mo_cuda_link_emulation_applies(transfer->min_ns);
}

mo_status mo_cuda_peer_copy_prepare(const mo_backend_transfer *transfer,
                                    mo_error *err)
{
    mo_status status = MO_OK;

    if (!transfer->from_unit || !transfer->to_unit)
        return MO_OK;
    status = enable_peer_access(transfer->from_unit, transfer->to_unit, err);
    if (status == MO_OK && is_emulated(transfer)) {
        status = mo_cuda_unit_make_current(transfer->from_unit, err);
        if (status == MO_OK)
            status = mo_cuda_link_emulation_prepare(transfer->from_unit, err);
    }
    return status;
}

static mo_status enqueue_copy(const mo_backend_transfer *transfer,
                              CUstream stream, mo_error *err)
{
    const mo_backend_unit *from = transfer->from_unit, *to = transfer->to_unit;
    const mo_cuda_api *api = from->api;
    CUdeviceptr source = (CUdeviceptr) (uintptr_t) transfer->data;
    CUdeviceptr target = (CUdeviceptr) (uintptr_t) transfer->target;

    if (transfer->bytes == 0)
        return MO_OK;
    if (from->device == to->device)
        return mo_cuda_check(
            api, "cuMemcpyDtoDAsync",
            api->cuMemcpyDtoDAsync(target, source, transfer->bytes, stream),
            err);
    return mo_cuda_check(api, "cuMemcpyPeerAsync",
                         api->cuMemcpyPeerAsync(target, to->context, source,
                                                from->context, transfer->bytes,
                                                stream),
                         err);
}

mo_status mo_cuda_peer_copy_enqueue(const mo_backend_transfer *transfer,
                                    CUstream stream, mo_error *err)
{
    mo_backend_unit *from;
    mo_status status;

    if (!transfer->from_unit || !transfer->to_unit)
        return transfer->carrier->enqueue(transfer->carrier, transfer, stream,
                                          err);
    if (!is_emulated(transfer))
        return enqueue_copy(transfer, stream, err);
    from = transfer->from_unit;
    if (from->device == transfer->to_unit->device &&
        transfer->bytes <= MO_CUDA_LINK_EMULATION_MAX_COPY_BYTES)
        return mo_cuda_link_emulation_copy(
            from, (CUdeviceptr) (uintptr_t) transfer->target,
            (CUdeviceptr) (uintptr_t) transfer->data, transfer->bytes,
            transfer->min_ns, stream, err);
    status = mo_cuda_link_emulation_begin(from, stream, err);
    if (status == MO_OK)
        status = enqueue_copy(transfer, stream, err);
    if (status == MO_OK)
        status =
            mo_cuda_link_emulation_end(from, transfer->min_ns, stream, err);
    return status;
}

/* Makes the stream of unit behind wait for all work enqueued on the stream of
 * unit before. */
static mo_status wait_for_stream(mo_backend_unit *behind,
                                 mo_backend_unit *before, mo_error *err)
{
    const mo_cuda_api *api = behind->api;
    CUevent event = NULL;
    mo_status status = mo_cuda_unit_make_current(before, err);

    if (status == MO_OK)
        status = mo_cuda_check(
            api, "cuEventCreate",
            api->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), err);
    if (status != MO_OK)
        return status;
    status = mo_cuda_check(api, "cuEventRecord",
                           api->cuEventRecord(event, before->stream), err);
    if (status == MO_OK)
        status = mo_cuda_check(api, "cuStreamWaitEvent",
                               api->cuStreamWaitEvent(behind->stream, event, 0),
                               err);
    /* Pending waits for the event stay valid. */
    api->cuEventDestroy(event);
    return status;
}

mo_status mo_cuda_peer_copy(mo_backend_unit *unit,
                            const mo_backend_transfer *transfer, mo_error *err)
{
    mo_backend_unit *owner = mo_cuda_peer_copy_unit(transfer);
    bool both = transfer->from_unit && transfer->to_unit;
    mo_status status = mo_cuda_peer_copy_prepare(transfer, err);

    if (status == MO_OK && both)
        status = wait_for_stream(owner, transfer->to_unit, err);
    if (status == MO_OK)
        status = mo_cuda_unit_make_current(owner, err);
    if (status == MO_OK)
        status = mo_cuda_peer_copy_enqueue(transfer, owner->stream, err);
    if (status == MO_OK && both)
        status = wait_for_stream(transfer->to_unit, owner, err);
    return status == MO_OK ? mo_cuda_unit_make_current(unit, err) : status;
}
