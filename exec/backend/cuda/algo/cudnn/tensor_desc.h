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
    MO_DNN_DATA = 1,
    MO_DNN_WEIGHTS,
    MO_DNN_RESULT,
    MO_DNN_BIAS,
    MO_DNN_RESIDUAL,
    MO_DNN_INSIDE /* from here on: those without */
};

cudnnDataType_t mo_dnn_type(mo_elem elem);

/* The tensor with that name; one from MO_DNN_INSIDE on is like the result. */
mo_dnn_desc mo_dnn_tensor(mo_dnn_set *set, const mo_conv_call *conv, int64_t id,
                          cudnnDataType_t type);

/* The library knows no single dimension of space: it gets one of 1 before. */
int mo_dnn_spatial(const mo_conv_call *conv);

/* values of space, and what stands for the dimension that is not there. */
void mo_dnn_spread(const mo_conv_call *conv, const int64_t *values,
                   int64_t absent, int64_t to[MO_MAX_SPATIAL]);

#endif

#endif
