/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold_batchnorm.h - batch normalisation folded into the weights of the
 * product before it.
 *
 * The scale of each channel is multiplied into the weights, and all shifts
 * become one bias. The remaining epilogue often is one that libraries support.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_FOLD_BATCHNORM_H
#define MO_EXEC_BACKEND_CUDA_ALGO_FOLD_BATCHNORM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/op/call.h"

enum { MO_CUDA_FOLDED_BIAS = -1 };

typedef struct mo_cuda_folded_call {
    mo_call call; /* the same product; its operands are numbered 0, 1, ... */
    mo_point_program after;
    int in[MO_POINT_MAX_OPERANDS + 2], out[1];
    /* By operand of call: its index in the original call, or
     * MO_CUDA_FOLDED_BIAS. The bias is operand 2. */
    int from[MO_POINT_MAX_OPERANDS + 2];
    int64_t channels;
    float *scale; /* by channel, for the weights */
    float *bias;  /* by channel; f32 whatever the product's type */
} mo_cuda_folded_call;

/*
 * Sets *folds to whether there is anything to fold besides a plain bias; the
 * caller clears the result then. It must not be moved, since its call points
 * into it. The call is a CONV, or a MATMUL with one matrix of weights, and
 * in[1] is constant.
 */
mo_status mo_cuda_fold_batchnorm(const mo_call *call,
                                 const mo_backend_operand *in,
                                 const mo_tensor_desc *out,
                                 mo_cuda_folded_call *folded, bool *folds,
                                 mo_error *err);
void mo_cuda_folded_call_clear(mo_cuda_folded_call *folded);

/* Returns in *scaled a copy of the weights, each channel multiplied by its
 * scale; the caller frees it. */
mo_status mo_cuda_fold_batchnorm_weights(const mo_cuda_folded_call *folded,
                                         const mo_backend_operand *weights,
                                         void **scaled, mo_error *err);

#endif
