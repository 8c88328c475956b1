/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct.h - plain ways to do products and convolutions: any types, strides,
 * groups and dimensions.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_DIRECT_H
#define MO_EXEC_BACKEND_CUDA_ALGO_DIRECT_H

#include <stdbool.h>

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/jit/jit_cache.h"
#include "exec/backend/cuda/algo/algo.h"

/* A way of one function, whose arguments are in[0], the weights (in[1], or as
 * the way has them), out[0] and the struct mo_extra. */
typedef struct mo_cuda_direct_algo {
    mo_cuda_algo base;
    const mo_call *call;
    mo_cuda_function *function; /* NULL: nothing to do */
    mo_cuda_grid grid;
    CUdeviceptr weights; /* 0: in[1] */
    bool owns;           /* them */
} mo_cuda_direct_algo;

/*
 * Products as tiles of 16 TM by 16 TN elements, which a block of 256 threads
 * makes through shared memory.  Behind mo_cuda_emit_types and
 * mo_cuda_emit_epilogue the code defines
 *
 *     A                             what sums are
 *     A left(const T *a, PLACE z, PLACE m, PLACE k)
 *     A right(const T *b, PLACE z, PLACE k, PLACE n)
 *     PLACE to(PLACE z, PLACE m, PLACE n)
 *
 * for z, m, k and n within their bounds.
 */
typedef struct mo_cuda_tiled_gemm {
    int64_t z, m, n, k;
    bool left_by_k;  /* neighbours in memory: along k, or along m */
    bool right_by_k; /* along k, or along n */
    bool to_by_m;    /* along m, or along n */
} mo_cuda_tiled_gemm;

mo_status mo_cuda_emit_tiled_gemm(const mo_backend_unit *unit,
                                  const mo_cuda_tiled_gemm *tiles,
                                  mo_cuda_source *code, mo_cuda_grid *grid,
                                  mo_error *err);

/* Each adds the whole source to code and sets the grid and what the way reads;
 * all have a kernel called "direct". */
mo_status mo_cuda_emit_direct_matmul(mo_backend_unit *unit,
                                     const mo_cuda_algo_problem *task,
                                     mo_cuda_source *code,
                                     mo_cuda_direct_algo *way, mo_error *err);
mo_status mo_cuda_emit_direct_conv(mo_backend_unit *unit,
                                   const mo_cuda_algo_problem *task,
                                   mo_cuda_source *code,
                                   mo_cuda_direct_algo *way, mo_error *err);
/* Convolutions of each channel by itself, channels last. */
bool mo_cuda_direct_depthwise_fits(const mo_cuda_algo_problem *task);
mo_status mo_cuda_emit_direct_depthwise(mo_backend_unit *unit,
                                        const mo_cuda_algo_problem *task,
                                        mo_cuda_source *code,
                                        mo_cuda_direct_algo *way,
                                        mo_error *err);

#endif
