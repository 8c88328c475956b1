/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - kernels over rows of contiguous elements, each reduced and then
 * written: norms and softmax.
 *
 * A row has THREADS threads, a power of two: a part of a warp, a warp, or a
 * block.  Each takes up to PER vectors of WIDTH elements, THREADS vectors
 * apart, and keeps them in registers where they are not too many.
 */
#ifndef MO_EXEC_BACKEND_CUDA_KERNELS_ROW_REDUCTION_H
#define MO_EXEC_BACKEND_CUDA_KERNELS_ROW_REDUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cuda/kernels/single_kernel.h"

typedef struct mo_cuda_row_reduction {
    int64_t rows, count;
    int width, threads;
    int64_t per;
    int at_once; /* rows of a block */
    bool kept;   /* in registers */
} mo_cuda_row_reduction;

mo_cuda_row_reduction mo_cuda_row_reduction_of(const mo_backend_unit *unit,
                                               int64_t rows, int64_t count,
                                               int width);

mo_status mo_cuda_row_reduction_grid(const mo_cuda_row_reduction *rows,
                                     mo_cuda_grid *grid, mo_error *err);

/*
 * Behind mo_cuda_emit_types: what kernels of rows are made of.  Inside a kernel
 * with the parameters in, out and p:
 *
 *     ROW_BEGIN                declares row, t, live, from, x, r
 *     ROW_EXPECT               before MO_BEGIN: reads constants of the epilogue
 *     ROW_LOAD                 reads what is kept
 *     ROW_EACH(statement)      for every element: y[i] is it, at + i its column
 *     ROW_STORE(statement)     the same, and what y[i] then is gets finished
 *     row_sum(a, n), row_most(a, n)
 *                              of all threads of a row; each use in a kernel
 *                              has another n, from 0 to 2
 */
void mo_cuda_emit_row_reduction(mo_cuda_source *code,
                                const mo_cuda_row_reduction *rows);

#endif
