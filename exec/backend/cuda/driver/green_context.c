/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/driver/green_context.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *mo_cuda_sm_parts_format(const int *parts, int n,
                                    char text[MO_CUDA_SM_PARTS_TEXT_SIZE])
{
    size_t at = (size_t) snprintf(text, MO_CUDA_SM_PARTS_TEXT_SIZE, "%s",
                                  n > 0 ? "parts of " : "a whole");

    for (int i = 0;
         i < n && at + sizeof "2147483647, SMs" < MO_CUDA_SM_PARTS_TEXT_SIZE;
         i++)
        at += (size_t) snprintf(text + at, MO_CUDA_SM_PARTS_TEXT_SIZE - at,
                                "%s%d", i > 0 ? "," : "", parts[i]);
    if (n > 0)
        snprintf(text + at, MO_CUDA_SM_PARTS_TEXT_SIZE - at, " SMs");
    return text;
}

#if CUDA_VERSION >= 12050

/* The SMs of a GPU as the driver hands them out. */
typedef struct supply {
    int sms;              /* of the whole GPU */
    CUdevResource *items; /* groups; behind them, what makes no group */
    int n;                /* groups */
    int group;            /* SMs of each */
    bool has_remainder;   /* items[n] is there */
} supply;

static mo_status split(const mo_cuda_api *api, const CUdevResource *whole,
                       CUdevResource *groups, unsigned *n,
                       CUdevResource *remainder, mo_error *err)
{
    return mo_cuda_check(
        api, "cuDevSmResourceSplitByCount",
        api->cuDevSmResourceSplitByCount(groups, n, whole, remainder, 0, 1),
        err);
}

/* As small as the driver makes them: several are one part. */
static mo_status open_supply(const mo_backend_unit *unit, supply *s,
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
        status = split(api, &whole, NULL, &n, NULL, err);
    if (status != MO_OK)
        return status;
    s->items = calloc((size_t) n + 1, sizeof *s->items);
    if (!s->items)
        return mo_fail_memory(err);
    status = split(api, &whole, s->items, &n, &remainder, err);
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

/* Parts are groups, and no more of them than there are. */
static mo_status check_parts(const mo_backend_unit *unit, const supply *s,
                             const int *parts, int n, mo_error *err)
{
    char text[MO_CUDA_SM_PARTS_TEXT_SIZE];
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
                   mo_cuda_sm_parts_format(parts, n, text), sum,
                   unit->options.gpu, s->sms, s->n * s->group, s->group);
}

static mo_status make_context(const mo_backend_unit *unit, CUdevResource *items,
                              int n, CUgreenCtx *context, mo_error *err)
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

static mo_status make_contexts(const mo_backend_unit *unit, const supply *s,
                               const int *parts, mo_cuda_green_contexts *green,
                               mo_error *err)
{
    int n_items = s->n + s->has_remainder, next = 0;
    mo_status status = MO_OK;

    for (int i = 0; i < green->n && status == MO_OK; i++) {
        int n = parts[i] / s->group;

        status = make_context(unit, &s->items[next], n, &green->parts[i], err);
        next += n;
    }
    if (status == MO_OK && next < n_items)
        status = make_context(unit, &s->items[next], n_items - next,
                              &green->rest, err);
    return status;
}

mo_status mo_cuda_green_contexts_create(const mo_backend_unit *unit,
                                        const int *parts, int n,
                                        mo_cuda_green_contexts *green,
                                        mo_error *err)
{
    supply s = { .items = NULL };
    mo_status status = mo_cuda_api_require_green_contexts(err);

    if (status != MO_OK)
        return status;
    green->parts = calloc((size_t) n, sizeof *green->parts);
    if (!green->parts)
        return mo_fail_memory(err);
    green->n = n;
    status = open_supply(unit, &s, err);
    if (status == MO_OK)
        status = check_parts(unit, &s, parts, n, err);
    if (status == MO_OK)
        status = make_contexts(unit, &s, parts, green, err);
    free(s.items);
    return status;
}

void mo_cuda_green_contexts_clear(const mo_cuda_api *api,
                                  mo_cuda_green_contexts *green)
{
    for (int i = 0; green->parts && i < green->n; i++)
        if (green->parts[i])
            api->cuGreenCtxDestroy(green->parts[i]);
    if (green->rest)
        api->cuGreenCtxDestroy(green->rest);
    free(green->parts);
    *green = (mo_cuda_green_contexts){ 0 };
}

mo_status mo_cuda_green_contexts_stream_create(
    const mo_cuda_api *api, const mo_cuda_green_contexts *green, int part,
    bool left_over, CUstream *stream, mo_error *err)
{
    CUgreenCtx context =
        left_over && green->rest ? green->rest : green->parts[part];

    return mo_cuda_check(
        api, "cuGreenCtxStreamCreate",
        api->cuGreenCtxStreamCreate(stream, context, CU_STREAM_NON_BLOCKING, 0),
        err);
}

#else

mo_status mo_cuda_green_contexts_create(const mo_backend_unit *unit,
                                        const int *parts, int n,
                                        mo_cuda_green_contexts *green,
                                        mo_error *err)
{
    (void) unit, (void) parts, (void) n, (void) green;
    return mo_cuda_api_require_green_contexts(err);
}

void mo_cuda_green_contexts_clear(const mo_cuda_api *api,
                                  mo_cuda_green_contexts *green)
{
    (void) api, (void) green;
}

mo_status mo_cuda_green_contexts_stream_create(
    const mo_cuda_api *api, const mo_cuda_green_contexts *green, int part,
    bool left_over, CUstream *stream, mo_error *err)
{
    (void) api, (void) green, (void) part, (void) left_over, (void) stream;
    return mo_cuda_api_require_green_contexts(err);
}

#endif
