/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul_descs.h - a matrix product for cuBLASLt: its layout and descriptors.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_CUBLASLT_MATMUL_DESCS_H
#define MO_EXEC_BACKEND_CUDA_ALGO_CUBLASLT_MATMUL_DESCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/op/call.h"

/*
 * gemm_layout.c: a matrix product in the column-major form of BLAS.
 *
 *     result = op(left) op(right)
 *
 * Our matrices are row-major, which is a transposed column-major matrix. So
 * the transposed product is computed: left is b, right is a, and a row of the
 * result is one of our columns, which a bias varies along. Only a column-major
 * result has left a.
 */
typedef struct mo_cuda_gemm_matrix {
    int64_t rows, columns; /* as stored, column-major */
    int64_t lead;          /* leading dimension, in elements */
    int64_t step;          /* batch stride; 0: shared */
    bool transposed;       /* op() transposes it */
} mo_cuda_gemm_matrix;

typedef struct mo_cuda_gemm {
    int left_in, right_in; /* indices of the call's operands */
    mo_cuda_gemm_matrix left, right, result;
    int64_t batch;
} mo_cuda_gemm;

/* Fills in gemm for a MATMUL, or a CONV that is one: 1x1 windows, channels
 * last, no groups. Returns false where BLAS cannot express its strides or
 * batches. */
bool mo_cuda_gemm_from_call(const mo_call *call, mo_cuda_gemm *gemm);

#ifdef HAVE_CUBLASLT

#include "base/error.h"
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
