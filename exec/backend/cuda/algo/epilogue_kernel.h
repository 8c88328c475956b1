/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tail.h - the epilogue of a call as a kernel of its own, over the result where
 * it lies: behind what a library does, whatever the program.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_EPILOGUE_KERNEL_H
#define MO_EXEC_BACKEND_CUDA_ALGO_EPILOGUE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/cuda/algo/algo.h"

/* May a library do all of it that knows the activation?  It adds a bias of
 * columns numbers and a residual, both of the result's type, before it. */
bool mo_cuda_epilogue_is_fusable(const mo_cuda_algo_problem *problem,
                                 const mo_cuda_epilogue *epilogue,
                                 int64_t columns);

typedef struct mo_cuda_epilogue_kernel mo_cuda_epilogue_kernel;

/* The task's call has an epilogue; the task lives as long as the tail. */
mo_status mo_cuda_epilogue_kernel_new(mo_backend_unit *unit,
                                      const mo_cuda_algo_problem *problem,
                                      mo_cuda_epilogue_kernel **tail,
                                      mo_error *err);
void mo_cuda_epilogue_kernel_free(
    mo_backend_unit *unit, mo_cuda_epilogue_kernel *tail); /* NULL is fine */

/* in and out are the call's; out[0] holds what the program is given. */
mo_status mo_cuda_epilogue_kernel_enqueue(mo_backend_unit *unit,
                                          const mo_cuda_epilogue_kernel *tail,
                                          const void *const *in,
                                          void *const *out, CUstream stream,
                                          mo_error *err);

#endif
