/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct.h - direct kernels without tensor cores for matrix products and
 * convolutions: all element types, strides, groups and dimensions.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_DIRECT_H
#define MO_EXEC_BACKEND_CUDA_ALGO_DIRECT_H

#include <stdbool.h>

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/jit/jit_cache.h"
#include "exec/backend/cuda/algo/algo.h"

/* An algorithm of one function; its arguments are in[0], the weights (in[1] or
 * packed ones), out[0] and the struct mo_extra. */
typedef struct mo_cuda_direct_algo {
    mo_cuda_algo base;
    const mo_call *call;
    mo_cuda_function *function; /* NULL: the result is empty */
    mo_cuda_grid grid;
    CUdeviceptr weights; /* 0: in[1] */
    bool owns;           /* weights are freed with the algorithm */
} mo_cuda_direct_algo;

/* Depthwise convolution, channels last.  emit appends the kernel "direct" to
 * code, sets the grid and packs constant weights. */
bool mo_cuda_direct_depthwise_fits(const mo_cuda_algo_problem *problem);
mo_status mo_cuda_emit_direct_depthwise(mo_backend_unit *unit,
                                        const mo_cuda_algo_problem *problem,
                                        mo_cuda_source *code,
                                        mo_cuda_direct_algo *algo,
                                        mo_error *err);

#endif
