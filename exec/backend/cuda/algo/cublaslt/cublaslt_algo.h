/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas_way.h - one product by one algorithm of cuBLASLt.  Empty in a build
 * without its header.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_CUBLASLT_CUBLASLT_ALGO_H
#define MO_EXEC_BACKEND_CUDA_ALGO_CUBLASLT_CUBLASLT_ALGO_H

#ifdef HAVE_CUBLASLT

#include <stdbool.h>

#include "base/error.h"
#include "exec/backend/cuda/algo/cublaslt/gemm_layout.h"
#include "exec/backend/cuda/algo/algo.h"

/* What the library is to do of a task. */
typedef struct mo_cuda_cublaslt_problem {
    mo_cuda_gemm gemm;
    mo_elem elem;
    mo_cuda_epilogue epilogue; /* done by the library */
    bool tail;                 /* the call's program is done behind it */
} mo_cuda_cublaslt_problem;

/* The descriptors of a product, as the library knows them. */
typedef struct mo_cuda_cublaslt_desc {
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t left, right, result;
} mo_cuda_cublaslt_desc;

/* MO_E_SUPPORT where the library does not know such a product.  clear is
 * harmless on zeros. */
mo_status mo_cuda_cublaslt_desc_create(mo_backend_unit *unit,
                                       const mo_cuda_cublaslt_problem *plan,
                                       mo_cuda_cublaslt_desc *job,
                                       mo_error *err);
void mo_cuda_cublaslt_desc_clear(const mo_cuda_api *api,
                                 mo_cuda_cublaslt_desc *job);

/* The library is not started yet before the first call. */
mo_status mo_cuda_cublaslt_handle(mo_backend_unit *unit,
                                  cublasLtHandle_t *handle, mo_error *err);

mo_status
mo_cuda_cublaslt_algo_new(mo_backend_unit *unit,
                          const mo_cuda_algo_problem *task,
                          const mo_cuda_cublaslt_problem *plan,
                          const cublasLtMatmulHeuristicResult_t *found,
                          const char *name, mo_cuda_algo **way, mo_error *err);

#endif

#endif
