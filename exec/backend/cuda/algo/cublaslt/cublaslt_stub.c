/* A build without the header of cuBLASLt. */
#include "exec/backend/cuda/algo/cublaslt/cublaslt_handle.h"
#include "exec/backend/cuda/algo/algo.h"

mo_status mo_cuda_blas_open(mo_unit *unit, mo_cuda_blas **blas, mo_error *err)
{
    (void) unit;
    (void) err;
    *blas = NULL;
    return MO_OK;
}

void mo_cuda_blas_close(mo_unit *unit, mo_cuda_blas *blas)
{
    (void) unit;
    (void) blas;
}

mo_status mo_cuda_blas_ways(mo_unit *unit, const mo_cuda_task *task,
                            mo_cuda_ways *ways, mo_error *err)
{
    (void) unit;
    (void) task;
    (void) ways;
    (void) err;
    return MO_OK;
}
