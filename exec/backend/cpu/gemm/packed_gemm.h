/* SPDX-License-Identifier: Apache-2.0 */
/*
 * product.h - products of floats of any size, made of tiles.
 *
 * The right side is packed into panels first: columns of one tile's width, row
 * behind row (see tile.h); constants once, when a kernel is prepared.  The left
 * side is read where it lies, through pointers to its rows.
 */
#ifndef MO_EXEC_BACKEND_CPU_GEMM_PACKED_GEMM_H
#define MO_EXEC_BACKEND_CPU_GEMM_PACKED_GEMM_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/cpu/unit/load_f32.h"
#include "exec/backend/cpu/gemm/micro_kernel.h"

/* Columns of all panels that hold this many, and where the panel begins in
 * which column first, a multiple of the tile's width, stands: in elements for
 * each row. */
int64_t mo_cpu_gemm_panel_columns(const mo_cpu_micro_kernels *tiles,
                                  int64_t columns);

/* Packs columns of the matrix, rows deep.  Panels of a matrix with several taps
 * are packed tap by tap: row is where the tap's rows begin in them, of depth in
 * all. */
void mo_cpu_gemm_pack_panels(const mo_cpu_micro_kernels *tiles,
                             const mo_cpu_matrix_view *from, int64_t rows,
                             int64_t columns, int64_t row, int64_t depth,
                             float *panels);

/* Room for that many matrices of floats each, aligned; free() ends it. */
mo_status mo_cpu_gemm_panels_new(int64_t matrices, int64_t floats,
                                 float **panels, mo_error *err);

/* c = left x right, for some rows and columns of the whole. */
typedef struct mo_cpu_gemm {
    const mo_cpu_micro_kernels *tiles;
    const float *const *rows; /* by tap, then by row */
    int64_t step;             /* pointers from tap to tap */
    int64_t skip;             /* elements at the beginning of each row */
    int64_t n_rows;
    int64_t taps, depth;
    const float *panels; /* from the first of these columns on */
    int64_t columns;
    float *c;
    int64_t pitch;
    mo_cpu_micro_kernel_epilogue
        end; /* bias: from the first of these columns on */
} mo_cpu_gemm;

void mo_cpu_gemm_run(const mo_cpu_gemm *product);

/* How a product is cut into blocks that threads may take: rows and columns of
 * each (the last ones may be smaller). */
typedef struct mo_cpu_gemm_blocking {
    int64_t rows, columns;
    int64_t n_rows, n_columns; /* how many blocks */
} mo_cpu_gemm_blocking;

/* So many rows that panels, which come from far away, are used often, and not
 * more than come back soon themselves; columns whole panels.  Cut on where
 * threads would have nothing to do.  products: how many independent
 * ones there are beside it. */
mo_cpu_gemm_blocking
mo_cpu_gemm_blocking_choose(const mo_cpu_micro_kernels *tiles, int64_t rows,
                            int64_t columns, int64_t depth, int64_t products,
                            int threads);

/* How many blocks a thread takes at a time, so that small ones are worth the
 * taking. */
int64_t mo_cpu_gemm_blocking_grain(const mo_cpu_gemm_blocking *blocks,
                                   int64_t depth);

#endif
