/* SPDX-License-Identifier: Apache-2.0 */
/* A build without the header of cuDNN. */
#include "exec/backend/cuda/algo/cudnn/cudnn_handle.h"
#include "exec/backend/cuda/algo/algo.h"

mo_status mo_cuda_cudnn_open(mo_backend_unit *unit, mo_cuda_cudnn **dnn,
                             mo_error *err)
{
    (void) unit;
    (void) err;
    *dnn = NULL;
    return MO_OK;
}

void mo_cuda_cudnn_close(mo_backend_unit *unit, mo_cuda_cudnn *dnn)
{
    (void) unit;
    (void) dnn;
}

mo_status mo_cuda_cudnn_algos(mo_backend_unit *unit,
                              const mo_cuda_algo_problem *task,
                              mo_cuda_algo_list *ways, mo_error *err)
{
    (void) unit;
    (void) task;
    (void) ways;
    (void) err;
    return MO_OK;
}
