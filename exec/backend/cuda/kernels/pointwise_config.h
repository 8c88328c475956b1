/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pointwise_config.h - configuration of the kernel of a pointwise program: its
 * loops, tiles, vectors and grid.
 */
#ifndef MO_EXEC_BACKEND_CUDA_KERNELS_POINTWISE_CONFIG_H
#define MO_EXEC_BACKEND_CUDA_KERNELS_POINTWISE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/op/call.h"
#include "exec/op/loop_nest.h"

enum { MO_CUDA_NOT_TRANSPOSED = -1, MO_CUDA_TRANSPOSE_TILE = 32 };

typedef struct mo_cuda_pointwise_config {
    const mo_point_program *point;
    mo_elem stored;
    mo_point_loop_nest loops;
    int last;      /* the innermost dimension */
    int64_t count; /* elements of the result */
    bool used[MO_POINT_MAX_REGISTERS];
    bool wide;      /* offsets need 64 bits */
    int vector;     /* elements per thread */
    int transposed; /* the dimension along which transposed operands are
                       contiguous */
    bool is_transposed[MO_POINT_MAX_OPERANDS];
    int threads;
    int64_t blocks; /* 0: the result is empty */
} mo_cuda_pointwise_config;

/* Chooses the kernel for a program, which is borrowed, and its result on a GPU
 * of that many multiprocessors. */
mo_cuda_pointwise_config
mo_cuda_pointwise_configure(const mo_point_program *point,
                            const mo_tensor_desc *out, int sms);

#endif
