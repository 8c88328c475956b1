/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tile.h - the innermost part of every product of floats: a tile of the result
 * that stays in registers while the sums grow.
 *
 *     c[r][j] = sum over t, i of rows[t * step + r][i] * panel[t][i][j]
 *
 * Rows are found through pointers, one for each row of the tile and each tap:
 * for a matrix there is one tap; a convolution has one for each place of its
 * window, points into the picture itself (or at zeros, beyond its edge) and
 * needs no copy of it.  A panel holds as many columns as a tile is wide, row
 * behind row.
 *
 * Each sum is made in the order of t and i whatever the tile, so that results
 * do not depend on how a product was cut into tiles.
 */
#ifndef MO_EXEC_BACKEND_CPU_GEMM_MICRO_KERNEL_H
#define MO_EXEC_BACKEND_CPU_GEMM_MICRO_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* What becomes of sums that are complete, before they leave the registers.
 * Zeros: nothing. */
typedef struct mo_cpu_micro_kernel_epilogue {
    const float *bias; /* NULL, or what is added to each column */
    bool bounded;      /* then held between two numbers; NaN stays */
    float least, most;
} mo_cpu_micro_kernel_epilogue;

typedef struct mo_cpu_micro_kernel_args {
    const float *const *rows;
    int64_t step; /* pointers from tap to tap */
    int64_t skip; /* elements at the beginning of each row */
    int64_t taps, depth;
    const float *panel;
    float *c;
    int64_t pitch; /* elements of c from row to row */
    bool add;      /* go on from the sums in c */
    mo_cpu_micro_kernel_epilogue end;
} mo_cpu_micro_kernel_args;

typedef void mo_cpu_micro_kernel_fn(const mo_cpu_micro_kernel_args *job);

enum {
    MO_CPU_MICRO_KERNEL_HEIGHTS = 5,
    MO_CPU_MICRO_KERNEL_MAX_ROWS = 16,
    MO_CPU_MICRO_KERNEL_MAX_WIDTH = 32
};

/* The tiles of one kind of processor. */
typedef struct mo_cpu_micro_kernels {
    const char *name;
    int width;  /* columns of a tile */
    int narrow; /* of a tile for the last few of them */
    int rows[MO_CPU_MICRO_KERNEL_HEIGHTS]; /* falling, down to 1 */
    mo_cpu_micro_kernel_fn *wide_run[MO_CPU_MICRO_KERNEL_HEIGHTS],
        *narrow_run[MO_CPU_MICRO_KERNEL_HEIGHTS];
} mo_cpu_micro_kernels;

#if defined(__x86_64__)
extern const mo_cpu_micro_kernels mo_cpu_micro_kernels_avx512;
extern const mo_cpu_micro_kernels mo_cpu_micro_kernels_avx2;
#endif
extern const mo_cpu_micro_kernels mo_cpu_micro_kernels_generic;

/* The best that this processor can do; a test may ask for others by name (NULL
 * when it has not got them). */
const mo_cpu_micro_kernels *mo_cpu_micro_kernels_select(void);
const mo_cpu_micro_kernels *mo_cpu_micro_kernels_find(const char *name);

#endif
