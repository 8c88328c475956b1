/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold.h - constants behind a product that can be multiplied into its weights.
 *
 * A batch normalisation scales and shifts channels: the scale goes into the
 * weights, and all shifts into one bias.  What is left of the epilogue is what
 * libraries know, too.
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
    /* By operand of call: which one of the original call's it is, or
     * MO_CUDA_FOLDED_BIAS.  The bias is operand 2. */
    int from[MO_POINT_MAX_OPERANDS + 2];
    int64_t channels;
    float *scale; /* by channel, for the weights */
    float *bias;  /* by channel; f32 whatever the product's type */
} mo_cuda_folded_call;

/*
 * *folds: is there anything to fold, more than a plain bias?  The call is a
 * CONV, or a MATMUL of one matrix of weights, and in[1] is constant.  The
 * result is the caller's to clear then; it must not be moved, since call
 * points into it.
 */
mo_status mo_cuda_fold_batchnorm(const mo_call *call,
                                 const mo_backend_operand *in,
                                 const mo_tensor_desc *out,
                                 mo_cuda_folded_call *folded, bool *folds,
                                 mo_error *err);
void mo_cuda_folded_call_clear(mo_cuda_folded_call *folded);

/* The weights, each channel multiplied by its scale; free() them. */
mo_status mo_cuda_fold_batchnorm_weights(const mo_cuda_folded_call *folded,
                                         const mo_backend_operand *weights,
                                         void **scaled, mo_error *err);

#endif
