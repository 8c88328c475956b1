/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - NVIDIA's cuBLASLt: the handle of a unit.
 *
 * Its ways are found by mo_cuda_cublaslt_algos (way.h).  In a build without its
 * header all of this is there and does nothing.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_CUBLASLT_CUBLASLT_HANDLE_H
#define MO_EXEC_BACKEND_CUDA_ALGO_CUBLASLT_CUBLASLT_HANDLE_H

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

/* *blas is NULL in a build without its header.  The library itself is only
 * loaded by the first product that wants it. */
mo_status mo_cuda_cublaslt_open(mo_backend_unit *unit, mo_cuda_cublaslt **blas,
                                mo_error *err);
void mo_cuda_cublaslt_close(mo_backend_unit *unit, mo_cuda_cublaslt *blas);

#endif
