/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/driver/cuda_unit_internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cuda/algo/cublaslt/cublaslt_handle.h"
#include "exec/backend/cuda/jit/disk_cache.h"
#include "exec/backend/cuda/algo/autotune.h"
#include "exec/backend/cuda/algo/cudnn/cudnn_handle.h"
#include "exec/backend/cuda/kernels/index_check.h"
#include "exec/backend/cuda/jit/jit_cache.h"
#include "exec/backend/cuda/driver/sm_partition.h"
#include "exec/backend/cuda/algo/library_preload.h"
#include "exec/backend/cuda/driver/staging_buffer.h"

static mo_status ask_device(mo_backend_unit *unit, CUdevice_attribute attribute,
                            int *value, mo_error *err)
{
    return mo_cuda_check(
        unit->api, "cuDeviceGetAttribute",
        unit->api->cuDeviceGetAttribute(value, attribute, unit->device), err);
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

static mo_status know_device(mo_backend_unit *unit, mo_error *err)
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
            status = ask_device(unit, wanted[i].attribute, wanted[i].to, err);
    if (status != MO_OK)
        return status;
    unit->arch = major * 10 + minor;
    unit->shared_most = (size_t) shared;
    unit->l2_bytes = (size_t) l2;
    if (unit->arch < 70)
        return mo_fail(err, MO_E_SUPPORT,
                       "%s has compute capability %d.%d: 7.0 (Volta) or later "
                       "is needed",
                       unit->name, major, minor);
    return MO_OK;
}

/* What it may use is what it knows of; whether the GPU has such a part is found
 * out when it is divided. */
static void know_part(mo_backend_unit *unit)
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

/* MOIRAI_NO_PDL is for comparisons: each kernel then waits for the whole one
 * before it. */
static bool may_overlap(const mo_backend_unit *unit)
{
    const char *off = getenv("MOIRAI_NO_PDL");

    return unit->arch >= 90 && !(off && *off && strcmp(off, "0") != 0);
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

static mo_status open_parts(mo_backend_unit *unit, mo_error *err)
{
    mo_status status =
        mo_cuda_disk_cache_new(unit->options.cache, &unit->cache, err);

    if (status == MO_OK)
        status = mo_cuda_jit_cache_new(unit, &unit->shop, err);
    if (status == MO_OK)
        status = mo_cuda_tuning_cache_open(unit, &unit->notes, err);
    if (status == MO_OK)
        status = mo_cuda_cublaslt_open(unit, &unit->blas, err);
    if (status == MO_OK)
        status = mo_cuda_cudnn_open(unit, &unit->dnn, err);
    return status;
}

static mo_status copy_options(mo_backend_unit *unit,
                              const mo_backend_unit_options *options,
                              mo_error *err)
{
    unit->options = *options;
    unit->options.cpus = NULL;
    unit->options.cache = NULL;
    if (!options->cache)
        return MO_OK;
    unit->options.cache = strdup(options->cache);
    return unit->options.cache ? MO_OK : mo_fail_memory(err);
}

mo_status mo_cuda_unit_open(const mo_backend_unit_options *options,
                            mo_backend_unit **unit, mo_error *err)
{
    mo_backend_unit *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    status = mo_cuda_api_get(&made->api, err);
    if (status == MO_OK)
        status = mo_cuda_api_check_overrides(err);
    if (status == MO_OK)
        status = copy_options(made, options, err);
    if (status == MO_OK)
        status = find_device(made, err);
    if (status == MO_OK)
        status = know_device(made, err);
    if (status == MO_OK) {
        know_part(made);
        made->overlap = may_overlap(made);
        status = open_parts(made, err);
    }
    if (status == MO_OK) {
        mo_cuda_library_preload_start(made);
        status = open_context(made, err);
    }
    if (status != MO_OK) {
        mo_cuda_unit_close(made);
        return status;
    }
    *unit = made;
    return MO_OK;
}

mo_status mo_cuda_unit_make_current(mo_backend_unit *unit, mo_error *err)
{
    return mo_cuda_check(unit->api, "cuCtxSetCurrent",
                         unit->api->cuCtxSetCurrent(unit->context), err);
}

mo_status mo_cuda_unit_stream(mo_backend_unit *unit, int lane, CUstream *stream,
                              mo_error *err)
{
    mo_status status = MO_OK;

    if (!unit->lanes[lane])
        status = mo_cuda_sm_partition_stream_create(
            unit, lane >= MO_CUDA_MAX_COMPUTE_STREAMS, &unit->lanes[lane], err);
    if (status == MO_OK)
        *stream = unit->lanes[lane];
    else
        unit->lanes[lane] = NULL;
    return status;
}

/* What was used of them belongs to the device. */
static void close_parts(mo_backend_unit *unit)
{
    mo_cuda_cudnn_close(unit, unit->dnn);
    mo_cuda_cublaslt_close(unit, unit->blas);
    mo_cuda_jit_cache_free(unit->shop);
    unit->dnn = NULL;
    unit->blas = NULL;
    unit->shop = NULL;
}

static void close_device(mo_backend_unit *unit)
{
    const mo_cuda_api *api = unit->api;

    /* Whoever closes it need not be the one who used it. */
    api->cuCtxSetCurrent(unit->context);
    if (unit->stream)
        api->cuStreamSynchronize(unit->stream);
    mo_cuda_staging_free(unit);
    close_parts(unit);
    mo_cuda_index_error_disable(unit);
    while (unit->n_pieces > 0)
        mo_cuda_free(unit, unit->pieces[unit->n_pieces - 1].at);
    for (int i = 0; i < MO_CUDA_STREAM_COUNT; i++)
        if (unit->lanes[i])
            api->cuStreamDestroy(unit->lanes[i]);
    mo_cuda_sm_partition_release(unit);
    api->cuCtxSetCurrent(NULL);
    api->cuDevicePrimaryCtxRelease(unit->device);
}

void mo_cuda_unit_close(mo_backend_unit *unit)
{
    if (!unit)
        return;
    mo_cuda_library_preload_join(unit);
    if (unit->context)
        close_device(unit);
    close_parts(unit);
    mo_cuda_tuning_cache_close(unit->notes);
    mo_cuda_disk_cache_free(unit->cache);
    free(unit->pieces);
    free((char *) (uintptr_t) unit->options.cache);
    free(unit);
}
