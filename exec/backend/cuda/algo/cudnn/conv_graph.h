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

#include "exec/backend/cuda/algo/cudnn/descriptor.h"
#include "exec/backend/cuda/algo/cudnn/tensor_desc.h"
#include "exec/backend/cuda/algo/algo.h"

/* How a graph is put to the library. */
typedef struct mo_cuda_cudnn_graph_variant {
    mo_cuda_epilogue epilogue; /* what the library does of it */
    bool adds_nothing; /* times 0, a residual where there is none: some kernels
                          are only found so */
    bool tail;         /* the call's program is done behind it */
} mo_cuda_cudnn_graph_variant;

/* Can the library do a convolution of that type and layout at all? */
bool mo_cuda_cudnn_supports(const mo_cuda_algo_problem *task);

/* The graph belongs to set; set->status says whether there is one. */
mo_cuda_cudnn_desc
mo_cuda_cudnn_conv_graph(mo_cuda_cudnn_desc_pool *set, cudnnHandle_t handle,
                         const mo_cuda_algo_problem *task,
                         const mo_cuda_cudnn_graph_variant *form);

#endif

#endif
