/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_cuda.h - a CUDA driver and an NVRTC that run kernels on the CPU, so
 * that the whole CUDA backend is tested without a GPU.
 *
 * standin_cuda.so has the entry points of both libraries:
 *
 *     MOIRAI_CUDA=tests/standin/standin_cuda.so
 *     MOIRAI_NVRTC=tests/standin/standin_cuda.so
 *
 * Its NVRTC compiles the source by cc ($CC, or "cc") as C11; a cubin is a
 * shared object. The driver loads it and runs the threads of a block as
 * fibers, which switch only where threads synchronise. Streams execute
 * immediately. Errors that a GPU ignores are reported on stderr and fail:
 * writes past the end of an allocation, barriers that not all threads reach,
 * captures that are not joined.
 */
#ifndef MO_TESTS_STANDIN_CUDA_STANDIN_CUDA_H
#define MO_TESTS_STANDIN_CUDA_STANDIN_CUDA_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STANDIN_VERSION = 12990, /* of driver and compiler; no real one */
    STANDIN_SMS = 132,
    STANDIN_WARP = 32,
    STANDIN_THREADS = 1024,          /* of a block */
    STANDIN_CLUSTER = 8,             /* blocks */
    STANDIN_SHARED = 227 << 10,      /* bytes per block */
    STANDIN_PLAIN_SHARED = 48 << 10, /* the same without opting in */
    STANDIN_PATTERN = 0xC7,          /* fills uninitialised memory */
    STANDIN_MOST_GPUS = 8,
    STANDIN_NO_GPU = -1
};

#define STANDIN_MEMORY ((size_t) 1 << 30) /* of each GPU */

/* Prints one line on stderr. */
void standin_report(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* All entry points that access shared state hold this lock. */
void standin_lock(void);
void standin_unlock(void);

/* GPUs */

int standin_gpus(void);
bool standin_is_gpu(CUdevice device);

/* Returns the GPU of the calling thread's current context, or
 * STANDIN_NO_GPU. */
int standin_gpu(void);
int standin_context_gpu(CUcontext context);

/* Whether a GPU may access another one's memory. The caller holds the lock. */
bool standin_reaches(int gpu, int other);

/* Memory */

/* Returns the number of live allocations of a GPU, and their bytes. */
int standin_allocations(int gpu, size_t *bytes);

/* Returns the GPU that owns the memory, or STANDIN_NO_GPU. The caller holds
 * the lock. */
int standin_memory_gpu(const void *memory);

/* Reports every allocation that was written past its end; returns true if none
 * was. */
bool standin_memory_is_sound(const char *after);

/* Allocates size bytes that end right before a guard page (up to alignment, a
 * power of two); returns NULL without memory. The caller frees them with the
 * same size. */
void *standin_fenced_new(size_t size, size_t align);
void standin_fenced_free(void *memory, size_t size, size_t align);

/* Fibers: one scheduler, which enters them; they return to it. */

typedef struct standin_fiber standin_fiber;

/* Allocates a fiber that runs entry on its own stack when it is entered;
 * returns NULL without memory. Completed fibers are freed. */
standin_fiber *standin_fiber_new(void (*entry)(void));
void standin_fiber_free(standin_fiber *fiber);
void standin_fiber_enter(standin_fiber *fiber);
void standin_fiber_leave(standin_fiber *fiber);
/* Leaves one and enters another, which was left before, at once: the latter
 * leaves to where the former would have.  Returns false at once where that is
 * impossible. */
bool standin_fiber_hop(standin_fiber *fiber, standin_fiber *next);

/* Threads of a block */

typedef struct standin_dim {
    unsigned x, y, z;
} standin_dim;

/* threadIdx and the others; nvrtc.c has the kernels' declaration. */
typedef struct standin_place {
    standin_dim thread, block, threads, blocks;
} standin_place;

typedef struct standin_launch {
    const char *name;
    const struct CUgreenCtx_st *green; /* NULL: the whole device */
    void (*call)(void **args);
    void **args;
    standin_dim blocks, threads, cluster;
    size_t dynamic; /* bytes of shared memory */
    char *statics;  /* the shared variables of its module */
    size_t n_statics;
} standin_launch;

/* Runs the whole grid; returns false, with a report, on an error. */
bool standin_run(const standin_launch *launch);

/* Warps */

/* Input and output of a thread in a warp-wide operation. */
typedef struct standin_exchange {
    void (*act)(struct standin_exchange *lanes[STANDIN_WARP]);
    unsigned mask;
    int how;
    uint32_t a[4], b[2];
    uint32_t c[4]; /* in and out */
    const void *from;
} standin_exchange;

/* Waits until all threads of exchange->mask have called it with the same act;
 * the last one computes it for all. lanes[i] is NULL outside of the mask. */
void standin_meet(standin_exchange *exchange);

/* Streams */

/* An external operation: something asynchronous that another stand-in (NCCL)
 * does in a stream, once per run (if captured, per launch of the graph). begin
 * is called when its predecessors are complete, poll until it returns true.
 * The context is retained and released once for every copy. */
typedef struct standin_external_op {
    void (*begin)(void *context);
    bool (*poll)(void *context);
    void (*keep)(void *context);
    void (*drop)(void *context);
} standin_external_op;

typedef struct standin_node {
    void (*run)(struct standin_node *node);
    CUresult result; /* of running it */
    int *before;     /* predecessors */
    int n_before;
    const struct CUgreenCtx_st *green; /* of its stream; NULL: none */
    /* launches */
    const struct CUfunc_st *function;
    standin_dim blocks, threads, cluster;
    size_t dynamic;
    void **args;
    /* copies and fills */
    void *to;
    const void *from;
    size_t bytes;
    unsigned char fill;
    /* external operations, which have no run */
    const standin_external_op *errand;
    void *context;
    bool begun;
} standin_node;

/* Returns the GPU of a stream. */
int standin_stream_gpu(CUstream stream);

/* Executes node, or records it where the stream is being captured. *node and
 * its args are copied when it is kept. */
CUresult standin_submit(CUstream stream, const standin_node *node);

/* Entry point for other stand-ins; the operation outlives all graphs. */
CUresult standin_foreign(CUstream stream, const standin_external_op *errand,
                         void *context);

/* Copies and frees the arguments of a launch. */
CUresult standin_args_copy(standin_node *node);
void standin_args_free(standin_node *node);

/* Whether a stream is being captured in a mode that forbids allocations. */
bool standin_is_capturing(void);

/* NVRTC */

/* Returns wrappers of each kernel in source that take its arguments as the
 * driver passes them, and the sizes of these; the caller frees it. NULL: a
 * signature cannot be parsed, or no memory. */
char *standin_wrappers(const char *source, const char *preprocessed);

#endif
