/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul_descs.h - descriptors of a matrix product for cuBLASLt.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_CUBLASLT_MATMUL_DESCS_H
#define MO_EXEC_BACKEND_CUDA_ALGO_CUBLASLT_MATMUL_DESCS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef HAVE_CUBLASLT

#include "base/error.h"
#include "exec/backend/cuda/algo/cublaslt/gemm_layout.h"
#include "exec/backend/cuda/algo/epilogue_kernel.h"

/* The part of a problem that the library computes. */
typedef struct mo_cuda_matmul_problem {
    mo_cuda_gemm gemm;
    mo_elem elem;
    mo_cuda_epilogue epilogue; /* applied by the library */
    bool
        needs_epilogue; /* the call's program is applied by a kernel after it */
} mo_cuda_matmul_problem;

/* The library's descriptors of a product. */
typedef struct mo_cuda_matmul_descs {
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t left, right, result;
} mo_cuda_matmul_descs;

/* Creates all descriptors of the product, or none. */
mo_status mo_cuda_matmul_descs_create(mo_backend_unit *unit,
                                      const mo_cuda_matmul_problem *matmul,
                                      mo_cuda_matmul_descs *descs,
                                      mo_error *err);
void mo_cuda_matmul_descs_clear(const mo_cuda_api *api,
                                mo_cuda_matmul_descs *descs);

/* Sets an attribute of a product. */
mo_status mo_cuda_matmul_desc_set(mo_backend_unit *unit,
                                  cublasLtMatmulDesc_t desc,
                                  cublasLtMatmulDescAttributes_t what,
                                  const void *value, size_t size,
                                  mo_error *err);

#endif

#endif
