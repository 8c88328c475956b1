/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the stand-in's GPUs. An allocation ends right before a guard page,
 * up to the alignment that cuMemAlloc guarantees; the bytes between, and as
 * many before it, hold a pattern that must not change.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/standin/cuda/stream_queue.h"

enum { ALIGN = 256, CANARY = 0x5A };

typedef struct block {
    char *memory;
    size_t bytes;
    int gpu;
    struct block *next;
} block;

static block *blocks;
static size_t in_use[STANDIN_MOST_GPUS];

static size_t up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* Size of the mapping that holds size bytes, without the guard page. */
static size_t mapped(size_t size, size_t align)
{
    return up(up(size, align) + align, (size_t) sysconf(_SC_PAGESIZE));
}

void *standin_fenced_new(size_t size, size_t align)
{
    size_t page = (size_t) sysconf(_SC_PAGESIZE);
    size_t whole = mapped(size, align);
    char *all = mmap(NULL, whole + page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED)
        return NULL;
    if (mprotect(all + whole, page, PROT_NONE) != 0) {
        munmap(all, whole + page);
        return NULL;
    }
    return all + whole - up(size, align);
}

void standin_fenced_free(void *memory, size_t size, size_t align)
{
    size_t whole = mapped(size, align);
    char *end = (char *) memory + up(size, align);

    if (memory)
        munmap(end - whole, whole + (size_t) sysconf(_SC_PAGESIZE));
}

static bool is_canary(const char *from, const char *to)
{
    for (; from < to; from++)
        if (*from != CANARY)
            return false;
    return true;
}

static bool is_sound(const block *b)
{
    return is_canary(b->memory - ALIGN, b->memory) &&
           is_canary(b->memory + b->bytes, b->memory + up(b->bytes, ALIGN));
}

bool standin_memory_is_sound(const char *after)
{
    bool sound = true;

    for (const block *b = blocks; b; b = b->next) {
        if (is_sound(b))
            continue;
        standin_report("%s: something was written beside the allocation %p of "
                       "%zu bytes",
                       after, (void *) b->memory, b->bytes);
        sound = false;
    }
    return sound;
}

int standin_allocations(int gpu, size_t *bytes)
{
    int n = 0;

    for (const block *b = blocks; b; b = b->next)
        n += b->gpu == gpu;
    *bytes = in_use[gpu];
    return n;
}

static block *block_new(size_t bytes)
{
    block *b = malloc(sizeof *b);

    if (!b)
        return NULL;
    *b = (block){ .bytes = bytes, .memory = standin_fenced_new(bytes, ALIGN) };
    if (!b->memory) {
        free(b);
        return NULL;
    }
    memset(b->memory - ALIGN, CANARY, ALIGN);
    memset(b->memory, STANDIN_PATTERN, bytes);
    memset(b->memory + bytes, CANARY, up(bytes, ALIGN) - bytes);
    return b;
}

CUresult cuMemAlloc(CUdeviceptr *memory, size_t bytes)
{
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    int gpu = standin_gpu();
    block *b;

    if (!memory || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (gpu == STANDIN_NO_GPU)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (standin_is_capturing())
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    standin_lock();
    b = bytes <= STANDIN_MEMORY - in_use[gpu] ? block_new(bytes) : NULL;
    if (b) {
        b->gpu = gpu;
        b->next = blocks;
        blocks = b;
        in_use[gpu] += bytes;
        *memory = (CUdeviceptr) (uintptr_t) b->memory;
        result = CUDA_SUCCESS;
    }
    standin_unlock();
    return result;
}

static CUresult give_back(CUdeviceptr memory)
{
    for (block **at = &blocks; *at; at = &(*at)->next) {
        block *b = *at;

        if ((CUdeviceptr) (uintptr_t) b->memory != memory)
            continue;
        if (!standin_memory_is_sound("cuMemFree"))
            abort();
        *at = b->next;
        in_use[b->gpu] -= b->bytes;
        standin_fenced_free(b->memory, b->bytes, ALIGN);
        free(b);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

/* Like the driver it waits for all work that may use the memory. */
CUresult cuMemFree(CUdeviceptr memory)
{
    CUresult result;

    if (!memory)
        return CUDA_SUCCESS;
    standin_lock();
    standin_queue_drain();
    result = give_back(memory);
    standin_unlock();
    return result;
}

/* Of any GPU, without a context. */
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    int n = 0;

    *bytes = STANDIN_MEMORY;
    (void) cuDeviceGetCount(&n);
    return device >= 0 && device < n ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total)
{
    int gpu = standin_gpu();

    if (gpu == STANDIN_NO_GPU)
        return CUDA_ERROR_INVALID_CONTEXT;
    standin_lock();
    *free_bytes = STANDIN_MEMORY - in_use[gpu];
    *total = STANDIN_MEMORY;
    standin_unlock();
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    (void) flags;
    *memory = bytes ? aligned_alloc(ALIGN, up(bytes, ALIGN)) : NULL;
    return !bytes    ? CUDA_ERROR_INVALID_VALUE
           : *memory ? CUDA_SUCCESS
                     : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void *memory)
{
    free(memory);
    return memory ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static const block *block_at(const void *memory)
{
    const char *at = memory;

    for (const block *b = blocks; b; b = b->next)
        if (at >= b->memory && at <= b->memory + b->bytes)
            return b;
    return NULL;
}

int standin_memory_gpu(const void *memory)
{
    const block *b = block_at(memory);

    return b ? b->gpu : STANDIN_NO_GPU;
}

/* Whether the range lies in one allocation that the GPU may access. */
static bool is_inside(int gpu, const void *memory, size_t bytes)
{
    const block *b = block_at(memory);

    return b && standin_reaches(gpu, b->gpu) &&
           bytes <= (size_t) (b->memory + b->bytes - (const char *) memory);
}

static void run_copy(standin_node *node)
{
    memmove(node->to, node->from, node->bytes);
}

static void run_fill(standin_node *node)
{
    memset(node->to, node->fill, node->bytes);
}

static CUresult submit_copy(void *to, const void *from, size_t bytes,
                            bool inside, CUstream stream)
{
    standin_node node = {
        .run = run_copy, .to = to, .from = from, .bytes = bytes
    };

    if (!inside)
        standin_report("a copy of %zu bytes is not within one allocation of a "
                       "GPU that may be touched",
                       bytes);
    return inside ? standin_submit(stream, &node) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult copy(void *to, const void *from, size_t bytes,
                     const void *device, const void *other, CUstream stream)
{
    int gpu = standin_stream_gpu(stream);
    bool inside;

    standin_lock();
    inside = is_inside(gpu, device, bytes) &&
             (!other || is_inside(gpu, other, bytes));
    standin_unlock();
    return submit_copy(to, from, bytes, inside, stream);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                           CUstream stream)
{
    void *device = (void *) (uintptr_t) to;

    return copy(device, from, bytes, device, NULL, stream);
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes,
                           CUstream stream)
{
    const void *device = (const void *) (uintptr_t) from;

    return copy(to, device, bytes, device, NULL, stream);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                           CUstream stream)
{
    void *target = (void *) (uintptr_t) to;
    const void *source = (const void *) (uintptr_t) from;

    return copy(target, source, bytes, target, source, stream);
}

/* Needs no peer access: each end is accessed by its own GPU. */
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context,
                           CUdeviceptr from, CUcontext from_context,
                           size_t bytes, CUstream stream)
{
    void *target = (void *) (uintptr_t) to;
    const void *source = (const void *) (uintptr_t) from;
    const block *t, *s;
    bool inside;

    standin_lock();
    t = block_at(target);
    s = block_at(source);
    inside = t && s && t->gpu == standin_context_gpu(to_context) &&
             s->gpu == standin_context_gpu(from_context) &&
             is_inside(t->gpu, target, bytes) &&
             is_inside(s->gpu, source, bytes);
    standin_unlock();
    return submit_copy(target, source, bytes, inside, stream);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char fill, size_t bytes,
                         CUstream stream)
{
    standin_node node = { .run = run_fill,
                          .to = (void *) (uintptr_t) to,
                          .bytes = bytes,
                          .fill = fill };
    bool inside;

    int gpu = standin_stream_gpu(stream);

    standin_lock();
    inside = is_inside(gpu, node.to, bytes);
    standin_unlock();
    return inside ? standin_submit(stream, &node) : CUDA_ERROR_INVALID_VALUE;
}
