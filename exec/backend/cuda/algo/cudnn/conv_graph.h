/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conv_graph.h - a convolution and its epilogue as an operation graph of
 * cuDNN's backend API.
 *
 *     conv -> + residual -> + bias -> activation
 *
 * is what the library has precompiled kernels for; engines that compile at run
 * time take longer to start than all the rest of a network, so that other
 * epilogues are a kernel of ours after the convolution. Empty in a build
 * without cuDNN's header.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_CUDNN_CONV_GRAPH_H
#define MO_EXEC_BACKEND_CUDA_ALGO_CUDNN_CONV_GRAPH_H

#ifdef HAVE_CUDNN

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cuda/algo/algo.h"
#include "exec/backend/cuda/driver/cuda_api.h"
#include "exec/op/call.h"

/* Descriptors: the pool owns them. It keeps the first failure, after which all
 * calls do nothing, so that one check at the end suffices. */

enum { MO_CUDA_CUDNN_DESC_POOL_SIZE = 32 };

typedef cudnnBackendDescriptor_t mo_cuda_cudnn_desc;

typedef struct mo_cuda_cudnn_desc_pool {
    const mo_cuda_api *api;
    mo_cuda_cudnn_desc made[MO_CUDA_CUDNN_DESC_POOL_SIZE];
    int n;
    cudnnStatus_t status;
    const char *what; /* the function that failed */
} mo_cuda_cudnn_desc_pool;

/* Returns a descriptor owned by the pool; NULL after a failure. */
mo_cuda_cudnn_desc mo_cuda_cudnn_desc_create(mo_cuda_cudnn_desc_pool *pool,
                                             cudnnBackendDescriptorType_t type);
void mo_cuda_cudnn_set_attr(mo_cuda_cudnn_desc_pool *pool,
                            mo_cuda_cudnn_desc desc,
                            cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, int64_t count,
                            const void *values);
void mo_cuda_cudnn_set_attr_desc(mo_cuda_cudnn_desc_pool *pool,
                                 mo_cuda_cudnn_desc desc,
                                 cudnnBackendAttributeName_t name,
                                 mo_cuda_cudnn_desc other);
void mo_cuda_cudnn_set_attr_float(mo_cuda_cudnn_desc_pool *pool,
                                  mo_cuda_cudnn_desc desc,
                                  cudnnBackendAttributeName_t name,
                                  float value);
void mo_cuda_cudnn_desc_finalize(mo_cuda_cudnn_desc_pool *pool,
                                 mo_cuda_cudnn_desc desc);

/* Removes desc from the pool: the caller owns it now. */
void mo_cuda_cudnn_desc_release(mo_cuda_cudnn_desc_pool *pool,
                                mo_cuda_cudnn_desc desc);

void mo_cuda_cudnn_desc_pool_clear(mo_cuda_cudnn_desc_pool *pool);

/* Returns whether the status means that the library does not support the
 * request. */
bool mo_cuda_cudnn_is_unsupported(cudnnStatus_t status);

/* Graph */

/* Unique ids of the tensors in memory. */
enum {
    MO_CUDA_CUDNN_UID_DATA = 1,
    MO_CUDA_CUDNN_UID_WEIGHTS,
    MO_CUDA_CUDNN_UID_RESULT,
    MO_CUDA_CUDNN_UID_BIAS,
    MO_CUDA_CUDNN_UID_RESIDUAL,
    MO_CUDA_CUDNN_UID_VIRTUAL /* this and above: virtual tensors */
};

/* The form of a graph. */
typedef struct mo_cuda_cudnn_graph_variant {
    mo_cuda_epilogue epilogue; /* the part that the library applies */
    bool adds_nothing; /* adds a residual times 0: some kernels are found only
                          so */
    bool
        needs_epilogue; /* the call's program is applied by a kernel after it */
} mo_cuda_cudnn_graph_variant;

/* Returns whether the library supports convolutions of that type and layout. */
bool mo_cuda_cudnn_supports(const mo_cuda_algo_problem *problem);

/* Returns the graph, owned by the pool; check pool->status. */
mo_cuda_cudnn_desc
mo_cuda_cudnn_conv_graph(mo_cuda_cudnn_desc_pool *pool, cudnnHandle_t handle,
                         const mo_cuda_algo_problem *problem,
                         const mo_cuda_cudnn_graph_variant *variant);

#endif

#endif
