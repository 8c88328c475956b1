/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.h - a product as BLAS libraries want it: matrices column by column.
 *
 *     result = op(left) op(right)
 *
 * Ours lie row by row, and what lies row by row is a transposed matrix column
 * by column.  So the transposed product is asked for: left is b, right is a,
 * and a row of the result is one of our columns, which is where a bias goes.
 * Only a result that lies column by column has left a.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_CUBLASLT_GEMM_LAYOUT_H
#define MO_EXEC_BACKEND_CUDA_ALGO_CUBLASLT_GEMM_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/op/call.h"

typedef struct mo_cuda_gemm_matrix {
    int64_t rows, columns; /* as it lies, column by column */
    int64_t lead;          /* from one column to the next, in elements */
    int64_t step;          /* from one of the batch to the next; 0: the same */
    bool turned;           /* the product reads it transposed */
} mo_cuda_gemm_matrix;

typedef struct mo_cuda_gemm {
    int left_in, right_in; /* the operands of the call */
    mo_cuda_gemm_matrix left, right, result;
    int64_t batch;
} mo_cuda_gemm;

/* A MATMUL, or a CONV that is one: windows of one element, channels last, not
 * in groups.  False where strides or batches cannot be told this way. */
bool mo_cuda_gemm_from_call(const mo_call *call, mo_cuda_gemm *gemm);

#endif
