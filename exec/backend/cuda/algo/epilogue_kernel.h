/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epilogue_kernel.h - the epilogue of a call as a separate pointwise kernel,
 * in place over the result: after a library whose epilogues do not cover the
 * program.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_EPILOGUE_KERNEL_H
#define MO_EXEC_BACKEND_CUDA_ALGO_EPILOGUE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/cuda/algo/algo.h"

/* Returns whether a library that supports the activation can apply all of the
 * epilogue: it adds a bias of columns elements and a residual, both of the
 * result's type, before the activation. */
bool mo_cuda_epilogue_is_fusable(const mo_cuda_algo_problem *problem,
                                 const mo_cuda_epilogue *epilogue,
                                 int64_t columns);

typedef struct mo_cuda_epilogue_kernel mo_cuda_epilogue_kernel;

/* Allocates *tail and requests its function. The problem's call has an
 * epilogue; the problem outlives *tail, which the caller frees with
 * mo_cuda_epilogue_kernel_free(). */
mo_status mo_cuda_epilogue_kernel_new(mo_backend_unit *unit,
                                      const mo_cuda_algo_problem *problem,
                                      mo_cuda_epilogue_kernel **tail,
                                      mo_error *err);
void mo_cuda_epilogue_kernel_free(
    mo_backend_unit *unit, mo_cuda_epilogue_kernel *tail); /* accepts NULL */

/* in and out are the call's; out[0] holds the input of the program. */
mo_status mo_cuda_epilogue_kernel_enqueue(mo_backend_unit *unit,
                                          const mo_cuda_epilogue_kernel *tail,
                                          const void *const *in,
                                          void *const *out, CUstream stream,
                                          mo_error *err);

#endif
