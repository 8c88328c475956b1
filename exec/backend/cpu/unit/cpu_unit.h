/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_unit.h - internals of the CPU backend: a unit with its thread pool, and
 * one kernel class per kind of call, each in its own file.
 *
 * A kernel's struct begins with mo_cpu_kernel. Everything that depends on
 * shapes and constants is computed when it is prepared. Running allocates
 * nothing and does not write to the kernel, and its results do not depend on
 * the number of threads: work is divided by size.
 */
#ifndef MO_EXEC_BACKEND_CPU_UNIT_CPU_UNIT_H
#define MO_EXEC_BACKEND_CPU_UNIT_CPU_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/op/call.h"

/*
 * Fork-join thread pool of one device. Kernels take a few microseconds and
 * follow each other closely, so workers spin for a short while before they
 * block, and a sleeping worker is never waited for: jobs are taken one by one
 * from a shared counter, and a late worker finds none left.
 */
typedef struct mo_cpu_thread_pool mo_cpu_thread_pool;

/* Runs one job. worker is from 0 to one less than the pool's size, for
 * per-worker scratch. The assignment of jobs to workers is not deterministic:
 * results must not depend on it. */
typedef void mo_cpu_thread_pool_task_fn(void *context, int job, int worker);

/* The same for elements begin, ..., end - 1. */
typedef void mo_cpu_thread_pool_range_fn(void *context, int64_t begin,
                                         int64_t end, int worker);

/*
 * Creates a pool of threads, the caller of mo_cpu_thread_pool_run included; 0:
 * one per processor in cpus, or of this process. With cpus (n_cpus of them;
 * NULL: no affinity) threads are pinned to those, each to its own if there are
 * enough; so is every thread that runs the pool, from then on. The caller
 * frees *pool.
 */
mo_status mo_cpu_thread_pool_new(int threads, const int *cpus, int n_cpus,
                                 mo_cpu_thread_pool **pool, mo_error *err);
void mo_cpu_thread_pool_free(mo_cpu_thread_pool *pool);

int mo_cpu_thread_pool_size(const mo_cpu_thread_pool *pool);

/* Returns the sum of the run delays (exec/thread/run_delay.h) of its threads,
 * without that of a caller; 0 where they are unknown. */
int64_t mo_cpu_thread_pool_run_delay_ns(const mo_cpu_thread_pool *pool);

/* Runs jobs 0, ..., n_jobs - 1, started in this order, and returns when all
 * are done. Not reentrant: one thread at a time may run a pool, and no job may
 * run it again. */
void mo_cpu_thread_pool_run(mo_cpu_thread_pool *pool, int n_jobs,
                            mo_cpu_thread_pool_task_fn *work, void *context);

/* Covers count elements in ranges of size (the last may be shorter), larger
 * where there would be too many. Boundaries depend on count and size alone. */
void mo_cpu_thread_pool_parallel_for(mo_cpu_thread_pool *pool, int64_t count,
                                     int64_t size,
                                     mo_cpu_thread_pool_range_fn *work,
                                     void *context);

struct mo_cpu_block_kernels;
struct mo_cpu_micro_kernels;
struct mo_cpu_shared_panels;

typedef struct mo_cpu_unit {
    mo_cpu_thread_pool *pool;
    int threads;                                      /* of the thread pool */
    const struct mo_cpu_micro_kernels *micro_kernels; /* gemm/micro_kernel.h */
    const struct mo_cpu_block_kernels *block_kernels; /* gemm/block_kernels.h */
    bool sizes_only;      /* as in mo_backend_unit_options */
    int64_t packed_bytes; /* of constants */
    struct mo_cpu_shared_panels *panels; /* gemm/packed_gemm.h */
} mo_cpu_unit;

typedef struct mo_cpu_kernel mo_cpu_kernel;

/* As in mo_backend. The call outlives its kernel, which may point to it. */
typedef struct mo_cpu_kernel_class {
    /* *kernel begins as NULL, *workspace as 0, which a kernel without scratch
     * leaves. Scratch of several workers is one block: see
     * mo_cpu_worker_scratch. */
    mo_status (*prepare)(mo_cpu_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_cpu_kernel **kernel,
                         size_t *workspace, mo_error *err);
    /* workspace is never NULL, so that offsets of 0 may be added to it. */
    mo_status (*run)(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                     const void *const *in, void *const *out, void *workspace,
                     mo_error *err);
    void (*free)(mo_cpu_kernel *kernel); /* NULL: with free() */
} mo_cpu_kernel_class;

struct mo_cpu_kernel {
    const mo_cpu_kernel_class *cls; /* set by the backend if it is NULL */
    uint64_t consumed;              /* bit i: in[i] is never read again */
};

extern const mo_cpu_kernel_class mo_cpu_view;
extern const mo_cpu_kernel_class mo_cpu_pointwise;
extern const mo_cpu_kernel_class mo_cpu_copy;
extern const mo_cpu_kernel_class mo_cpu_matmul;
extern const mo_cpu_kernel_class mo_cpu_conv;
extern const mo_cpu_kernel_class mo_cpu_pool;
extern const mo_cpu_kernel_class mo_cpu_reduce;
extern const mo_cpu_kernel_class mo_cpu_softmax;
extern const mo_cpu_kernel_class mo_cpu_norm;
extern const mo_cpu_kernel_class mo_cpu_gather;
extern const mo_cpu_kernel_class mo_cpu_scatter;
extern const mo_cpu_kernel_class mo_cpu_topk;
extern const mo_cpu_kernel_class mo_cpu_cumsum;
extern const mo_cpu_kernel_class mo_cpu_interpolate;
extern const mo_cpu_kernel_class mo_cpu_attention;
extern const mo_cpu_kernel_class mo_cpu_range;
extern const mo_cpu_kernel_class mo_cpu_rnn;
extern const mo_cpu_kernel_class mo_cpu_grid_sample;
extern const mo_cpu_kernel_class mo_cpu_linear;
extern const mo_cpu_kernel_class mo_cpu_experts;
extern const mo_cpu_kernel_class mo_cpu_dequantize;

enum { MO_CPU_CACHE_LINE = 64 };

/* Returns bytes rounded up to a multiple of a cache line. */
static inline size_t mo_cpu_round_to_line(size_t bytes)
{
    return (bytes + MO_CPU_CACHE_LINE - 1) / MO_CPU_CACHE_LINE *
           MO_CPU_CACHE_LINE;
}

/* Returns the part of a worker in a workspace of unit->threads parts of bytes
 * each. */
static inline void *mo_cpu_worker_scratch(void *workspace, size_t bytes,
                                          int worker)
{
    return (char *) workspace + mo_cpu_round_to_line(bytes) * (size_t) worker;
}

/* Appends a part of that many bytes to a worker's scratch that ends at *end;
 * returns its offset. */
static inline size_t mo_cpu_append_part(size_t *end, size_t bytes)
{
    size_t at = *end;

    *end += mo_cpu_round_to_line(bytes);
    return at;
}

/* Returns the size of that workspace. */
static inline size_t mo_cpu_workspace_size(const mo_cpu_unit *unit,
                                           size_t bytes)
{
    return mo_cpu_round_to_line(bytes) * (size_t) unit->threads;
}

#endif
