/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_api_symbols.h - X-macro lists of the functions used of each library;
 * cuda_api.h makes members of them, cuda_api.c symbol tables.
 */
#ifndef MO_EXEC_BACKEND_CUDA_DRIVER_CUDA_API_SYMBOLS_H
#define MO_EXEC_BACKEND_CUDA_DRIVER_CUDA_API_SYMBOLS_H

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

#endif
