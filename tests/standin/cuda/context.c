/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs of the stand-in, MOIRAI_STANDIN_GPUS of them (default 1), and their
 * contexts. A context may access the memory of its own GPU, and that of others
 * after cuCtxEnablePeerAccess; where MOIRAI_STANDIN_PEERS is 0 that fails.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/standin/cuda/kernel_builtins.h"

struct CUctx_st {
    int retained;
    unsigned reaches; /* bit of each GPU with accessible memory */
};

static struct CUctx_st contexts[STANDIN_MOST_GPUS]; /* by GPU */
/* In a library opened late, thread-local variables come from __tls_get_addr,
 * the results of which LeakSanitizer misreads (and crashes on); with this TLS
 * model they do not. */
static _Thread_local CUcontext current
    __attribute__((tls_model("initial-exec")));

static int gpu_of(CUcontext context)
{
    return (int) (context - contexts);
}

int standin_gpus(void)
{
    const char *told = getenv("MOIRAI_STANDIN_GPUS");
    long n = told ? strtol(told, NULL, 10) : 1;

    return n < 1 ? 1 : n > STANDIN_MOST_GPUS ? STANDIN_MOST_GPUS : (int) n;
}

bool standin_is_gpu(CUdevice device)
{
    return device >= 0 && device < standin_gpus();
}

int standin_gpu(void)
{
    return current ? gpu_of(current) : STANDIN_NO_GPU;
}

bool standin_reaches(int gpu, int other)
{
    return gpu == other || (contexts[gpu].reaches >> other & 1);
}

CUresult cuDeviceGetCount(int *count)
{
    *count = standin_gpus();
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return standin_is_gpu(ordinal) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    if (!standin_is_gpu(device))
        return CUDA_ERROR_INVALID_DEVICE;
    standin_lock();
    contexts[device].retained++;
    standin_unlock();
    *context = &contexts[device];
    return CUDA_SUCCESS;
}

/* The driver would free remaining allocations; here they are reported as a
 * leak. */
CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    size_t bytes;
    int n;

    if (!standin_is_gpu(device) || contexts[device].retained == 0)
        return CUDA_ERROR_INVALID_VALUE;
    standin_lock();
    n = standin_allocations(device, &bytes);
    if (--contexts[device].retained == 0) {
        contexts[device].reaches = 0;
        if (n > 0) {
            standin_report("the context of GPU %d is released with %d "
                           "allocations, %zu bytes",
                           device, n, bytes);
            abort();
        }
    }
    standin_unlock();
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    current = context;
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    const char *told = getenv("MOIRAI_STANDIN_PEERS");

    if (!standin_is_gpu(device) || !standin_is_gpu(peer))
        return CUDA_ERROR_INVALID_DEVICE;
    *can = device != peer && !(told && strcmp(told, "0") == 0);
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    CUresult result = CUDA_SUCCESS;
    int can = 0;

    if (!current || flags)
        return CUDA_ERROR_INVALID_CONTEXT;
    cuDeviceCanAccessPeer(&can, gpu_of(current), gpu_of(peer));
    if (!can)
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    standin_lock();
    if (standin_reaches(gpu_of(current), gpu_of(peer)))
        result = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    current->reaches |= 1u << gpu_of(peer);
    standin_unlock();
    return result;
}

int standin_context_gpu(CUcontext context)
{
    return gpu_of(context);
}

/* The same clock for all GPUs. */
unsigned long long mo_cpu_globaltimer(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long) now.tv_sec * 1000000000 +
           (unsigned long long) now.tv_nsec;
}
