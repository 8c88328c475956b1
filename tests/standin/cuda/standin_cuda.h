/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin_cuda.h - the parts of a CUDA driver and an NVRTC that run kernels on
 * the CPU, so that the whole CUDA backend can be tested without a GPU.
 *
 * standin_cuda.so has the entry points of both libraries:
 *
 *     MOIRAI_CUDA=tests/standin/standin_cuda.so
 * MOIRAI_NVRTC=tests/standin/standin_cuda.so
 *
 * NVRTC's half gives the source to cc ($CC, or "cc") as C11; what it calls a
 * cubin is a shared object.  The driver's half loads that and runs the threads
 * of a block as fibers, which only give way where threads wait for each other.
 * Streams do at once what they are told.  What a GPU would let pass in silence
 * is told on stderr and fails: writes past the end of an allocation, barriers
 * that not all threads reach, graphs whose parts are not joined.
 */
#ifndef MO_TESTS_STANDIN_CUDA_STANDIN_CUDA_H
#define MO_TESTS_STANDIN_CUDA_STANDIN_CUDA_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STANDIN_VERSION = 12990, /* of driver and compiler: no real one's */
    STANDIN_SMS = 132,
    STANDIN_WARP = 32,
    STANDIN_THREADS = 1024,          /* of a block */
    STANDIN_CLUSTER = 8,             /* blocks */
    STANDIN_SHARED = 227 << 10,      /* of a block */
    STANDIN_PLAIN_SHARED = 48 << 10, /* unless a function asks for more */
    STANDIN_PATTERN = 0xC7,          /* in memory that nobody wrote to */
    STANDIN_MOST_GPUS = 8,
    STANDIN_NO_GPU = -1
};

#define STANDIN_MEMORY ((size_t) 1 << 30) /* of each GPU */

/* One line on stderr. */
void standin_tell(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* All entry points that touch what is shared hold this. */
void standin_lock(void);
void standin_unlock(void);

/* ---- GPUs */

int standin_gpus(void);
bool standin_is_gpu(CUdevice device);

/* The one whose context is current in this thread, or STANDIN_NO_GPU. */
int standin_gpu(void);
int standin_context_gpu(CUcontext context);

/* May a GPU touch another one's memory?  Whoever asks holds the lock. */
bool standin_reaches(int gpu, int other);

/* ---- memory */

/* Whole allocations of a GPU that are alive; their bytes. */
int standin_allocations(int gpu, size_t *bytes);

/* The GPU whose memory this is, or STANDIN_NO_GPU.  Whoever asks holds the
 * lock. */
int standin_memory_gpu(const void *memory);

/* Tells of every allocation that was written past its end; true if none. */
bool standin_memory_is_sound(const char *after);

/* Size bytes that end right before memory that cannot be touched (up to
 * alignment, a power of two); given back with the same size. */
void *standin_fenced_new(size_t size, size_t align);
void standin_fenced_free(void *memory, size_t size, size_t align);

/* ---- fibers: one scheduler, which enters them; they leave to it. */

typedef struct standin_fiber standin_fiber;

/* Runs entry on a stack of its own when it is entered.  Fibers that are done
 * are given back.  NULL: there is no memory. */
standin_fiber *standin_fiber_new(void (*entry)(void));
void standin_fiber_free(standin_fiber *fiber);
void standin_fiber_enter(standin_fiber *fiber);
void standin_fiber_leave(standin_fiber *fiber);

/* ---- threads of a block */

typedef struct standin_dim {
    unsigned x, y, z;
} standin_dim;

/* What threadIdx and the others are; the kernels' view of it is in
 * standin_cuda_nvrtc.c. */
typedef struct standin_place {
    standin_dim thread, block, threads, blocks;
} standin_place;

typedef struct standin_launch {
    const char *name;
    const struct CUgreenCtx_st *green; /* NULL: on the whole device */
    void (*call)(void **args);
    void **args;
    standin_dim blocks, threads, cluster;
    size_t dynamic; /* bytes of shared memory */
    char *statics;  /* the shared variables of its module */
    size_t n_statics;
} standin_launch;

/* Over the whole grid; false, and told, if it went wrong. */
bool standin_run(const standin_launch *launch);

/* ---- warps */

/* What a thread brings to something that its warp does together, and what it
 * gets. */
typedef struct standin_exchange {
    void (*act)(struct standin_exchange *lanes[STANDIN_WARP]);
    unsigned mask;
    int how;
    uint32_t a[4], b[2];
    uint32_t c[4]; /* in and out */
    const void *from;
} standin_exchange;

/* Waits until all threads of exchange->mask came with the same act; the last
 * one does it for all.  lanes[i] is NULL outside of the mask. */
void standin_meet(standin_exchange *exchange);

/* ---- streams */

/* Something that another stand-in does in a stream, as often as it is run there
 * (a captured one, with its graph).  When its time has come it is begun; poll
 * is then asked until it says that it is done.  The context is kept and dropped
 * once for every copy. */
typedef struct standin_errand {
    void (*begin)(void *context);
    bool (*poll)(void *context);
    void (*keep)(void *context);
    void (*drop)(void *context);
} standin_errand;

typedef struct standin_node {
    void (*run)(struct standin_node *node);
    CUresult result; /* of running it */
    int *before;     /* the nodes it waits for */
    int n_before;
    const struct CUgreenCtx_st *green; /* of its stream, or NULL */
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
    /* errands, which have no run */
    const standin_errand *errand;
    void *context;
    bool begun;
} standin_node;

/* The GPU it is of. */
int standin_stream_gpu(CUstream stream);

/* Does what node says, or notes it where the stream is being captured.  *node
 * and its args are copied when it is kept. */
CUresult standin_submit(CUstream stream, const standin_node *node);

/* The entry point for other stand-ins; the errand outlives all graphs. */
CUresult standin_foreign(CUstream stream, const standin_errand *errand,
                         void *context);

/* Copies and frees the arguments of a launch. */
CUresult standin_args_copy(standin_node *node);
void standin_args_free(standin_node *node);

/* A stream is being captured in a way that forbids to allocate. */
bool standin_is_capturing(void);

/* ---- NVRTC */

/* Functions that take the arguments of each kernel in source as the driver has
 * them, and the sizes of these.  free() it; NULL: a kernel's head cannot be
 * read, or no memory. */
char *standin_wrappers(const char *source, const char *preprocessed);

#endif
