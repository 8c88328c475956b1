/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA backend: opens and closes units and fills in the interface of
 * exec/backend/backend.h.  Directories from the bottom up: driver (the driver
 * API, one unit), jit (device code and NVRTC), kernels (one class per kind of
 * call), algo (matrix products, convolutions, attention: several algorithms,
 * autotuned), graph (CUDA graphs and transfers).
 */
#include <config.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/digest.h"
#include "exec/backend/cuda/algo/algo.h"
#include "exec/backend/cuda/algo/autotune.h"
#include "exec/backend/cuda/algo/libraries.h"
#include "exec/backend/cuda/driver/sm_partition.h"
#include "exec/backend/cuda/driver/staging_buffer.h"
#include "exec/backend/cuda/graph/capture.h"
#include "exec/backend/cuda/graph/pdl_choice.h"
#include "exec/backend/cuda/graph/peer_copy.h"
#include "exec/backend/cuda/graph/stages.h"
#include "exec/backend/cuda/jit/disk_cache.h"
#include "exec/backend/cuda/jit/jit_cache.h"
#include "exec/backend/cuda/kernels/index_check.h"

/* Modules and handles belong to the context: they are freed while it is
 * current. */
static void close_caches(mo_backend_unit *unit)
{
    mo_cuda_cudnn_close(unit);
    mo_cuda_cublaslt_close(unit);
    mo_cuda_jit_cache_free(unit->jit_cache);
    unit->jit_cache = NULL;
}

static void close_unit(mo_backend_unit *unit)
{
    if (!unit)
        return;
    mo_cuda_library_preload_join(unit);
    if (unit->context) {
        const mo_cuda_api *api = unit->api;

        /* Any thread may close the unit, also one in which its context is not
         * current. */
        api->cuCtxSetCurrent(unit->context);
        if (unit->stream)
            api->cuStreamSynchronize(unit->stream);
        mo_cuda_staging_free(unit);
        close_caches(unit);
        mo_cuda_index_error_disable(unit);
        while (unit->n_allocations > 0)
            mo_cuda_free(unit, unit->allocations[unit->n_allocations - 1].at);
        for (int i = 0; i < MO_CUDA_STREAM_COUNT; i++)
            if (unit->streams[i])
                api->cuStreamDestroy(unit->streams[i]);
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < MO_CUDA_STAGE_STREAMS; i++)
                if (unit->stage_streams[k][i])
                    api->cuStreamDestroy(unit->stage_streams[k][i]);
        mo_cuda_sm_partition_release(unit);
        api->cuCtxSetCurrent(NULL);
        api->cuDevicePrimaryCtxRelease(unit->device);
    }
    close_caches(unit);
    mo_cuda_tuning_cache_close(unit->tuning_cache);
    mo_cuda_disk_cache_free(unit->disk_cache);
    free(unit->allocations);
    free((char *) (uintptr_t) unit->options.cache);
    free(unit);
}

static mo_status find_device(mo_backend_unit *unit, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    int n = 0, gpu = unit->options.gpu;
    mo_status status =
        mo_cuda_check(api, "cuDeviceGetCount", api->cuDeviceGetCount(&n), err);

    if (status == MO_OK && (gpu < 0 || gpu >= n))
        return mo_fail(err, MO_E_INPUT,
                       "there is no GPU %d: this machine has %d, counted from "
                       "0",
                       gpu, n);
    if (status == MO_OK)
        status = mo_cuda_check(api, "cuDeviceGet",
                               api->cuDeviceGet(&unit->device, gpu), err);
    if (status == MO_OK)
        status = mo_cuda_check(api, "cuDeviceGetName",
                               api->cuDeviceGetName(unit->name,
                                                    (int) sizeof unit->name,
                                                    unit->device),
                               err);
    return status;
}

static mo_status read_attributes(mo_backend_unit *unit, mo_error *err)
{
    int major = 0, minor = 0, shared = 0, l2 = 0;
    const struct {
        CUdevice_attribute attribute;
        int *to;
    } wanted[] = {
        { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major },
        { CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor },
        { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &unit->sms },
        { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &shared },
        { CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2 },
    };
    mo_status status = MO_OK;

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (status == MO_OK)
            status = mo_cuda_check(
                unit->api, "cuDeviceGetAttribute",
                unit->api->cuDeviceGetAttribute(
                    wanted[i].to, wanted[i].attribute, unit->device),
                err);
    if (status != MO_OK)
        return status;
    unit->arch = major * 10 + minor;
    unit->max_shared_bytes = (size_t) shared;
    unit->l2_bytes = (size_t) l2;
    if (unit->arch < 70)
        return mo_fail(err, MO_E_SUPPORT,
                       "%s has compute capability %d.%d: 7.0 (Volta) or later "
                       "is needed",
                       unit->name, major, minor);
    return MO_OK;
}

/* The unit reports the SMs of its part; whether the GPU has such a part is
 * checked when the partition is acquired. */
static void limit_to_part(mo_backend_unit *unit)
{
    const mo_backend_unit_options *o = &unit->options;
    size_t length = strlen(unit->name);
    int whole = unit->sms;

    if (!mo_cuda_unit_is_partitioned(unit))
        return;
    assert(o->part >= 0 && o->part < o->n_parts);
    unit->sms = o->parts[o->part];
    snprintf(unit->name + length, sizeof unit->name - length, ", %d of %d SMs",
             unit->sms, whole);
}

static mo_status open_context(mo_backend_unit *unit, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    mo_status status = mo_cuda_check(
        api, "cuDevicePrimaryCtxRetain",
        api->cuDevicePrimaryCtxRetain(&unit->context, unit->device), err);

    if (status != MO_OK) {
        unit->context = NULL;
        return status;
    }
    status = mo_cuda_check(api, "cuCtxSetCurrent",
                           api->cuCtxSetCurrent(unit->context), err);
    if (status == MO_OK)
        status = mo_cuda_sm_partition_acquire(unit, err);
    if (status == MO_OK)
        status = mo_cuda_unit_stream(unit, 0, &unit->stream, err);
    return status;
}

static mo_status open_unit(const mo_backend_unit_options *options,
                           mo_backend_unit **unit, mo_error *err)
{
    mo_backend_unit *made = calloc(1, sizeof *made);
    mo_status status;
    const char *off;

    if (!made)
        return mo_fail_memory(err);
    status = mo_cuda_api_get(&made->api, err);
    if (status == MO_OK)
        status = mo_cuda_api_check_overrides(err);
    if (status == MO_OK) {
        made->options = *options;
        made->options.autotune =
            options->autotune && !mo_ablated(MO_ABLATION_cuda_autotune);
        made->options.cpus = NULL;
        made->options.cache = NULL;
        if (options->cache) {
            made->options.cache = strdup(options->cache);
            status = made->options.cache ? MO_OK : mo_fail_memory(err);
        }
    }
    if (status == MO_OK)
        status = find_device(made, err);
    if (status == MO_OK)
        status = read_attributes(made, err);
    if (status == MO_OK) {
        limit_to_part(made);
        /* MOIRAI_NO_PDL is for comparisons: each kernel then starts after the
         * end of the previous one. */
        off = getenv("MOIRAI_NO_PDL");
        made->has_pdl = made->arch >= 90 && !mo_ablated(MO_ABLATION_cuda_pdl) &&
                        !(off && *off && strcmp(off, "0") != 0);

        status =
            mo_cuda_disk_cache_new(made->options.cache, &made->disk_cache, err);

        if (status == MO_OK)
            status = mo_cuda_jit_cache_new(made, &made->jit_cache, err);
        if (status == MO_OK)
            status = mo_cuda_tuning_cache_open(made, &made->tuning_cache, err);
    }
    if (status == MO_OK) {
        mo_cuda_library_preload_start(made);
        status = open_context(made, err);
    }
    if (status != MO_OK) {
        close_unit(made);
        return status;
    }
    *unit = made;
    return MO_OK;
}

static const mo_cuda_kernel_class *const kernel_classes[MO_CALL_KINDS] = {
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
    [MO_CALL_RNN] = &mo_cuda_rnn_kernel,
    [MO_CALL_GRID_SAMPLE] = &mo_cuda_grid_sample_kernel,
    [MO_CALL_LINEAR] = &mo_cuda_linear_kernel,
    [MO_CALL_DEQUANTIZE] = &mo_cuda_dequantize_kernel,
};

static void digest_tensor(mo_digest *digest, const mo_tensor_desc *desc)
{
    mo_digest_int(digest, desc->elem);
    mo_digest_int(digest, desc->shape.rank);
    mo_digest_ints(digest, desc->shape.dims, (size_t) desc->shape.rank);
}

static mo_status digest_call(const mo_call *call, const mo_backend_operand *in,
                             const mo_tensor_desc *out, uint64_t *value,
                             mo_error *err)
{
    mo_digest *digest = mo_digest_new();

    if (!digest)
        return mo_fail_memory(err);
    mo_digest_int(digest, call->kind);
    mo_digest_int(digest, call->n_in);
    for (int i = 0; i < call->n_in; i++)
        digest_tensor(digest, &in[i].desc);
    for (int i = 0; i < call->n_out; i++)
        digest_tensor(digest, &out[i]);
    *value = mo_digest_value(digest);
    mo_digest_free(digest);
    return MO_OK;
}

static mo_status prepare_call(mo_backend_unit *unit, const mo_call *call,
                              const mo_backend_operand *in,
                              const mo_tensor_desc *out,
                              mo_backend_kernel **kernel, size_t *workspace,
                              mo_error *err)
{
    const mo_cuda_kernel_class *cls = kernel_classes[call->kind];
    mo_backend_kernel *made = NULL;
    uint64_t digest = 0;
    mo_status status;

    if (!cls)
        return mo_fail(err, MO_E_SUPPORT,
                       "a GPU cannot read weights in a storage format ('%s'); "
                       "place the op on a CPU",
                       mo_call_kind_name(call->kind));
    status = digest_call(call, in, out, &digest, err);

    if (status == MO_OK)
        status = cls->prepare(unit, call, in, out, &made, err);
    if (status != MO_OK)
        return mo_cuda_kernel_error(call->kind, status, err);
    made->cls = cls;
    made->kind = call->kind;
    made->digest = digest;
    *kernel = made;
    *workspace = made->workspace;
    return MO_OK;
}

static void drop_kernel(mo_backend_unit *unit, mo_backend_kernel *kernel)
{
    if (kernel)
        kernel->cls->drop(unit, kernel);
}

static mo_status finalize_kernels(mo_backend_unit *unit,
                                  mo_backend_kernel *const *kernels, int n,
                                  size_t *workspaces, mo_error *err)
{
    mo_status status = mo_cuda_jit_compile(unit, err);

    for (int i = 0; i < n && status == MO_OK; i++) {
        if (kernels[i]->cls->finalize)
            status = mo_cuda_kernel_error(
                kernels[i]->kind,
                kernels[i]->cls->finalize(unit, kernels[i], err), err);
        workspaces[i] = kernels[i]->workspace;
    }
    mo_cuda_staging_free(unit);
    return status == MO_OK ? mo_cuda_jit_compile(unit, err) : status;
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

static mo_status alloc_memory(mo_backend_unit *unit, size_t bytes,
                              void **memory, mo_error *err)
{
    CUdeviceptr at = 0;
    mo_status status = mo_cuda_alloc_untracked(unit, bytes, &at, err);

    if (status == MO_OK)
        *memory = (void *) at;
    return status;
}

static void free_memory(mo_backend_unit *unit, void *memory)
{
    if (memory)
        unit->api->cuMemFree((CUdeviceptr) memory);
}

static mo_status copy_to_device(mo_backend_unit *unit, void *to,
                                const void *from, size_t bytes, mo_error *err)
{
    return mo_cuda_copy_to_device(unit, (CUdeviceptr) to, from, bytes, err);
}

static mo_status copy_from_device(mo_backend_unit *unit, void *to,
                                  const void *from, size_t bytes, mo_error *err)
{
    return mo_cuda_copy_from_device(unit, to, (CUdeviceptr) from, bytes, err);
}

static mo_status synchronize_stream(mo_backend_unit *unit, mo_error *err)
{
    mo_status status =
        mo_cuda_check(unit->api, "cuStreamSynchronize",
                      unit->api->cuStreamSynchronize(unit->stream), err);

    return status == MO_OK ? mo_cuda_index_error_check(unit, err) : status;
}

static mo_status alloc_pinned(mo_backend_unit *unit, size_t bytes,
                              void **memory, mo_error *err)
{
    return mo_cuda_check(unit->api, "cuMemHostAlloc",
                         unit->api->cuMemHostAlloc(memory,
                                                   bytes > 0 ? bytes : 1,
                                                   CU_MEMHOSTALLOC_PORTABLE),
                         err);
}

static void free_pinned(mo_backend_unit *unit, void *memory)
{
    if (memory)
        unit->api->cuMemFreeHost(memory);
}

static mo_status get_memory_info(mo_backend_unit *unit, int64_t *free_bytes,
                                 int64_t *total_bytes, mo_error *err)
{
    size_t left = 0, total = 0;
    mo_status status = mo_cuda_check(
        unit->api, "cuMemGetInfo", unit->api->cuMemGetInfo(&left, &total), err);

    *free_bytes = (int64_t) left;
    *total_bytes = (int64_t) total;
    return status;
}

static int64_t get_allocated_bytes(const mo_backend_unit *unit)
{
    return unit->allocated_bytes;
}

static mo_status query_stream(mo_backend_unit *unit, bool *done, mo_error *err)
{
    CUresult result = unit->api->cuStreamQuery(unit->stream);

    *done = result == CUDA_SUCCESS;
    if (result == CUDA_ERROR_NOT_READY)
        return MO_OK;
    return mo_cuda_check(unit->api, "cuStreamQuery", result, err);
}

static void use_slot(mo_backend_unit *unit, int slot)
{
    assert(slot >= 0 && slot < mo_cuda_unit_slots(unit));
    unit->slot = slot;
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

static const char *get_name(const mo_backend_unit *unit)
{
    return unit->name;
}

const mo_backend mo_backend_cuda = {
    .name = "cuda",
    .help = "an NVIDIA GPU",
    .separate_memory = true,
    .open = open_unit,
    .close = close_unit,
    .alloc = alloc_memory,
    .release = free_memory,
    .prepare = prepare_call,
    .free_kernel = drop_kernel,
    .run = run_kernel,
    .consumed = has_consumed,
    .finalize = finalize_kernels,
    .upload = copy_to_device,
    .download = copy_from_device,
    .wait = synchronize_stream,
    .alloc_pinned = alloc_pinned,
    .free_pinned = free_pinned,
    .record = mo_cuda_graph_capture,
    .replay = mo_cuda_graph_launch,
    .free_program = mo_cuda_graph_destroy,
    .tune_program = mo_cuda_pdl_tune,
    .use_slot = use_slot,
    .queue_open = mo_cuda_queue_open,
    .queue_close = mo_cuda_queue_close,
    .queue_record = mo_cuda_stages_capture,
    .queue_upload = mo_cuda_queue_upload,
    .queue_download = mo_cuda_queue_download,
    .queue_replay = mo_cuda_queue_replay,
    .queue_wait = mo_cuda_queue_wait,
    .time_calls = mo_cuda_time_calls,
    .memory_info = get_memory_info,
    .packed_bytes = get_allocated_bytes,
    .transfer = mo_cuda_peer_copy,
    .is_idle = query_stream,
    .bind_thread = mo_cuda_unit_make_current,
    .count_devices = count_gpus,
    .device_name = get_name,
};
