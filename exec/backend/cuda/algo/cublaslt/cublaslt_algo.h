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
typedef struct mo_blas_plan {
    mo_cuda_gemm gemm;
    mo_elem elem;
    mo_cuda_epilogue epilogue; /* done by the library */
    bool tail;                 /* the call's program is done behind it */
} mo_blas_plan;

/* The descriptors of a product, as the library knows them. */
typedef struct mo_blas_job {
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t left, right, result;
} mo_blas_job;

/* MO_E_SUPPORT where the library does not know such a product.  clear is
 * harmless on zeros. */
mo_status mo_blas_job_make(mo_unit *unit, const mo_blas_plan *plan,
                           mo_blas_job *job, mo_error *err);
void mo_blas_job_clear(const mo_cuda_api *api, mo_blas_job *job);

/* The library is not started yet before the first call. */
mo_status mo_cuda_blas_handle(mo_unit *unit, cublasLtHandle_t *handle,
                              mo_error *err);

mo_status mo_blas_way_new(mo_unit *unit, const mo_cuda_task *task,
                          const mo_blas_plan *plan,
                          const cublasLtMatmulHeuristicResult_t *found,
                          const char *name, mo_cuda_way **way, mo_error *err);

#endif

#endif
