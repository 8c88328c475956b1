/* SPDX-License-Identifier: Apache-2.0 */
/*
 * point.h - how a pointwise program is made into a kernel (inside of
 * exec/backend/cuda).
 *
 * One kernel does it in one of two ways.  Flat: a thread makes some neighbours
 * of the result, with accesses of 16 bytes where every operand is contiguous
 * along the innermost dimension, or repeated.  Turned: where operands are
 * contiguous along another dimension than the result, blocks of threads go
 * through squares of both, and such operands through shared memory.
 */
#ifndef MO_EXEC_BACKEND_CUDA_KERNELS_POINTWISE_KERNEL_H
#define MO_EXEC_BACKEND_CUDA_KERNELS_POINTWISE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/op/loop_nest.h"

enum {
    MO_CUDA_POINTWISE_NOT_TRANSPOSED = -1,
    MO_CUDA_POINTWISE_TRANSPOSE_TILE = 32
};

typedef struct mo_cuda_pointwise_config {
    const mo_point_program *point;
    mo_elem stored;
    mo_point_loop_nest loops;
    int last;      /* the innermost dimension */
    int64_t count; /* of all elements */
    bool used[MO_POINT_MAX_REGISTERS];
    bool wide;  /* positions need 64 bits */
    int vector; /* elements of a thread */
    int turned; /* the dimension along which turned operands are contiguous */
    bool is_turned[MO_POINT_MAX_OPERANDS];
    int threads;
    int64_t blocks; /* 0: there is nothing to do */
} mo_cuda_pointwise_config;

/* For a device of so many multiprocessors. */
mo_cuda_pointwise_config
mo_cuda_pointwise_config_of(const mo_point_program *point,
                            const mo_tensor_desc *out, int sms);

/* Defines the kernel "point", whose arguments are the operands that are used,
 * in order, and the result. */
void mo_cuda_emit_pointwise(const mo_cuda_pointwise_config *p,
                            mo_cuda_source *code);

#endif
