/* SPDX-License-Identifier: Apache-2.0 */
/*
 * single.h - kernels that are one function of the device, as most are.
 *
 * Its arguments are the call's own in, its out, a table where it has one, then
 * the struct mo_extra of its epilogue (code.h).
 */
#ifndef MO_EXEC_BACKEND_CUDA_KERNELS_SINGLE_KERNEL_H
#define MO_EXEC_BACKEND_CUDA_KERNELS_SINGLE_KERNEL_H

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/kernel_class.h"
#include "exec/backend/cuda/jit/jit_cache.h"

/* What a function is to be made of. */
typedef struct mo_cuda_single_kernel_spec {
    mo_cuda_source code;
    const char *name;
    mo_cuda_grid grid; /* no blocks: there is nothing to do */
} mo_cuda_single_kernel_spec;

/* Asks for the function; the draft's code goes in any case.  n_in: how many
 * operands are not the epilogue's. */
mo_status mo_cuda_single_kernel_new(mo_backend_unit *unit, const mo_call *call,
                                    int n_in, mo_cuda_single_kernel_spec *draft,
                                    mo_backend_kernel **kernel, mo_error *err);

/* The kernel takes over bytes of table, which it puts to the device. */
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

/* A grid of one dimension that has threads for items of them, by blocks of
 * threads; the error says that it is too large. */
mo_status mo_cuda_grid_1d(int64_t items, int per_block, int threads,
                          mo_cuda_grid *grid, mo_error *err);

/* Kernels of one type of elements: the error says what is not. */
mo_status mo_cuda_check_same_type(const mo_call *call,
                                  const mo_backend_operand *in,
                                  const mo_tensor_desc *out, mo_error *err);

#endif
