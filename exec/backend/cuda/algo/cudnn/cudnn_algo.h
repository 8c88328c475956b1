/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnn_way.h - one convolution by one plan of cuDNN's.  Empty in a build without
 * its header.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_CUDNN_CUDNN_ALGO_H
#define MO_EXEC_BACKEND_CUDA_ALGO_CUDNN_CUDNN_ALGO_H

#ifdef HAVE_CUDNN

#include "base/error.h"
#include "exec/backend/cuda/algo/cudnn/conv_graph.h"
#include "exec/backend/cuda/algo/cudnn/engine_plan.h"
#include "exec/backend/cuda/algo/algo.h"

/* The library is not started yet before the first call. */
mo_status mo_cuda_cudnn_handle(mo_backend_unit *unit, cudnnHandle_t *handle,
                               mo_error *err);

/* Takes plan over, whatever comes of it. */
mo_status mo_cuda_cudnn_algo_new(mo_backend_unit *unit,
                                 const mo_cuda_algo_problem *task,
                                 const mo_cuda_cudnn_graph_variant *form,
                                 mo_cuda_cudnn_plan plan, mo_cuda_algo **way,
                                 mo_error *err);

#endif

#endif
