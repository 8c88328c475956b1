/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window.h - numbers of windows, in sources of kernels.
 */
#ifndef MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_WINDOW_H
#define MO_EXEC_BACKEND_CUDA_JIT_CODEGEN_WINDOW_H

#include <stdint.h>

#include "exec/backend/cuda/jit/codegen.h"

/* I0, O0, K0, S0, D0, P0: sizes, strides, dilation and padding of the three
 * spatial dimensions, and I, O, TAPS of all together. */
void mo_cuda_emit_window(mo_cuda_source *code, const mo_call_window *sweep);

/* The largest number by which places of a sweep are counted, pads and all; at
 * least elements. */
int64_t mo_cuda_window_max_index(const mo_call_window *sweep, int64_t elements);

#endif
