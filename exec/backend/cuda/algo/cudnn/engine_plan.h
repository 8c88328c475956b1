/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dnn_plan.h - what cuDNN proposes to run a graph by.  Empty in a build without
 * its header.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_CUDNN_ENGINE_PLAN_H
#define MO_EXEC_BACKEND_CUDA_ALGO_CUDNN_ENGINE_PLAN_H

#ifdef HAVE_CUDNN

#include <stddef.h>

#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/backend/cuda/algo/cudnn/descriptor.h"
#include "exec/backend/cuda/algo/algo.h"

enum { MO_CUDA_CUDNN_MAX_PLANS = 6 };

/* Both live until they are dropped; the graph need not. */
typedef struct mo_cuda_cudnn_plan {
    mo_cuda_cudnn_desc config, plan;
    size_t workspace;
    char name[MO_CUDA_ALGO_NAME_SIZE]; /* of the way it is */
} mo_cuda_cudnn_plan;

/* What is wanted, the likely best first; returns how many.  Those are left out
 * whose results are less exact than the unit's precision asks for or differ
 * from run to run, that want much memory, or that would be compiled first. */
int mo_cuda_cudnn_find_plans(mo_backend_unit *unit, cudnnHandle_t handle,
                             mo_cuda_cudnn_desc graph,
                             const mo_cuda_algo_problem *task,
                             mo_cuda_cudnn_plan plans[MO_CUDA_CUDNN_MAX_PLANS]);
void mo_cuda_cudnn_plan_destroy(const mo_cuda_api *api,
                                mo_cuda_cudnn_plan *plan);

#endif

#endif
