/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libraries.h - per-unit handles of cuBLASLt and cuDNN, and their preloading.
 *
 * Both libraries may be missing from the build (then a stub is linked) or from
 * the machine.  A library is loaded by the first problem that
 * wants it; cuBLASLt takes as long to load as a GPU to open, so a library that
 * the tuning cache names is loaded in a thread while the GPU is opened.
 */
#ifndef MO_EXEC_BACKEND_CUDA_ALGO_LIBRARIES_H
#define MO_EXEC_BACKEND_CUDA_ALGO_LIBRARIES_H

#include "exec/backend/cuda/driver/cuda_unit.h"

/* Destroy the handle of a library in a unit, if there is one. */
void mo_cuda_cublaslt_close(mo_backend_unit *unit);
void mo_cuda_cudnn_close(mo_backend_unit *unit);

/* Starts to load the libraries whose algorithms the unit's tuning cache, which
 * is open, names; join waits for the thread, if there is one.  Only an
 * optimisation: mo_cuda_has_cublaslt() and mo_cuda_has_cudnn() wait for a
 * library that is being loaded. */
void mo_cuda_library_preload_start(mo_backend_unit *unit);
void mo_cuda_library_preload_join(mo_backend_unit *unit);

#endif
