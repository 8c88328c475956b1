/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_api.h - entry points of the CUDA driver, NVRTC, cuBLASLt and cuDNN,
 * loaded at run time (dlopen).
 *
 * Nothing is linked: a binary with this backend also starts where there is no
 * GPU. Types and names are those of the headers it was built with, so that
 * cuMemAlloc is the version the header means. Each library is searched under
 * the names of CUDA 12 and 13, in the folders of the system and of Python's
 * packages, or is the file that the variable MOIRAI_CUDA, MOIRAI_NVRTC,
 * MOIRAI_CUBLASLT or MOIRAI_CUDNN names (empty: not used).
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

/* The functions used of each library: members of mo_cuda_api, and the symbol
 * tables of cuda_api.c. */
#define MO_CUDA_DRIVER_SYMBOLS(X)                                              \
    X(cuInit)                                                                  \
    X(cuDriverGetVersion)                                                      \
    X(cuGetErrorString)                                                        \
    X(cuDeviceGetCount)                                                        \
    X(cuDeviceGet)                                                             \
    X(cuDeviceGetName)                                                         \
    X(cuDeviceGetAttribute)                                                    \
    X(cuDevicePrimaryCtxRetain)                                                \
    X(cuDevicePrimaryCtxRelease)                                               \
    X(cuCtxSetCurrent)                                                         \
    X(cuCtxEnablePeerAccess)                                                   \
    X(cuDeviceCanAccessPeer)                                                   \
    X(cuMemGetInfo)                                                            \
    X(cuMemAlloc)                                                              \
    X(cuMemFree)                                                               \
    X(cuMemHostAlloc)                                                          \
    X(cuMemFreeHost)                                                           \
    X(cuMemcpyHtoDAsync)                                                       \
    X(cuMemcpyDtoHAsync)                                                       \
    X(cuMemcpyDtoDAsync)                                                       \
    X(cuMemcpyPeerAsync)                                                       \
    X(cuMemsetD8Async)                                                         \
    X(cuStreamCreate)                                                          \
    X(cuStreamDestroy)                                                         \
    X(cuStreamSynchronize)                                                     \
    X(cuStreamQuery)                                                           \
    X(cuStreamWaitEvent)                                                       \
    X(cuStreamBeginCapture)                                                    \
    X(cuStreamEndCapture)                                                      \
    X(cuEventCreate)                                                           \
    X(cuEventDestroy)                                                          \
    X(cuEventQuery)                                                            \
    X(cuEventRecord)                                                           \
    X(cuEventRecordWithFlags)                                                  \
    X(cuEventSynchronize)                                                      \
    X(cuEventElapsedTime)                                                      \
    X(cuGraphDestroy)                                                          \
    X(cuGraphInstantiateWithFlags)                                             \
    X(cuGraphExecDestroy)                                                      \
    X(cuGraphUpload)                                                           \
    X(cuGraphLaunch)                                                           \
    X(cuModuleLoadData)                                                        \
    X(cuModuleUnload)                                                          \
    X(cuModuleGetFunction)                                                     \
    X(cuFuncGetAttribute)                                                      \
    X(cuFuncSetAttribute)                                                      \
    X(cuLaunchKernelEx)

/* Green contexts, from CUDA 12.5 on; a list of its own, since a driver may be
 * older. */
#if CUDA_VERSION >= 12050
#define MO_CUDA_GREEN_CONTEXT_SYMBOLS(X)                                       \
    X(cuDeviceGetDevResource)                                                  \
    X(cuDevSmResourceSplitByCount)                                             \
    X(cuDevResourceGenerateDesc)                                               \
    X(cuGreenCtxCreate)                                                        \
    X(cuGreenCtxDestroy)                                                       \
    X(cuGreenCtxStreamCreate)
#else
#define MO_CUDA_GREEN_CONTEXT_SYMBOLS(X)
#endif

#define MO_CUDA_NVRTC_SYMBOLS(X)                                               \
    X(nvrtcVersion)                                                            \
    X(nvrtcGetErrorString)                                                     \
    X(nvrtcGetNumSupportedArchs)                                               \
    X(nvrtcGetSupportedArchs)                                                  \
    X(nvrtcCreateProgram)                                                      \
    X(nvrtcDestroyProgram)                                                     \
    X(nvrtcCompileProgram)                                                     \
    X(nvrtcGetCUBINSize)                                                       \
    X(nvrtcGetCUBIN)                                                           \
    X(nvrtcGetPTXSize)                                                         \
    X(nvrtcGetPTX)                                                             \
    X(nvrtcGetProgramLogSize)                                                  \
    X(nvrtcGetProgramLog)

#define MO_CUDA_CUBLASLT_SYMBOLS(X)                                            \
    X(cublasLtGetVersion)                                                      \
    X(cublasLtGetStatusString)                                                 \
    X(cublasLtCreate)                                                          \
    X(cublasLtDestroy)                                                         \
    X(cublasLtMatmul)                                                          \
    X(cublasLtMatmulAlgoGetHeuristic)                                          \
    X(cublasLtMatmulDescCreate)                                                \
    X(cublasLtMatmulDescDestroy)                                               \
    X(cublasLtMatmulDescSetAttribute)                                          \
    X(cublasLtMatrixLayoutCreate)                                              \
    X(cublasLtMatrixLayoutDestroy)                                             \
    X(cublasLtMatrixLayoutSetAttribute)                                        \
    X(cublasLtMatmulPreferenceCreate)                                          \
    X(cublasLtMatmulPreferenceDestroy)                                         \
    X(cublasLtMatmulPreferenceSetAttribute)

#define MO_CUDA_CUDNN_SYMBOLS(X)                                               \
    X(cudnnGetVersion)                                                         \
    X(cudnnGetErrorString)                                                     \
    X(cudnnGetLastErrorString)                                                 \
    X(cudnnCreate)                                                             \
    X(cudnnDestroy)                                                            \
    X(cudnnSetStream)                                                          \
    X(cudnnBackendCreateDescriptor)                                            \
    X(cudnnBackendDestroyDescriptor)                                           \
    X(cudnnBackendSetAttribute)                                                \
    X(cudnnBackendGetAttribute)                                                \
    X(cudnnBackendFinalize)                                                    \
    X(cudnnBackendExecute)

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

/* Loads driver and NVRTC on the first call in a process; thread-safe. Returns
 * in *api a pointer that stays valid for the life of the process. MO_E_SUPPORT
 * names what is missing: driver, GPU or NVRTC. */
mo_status mo_cuda_api_get(const mo_cuda_api **api, mo_error *err);

/* Returns whether cuBLASLt and cuDNN are available. The first call loads the
 * library, which is large; their members of mo_cuda_api may be used only after
 * it returned true. Thread-safe. */
bool mo_cuda_has_cublaslt(void);
bool mo_cuda_has_cudnn(void);

/* Fails if a library that MOIRAI_CUBLASLT or MOIRAI_CUDNN names cannot be
 * loaded; the error is that of loading it. */
mo_status mo_cuda_api_check_overrides(mo_error *err);

/* Loads the symbols of green contexts, which drivers before CUDA 12.5 lack;
 * their members may be used only after MO_OK. The error names the driver
 * needed. */
mo_status mo_cuda_api_require_green_contexts(mo_error *err);

/* Fills in the members of NVRTC alone, for compiling without a GPU. */
mo_status mo_cuda_api_load_nvrtc(mo_cuda_api *api, mo_error *err);

/* Map a result of the driver, NVRTC, cuBLASLt or cuDNN to a status: MO_OK for
 * success, else an error of one line, "CUDA: cuLaunchKernel: out of memory
 * (2); ...", with a remedy. what names the function. They wrap every call:
 * mo_cuda_check(api, "cuMemAlloc", api->cuMemAlloc(...), err). */
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
