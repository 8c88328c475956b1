/* SPDX-License-Identifier: Apache-2.0 */
/* Stub of cublaslt.c, for builds without the header of cuBLASLt. */
#include "exec/backend/cuda/algo/libraries.h"
#include "exec/backend/cuda/algo/algo.h"

void mo_cuda_cublaslt_close(mo_backend_unit *unit)
{
    (void) unit;
}

mo_status mo_cuda_cublaslt_algos(mo_backend_unit *unit,
                                 const mo_cuda_algo_problem *problem,
                                 mo_cuda_algo_list *algos, mo_error *err)
{
    (void) unit;
    (void) problem;
    (void) algos;
    (void) err;
    return MO_OK;
}
