/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error texts: status codes of CUDA, NVRTC, cuBLASLt and cuDNN as mo_error,
 * with a remedy where one is known.
 */
#include <config.h>

#include "exec/backend/cuda/driver/cuda_api.h"

static const char *cuda_remedy(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
        return "use a smaller batch, or a device with more memory";
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
        return "see nvidia-smi and CUDA_VISIBLE_DEVICES";
    case CUDA_ERROR_STUB_LIBRARY:
        return "this file is only there to link with; let MOIRAI_CUDA name the "
               "driver's";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
        return "update NVIDIA's driver, or take an NVRTC that is not newer";
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
        return "another process has the GPU for itself: wait for it";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
        return "a kernel of ours is wrong: please report it with what "
               "compute-sanitizer says";
    case CUDA_ERROR_LAUNCH_TIMEOUT:
        return "a GPU that drives a screen limits kernels: use another";
    case CUDA_ERROR_ECC_UNCORRECTABLE:
        return "the GPU's memory is damaged: reset or replace it";
    default:
        return "nvidia-smi and the kernel's log may tell more";
    }
}

mo_status mo_cuda_check(const mo_cuda_api *api, const char *what,
                        CUresult result, mo_error *err)
{
    const char *text = NULL;
    mo_status status = MO_E_IO;

    if (result == CUDA_SUCCESS)
        return MO_OK;
    if (api->cuGetErrorString(result, &text) != CUDA_SUCCESS || !text)
        text = "unknown error";
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        status = MO_E_MEMORY;
    if (result == CUDA_ERROR_NOT_SUPPORTED || result == CUDA_ERROR_NO_DEVICE)
        status = MO_E_SUPPORT;
    return mo_fail(err, status, "CUDA: %s: %s (%d); %s", what, text,
                   (int) result, cuda_remedy(result));
}

mo_status mo_cuda_check_nvrtc(const mo_cuda_api *api, const char *what,
                              nvrtcResult result, mo_error *err)
{
    if (result == NVRTC_SUCCESS)
        return MO_OK;
    return mo_fail(err,
                   result == NVRTC_ERROR_OUT_OF_MEMORY ? MO_E_MEMORY : MO_E_IO,
                   "NVRTC: %s: %s (%d); is another version of it mixed in? "
                   "MOIRAI_NVRTC names the file to take",
                   what, api->nvrtcGetErrorString(result), (int) result);
}

#ifdef HAVE_CUBLASLT
mo_status mo_cuda_check_cublas(const mo_cuda_api *api, const char *what,
                               cublasStatus_t result, mo_error *err)
{
    mo_status status = MO_E_IO;

    if (result == CUBLAS_STATUS_SUCCESS)
        return MO_OK;
    if (result == CUBLAS_STATUS_NOT_SUPPORTED ||
        result == CUBLAS_STATUS_ARCH_MISMATCH)
        status = MO_E_SUPPORT;
    if (result == CUBLAS_STATUS_ALLOC_FAILED)
        status = MO_E_MEMORY;
    return mo_fail(err, status,
                   "cuBLASLt: %s: %s (%d); an empty MOIRAI_CUBLASLT does "
                   "without it",
                   what, api->cublasLtGetStatusString(result), (int) result);
}
#endif

#ifdef HAVE_CUDNN
mo_status mo_cuda_check_cudnn(const mo_cuda_api *api, const char *what,
                              cudnnStatus_t result, mo_error *err)
{
    char last[256] = "";

    if (result == CUDNN_STATUS_SUCCESS)
        return MO_OK;
    api->cudnnGetLastErrorString(last, sizeof last);
    /* From cuDNN 9 on the last three digits are the reason. */
    return mo_fail(err,
                   (int) result / 1000 ==
                           (int) CUDNN_STATUS_NOT_SUPPORTED / 1000
                       ? MO_E_SUPPORT
                       : MO_E_IO,
                   "cuDNN: %s: %s (%d)%s%s; an empty MOIRAI_CUDNN does without "
                   "it",
                   what, api->cudnnGetErrorString(result), (int) result,
                   *last ? ": " : "", last);
}
#endif
