/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_reduction.h - kernels that reduce rows of contiguous elements and
 * rewrite them: norms and softmax (row_reduction.cuh).
 *
 * A row has THREADS threads, a power of two: part of a warp, a warp, or a
 * block. Each takes up to PER vectors of WIDTH elements, THREADS vectors
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
    int at_once; /* rows per block */
    bool kept;   /* elements stay in registers */
} mo_cuda_row_reduction;

/* Returns the tiling of rows of count elements in vectors of width. */
mo_cuda_row_reduction mo_cuda_row_reduction_of(const mo_backend_unit *unit,
                                               int64_t rows, int64_t count,
                                               int width);

/* Sets the grid of a launch; MO_E_LIMIT if it has too many blocks. */
mo_status mo_cuda_row_reduction_grid(const mo_cuda_row_reduction *rows,
                                     mo_cuda_grid *grid, mo_error *err);

/*
 * After mo_cuda_emit_types: the building blocks of kernels over rows. Inside a
 * kernel with the parameters in, out and p:
 *
 *     ROW_BEGIN                declares row, t, live, from, x, r
 *     ROW_LOAD_CONSTANTS       before MO_BEGIN: loads constants of the epilogue
 *     ROW_LOAD                 loads the elements that are kept
 *     ROW_EACH(statement)      for every element y[i], in column at + i
 *     ROW_STORE(statement)     the same, then applies the epilogue to y[i] and
 *                              stores it
 *     row_sum(a, n), row_most(a, n)
 *                              over all threads of a row; each use in a kernel
 *                              has another n, from 0 to 2
 */
void mo_cuda_emit_row_reduction(mo_cuda_source *code,
                                const mo_cuda_row_reduction *rows);

#endif
