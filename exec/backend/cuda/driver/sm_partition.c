/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/driver/sm_partition.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_TEXT_SIZE = 160 };

/* "parts of 64,32,16,8 SMs", or "a whole" for none. */
static const char *format_parts(const int *parts, int n,
                                char text[PARTS_TEXT_SIZE])
{
    size_t at = (size_t) snprintf(text, PARTS_TEXT_SIZE, "%s",
                                  n > 0 ? "parts of " : "a whole");

    for (int i = 0; i < n && at + sizeof "2147483647, SMs" < PARTS_TEXT_SIZE;
         i++)
        at += (size_t) snprintf(text + at, PARTS_TEXT_SIZE - at, "%s%d",
                                i > 0 ? "," : "", parts[i]);
    if (n > 0)
        snprintf(text + at, PARTS_TEXT_SIZE - at, " SMs");
    return text;
}

/* Green contexts: headers of CUDA before 12.5 have none. */

/* The green contexts of a partition. */
typedef struct green_contexts {
    struct CUgreenCtx_st **parts;
    int n;
    struct CUgreenCtx_st *rest; /* NULL: the parts use all SMs */
} green_contexts;

#if CUDA_VERSION >= 12050

/* The SMs of a GPU in the smallest groups that the driver makes. */
typedef struct sm_groups {
    int sms;              /* of the whole GPU */
    CUdevResource *items; /* n groups, then the remainder */
    int n;                /* groups */
    int group;            /* SMs of each */
    bool has_remainder;   /* items[n] is valid */
} sm_groups;

static mo_status split_sms(const mo_cuda_api *api, const CUdevResource *whole,
                           CUdevResource *groups, unsigned *n,
                           CUdevResource *remainder, mo_error *err)
{
    return mo_cuda_check(
        api, "cuDevSmResourceSplitByCount",
        api->cuDevSmResourceSplitByCount(groups, n, whole, remainder, 0, 1),
        err);
}

/* Splits the GPU into groups as small as possible; a part is several groups. */
static mo_status list_sm_groups(const mo_backend_unit *unit, sm_groups *s,
                                mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    CUdevResource whole, remainder = { .type = CU_DEV_RESOURCE_TYPE_INVALID };
    unsigned n = 0;
    mo_status status =
        mo_cuda_check(api, "cuDeviceGetDevResource",
                      api->cuDeviceGetDevResource(unit->device, &whole,
                                                  CU_DEV_RESOURCE_TYPE_SM),
                      err);

    if (status == MO_OK)
        status = split_sms(api, &whole, NULL, &n, NULL, err);
    if (status != MO_OK)
        return status;
    s->items = calloc((size_t) n + 1, sizeof *s->items);
    if (!s->items)
        return mo_fail_memory(err);
    status = split_sms(api, &whole, s->items, &n, &remainder, err);
    if (status != MO_OK)
        return status;
    s->sms = (int) whole.sm.smCount;
    s->n = (int) n;
    s->group = n > 0 ? (int) s->items[0].sm.smCount : 0;
    s->has_remainder =
        remainder.type == CU_DEV_RESOURCE_TYPE_SM && remainder.sm.smCount > 0;
    if (s->has_remainder)
        s->items[s->n] = remainder;
    return MO_OK;
}

/* Each part is a multiple of the group size, and all fit into the GPU. */
static mo_status check_parts(const mo_backend_unit *unit, const sm_groups *s,
                             const int *parts, int n, mo_error *err)
{
    char text[PARTS_TEXT_SIZE];
    int64_t sum = 0;

    if (s->n == 0)
        return mo_fail(err, MO_E_SUPPORT,
                       "GPU %d cannot be divided: its driver makes no groups "
                       "of SMs",
                       unit->options.gpu);
    for (int i = 0; i < n; i++) {
        if (parts[i] <= 0 || parts[i] % s->group != 0)
            return mo_fail(err, MO_E_INPUT,
                           "a part of %d SMs: GPU %d has %d SMs, of which %d "
                           "can be divided in groups of %d; parts are "
                           "multiples of %d",
                           parts[i], unit->options.gpu, s->sms, s->n * s->group,
                           s->group, s->group);
        sum += parts[i];
    }
    if (sum <= (int64_t) s->n * s->group)
        return MO_OK;
    return mo_fail(err, MO_E_INPUT,
                   "%s are %" PRId64 " SMs: GPU %d has %d, of which %d can be "
                   "divided in groups of %d; make them smaller",
                   format_parts(parts, n, text), sum, unit->options.gpu, s->sms,
                   s->n * s->group, s->group);
}

static mo_status create_green_context(const mo_backend_unit *unit,
                                      CUdevResource *items, int n,
                                      CUgreenCtx *context, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    CUdevResourceDesc desc;
    mo_status status = mo_cuda_check(
        api, "cuDevResourceGenerateDesc",
        api->cuDevResourceGenerateDesc(&desc, items, (unsigned) n), err);

    if (status != MO_OK)
        return status;
    status = mo_cuda_check(api, "cuGreenCtxCreate",
                           api->cuGreenCtxCreate(context, desc, unit->device,
                                                 CU_GREEN_CTX_DEFAULT_STREAM),
                           err);
    if (status != MO_OK)
        *context = NULL;
    return status;
}

static mo_status create_green_contexts(const mo_backend_unit *unit,
                                       const int *parts, int n,
                                       green_contexts *green, mo_error *err)
{
    sm_groups s = { .items = NULL };
    mo_status status = mo_cuda_api_require_green_contexts(err);

    if (status != MO_OK)
        return status;
    green->parts = calloc((size_t) n, sizeof *green->parts);
    if (!green->parts)
        return mo_fail_memory(err);
    green->n = n;
    status = list_sm_groups(unit, &s, err);
    if (status == MO_OK)
        status = check_parts(unit, &s, parts, n, err);
    if (status == MO_OK) {
        int n_items = s.n + s.has_remainder, next = 0;

        for (int i = 0; i < green->n && status == MO_OK; i++) {
            int n_groups = parts[i] / s.group;

            status = create_green_context(unit, &s.items[next], n_groups,
                                          &green->parts[i], err);
            next += n_groups;
        }
        if (status == MO_OK && next < n_items)
            status = create_green_context(unit, &s.items[next], n_items - next,
                                          &green->rest, err);
    }
    free(s.items);
    return status;
}

static void clear_green_contexts(const mo_cuda_api *api, green_contexts *green)
{
    for (int i = 0; green->parts && i < green->n; i++)
        if (green->parts[i])
            api->cuGreenCtxDestroy(green->parts[i]);
    if (green->rest)
        api->cuGreenCtxDestroy(green->rest);
    free(green->parts);
    *green = (green_contexts){ 0 };
}

static mo_status create_green_stream(const mo_cuda_api *api,
                                     const green_contexts *green, int part,
                                     bool left_over, CUstream *stream,
                                     mo_error *err)
{
    CUgreenCtx context =
        left_over && green->rest ? green->rest : green->parts[part];

    return mo_cuda_check(
        api, "cuGreenCtxStreamCreate",
        api->cuGreenCtxStreamCreate(stream, context, CU_STREAM_NON_BLOCKING, 0),
        err);
}

#else

static mo_status create_green_contexts(const mo_backend_unit *unit,
                                       const int *parts, int n,
                                       green_contexts *green, mo_error *err)
{
    (void) unit, (void) parts, (void) n, (void) green;
    return mo_cuda_api_require_green_contexts(err);
}

static void clear_green_contexts(const mo_cuda_api *api, green_contexts *green)
{
    (void) api, (void) green;
}

static mo_status create_green_stream(const mo_cuda_api *api,
                                     const green_contexts *green, int part,
                                     bool left_over, CUstream *stream,
                                     mo_error *err)
{
    (void) api, (void) green, (void) part, (void) left_over, (void) stream;
    return mo_cuda_api_require_green_contexts(err);
}

#endif

struct mo_cuda_sm_partition {
    CUdevice device;
    int users;
    int *parts; /* SMs of each */
    int n;      /* 0: the GPU is not divided */
    green_contexts green;
    mo_cuda_sm_partition *next;
};

/* Partitions in use, one per GPU. Green contexts must not be used by two
 * threads at a time: the lock covers the list and all calls on them. */
static pthread_mutex_t partitions_lock = PTHREAD_MUTEX_INITIALIZER;
static mo_cuda_sm_partition *partitions;

static bool has_same_parts(const mo_cuda_sm_partition *p,
                           const mo_backend_unit_options *options)
{
    size_t bytes = (size_t) p->n * sizeof *p->parts;

    return p->n == options->n_parts &&
           (p->n == 0 || memcmp(p->parts, options->parts, bytes) == 0);
}

static void destroy_partition(const mo_cuda_api *api, mo_cuda_sm_partition *p)
{
    clear_green_contexts(api, &p->green);
    free(p->parts);
    free(p);
}

static mo_status create_partition(const mo_backend_unit *unit,
                                  mo_cuda_sm_partition **made, mo_error *err)
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
        status = create_green_contexts(unit, p->parts, p->n, &p->green, err);
    if (status != MO_OK) {
        destroy_partition(unit->api, p);
        return status;
    }
    p->next = partitions;
    partitions = p;
    *made = p;
    return MO_OK;
}

mo_status mo_cuda_sm_partition_acquire(mo_backend_unit *unit, mo_error *err)
{
    mo_status status = MO_OK;
    mo_cuda_sm_partition *p;

    pthread_mutex_lock(&partitions_lock);
    p = partitions;
    while (p && p->device != unit->device)
        p = p->next;
    if (!p)
        status = create_partition(unit, &p, err);
    else if (!has_same_parts(p, &unit->options)) {
        const mo_backend_unit_options *o = &unit->options;
        char is[PARTS_TEXT_SIZE], wanted[PARTS_TEXT_SIZE];

        status =
            mo_fail(err, MO_E_INPUT,
                    "GPU %d is in use as %s and cannot be %s at the same time; "
                    "all devices on it must name the same parts",
                    o->gpu, format_parts(p->parts, p->n, is),
                    format_parts(o->parts, o->n_parts, wanted));
    }
    if (status == MO_OK) {
        p->users++;
        unit->partition = p;
        unit->options.parts = p->parts;
    }
    pthread_mutex_unlock(&partitions_lock);
    return status;
}

void mo_cuda_sm_partition_release(mo_backend_unit *unit)
{
    mo_cuda_sm_partition *p = unit->partition, **at = &partitions;

    if (!p)
        return;
    unit->partition = NULL;
    pthread_mutex_lock(&partitions_lock);
    if (--p->users == 0) {
        while (*at != p)
            at = &(*at)->next;
        *at = p->next;
        destroy_partition(unit->api, p);
    }
    pthread_mutex_unlock(&partitions_lock);
}

mo_status mo_cuda_sm_partition_stream_create(const mo_backend_unit *unit,
                                             bool left_over, CUstream *stream,
                                             mo_error *err)
{
    mo_status status;

    if (!mo_cuda_unit_is_partitioned(unit)) {
        const mo_cuda_api *api = unit->api;

        return mo_cuda_check(
            api, "cuStreamCreate",
            api->cuStreamCreate(stream, CU_STREAM_NON_BLOCKING), err);
    }
    pthread_mutex_lock(&partitions_lock);
    status = create_green_stream(unit->api, &unit->partition->green,
                                 unit->options.part, left_over, stream, err);
    pthread_mutex_unlock(&partitions_lock);
    return status;
}
