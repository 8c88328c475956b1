/* SPDX-License-Identifier: Apache-2.0 */
/*
 * single_kernel.h - kernels that are one device function, as most are.
 *
 * Its arguments are the call's own inputs, its outputs, a table where it has
 * one, then the struct mo_extra of its epilogue (codegen_epilogue.h).
 */
#ifndef MO_EXEC_BACKEND_CUDA_KERNELS_SINGLE_KERNEL_H
#define MO_EXEC_BACKEND_CUDA_KERNELS_SINGLE_KERNEL_H

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/kernel_class.h"
#include "exec/backend/cuda/jit/jit_cache.h"

/* The function to be requested. */
typedef struct mo_cuda_single_kernel_spec {
    mo_cuda_source code;
    const char *name;
    mo_cuda_grid grid; /* no blocks: the result is empty */
} mo_cuda_single_kernel_spec;

/* Allocates *kernel and requests its function; clears spec's code, also on
 * failure. n_in: the number of operands that are not the epilogue's. The
 * caller frees *kernel with mo_cuda_single_kernel_free(). */
mo_status mo_cuda_single_kernel_new(mo_backend_unit *unit, const mo_call *call,
                                    int n_in, mo_cuda_single_kernel_spec *draft,
                                    mo_backend_kernel **kernel, mo_error *err);

/* Copies bytes of table to the device; the kernel owns the copy. */
mo_status mo_cuda_single_kernel_set_table(mo_backend_unit *unit,
                                          mo_backend_kernel *kernel,
                                          const void *table, size_t bytes,
                                          mo_error *err);

mo_status mo_cuda_single_kernel_enqueue(mo_backend_unit *unit,
                                        const mo_backend_kernel *kernel,
                                        const void *const *in, void *const *out,
                                        void *workspace, CUstream stream,
                                        mo_error *err);
void mo_cuda_single_kernel_free(mo_backend_unit *unit,
                                mo_backend_kernel *kernel);

/* Sets a grid of one dimension with per_block items in each block of threads.
 * MO_E_LIMIT if it has too many blocks. */
mo_status mo_cuda_grid_1d(int64_t items, int per_block, int threads,
                          mo_cuda_grid *grid, mo_error *err);

/* Fails unless all inputs and outputs have one element type. */
mo_status mo_cuda_check_same_type(const mo_call *call,
                                  const mo_backend_operand *in,
                                  const mo_tensor_desc *out, mo_error *err);

#endif
