/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/driver/cuda_unit.h"

#include "base/ablation.h"
#include "exec/backend/cuda/driver/sm_partition.h"

bool mo_cuda_has_clusters(const mo_backend_unit *unit)
{
    int has = 0;

    return unit->arch >= 90 && !mo_ablated(MO_ABLATION_cuda_clusters) &&
           unit->api->cuDeviceGetAttribute(&has,
                                           CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH,
                                           unit->device) == CUDA_SUCCESS &&
           has != 0;
}

mo_status mo_cuda_unit_make_current(mo_backend_unit *unit, mo_error *err)
{
    return mo_cuda_check(unit->api, "cuCtxSetCurrent",
                         unit->api->cuCtxSetCurrent(unit->context), err);
}

static mo_status find_or_create(const mo_backend_unit *unit, bool left_over,
                                CUstream *kept, CUstream *stream, mo_error *err)
{
    mo_status status = MO_OK;

    if (!*kept)
        status = mo_cuda_sm_partition_stream_create(unit, left_over, kept, err);
    if (status == MO_OK)
        *stream = *kept;
    else
        *kept = NULL;
    return status;
}

mo_status mo_cuda_unit_stream(mo_backend_unit *unit, int lane, CUstream *stream,
                              mo_error *err)
{
    return find_or_create(unit, lane >= MO_CUDA_MAX_COMPUTE_STREAMS,
                          &unit->streams[lane], stream, err);
}

mo_status mo_cuda_unit_stage_stream(mo_backend_unit *unit, bool transfers,
                                    int index, CUstream *stream, mo_error *err)
{
    CUstream *kept =
        &unit->stage_streams[transfers][index % MO_CUDA_STAGE_STREAMS];

    return find_or_create(unit, transfers, kept, stream, err);
}
