/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro_kernel.h - GEMM micro-kernels (Goto and van de Geijn, 2008): a tile of
 * the result stays in registers while its sums grow.
 *
 *     c[r][j] = sum over t, i of rows[t * step + r][i] * panel[t][i][j]
 *
 * Rows are read through pointers, one for each row of the tile and each tap: a
 * matrix has one tap; a convolution has one for each element of its window,
 * which points into the image (or at zeros, for padding), so that no im2col
 * copy is needed. A panel has the width of a tile, row after row.
 *
 * Each sum is computed in the order of t and i for every tile shape, so that
 * results do not depend on the blocking.
 */
#ifndef MO_EXEC_BACKEND_CPU_GEMM_MICRO_KERNEL_H
#define MO_EXEC_BACKEND_CPU_GEMM_MICRO_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

enum { MO_CPU_MICRO_KERNEL_MAX_STEPS = 6 };

typedef enum mo_cpu_end_op {
    MO_CPU_END_ADD,
    MO_CPU_END_SUBTRACT,
    MO_CPU_END_MULTIPLY,
    MO_CPU_END_CLAMP /* NaN is kept */
} mo_cpu_end_op;

/* Combines the sum of row r and column j with operand[r * pitch + j]. */
typedef struct mo_cpu_end_step {
    mo_cpu_end_op op;
    const float *operand;
    int64_t pitch; /* 0: one row for all, such as a bias */
    float least, most;
} mo_cpu_end_step;

/* Epilogue applied before sums leave the registers. */
typedef struct mo_cpu_micro_kernel_epilogue {
    int n_steps;
    mo_cpu_end_step steps[MO_CPU_MICRO_KERNEL_MAX_STEPS];
} mo_cpu_micro_kernel_epilogue;

typedef struct mo_cpu_micro_kernel_args {
    const float *const *rows;
    int64_t step; /* pointers from tap to tap */
    int64_t skip; /* elements skipped at the beginning of each row */
    int64_t taps, depth;
    const float *panel;
    int64_t panel_step; /* floats to the next panel, for several at once */
    bool fresh;         /* the panel is in memory, not yet in a cache */
    float *c;
    int64_t pitch; /* elements of c from row to row */
    int last;      /* columns in the last vector of a tile; 0: all */
    bool add;      /* accumulate onto c */
    const mo_cpu_micro_kernel_epilogue *end; /* NULL: none */
    int64_t end_row, end_column;             /* of c in its operands */
} mo_cpu_micro_kernel_args;

typedef void mo_cpu_micro_kernel_fn(const mo_cpu_micro_kernel_args *job);

/* Depthwise sums of adjacent positions: c[p][j] = sum over taps of
 * in[tap][p * step + j] weights[tap][j], for the channels j. With pointers,
 * each position has its own: in[tap * pointers + p][j]. */
typedef struct mo_cpu_depthwise_args {
    int64_t taps;
    const float **in, **weights;
    int64_t pointers, step, positions, channels;
    float *c;                                /* its rows are adjacent */
    const mo_cpu_micro_kernel_epilogue *end; /* NULL: none */
    int64_t end_row;                         /* of c in its operands */
} mo_cpu_depthwise_args;

typedef void mo_cpu_depthwise_fn(const mo_cpu_depthwise_args *job);

enum {
    MO_CPU_MICRO_KERNEL_HEIGHTS = 5,
    MO_CPU_MICRO_KERNEL_MAX_ROWS = 16,
    MO_CPU_MICRO_KERNEL_MAX_WIDTH = 32,
    MO_CPU_DEPTHWISE_POINTERS = 4
};

/* Micro-kernels of one instruction set. */
typedef struct mo_cpu_micro_kernels {
    const char *name;
    int width;  /* columns of a tile */
    int narrow; /* width of the tile for the last columns */
    mo_cpu_depthwise_fn *depthwise;
    int rows[MO_CPU_MICRO_KERNEL_HEIGHTS]; /* heights, descending to 1 */
    mo_cpu_micro_kernel_fn *wide_run[MO_CPU_MICRO_KERNEL_HEIGHTS],
        *narrow_run[MO_CPU_MICRO_KERNEL_HEIGHTS];
    /* Low tiles over several neighbouring panels of full width: their few rows
     * alone have too few independent sums to hide the latency of an addition.
     * NULL: not at this height. */
    int panels[MO_CPU_MICRO_KERNEL_HEIGHTS];
    mo_cpu_micro_kernel_fn *panels_run[MO_CPU_MICRO_KERNEL_HEIGHTS];
} mo_cpu_micro_kernels;

#if defined(__x86_64__)
extern const mo_cpu_micro_kernels mo_cpu_micro_kernels_avx512;
extern const mo_cpu_micro_kernels mo_cpu_micro_kernels_avx2;
#endif
extern const mo_cpu_micro_kernels mo_cpu_micro_kernels_generic;

/* Returns the best micro-kernels of this processor, or those with a name
 * (NULL: not supported here), for tests. */
const mo_cpu_micro_kernels *mo_cpu_micro_kernels_select(void);
const mo_cpu_micro_kernels *mo_cpu_micro_kernels_find(const char *name);

#endif
