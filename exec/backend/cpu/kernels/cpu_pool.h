/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_pool.h - max and average pooling: data of the kernel, and its windows.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_CPU_POOL_H
#define MO_EXEC_BACKEND_CPU_KERNELS_CPU_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/backend/cpu/pointwise/steps.h"
#include "exec/op/call.h"

/* Part of a window in one dimension: count elements of the input from first
 * on, and the number of elements that an average divides by. */
typedef struct mo_cpu_pool_range {
    int64_t first, count, averaged;
} mo_cpu_pool_range;

/* Adjacent results, the lanes. The taps of a lane are elements in up to three
 * dimensions, and begin stride elements after those of the lane before it.
 * Lines of such lanes are from_line elements apart, their results to_line. */
typedef struct mo_cpu_pool_taps {
    int64_t count[3], step[3], stride;
    int64_t lines, from_line, to_line;
    double start;  /* of the accumulator: 0, or the lowest value */
    double factor; /* of sums */
} mo_cpu_pool_taps;

/* Computes n lanes of every line, floats or doubles; first is the first tap. */
typedef void mo_cpu_pool_fold_fn(const mo_cpu_pool_taps *taps,
                                 const void *first, int64_t n, void *to);
mo_cpu_pool_fold_fn *mo_cpu_pool_fold_fn_for(bool average, bool wide);

/* How planes are divided (NCHW). */
typedef struct mo_cpu_pool_bands {
    int64_t rows, n;       /* output rows of a band, and bands of a plane */
    int64_t pitch, height; /* padded size of the input of a band */
    bool flat;             /* narrow rows are folded as one along the width */
    bool in_place;         /* it is read where it is */
    bool uniform;          /* all windows have the same divisor */
    bool some_empty;       /* a maximum of nothing: OpenVINO's lowest number */
    size_t folded_at, lanes_at,
        result_at; /* scratch, in which the padded input is first */
} mo_cpu_pool_bands;

/* What is computed at once. */
typedef enum mo_cpu_pool_division {
    MO_CPU_POOL_BY_PIXEL,  /* all channels (NHWC) */
    MO_CPU_POOL_BY_BAND,   /* rows of a plane (NCHW) */
    MO_CPU_POOL_BY_ELEMENT /* indices of maxima, and windows of any sizes */
} mo_cpu_pool_division;

typedef struct mo_cpu_pool_kernel {
    mo_cpu_kernel base;
    mo_call_pool call; /* expanded to three spatial dimensions */
    mo_elem elem;
    mo_cpu_pool_division division;
    bool wide, direct; /* as of mo_cpu_load_fn_for(); needs no conversion */
    mo_cpu_load_fn *load;
    mo_cpu_pool_fold_fn *fold;
    mo_cpu_pool_range *ranges[3]; /* by output index; one block */
    int64_t step[3];              /* within windows, in the input's dimension */
    bool has_indices;
    mo_elem index_elem;
    int64_t index_size; /* indices count modulo this many elements */
    int64_t places;     /* output pixels of one image */
    mo_cpu_pool_bands bands;
    mo_cpu_epilogue epilogue;
    size_t epilogue_at, scratch; /* offset and size of a worker's scratch */
} mo_cpu_pool_kernel;

typedef struct mo_cpu_pool_run {
    const mo_cpu_pool_kernel *kernel;
    const void *const *in;
    void *const *out;
    void *workspace;
} mo_cpu_pool_run;

/* The window of one output pixel. */
typedef struct mo_cpu_pool_window {
    mo_cpu_pool_range span[3];
    int64_t at[3];
} mo_cpu_pool_window;

/* Simplifies the windows, without changing results: dimensions that every
 * window covers are merged, and adaptive windows of one size are plain ones.
 * With rows, planes (NCHW) whose windows do not overlap along the height become
 * the rows of one plane. */
void mo_cpu_pool_simplify(mo_call_pool *pool, bool rows);

/* Fills ranges and step. */
mo_status mo_cpu_pool_ranges_init(mo_cpu_pool_kernel *kernel, mo_error *err);

mo_cpu_pool_window mo_cpu_pool_window_at(const mo_cpu_pool_kernel *kernel,
                                         int64_t place);
/* Advances to the next place; after the last one comes the first. */
void mo_cpu_pool_window_next(const mo_cpu_pool_kernel *kernel,
                             mo_cpu_pool_window *window);

/* Describes the taps of a window of one channel, whose neighbours in the last
 * dimension are `between` elements apart; returns the offset of the first. */
int64_t mo_cpu_pool_window_taps(const mo_cpu_pool_kernel *kernel,
                                const mo_cpu_pool_window *window,
                                int64_t between, mo_cpu_pool_taps *taps);

/* Sets the division of planes; appends its scratch. */
void mo_cpu_pool_bands_init(mo_cpu_pool_kernel *kernel);

/* Computes bands begin, ..., end - 1 of all planes; a thread pool's task. */
void mo_cpu_pool_run_bands(void *context, int64_t begin, int64_t end,
                           int worker);

#endif
