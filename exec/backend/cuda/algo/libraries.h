/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libraries.h - per-unit handles of cuBLASLt and cuDNN, and their preloading.
 *
 * Both libraries may be missing from the build (then a stub is linked, and *out
 * is NULL) or from the machine.  A library is loaded by the first problem that
 * wants it; cuBLASLt takes as long to load as a GPU to open, so a library that
 * the tuning cache names is loaded in a thread while the GPU is opened.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_LIBRARIES_H
#define MO_EXEC_BACKEND_CUDA_ALGO_LIBRARIES_H

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_unit.h"

/* Allocate and free the state of a library in a unit; close accepts NULL. */
mo_status mo_cuda_cublaslt_open(mo_backend_unit *unit, mo_cuda_cublaslt **out,
                                mo_error *err);
void mo_cuda_cublaslt_close(mo_backend_unit *unit, mo_cuda_cublaslt *cublaslt);
mo_status mo_cuda_cudnn_open(mo_backend_unit *unit, mo_cuda_cudnn **out,
                             mo_error *err);
void mo_cuda_cudnn_close(mo_backend_unit *unit, mo_cuda_cudnn *cudnn);

/* Starts to load the libraries whose algorithms the unit's tuning cache, which
 * is open, names; join waits for the thread, if there is one.  Only an
 * optimisation: mo_cuda_has_cublaslt() and mo_cuda_has_cudnn() wait for a
 * library that is being loaded. */
void mo_cuda_library_preload_start(mo_backend_unit *unit);
void mo_cuda_library_preload_join(mo_backend_unit *unit);

#endif
