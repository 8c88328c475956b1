/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_gemm.h - cache-blocked products of floats by micro-kernels.
 *
 * The right side is packed into panels of a tile's width (see micro_kernel.h);
 * constants once, when a kernel is prepared. The left side is read in place,
 * through pointers to its rows.
 */
#ifndef MO_EXEC_BACKEND_CPU_GEMM_PACKED_GEMM_H
#define MO_EXEC_BACKEND_CPU_GEMM_PACKED_GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/cpu/unit/load_f32.h"
#include "exec/backend/cpu/gemm/micro_kernel.h"
#include "exec/backend/cpu/unit/cpu_unit.h"

/* Returns the columns of all panels that hold this many; or the offset, in
 * elements per row, of the panel whose first column is first, a multiple of
 * the tile's width. */
int64_t mo_cpu_gemm_panel_columns(const mo_cpu_micro_kernels *micro_kernels,
                                  int64_t columns);

/* Packs columns of the matrix, rows deep. Panels of a matrix with several taps
 * are packed tap by tap: row is the offset of the tap's rows in them, depth
 * their total. */
void mo_cpu_gemm_pack_panels(const mo_cpu_micro_kernels *micro_kernels,
                             const mo_cpu_matrix_view *from, int64_t rows,
                             int64_t columns, int64_t row, int64_t depth,
                             float *panels);

/* Allocates that many matrices of floats for a constant, aligned, and counts
 * them in the unit; with its sizes_only they are not to be written. The caller
 * frees *panels with free(). */
mo_status mo_cpu_gemm_panels_new(mo_cpu_unit *unit, int64_t matrices,
                                 int64_t floats, float **panels, mo_error *err);

/* Panels that several kernels of a unit use: phases of a workload multiply with
 * the same matrices. */
typedef struct mo_cpu_shared_panels mo_cpu_shared_panels;

/* Takes packed panels: if the unit has equal ones, frees *panels, does not
 * count them, and sets *panels to those. The caller gives the result back with
 * mo_cpu_gemm_panels_release(); NULL, without memory: *panels stay its own. */
mo_cpu_shared_panels *mo_cpu_gemm_panels_share(mo_cpu_unit *unit,
                                               const void *constant,
                                               size_t bytes, float **panels);
void mo_cpu_gemm_panels_release(mo_cpu_shared_panels *shared);

/* c = left x right, for some rows and columns of the whole. */
typedef struct mo_cpu_gemm {
    const mo_cpu_micro_kernels *micro_kernels;
    const float *const *rows; /* by tap, then by row */
    int64_t step;             /* pointers from tap to tap */
    int64_t skip; /* elements skipped at the beginning of each row */
    int64_t n_rows;
    int64_t taps, depth;
    const float *panels; /* from the first of these columns on */
    int64_t columns;
    float *c;
    int64_t pitch;
    const mo_cpu_micro_kernel_epilogue *end; /* NULL: none */
    int64_t end_row, end_column;             /* of c in its operands */
} mo_cpu_gemm;

void mo_cpu_gemm_run(const mo_cpu_gemm *product);

/* Partition of a product into blocks for threads: rows and columns of each
 * (the last ones may be smaller). */
typedef struct mo_cpu_gemm_blocking {
    int64_t rows, columns;
    int64_t n_rows, n_columns; /* number of blocks */
} mo_cpu_gemm_blocking;

/* Chooses rows so that panels from main memory are reused often and the rows
 * themselves stay in cache; columns are whole panels. Blocks are divided
 * further where threads would be idle. products: the number of independent
 * products; reread: results are read again by an epilogue, from the L2
 * cache. */
mo_cpu_gemm_blocking
mo_cpu_gemm_blocking_choose(const mo_cpu_micro_kernels *micro_kernels,
                            int64_t rows, int64_t columns, int64_t depth,
                            int64_t products, bool reread, int threads);

/* Returns the number of blocks a thread takes at a time, to amortize
 * scheduling. */
int64_t mo_cpu_gemm_blocking_grain(const mo_cpu_gemm_blocking *blocks,
                                   int64_t depth);

#endif
