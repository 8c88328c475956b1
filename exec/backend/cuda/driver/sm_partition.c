/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/driver/sm_partition.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cuda/driver/green_context.h"

struct mo_cuda_sm_partition {
    CUdevice device;
    int users;
    int *parts; /* SMs of each */
    int n;      /* 0: the GPU is one */
    mo_cuda_green_contexts green;
    mo_cuda_sm_partition *next;
};

/* Those of all GPUs that are in use.  Green contexts are used by one thread at
 * a time: whoever touches any of this holds the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mo_cuda_sm_partition *all;

static mo_cuda_sm_partition *find(CUdevice device)
{
    mo_cuda_sm_partition *p = all;

    while (p && p->device != device)
        p = p->next;
    return p;
}

static bool is_same(const mo_cuda_sm_partition *p,
                    const mo_backend_unit_options *options)
{
    size_t bytes = (size_t) p->n * sizeof *p->parts;

    return p->n == options->n_parts &&
           (p->n == 0 || memcmp(p->parts, options->parts, bytes) == 0);
}

static mo_status refuse(const mo_backend_unit *unit,
                        const mo_cuda_sm_partition *p, mo_error *err)
{
    const mo_backend_unit_options *o = &unit->options;
    char is[MO_CUDA_SM_PARTS_TEXT_SIZE], wanted[MO_CUDA_SM_PARTS_TEXT_SIZE];

    return mo_fail(err, MO_E_INPUT,
                   "GPU %d is in use as %s and cannot be %s at the same time; "
                   "all devices on it must name the same parts",
                   o->gpu, mo_cuda_sm_parts_format(p->parts, p->n, is),
                   mo_cuda_sm_parts_format(o->parts, o->n_parts, wanted));
}

static void destroy(const mo_cuda_api *api, mo_cuda_sm_partition *p)
{
    mo_cuda_green_contexts_clear(api, &p->green);
    free(p->parts);
    free(p);
}

static mo_status make(const mo_backend_unit *unit, mo_cuda_sm_partition **made,
                      mo_error *err)
{
    const mo_backend_unit_options *o = &unit->options;
    mo_cuda_sm_partition *p = calloc(1, sizeof *p);
    mo_status status = MO_OK;

    if (!p)
        return mo_fail_memory(err);
    p->device = unit->device;
    p->n = o->n_parts;
    p->parts = calloc((size_t) p->n + 1, sizeof *p->parts);
    if (!p->parts)
        status = mo_fail_memory(err);
    else if (p->n > 0)
        memcpy(p->parts, o->parts, (size_t) p->n * sizeof *p->parts);
    if (status == MO_OK && p->n > 0)
        status =
            mo_cuda_green_contexts_create(unit, p->parts, p->n, &p->green, err);
    if (status != MO_OK) {
        destroy(unit->api, p);
        return status;
    }
    p->next = all;
    all = p;
    *made = p;
    return MO_OK;
}

mo_status mo_cuda_sm_partition_acquire(mo_backend_unit *unit, mo_error *err)
{
    mo_status status = MO_OK;
    mo_cuda_sm_partition *p;

    pthread_mutex_lock(&lock);
    p = find(unit->device);
    if (!p)
        status = make(unit, &p, err);
    else if (!is_same(p, &unit->options))
        status = refuse(unit, p, err);
    if (status == MO_OK) {
        p->users++;
        unit->partition = p;
        unit->options.parts = p->parts;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void mo_cuda_sm_partition_release(mo_backend_unit *unit)
{
    mo_cuda_sm_partition *p = unit->partition, **at = &all;

    if (!p)
        return;
    unit->partition = NULL;
    pthread_mutex_lock(&lock);
    if (--p->users == 0) {
        while (*at != p)
            at = &(*at)->next;
        *at = p->next;
        destroy(unit->api, p);
    }
    pthread_mutex_unlock(&lock);
}

static mo_status plain_stream(const mo_backend_unit *unit, CUstream *stream,
                              mo_error *err)
{
    const mo_cuda_api *api = unit->api;

    return mo_cuda_check(api, "cuStreamCreate",
                         api->cuStreamCreate(stream, CU_STREAM_NON_BLOCKING),
                         err);
}

mo_status mo_cuda_sm_partition_stream_create(const mo_backend_unit *unit,
                                             bool left_over, CUstream *stream,
                                             mo_error *err)
{
    mo_status status;

    if (!mo_cuda_unit_is_partitioned(unit))
        return plain_stream(unit, stream, err);
    pthread_mutex_lock(&lock);
    status = mo_cuda_green_contexts_stream_create(
        unit->api, &unit->partition->green, unit->options.part, left_over,
        stream, err);
    pthread_mutex_unlock(&lock);
    return status;
}
