/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matvec.h - products of few rows of data with rows of weights: matvec.cu.
 */
#ifndef MO_EXEC_BACKEND_CUDA_KERNELS_MATVEC_H
#define MO_EXEC_BACKEND_CUDA_KERNELS_MATVEC_H

#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/jit/jit_cache.h"
#include "exec/backend/cuda/kernels/single_kernel.h"

/* Returns the bits of a quantized weight; 0 of other formats. */
int mo_cuda_format_bits(mo_block_format format);

/* Returns whether the kernel works for a product of that format and size. */
bool mo_cuda_matvec_supports(const mo_backend_unit *unit,
                             const mo_call_linear *product);

/* Appends the kernel of a supported product to the code of draft; sets its
 * name, a static text, and its grid. Its arguments are the data, the weights,
 * the result and the struct mo_extra of the call's epilogue. */
mo_status mo_cuda_emit_matvec(const mo_backend_unit *unit, const mo_call *call,
                              const mo_tensor_desc *out,
                              const mo_call_linear *product,
                              mo_cuda_single_kernel_spec *draft, mo_error *err);

#endif
