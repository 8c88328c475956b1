/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_layout.h - a matrix product in the column-major form of BLAS.
 *
 *     result = op(left) op(right)
 *
 * Our matrices are row-major, which is a transposed column-major matrix. So
 * the transposed product is computed: left is b, right is a, and a row of the
 * result is one of our columns, which a bias varies along. Only a column-major
 * result has left a.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_CUBLASLT_GEMM_LAYOUT_H
#define MO_EXEC_BACKEND_CUDA_ALGO_CUBLASLT_GEMM_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/op/call.h"

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

#endif
