/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/version.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_CUDA
#include "exec/backend/cuda/driver/cuda_api.h"
#ifdef HAVE_NCCL
#include "exec/transport/nccl/nccl_api.h"
#endif
#endif

/* Optional libraries the program is linked with. */
static const char linked_libraries[] =
#ifdef HAVE_BLAS
    "BLAS, "
#endif
#ifdef HAVE_MPI
    "MPI, "
#endif
#ifdef HAVE_OPENSSL
    "OpenSSL, "
#endif
#ifdef HAVE_HWLOC
    "hwloc, "
#endif
    "";

#ifdef HAVE_CUDA
enum { CUDA_TEXT_SIZE = 512 };

MO_PRINTF(2, 3)
static void append_text(char text[CUDA_TEXT_SIZE], const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, CUDA_TEXT_SIZE - used, format, args);
    va_end(args);
}

static void append_libraries(const mo_cuda_api *api, char *text)
{
    append_text(text, "CUDA driver %d.%d, NVRTC %d.%d",
                api->driver_version / 1000, api->driver_version % 1000 / 10,
                api->nvrtc_version / 1000, api->nvrtc_version % 1000 / 10);
#ifdef HAVE_CUBLASLT
    if (mo_cuda_has_cublaslt()) {
        size_t v = api->cublasLtGetVersion();

        append_text(text, ", cuBLASLt %zu.%zu.%zu", v / 10000, v / 100 % 100,
                    v % 100);
    }
#endif
#ifdef HAVE_CUDNN
    if (mo_cuda_has_cudnn()) {
        size_t v = api->cudnnGetVersion();

        append_text(text, ", cuDNN %zu.%zu.%zu", v / 10000, v / 100 % 100,
                    v % 100);
    }
#endif
#ifdef HAVE_NCCL
    const mo_nccl_api *nccl;
    char version[MO_NCCL_VERSION_SIZE];

    if (mo_nccl_api_get(&nccl, NULL) == MO_OK)
        append_text(text, ", NCCL %s",
                    mo_nccl_version_format(nccl->version, version));
#endif
}

static void append_gpus(const mo_cuda_api *api, char *text)
{
    int n = 0;

    api->cuDeviceGetCount(&n);
    for (int i = 0; i < n; i++) {
        char name[128] = "";
        CUdevice device;

        if (api->cuDeviceGet(&device, i) == CUDA_SUCCESS &&
            api->cuDeviceGetName(name, sizeof name, device) == CUDA_SUCCESS)
            append_text(text, "; GPU %d: %s", i, name);
    }
}

const char *mo_exec_version_text(char text[MO_EXEC_VERSION_TEXT_SIZE])
{
    char cuda[CUDA_TEXT_SIZE] = "";
    const mo_cuda_api *api;
    mo_error err = { 0 };

    if (mo_cuda_api_get(&api, &err) == MO_OK) {
        append_libraries(api, cuda);
        append_gpus(api, cuda);
    } else {
        append_text(cuda, "no GPU: %s", err.text);
    }
    snprintf(text, MO_EXEC_VERSION_TEXT_SIZE, "%s%s", linked_libraries, cuda);
    return text;
}
#else
const char *mo_exec_version_text(char text[MO_EXEC_VERSION_TEXT_SIZE])
{
    snprintf(text, MO_EXEC_VERSION_TEXT_SIZE, "%sno GPU: built without CUDA",
             linked_libraries);
    return text;
}
#endif
