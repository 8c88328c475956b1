/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of the stand-in's GPU, and its errors.
 */
#include <config.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/standin/cuda/standin_cuda.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void standin_lock(void)
{
    pthread_mutex_lock(&lock);
}

void standin_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void standin_report(const char *format, ...)
{
    va_list args;
    char text[1024];

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "stand-in: %s\n", text);
}

CUresult cuInit(unsigned flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
    *version = STANDIN_VERSION;
    return CUDA_SUCCESS;
}

static const struct {
    CUresult code;
    const char *text;
} errors[] = {
    { CUDA_SUCCESS, "no error" },
    { CUDA_ERROR_INVALID_VALUE, "invalid argument" },
    { CUDA_ERROR_OUT_OF_MEMORY, "out of memory" },
    { CUDA_ERROR_INVALID_CONTEXT, "invalid device context" },
    { CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
      "peer access is not supported between these two devices" },
    { CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal" },
    { CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid" },
    { CUDA_ERROR_INVALID_HANDLE, "invalid resource handle" },
    { CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
      "invalid resource configuration" },
    { CUDA_ERROR_CONTEXT_IS_DESTROYED, "context is destroyed" },
    { CUDA_ERROR_ILLEGAL_STATE,
      "the operation cannot be performed in the present state" },
    { CUDA_ERROR_NOT_FOUND, "named symbol not found" },
    { CUDA_ERROR_NOT_READY, "device not ready" },
    { CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure" },
    { CUDA_ERROR_NOT_SUPPORTED, "operation not supported" },
    { CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
      "operation not permitted when stream is capturing" },
    { CUDA_ERROR_STREAM_CAPTURE_MERGE, "two captures would be merged" },
    { CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
      "capturing stream has unjoined work" },
    { CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
      "dependency created on uncaptured work in another stream" },
    { CUDA_ERROR_CAPTURED_EVENT,
      "operation not permitted on an event last recorded in a capturing "
      "stream" },
};

enum { N_ERRORS = sizeof errors / sizeof *errors };

CUresult cuGetErrorString(CUresult code, const char **text)
{
    for (int i = 0; i < N_ERRORS; i++)
        if (errors[i].code == code) {
            *text = errors[i].text;
            return CUDA_SUCCESS;
        }
    *text = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetName(char *name, int room, CUdevice device)
{
    snprintf(name, (size_t) room, "Stand-in");
    return standin_is_gpu(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/* As of an H200, as far as they are read. */
static const struct {
    CUdevice_attribute attribute;
    int value;
} attributes[] = {
    { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9 },
    { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0 },
    { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, STANDIN_SMS },
    { CU_DEVICE_ATTRIBUTE_WARP_SIZE, STANDIN_WARP },
    { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, STANDIN_THREADS },
    { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048 },
    { CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32 },
    { CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536 },
    { CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536 },
    { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, STANDIN_PLAIN_SHARED },
    { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, STANDIN_SHARED },
    { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
      STANDIN_SHARED + 1024 },
    { CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024 },
    { CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1 },
    { CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 50 << 20 },
    { CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000 },
    { CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000 },
    { CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144 },
};

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice device)
{
    if (!standin_is_gpu(device))
        return CUDA_ERROR_INVALID_DEVICE;
    *value = 0;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].attribute == attribute)
            *value = attributes[i].value;
    return CUDA_SUCCESS;
}
