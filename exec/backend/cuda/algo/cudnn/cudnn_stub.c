/* A build without the header of cuDNN. */
#include "exec/backend/cuda/algo/cudnn/cudnn_handle.h"
#include "exec/backend/cuda/algo/algo.h"

mo_status mo_cuda_dnn_open(mo_unit *unit, mo_cuda_dnn **dnn, mo_error *err)
{
    (void) unit;
    (void) err;
    *dnn = NULL;
    return MO_OK;
}

void mo_cuda_dnn_close(mo_unit *unit, mo_cuda_dnn *dnn)
{
    (void) unit;
    (void) dnn;
}

mo_status mo_cuda_dnn_ways(mo_unit *unit, const mo_cuda_task *task,
                           mo_cuda_ways *ways, mo_error *err)
{
    (void) unit;
    (void) task;
    (void) ways;
    (void) err;
    return MO_OK;
}
