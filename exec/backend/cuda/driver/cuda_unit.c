/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/driver/cuda_unit.h"

#include "exec/backend/cuda/driver/sm_partition.h"

mo_status mo_cuda_unit_make_current(mo_backend_unit *unit, mo_error *err)
{
    return mo_cuda_check(unit->api, "cuCtxSetCurrent",
                         unit->api->cuCtxSetCurrent(unit->context), err);
}

mo_status mo_cuda_unit_stream(mo_backend_unit *unit, int lane, CUstream *stream,
                              mo_error *err)
{
    mo_status status = MO_OK;

    if (!unit->streams[lane])
        status = mo_cuda_sm_partition_stream_create(
            unit, lane >= MO_CUDA_MAX_COMPUTE_STREAMS, &unit->streams[lane],
            err);
    if (status == MO_OK)
        *stream = unit->streams[lane];
    else
        unit->streams[lane] = NULL;
    return status;
}
