/* SPDX-License-Identifier: Apache-2.0 */
/* A build without the header of cuBLASLt. */
#include "exec/backend/cuda/algo/cublaslt/cublaslt_handle.h"
#include "exec/backend/cuda/algo/algo.h"

mo_status mo_cuda_cublaslt_open(mo_backend_unit *unit, mo_cuda_cublaslt **blas,
                                mo_error *err)
{
    (void) unit;
    (void) err;
    *blas = NULL;
    return MO_OK;
}

void mo_cuda_cublaslt_close(mo_backend_unit *unit, mo_cuda_cublaslt *blas)
{
    (void) unit;
    (void) blas;
}

mo_status mo_cuda_cublaslt_algos(mo_backend_unit *unit,
                                 const mo_cuda_algo_problem *task,
                                 mo_cuda_algo_list *ways, mo_error *err)
{
    (void) unit;
    (void) task;
    (void) ways;
    (void) err;
    return MO_OK;
}
