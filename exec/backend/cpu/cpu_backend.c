/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU backend: table of kernels by kind of call, and memory of a unit. */
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cpu/gemm/blas.h"
#include "exec/backend/cpu/gemm/block_kernels.h"
#include "exec/backend/cpu/gemm/micro_kernel.h"
#include "exec/backend/cpu/unit/aligned_memory.h"
#include "exec/backend/cpu/unit/cpu_unit.h"

static const mo_cpu_kernel_class *const kernel_classes[MO_CALL_KINDS] = {
    [MO_CALL_VIEW] = &mo_cpu_view,
    [MO_CALL_POINT] = &mo_cpu_pointwise,
    [MO_CALL_COPY] = &mo_cpu_copy,
    [MO_CALL_MATMUL] = &mo_cpu_matmul,
    [MO_CALL_CONV] = &mo_cpu_conv,
    [MO_CALL_POOL] = &mo_cpu_pool,
    [MO_CALL_REDUCE] = &mo_cpu_reduce,
    [MO_CALL_SOFTMAX] = &mo_cpu_softmax,
    [MO_CALL_NORM] = &mo_cpu_norm,
    [MO_CALL_GATHER] = &mo_cpu_gather,
    [MO_CALL_SCATTER] = &mo_cpu_scatter,
    [MO_CALL_TOPK] = &mo_cpu_topk,
    [MO_CALL_CUMSUM] = &mo_cpu_cumsum,
    [MO_CALL_INTERPOLATE] = &mo_cpu_interpolate,
    [MO_CALL_ATTENTION] = &mo_cpu_attention,
    [MO_CALL_RANGE] = &mo_cpu_range,
    [MO_CALL_RNN] = &mo_cpu_rnn,
    [MO_CALL_GRID_SAMPLE] = &mo_cpu_grid_sample,
    [MO_CALL_LINEAR] = &mo_cpu_linear,
    [MO_CALL_EXPERTS] = &mo_cpu_experts,
    [MO_CALL_DEQUANTIZE] = &mo_cpu_dequantize,
};

/* Conversions from the opaque types of the contract: every unit and kernel that
 * reaches this backend was made by it. */
static inline mo_cpu_unit *cpu_unit(mo_backend_unit *unit)
{
    return (mo_cpu_unit *) unit;
}

static inline const mo_cpu_kernel *cpu_kernel(const mo_backend_kernel *kernel)
{
    return (const mo_cpu_kernel *) kernel;
}

static mo_status prepare_call(mo_backend_unit *unit, const mo_call *call,
                              const mo_backend_operand *in,
                              const mo_tensor_desc *out,
                              mo_backend_kernel **kernel, size_t *workspace,
                              mo_error *err)
{
    const mo_cpu_kernel_class *cls = kernel_classes[call->kind];
    mo_cpu_kernel *made = NULL;
    mo_status status;

    *workspace = 0;
    status = cls->prepare(cpu_unit(unit), call, in, out, &made, workspace, err);
    if (status != MO_OK)
        return status;
    made->cls = made->cls ? made->cls : cls;
    *kernel = (mo_backend_kernel *) made;
    return MO_OK;
}

static void free_kernel(mo_backend_unit *unit, mo_backend_kernel *kernel)
{
    (void) unit;
    if (kernel && cpu_kernel(kernel)->cls->free)
        cpu_kernel(kernel)->cls->free((mo_cpu_kernel *) kernel);
    else
        free(kernel);
}

static mo_status run_kernel(mo_backend_unit *unit,
                            const mo_backend_kernel *kernel,
                            const void *const *in, void *const *out,
                            void *workspace, mo_error *err)
{
    const mo_cpu_kernel *k = cpu_kernel(kernel);
    _Alignas(MO_CPU_CACHE_LINE) char empty[MO_CPU_CACHE_LINE];

    return k->cls->run(cpu_unit(unit), k, in, out,
                       workspace ? workspace : empty, err);
}

static bool has_consumed(const mo_backend_kernel *kernel, int in)
{
    return in < 64 && (cpu_kernel(kernel)->consumed >> in & 1);
}

static void close_unit(mo_backend_unit *unit)
{
    if (!unit)
        return;
    mo_cpu_thread_pool_free(cpu_unit(unit)->pool);
    free(unit);
}

static mo_status open_unit(const mo_backend_unit_options *options,
                           mo_backend_unit **unit, mo_error *err)
{
    mo_cpu_unit *u = calloc(1, sizeof *u);
    mo_status status;

    if (!u)
        return mo_fail_memory(err);
    status = mo_cpu_thread_pool_new(options->threads, options->cpus,
                                    options->n_cpus, &u->pool, err);
    if (status != MO_OK) {
        free(u);
        return status;
    }
    u->threads = mo_cpu_thread_pool_size(u->pool);
    u->micro_kernels = mo_cpu_micro_kernels_select();
    u->block_kernels = mo_cpu_block_kernels_select();
    u->sizes_only = options->sizes_only;
    mo_cpu_blas_set_single_thread();
    *unit = (mo_backend_unit *) u;
    return MO_OK;
}

static int64_t unit_packed_bytes(const mo_backend_unit *unit)
{
    return ((const mo_cpu_unit *) unit)->packed_bytes;
}

static int64_t unit_run_delay_ns(mo_backend_unit *unit)
{
    return mo_cpu_thread_pool_run_delay_ns(cpu_unit(unit)->pool);
}

/* First-touch placement: a page belongs to the NUMA node of the processor that
 * writes it first. */
static void touch_pages(void *context, int64_t begin, int64_t end, int worker)
{
    (void) worker;
    memset((char *) context + begin, 0, (size_t) (end - begin));
}

static mo_status alloc_memory(mo_backend_unit *unit, size_t bytes,
                              void **memory, mo_error *err)
{
    enum { TOUCHED_AT_ONCE = 1 << 18 };
    void *m = mo_cpu_alloc_aligned(bytes);

    if (!m)
        return mo_fail_memory(err);
    mo_cpu_thread_pool_parallel_for(cpu_unit(unit)->pool, (int64_t) bytes,
                                    TOUCHED_AT_ONCE, touch_pages, m);
    *memory = m;
    return MO_OK;
}

static void release_memory(mo_backend_unit *unit, void *memory)
{
    (void) unit;
    free(memory);
}

const mo_backend mo_backend_cpu = {
    .name = "cpu",
    .help = "threads of this machine's processors",
    .open = open_unit,
    .close = close_unit,
    .alloc = alloc_memory,
    .release = release_memory,
    .prepare = prepare_call,
    .free_kernel = free_kernel,
    .run = run_kernel,
    .consumed = has_consumed,
    .packed_bytes = unit_packed_bytes,
    .run_delay_ns = unit_run_delay_ns,
};
