/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flat.h - kernels that go over something from one end to the other.
 */
#ifndef MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_GRID_STRIDE_H
#define MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_GRID_STRIDE_H

#include <stdint.h>

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/backend/cuda/jit/jit_cache.h"

enum { MO_CUDA_GRID_STRIDE_THREADS = 128 };

/* Begins a loop in which t, without a sign, goes over count; } ends it. */
void mo_cuda_emit_grid_stride_loop(mo_cuda_source *code, int64_t count);

/* Enough blocks to fill the device, no more than count needs. */
mo_cuda_grid mo_cuda_grid_stride_grid(const mo_backend_unit *unit,
                                      int64_t count);

#endif
