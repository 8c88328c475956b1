/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_unit.h - what is inside the CPU backend: one maker of kernels per kind of
 * call, each in a file of its own.
 *
 * A kernel's struct begins with mo_backend_kernel.  Whatever depends on shapes
 * and constants is done when it is prepared.  Running allocates nothing and
 * writes nothing to the kernel, and its results do not depend on how many
 * threads the unit has: work is cut by its size.
 */
#ifndef MO_EXEC_BACKEND_CPU_UNIT_CPU_UNIT_H
#define MO_EXEC_BACKEND_CPU_UNIT_CPU_UNIT_H

#include <stddef.h>

#include "base/error.h"
#include "exec/backend/backend.h"
#include "exec/backend/cpu/unit/thread_pool.h"
#include "exec/op/call.h"

struct mo_cpu_micro_kernels;

struct mo_backend_unit {
    mo_cpu_thread_pool *crew;
    int threads;                              /* of the crew */
    const struct mo_cpu_micro_kernels *tiles; /* gemm/micro_kernel.h */
};

/* As in mo_backend.  The call lives as long as its kernel, so that the kernel
 * may point to it. */
typedef struct mo_cpu_kernel_class {
    /* *kernel begins as NULL, *workspace as 0: what a kernel without scratch
     * leaves alone.  Scratch of several workers is one block: see
     * mo_cpu_worker_scratch. */
    mo_status (*prepare)(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         size_t *workspace, mo_error *err);
    mo_status (*run)(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                     const void *const *in, void *const *out, void *workspace,
                     mo_error *err);
    void (*drop)(mo_backend_kernel *kernel);
} mo_cpu_kernel_class;

struct mo_backend_kernel {
    const mo_cpu_kernel_class *maker; /* filled in by the backend */
    uint64_t consumed;                /* bit i: in[i] is never read again */
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

enum { MO_CPU_CACHE_LINE = 64 };

/* bytes rounded up so that what lies behind begins on a line of its own. */
static inline size_t mo_cpu_round_to_line(size_t bytes)
{
    return (bytes + MO_CPU_CACHE_LINE - 1) / MO_CPU_CACHE_LINE *
           MO_CPU_CACHE_LINE;
}

/* The part of a worker in a workspace of unit->threads parts of bytes each. */
static inline void *mo_cpu_worker_scratch(void *workspace, size_t bytes,
                                          int worker)
{
    return (char *) workspace + mo_cpu_round_to_line(bytes) * (size_t) worker;
}

/* How large that workspace is. */
static inline size_t mo_cpu_workspace_size(const mo_backend_unit *unit,
                                           size_t bytes)
{
    return mo_cpu_round_to_line(bytes) * (size_t) unit->threads;
}

#endif
