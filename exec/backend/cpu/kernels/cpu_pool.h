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
#include "exec/op/call.h"

typedef struct mo_cpu_pool_kernel {
    mo_cpu_kernel base;
    mo_call_pool call; /* expanded to three spatial dimensions */
    mo_elem elem;
    bool has_indices;
    mo_elem index_elem;
    int64_t index_size; /* indices count modulo this many elements */
    int64_t places;     /* output pixels of one image */
    mo_cpu_epilogue epilogue;
    size_t row_at, epilogue_at,
        scratch; /* offsets and size of a worker's scratch */
} mo_cpu_pool_kernel;

/* Part of a window in one dimension: elements first, first + step, ... */
typedef struct mo_cpu_pool_range {
    int64_t first, count, step;
} mo_cpu_pool_range;

/* The window of one output pixel. */
typedef struct mo_cpu_pool_window {
    mo_cpu_pool_range span[3];
    int64_t image, at[3];
} mo_cpu_pool_window;

/* row: image * places + place. */
mo_cpu_pool_window mo_cpu_pool_window_at(const mo_cpu_pool_kernel *kernel,
                                         int64_t row);
/* Advances to the next row. */
void mo_cpu_pool_window_next(const mo_cpu_pool_kernel *kernel,
                             mo_cpu_pool_window *window);

/* Initial value of the accumulator: 0, or the lowest value of a maximum. */
float mo_cpu_pool_initial_value(const mo_cpu_pool_kernel *kernel,
                                const mo_cpu_pool_window *window);

/* Returns 1 / the number of elements that the average counts. */
float mo_cpu_pool_average_factor(const mo_cpu_pool_kernel *kernel,
                                 const mo_cpu_pool_window *window);

/* Computes one element in any layout; *at receives the index of the maximum,
 * counted as in a contiguous NCHW tensor. */
float mo_cpu_pool_element(const mo_cpu_pool_kernel *kernel, const void *data,
                          const mo_cpu_pool_window *window, int64_t channel,
                          int64_t *at);

/* Compute all channels of an output pixel in channels-last layout: of floats,
 * and of other types converted to floats in row. */
void mo_cpu_pool_nhwc_f32(const mo_cpu_pool_kernel *kernel, const float *data,
                          const mo_cpu_pool_window *window, float *to);
void mo_cpu_pool_nhwc_f16(const mo_cpu_pool_kernel *kernel, const void *data,
                          const mo_cpu_pool_window *window, float *row,
                          float *to);

#endif
