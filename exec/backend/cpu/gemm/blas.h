/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - products by the BLAS this was built with, if any.
 *
 * Our own tiles are faster on the processors they are made for (measured on
 * layers of ResNet-50 and BERT against OpenBLAS 0.3.21, one thread: 1.1 to 2
 * times); BLAS does doubles, and floats on processors without such tiles.
 */
#ifndef MO_EXEC_BACKEND_CPU_GEMM_BLAS_H
#define MO_EXEC_BACKEND_CPU_GEMM_BLAS_H

#include <stdbool.h>

#include "exec/op/call.h"

/* Keeps BLAS to the thread that calls it; where it can be told. */
void mo_cpu_blas_set_single_thread(void);

/* Floats or doubles whose matrices have a stride of 1 in one direction, where
 * memory is left for the library's buffers. */
bool mo_cpu_blas_supports(const mo_call_matmul *call, mo_elem elem);

/* The product of one batch, of a call it takes.  Where memory is short it may
 * wait for those of other threads. */
void mo_cpu_blas_gemm(const mo_call_matmul *call, mo_elem elem, const void *a,
                      const void *b, void *c);

#endif
