/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - matrix products by the BLAS library, if built with one.
 *
 * The micro-kernels are faster on the processors they are written for (1.1 to
 * 2 times OpenBLAS 0.3.21 on layers of ResNet-50 and BERT, one thread); BLAS
 * computes doubles, and floats on processors without such micro-kernels.
 */
#ifndef MO_EXEC_BACKEND_CPU_GEMM_BLAS_H
#define MO_EXEC_BACKEND_CPU_GEMM_BLAS_H

#include <stdbool.h>

#include "exec/op/call.h"

/* Restricts BLAS to the calling thread, if the library supports it. */
void mo_cpu_blas_set_single_thread(void);

/* Whether BLAS takes the call: floats or doubles with unit stride in one
 * direction of each matrix, and memory for the library's buffers. */
bool mo_cpu_blas_supports(const mo_call_matmul *call, mo_elem elem);

/* Computes the product of one batch of a supported call. May wait for products
 * of other threads if memory is short. */
void mo_cpu_blas_gemm(const mo_call_matmul *call, mo_elem elem, const void *a,
                      const void *b, void *c);

#endif
