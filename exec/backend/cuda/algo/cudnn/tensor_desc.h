/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnn_tensor.h - how the tensors of a convolution lie, as cuDNN is told.  Empty
 * in a build without its header.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_CUDNN_TENSOR_DESC_H
#define MO_EXEC_BACKEND_CUDA_ALGO_CUDNN_TENSOR_DESC_H

#ifdef HAVE_CUDNN

#include <stdint.h>

#include "exec/backend/cuda/algo/cudnn/descriptor.h"
#include "exec/op/call.h"

/* Names of the tensors that have memory. */
enum {
    MO_CUDA_CUDNN_UID_DATA = 1,
    MO_CUDA_CUDNN_UID_WEIGHTS,
    MO_CUDA_CUDNN_UID_RESULT,
    MO_CUDA_CUDNN_UID_BIAS,
    MO_CUDA_CUDNN_UID_RESIDUAL,
    MO_CUDA_CUDNN_UID_VIRTUAL /* from here on: those without */
};

cudnnDataType_t mo_cuda_cudnn_data_type(mo_elem elem);

/* The tensor with that name; one from MO_CUDA_CUDNN_UID_VIRTUAL on is like the
 * result. */
mo_cuda_cudnn_desc mo_cuda_cudnn_tensor_desc(mo_cuda_cudnn_desc_pool *set,
                                             const mo_call_conv *conv,
                                             int64_t id, cudnnDataType_t type);

/* The library knows no single dimension of space: it gets one of 1 before. */
int mo_cuda_cudnn_spatial_rank(const mo_call_conv *conv);

/* values of space, and what stands for the dimension that is not there. */
void mo_cuda_cudnn_spatial_pad(const mo_call_conv *conv, const int64_t *values,
                               int64_t absent, int64_t to[MO_CALL_MAX_SPATIAL]);

#endif

#endif
