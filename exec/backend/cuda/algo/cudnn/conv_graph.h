/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnn_graph.h - a convolution and what follows it, as a graph of cuDNN's.
 *
 *     conv -> + residual -> + bias -> activation
 *
 * is what the library has kernels for that are compiled already; engines that
 * compile their own take longer to start than all the rest of a network, so
 * that other epilogues are a kernel of ours behind the convolution.  Empty in a
 * build without cuDNN's header.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_CUDNN_CONV_GRAPH_H
#define MO_EXEC_BACKEND_CUDA_ALGO_CUDNN_CONV_GRAPH_H

#ifdef HAVE_CUDNN

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cuda/algo/algo.h"
#include "exec/backend/cuda/driver/cuda_api.h"
#include "exec/op/call.h"

/* ---- descriptors */

enum { MO_CUDA_CUDNN_DESC_POOL_SIZE = 32 };

typedef cudnnBackendDescriptor_t mo_cuda_cudnn_desc;

typedef struct mo_cuda_cudnn_desc_pool {
    const mo_cuda_api *api;
    mo_cuda_cudnn_desc made[MO_CUDA_CUDNN_DESC_POOL_SIZE];
    int n;
    cudnnStatus_t status;
    const char *what; /* the call that failed */
} mo_cuda_cudnn_desc_pool;

/* NULL once something has failed. */
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

/* Takes desc out of the set: it is the caller's now. */
void mo_cuda_cudnn_desc_release(mo_cuda_cudnn_desc_pool *pool,
                                mo_cuda_cudnn_desc desc);

void mo_cuda_cudnn_desc_pool_clear(mo_cuda_cudnn_desc_pool *pool);

/* Is that an answer to what was asked, rather than a failure of the machine? */
bool mo_cuda_cudnn_is_unsupported(cudnnStatus_t status);

/* ---- graph */

/* Names of the tensors that have memory. */
enum {
    MO_CUDA_CUDNN_UID_DATA = 1,
    MO_CUDA_CUDNN_UID_WEIGHTS,
    MO_CUDA_CUDNN_UID_RESULT,
    MO_CUDA_CUDNN_UID_BIAS,
    MO_CUDA_CUDNN_UID_RESIDUAL,
    MO_CUDA_CUDNN_UID_VIRTUAL /* from here on: those without */
};

/* How a graph is put to the library. */
typedef struct mo_cuda_cudnn_graph_variant {
    mo_cuda_epilogue epilogue; /* what the library does of it */
    bool adds_nothing; /* times 0, a residual where there is none: some kernels
                          are only found so */
    bool needs_epilogue; /* the call's program is done behind it */
} mo_cuda_cudnn_graph_variant;

/* Can the library do a convolution of that type and layout at all? */
bool mo_cuda_cudnn_supports(const mo_cuda_algo_problem *problem);

/* The graph belongs to set; set->status says whether there is one. */
mo_cuda_cudnn_desc
mo_cuda_cudnn_conv_graph(mo_cuda_cudnn_desc_pool *pool, cudnnHandle_t handle,
                         const mo_cuda_algo_problem *problem,
                         const mo_cuda_cudnn_graph_variant *variant);

#endif

#endif
