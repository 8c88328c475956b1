#include <config.h>

#include "exec/backend/cuda/graph/peer_copy.h"

#include "exec/backend/cuda/graph/link_emulation.h"
#include "exec/backend/cuda/driver/cuda_unit_internal.h"

/* ---- who reaches whom */

static bool can_reach(const mo_unit *from, const mo_unit *to)
{
    int can = 0;

    return from->api->cuDeviceCanAccessPeer(&can, from->device, to->device) ==
               CUDA_SUCCESS &&
           can;
}

/* Where a GPU cannot reach another one's memory the driver finds a way through
 * the process: that is no error.  Other units of the same GPU may have been
 * here before. */
static mo_status reach(mo_unit *from, const mo_unit *to, mo_error *err)
{
    const mo_cuda_api *api = from->api;
    CUresult result;
    mo_status status;

    if (from->device == to->device || !can_reach(from, to))
        return MO_OK;
    status = mo_cuda_enter(from, err);
    if (status != MO_OK)
        return status;
    result = api->cuCtxEnablePeerAccess(to->context, 0);
    if (result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED ||
        result == CUDA_ERROR_TOO_MANY_PEERS)
        return MO_OK;
    return mo_cuda_check(api, "cuCtxEnablePeerAccess", result, err);
}

static bool is_held(const mo_carry *carry)
{
    return carry->from_unit && carry->to_unit && mo_cuda_holds(carry->hold_ns);
}

mo_status mo_cuda_carry_prepare(const mo_carry *carry, mo_error *err)
{
    mo_status status = MO_OK;

    if (!carry->from_unit || !carry->to_unit)
        return MO_OK;
    status = reach(carry->from_unit, carry->to_unit, err);
    if (status == MO_OK && is_held(carry)) {
        status = mo_cuda_enter(carry->from_unit, err);
        if (status == MO_OK)
            status = mo_cuda_hold_prepare(carry->from_unit, err);
    }
    return status;
}

/* ---- on its way */

static mo_status copy(const mo_carry *carry, CUstream stream, mo_error *err)
{
    const mo_unit *from = carry->from_unit, *to = carry->to_unit;
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

static mo_status copy_held(const mo_carry *carry, CUstream stream,
                           mo_error *err)
{
    mo_unit *from = carry->from_unit;
    mo_status status;

    if (from->device == carry->to_unit->device &&
        carry->bytes <= MO_CUDA_HOLD_BYTES)
        return mo_cuda_hold_copy(from, (CUdeviceptr) (uintptr_t) carry->target,
                                 (CUdeviceptr) (uintptr_t) carry->data,
                                 carry->bytes, carry->hold_ns, stream, err);
    status = mo_cuda_hold_begin(from, stream, err);
    if (status == MO_OK)
        status = copy(carry, stream, err);
    if (status == MO_OK)
        status = mo_cuda_hold_end(from, carry->hold_ns, stream, err);
    return status;
}

mo_status mo_cuda_carry_enqueue(const mo_carry *carry, CUstream stream,
                                mo_error *err)
{
    if (!carry->from_unit || !carry->to_unit)
        return carry->carrier->carry(carry->carrier, carry, stream, err);
    return is_held(carry) ? copy_held(carry, stream, err)
                          : copy(carry, stream, err);
}

/* ---- outside of programs */

/* What comes next in a stream of one unit waits for all that is in the stream
 * of another. */
static mo_status follow(mo_unit *behind, mo_unit *before, mo_error *err)
{
    const mo_cuda_api *api = behind->api;
    CUevent event = NULL;
    mo_status status = mo_cuda_enter(before, err);

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

mo_status mo_cuda_carry(mo_unit *unit, const mo_carry *carry, mo_error *err)
{
    mo_unit *driver = mo_cuda_carry_driver(carry);
    bool both = carry->from_unit && carry->to_unit;
    mo_status status = mo_cuda_carry_prepare(carry, err);

    if (status == MO_OK && both)
        status = follow(driver, carry->to_unit, err);
    if (status == MO_OK)
        status = mo_cuda_enter(driver, err);
    if (status == MO_OK)
        status = mo_cuda_carry_enqueue(carry, driver->stream, err);
    if (status == MO_OK && both)
        status = follow(carry->to_unit, driver, err);
    return status == MO_OK ? mo_cuda_enter(unit, err) : status;
}
