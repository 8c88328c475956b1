/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "exec/backend/cuda/graph/peer_copy.h"
#include "exec/backend/cuda/kernels/index_check.h"
#include "exec/backend/cuda/jit/jit_cache.h"
#include "exec/backend/cuda/driver/staging_buffer.h"
#include "exec/backend/cuda/driver/cuda_unit_internal.h"

/* ---- calls */

static const mo_cuda_kernel_class *const makers[MO_CALL_KINDS] = {
    [MO_CALL_VIEW] = &mo_cuda_view_kernel,
    [MO_CALL_POINT] = &mo_cuda_pointwise_kernel,
    [MO_CALL_COPY] = &mo_cuda_copy_kernel,
    [MO_CALL_MATMUL] = &mo_cuda_matmul_conv_kernel,
    [MO_CALL_CONV] = &mo_cuda_matmul_conv_kernel,
    [MO_CALL_POOL] = &mo_cuda_pool_kernel,
    [MO_CALL_REDUCE] = &mo_cuda_reduce_kernel,
    [MO_CALL_SOFTMAX] = &mo_cuda_softmax_kernel,
    [MO_CALL_NORM] = &mo_cuda_norm_kernel,
    [MO_CALL_GATHER] = &mo_cuda_gather_kernel,
    [MO_CALL_SCATTER] = &mo_cuda_scatter_kernel,
    [MO_CALL_TOPK] = &mo_cuda_topk_kernel,
    [MO_CALL_CUMSUM] = &mo_cuda_cumsum_kernel,
    [MO_CALL_INTERPOLATE] = &mo_cuda_interpolate_kernel,
    [MO_CALL_ATTENTION] = &mo_cuda_attention_kernel,
    [MO_CALL_RANGE] = &mo_cuda_range_kernel,
};

/* "CUDA: matmul: cuLaunchKernelEx ..." says which kind of call it was. */
static mo_status blame(mo_call_kind kind, mo_status status, mo_error *err)
{
    char text[MO_ERROR_TEXT_SIZE];

    if (status == MO_OK || !err)
        return status;
    snprintf(text, sizeof text, "%s", err->text);
    snprintf(err->text, sizeof err->text, "%s: %.*s", mo_call_kind_name(kind),
             (int) (sizeof text - 64), text);
    return status;
}

static mo_status prepare_call(mo_backend_unit *unit, const mo_call *call,
                              const mo_backend_operand *in,
                              const mo_tensor_desc *out,
                              mo_backend_kernel **kernel, size_t *workspace,
                              mo_error *err)
{
    const mo_cuda_kernel_class *maker = makers[call->kind];
    mo_backend_kernel *made = NULL;
    mo_status status = maker->prepare(unit, call, in, out, &made, err);

    if (status != MO_OK)
        return blame(call->kind, status, err);
    made->maker = maker;
    made->kind = call->kind;
    *kernel = made;
    *workspace = made->workspace;
    return MO_OK;
}

static void drop_kernel(mo_backend_unit *unit, mo_backend_kernel *kernel)
{
    if (kernel)
        kernel->maker->drop(unit, kernel);
}

static mo_status settle_kernels(mo_backend_unit *unit,
                                mo_backend_kernel *const *kernels, int n,
                                size_t *workspaces, mo_error *err)
{
    mo_status status = mo_cuda_jit_compile(unit, err);

    for (int i = 0; i < n && status == MO_OK; i++) {
        if (kernels[i]->maker->settle)
            status =
                blame(kernels[i]->kind,
                      kernels[i]->maker->settle(unit, kernels[i], err), err);
        workspaces[i] = kernels[i]->workspace;
    }
    mo_cuda_staging_free(unit);
    return status == MO_OK ? mo_cuda_jit_compile(unit, err) : status;
}

mo_status mo_cuda_kernel_enqueue(mo_backend_unit *unit,
                                 const mo_backend_kernel *kernel,
                                 const void *const *in, void *const *out,
                                 void *workspace, CUstream stream,
                                 mo_error *err)
{
    mo_status status =
        kernel->maker->enqueue(unit, kernel, in, out, workspace, stream, err);

    return blame(kernel->kind, status, err);
}

static mo_status run_kernel(mo_backend_unit *unit,
                            const mo_backend_kernel *kernel,
                            const void *const *in, void *const *out,
                            void *workspace, mo_error *err)
{
    return mo_cuda_kernel_enqueue(unit, kernel, in, out, workspace,
                                  unit->stream, err);
}

static bool has_consumed(const mo_backend_kernel *kernel, int in)
{
    return in < 64 && (kernel->consumed >> in & 1);
}

/* ---- memory */

static mo_status alloc_memory(mo_backend_unit *unit, size_t bytes,
                              void **memory, mo_error *err)
{
    CUdeviceptr at = 0;
    mo_status status = mo_cuda_alloc_untracked(unit, bytes, &at, err);

    if (status == MO_OK)
        *memory = (void *) at;
    return status;
}

static void release_memory(mo_backend_unit *unit, void *memory)
{
    if (memory)
        unit->api->cuMemFree((CUdeviceptr) memory);
}

static mo_status put_bytes(mo_backend_unit *unit, void *to, const void *from,
                           size_t bytes, mo_error *err)
{
    return mo_cuda_copy_to_device(unit, (CUdeviceptr) to, from, bytes, err);
}

static mo_status get_bytes(mo_backend_unit *unit, void *to, const void *from,
                           size_t bytes, mo_error *err)
{
    return mo_cuda_copy_from_device(unit, to, (CUdeviceptr) from, bytes, err);
}

static mo_status wait_for_all(mo_backend_unit *unit, mo_error *err)
{
    mo_status status =
        mo_cuda_check(unit->api, "cuStreamSynchronize",
                      unit->api->cuStreamSynchronize(unit->stream), err);

    return status == MO_OK ? mo_cuda_index_error_check(unit, err) : status;
}

static mo_status alloc_near(mo_backend_unit *unit, size_t bytes, void **memory,
                            mo_error *err)
{
    return mo_cuda_check(unit->api, "cuMemHostAlloc",
                         unit->api->cuMemHostAlloc(memory,
                                                   bytes > 0 ? bytes : 1,
                                                   CU_MEMHOSTALLOC_PORTABLE),
                         err);
}

static void release_near(mo_backend_unit *unit, void *memory)
{
    if (memory)
        unit->api->cuMemFreeHost(memory);
}

static mo_status tell_memory(mo_backend_unit *unit, int64_t *free_bytes,
                             int64_t *total_bytes, mo_error *err)
{
    size_t left = 0, total = 0;
    mo_status status = mo_cuda_check(
        unit->api, "cuMemGetInfo", unit->api->cuMemGetInfo(&left, &total), err);

    *free_bytes = (int64_t) left;
    *total_bytes = (int64_t) total;
    return status;
}

static int64_t tell_kept(const mo_backend_unit *unit)
{
    return unit->kept_bytes;
}

/* ---- the unit */

static mo_status is_done(mo_backend_unit *unit, bool *done, mo_error *err)
{
    CUresult result = unit->api->cuStreamQuery(unit->stream);

    *done = result == CUDA_SUCCESS;
    if (result == CUDA_ERROR_NOT_READY)
        return MO_OK;
    return mo_cuda_check(unit->api, "cuStreamQuery", result, err);
}

static mo_status count_gpus(int *n, mo_error *err)
{
    const mo_cuda_api *api = NULL;
    mo_status status = mo_cuda_api_get(&api, err);

    if (status != MO_OK)
        return status;
    return mo_cuda_check(api, "cuDeviceGetCount", api->cuDeviceGetCount(n),
                         err);
}

static const char *say_name(const mo_backend_unit *unit)
{
    return unit->name;
}

const mo_backend mo_backend_cuda = {
    .name = "cuda",
    .help = "an NVIDIA GPU",
    .apart = true,
    .open = mo_cuda_unit_open,
    .close = mo_cuda_unit_close,
    .alloc = alloc_memory,
    .release = release_memory,
    .prepare = prepare_call,
    .drop = drop_kernel,
    .run = run_kernel,
    .consumed = has_consumed,
    .settle = settle_kernels,
    .put = put_bytes,
    .get = get_bytes,
    .wait = wait_for_all,
    .alloc_near = alloc_near,
    .release_near = release_near,
    .record = mo_cuda_graph_capture,
    .replay = mo_cuda_graph_launch,
    .forget = mo_cuda_graph_destroy,
    .time = mo_cuda_time_calls,
    .memory = tell_memory,
    .kept = tell_kept,
    .carry = mo_cuda_peer_copy,
    .done = is_done,
    .enter = mo_cuda_unit_make_current,
    .count = count_gpus,
    .say = say_name,
};
