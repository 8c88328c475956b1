/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/graph/peer_copy.h"

#include "exec/backend/cuda/graph/link_emulation.h"
#include "exec/backend/cuda/driver/cuda_unit_internal.h"

/* ---- who reaches whom */

static bool can_reach(const mo_backend_unit *from, const mo_backend_unit *to)
{
    int can = 0;

    return from->api->cuDeviceCanAccessPeer(&can, from->device, to->device) ==
               CUDA_SUCCESS &&
           can;
}

/* Where a GPU cannot reach another one's memory the driver finds a way through
 * the process: that is no error.  Other units of the same GPU may have been
 * here before. */
static mo_status reach(mo_backend_unit *from, const mo_backend_unit *to,
                       mo_error *err)
{
    const mo_cuda_api *api = from->api;
    CUresult result;
    mo_status status;

    if (from->device == to->device || !can_reach(from, to))
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

static bool is_held(const mo_backend_transfer *carry)
{
    return carry->from_unit && carry->to_unit &&
           mo_cuda_link_emulation_applies(carry->hold_ns);
}

mo_status mo_cuda_peer_copy_prepare(const mo_backend_transfer *carry,
                                    mo_error *err)
{
    mo_status status = MO_OK;

    if (!carry->from_unit || !carry->to_unit)
        return MO_OK;
    status = reach(carry->from_unit, carry->to_unit, err);
    if (status == MO_OK && is_held(carry)) {
        status = mo_cuda_unit_make_current(carry->from_unit, err);
        if (status == MO_OK)
            status = mo_cuda_link_emulation_prepare(carry->from_unit, err);
    }
    return status;
}

/* ---- on its way */

static mo_status copy(const mo_backend_transfer *carry, CUstream stream,
                      mo_error *err)
{
    const mo_backend_unit *from = carry->from_unit, *to = carry->to_unit;
    const mo_cuda_api *api = from->api;
    CUdeviceptr source = (CUdeviceptr) (uintptr_t) carry->data;
    CUdeviceptr target = (CUdeviceptr) (uintptr_t) carry->target;

    if (carry->bytes == 0)
        return MO_OK;
    if (from->device == to->device)
        return mo_cuda_check(
            api, "cuMemcpyDtoDAsync",
            api->cuMemcpyDtoDAsync(target, source, carry->bytes, stream), err);
    return mo_cuda_check(api, "cuMemcpyPeerAsync",
                         api->cuMemcpyPeerAsync(target, to->context, source,
                                                from->context, carry->bytes,
                                                stream),
                         err);
}

static mo_status copy_held(const mo_backend_transfer *carry, CUstream stream,
                           mo_error *err)
{
    mo_backend_unit *from = carry->from_unit;
    mo_status status;

    if (from->device == carry->to_unit->device &&
        carry->bytes <= MO_CUDA_LINK_EMULATION_MAX_COPY_BYTES)
        return mo_cuda_link_emulation_copy(
            from, (CUdeviceptr) (uintptr_t) carry->target,
            (CUdeviceptr) (uintptr_t) carry->data, carry->bytes, carry->hold_ns,
            stream, err);
    status = mo_cuda_link_emulation_begin(from, stream, err);
    if (status == MO_OK)
        status = copy(carry, stream, err);
    if (status == MO_OK)
        status = mo_cuda_link_emulation_end(from, carry->hold_ns, stream, err);
    return status;
}

mo_status mo_cuda_peer_copy_enqueue(const mo_backend_transfer *carry,
                                    CUstream stream, mo_error *err)
{
    if (!carry->from_unit || !carry->to_unit)
        return carry->carrier->carry(carry->carrier, carry, stream, err);
    return is_held(carry) ? copy_held(carry, stream, err)
                          : copy(carry, stream, err);
}

/* ---- outside of programs */

/* What comes next in a stream of one unit waits for all that is in the stream
 * of another. */
static mo_status follow(mo_backend_unit *behind, mo_backend_unit *before,
                        mo_error *err)
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
    /* What waits for it does so still. */
    api->cuEventDestroy(event);
    return status;
}

mo_status mo_cuda_peer_copy(mo_backend_unit *unit,
                            const mo_backend_transfer *carry, mo_error *err)
{
    mo_backend_unit *driver = mo_cuda_peer_copy_unit(carry);
    bool both = carry->from_unit && carry->to_unit;
    mo_status status = mo_cuda_peer_copy_prepare(carry, err);

    if (status == MO_OK && both)
        status = follow(driver, carry->to_unit, err);
    if (status == MO_OK)
        status = mo_cuda_unit_make_current(driver, err);
    if (status == MO_OK)
        status = mo_cuda_peer_copy_enqueue(carry, driver->stream, err);
    if (status == MO_OK && both)
        status = follow(carry->to_unit, driver, err);
    return status == MO_OK ? mo_cuda_unit_make_current(unit, err) : status;
}
