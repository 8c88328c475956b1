/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - pools: what their files share.
 */
#ifndef MO_EXEC_BACKEND_CPU_KERNELS_CPU_POOL_H
#define MO_EXEC_BACKEND_CPU_KERNELS_CPU_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/pointwise/pointwise.h"
#include "exec/op/call.h"

typedef struct mo_cpu_pool_kernel {
    mo_backend_kernel base;
    mo_call_pool call; /* in three spatial dimensions */
    mo_elem elem;
    bool has_indices;
    mo_elem index_elem;
    int64_t index_size; /* indices count modulo this many elements */
    int64_t places;     /* of one image in the result */
    mo_cpu_epilogue finish;
    size_t row_at, finish_at, scratch; /* of each worker */
} mo_cpu_pool_kernel;

/* What a window has of one dimension: elements first, first + step, ... */
typedef struct mo_cpu_pool_range {
    int64_t first, count, step;
} mo_cpu_pool_range;

/* The window at a place of the result. */
typedef struct mo_cpu_pool_window {
    mo_cpu_pool_range span[3];
    int64_t image, at[3];
} mo_cpu_pool_window;

/* Row: image times places, then place. */
mo_cpu_pool_window mo_cpu_pool_window_at(const mo_cpu_pool_kernel *kernel,
                                         int64_t row);
/* On to the next row. */
void mo_cpu_pool_window_next(const mo_cpu_pool_kernel *kernel,
                             mo_cpu_pool_window *window);

/* What the first element is added to, or compared with. */
float mo_cpu_pool_initial_value(const mo_cpu_pool_kernel *kernel,
                                const mo_cpu_pool_window *window);

/* What a sum is multiplied by to be an average. */
float mo_cpu_pool_average_factor(const mo_cpu_pool_kernel *kernel,
                                 const mo_cpu_pool_window *window);

/* One element in any layout; at: where the largest is, as a plain tensor
 * counts. */
float mo_cpu_pool_element(const mo_cpu_pool_kernel *kernel, const void *data,
                          const mo_cpu_pool_window *window, int64_t channel,
                          int64_t *at);

/* All channels of a place, where they are last: of floats, and of what has to
 * become floats first, in row. */
void mo_cpu_pool_nhwc_f32(const mo_cpu_pool_kernel *kernel, const float *data,
                          const mo_cpu_pool_window *window, float *to);
void mo_cpu_pool_nhwc_f16(const mo_cpu_pool_kernel *kernel, const void *data,
                          const mo_cpu_pool_window *window, float *row,
                          float *to);

#endif
