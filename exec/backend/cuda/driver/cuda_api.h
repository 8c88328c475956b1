/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - the driver and NVIDIA's libraries, found when they are needed.
 *
 * Nothing is linked: a binary with this backend also starts where there is no
 * GPU.  Types and names are those of the headers it was built with, so that
 * cuMemAlloc is the version the header means.  Each library is looked for under
 * the names of CUDA 12 and 13, where the system and Python's packages keep
 * them, or where the variable says: MOIRAI_CUDA, MOIRAI_NVRTC,
 * MOIRAI_CUBLASLT, MOIRAI_CUDNN (a file; empty: not used).
 */
#ifndef MO_EXEC_BACKEND_CUDA_DRIVER_CUDA_API_H
#define MO_EXEC_BACKEND_CUDA_DRIVER_CUDA_API_H

#include <cuda.h>
#include <nvrtc.h>
#ifdef HAVE_CUBLASLT
#include <cublasLt.h>
#endif
#ifdef HAVE_CUDNN
#include <cudnn.h>
#endif

#include <stdbool.h>

#include "base/error.h"
#include "exec/backend/cuda/driver/cuda_api_symbols.h"

#define MO_CUDA_API_MEMBER(name) __typeof__(&name) name;

/* Members are called by their plain names: api->cuMemAlloc(...).  The header's
 * macros turn both the member and the use into the same versioned name. */
typedef struct mo_cuda_api {
    MO_CUDA_DRIVER_SYMBOLS(MO_CUDA_API_MEMBER)
    MO_CUDA_GREEN_CONTEXT_SYMBOLS(MO_CUDA_API_MEMBER)
    MO_CUDA_NVRTC_SYMBOLS(MO_CUDA_API_MEMBER)
    int driver_version, nvrtc_version; /* 13000 is 13.0 */
#ifdef HAVE_CUBLASLT
    MO_CUDA_CUBLASLT_SYMBOLS(MO_CUDA_API_MEMBER)
#endif
#ifdef HAVE_CUDNN
    MO_CUDA_CUDNN_SYMBOLS(MO_CUDA_API_MEMBER)
#endif
} mo_cuda_api;

/* Looks for them once in a process.  The error says what is missing: no
 * driver, no GPU, no NVRTC. */
mo_status mo_cuda_api_get(const mo_cuda_api **api, mo_error *err);

/* cuBLASLt and cuDNN may be absent.  They are large and are only loaded, once
 * in a process, when somebody asks whether they are there: their members are
 * used behind that. */
bool mo_cuda_has_cublaslt(void);
bool mo_cuda_has_cudnn(void);

/* A library that a variable names must be there: why it is not. */
mo_status mo_cuda_api_check_overrides(mo_error *err);

/* Green contexts may be absent, too: the error says what driver has them. Their
 * members are used behind that. */
mo_status mo_cuda_api_require_green_contexts(mo_error *err);

/* NVRTC alone, for who compiles where there is no GPU: fills in its members. */
mo_status mo_cuda_api_load_nvrtc(mo_cuda_api *api, mo_error *err);

/* What a call of the driver, NVRTC, cuBLASLt or cuDNN answered, as one line:
 * "CUDA: cuLaunchKernel: out of memory (2); ..." and what to try.  MO_OK for
 * success.  Use them around every call: mo_cuda_check(api, "cuMemAlloc",
 * api->cuMemAlloc(...), err). */
mo_status mo_cuda_check(const mo_cuda_api *api, const char *what,
                        CUresult result, mo_error *err);
mo_status mo_cuda_check_nvrtc(const mo_cuda_api *api, const char *what,
                              nvrtcResult result, mo_error *err);
#ifdef HAVE_CUBLASLT
mo_status mo_cuda_check_cublas(const mo_cuda_api *api, const char *what,
                               cublasStatus_t result, mo_error *err);
#endif
#ifdef HAVE_CUDNN
mo_status mo_cuda_check_cudnn(const mo_cuda_api *api, const char *what,
                              cudnnStatus_t result, mo_error *err);
#endif

#endif
