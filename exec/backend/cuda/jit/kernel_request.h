/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.h - what many kernels do alike: they ask for a function by the code they
 * put together, and have nothing else of their own.
 */
#ifndef MO_EXEC_BACKEND_CUDA_JIT_KERNEL_REQUEST_H
#define MO_EXEC_BACKEND_CUDA_JIT_KERNEL_REQUEST_H

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/backend/cuda/jit/jit_cache.h"

/* The code goes in any case. */
mo_status mo_cuda_jit_request_source(mo_backend_unit *unit,
                                     mo_cuda_source *code, const char *name,
                                     mo_cuda_function **function,
                                     mo_error *err);

/* How a kernel goes that is one piece of memory. */
void mo_cuda_kernel_free(mo_backend_unit *unit, mo_backend_kernel *kernel);

#endif
