/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Green contexts of the stand-in. Its SMs are split as those of an H200: in
 * groups of a multiple of 8, of which there are 15 of 8 or as many larger ones
 * as fit, and a remainder.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tests/standin/cuda/cuda_graph.h"
#include "tests/standin/cuda/green_ctx.h"

#if CUDA_VERSION >= 12050

enum { GROUP = 8, GROUPED = 15 * GROUP, MAGIC = 0x6732 };

/* Private contents of a resource. */
typedef struct ticket {
    int magic;
    int split; /* the split that made it; 0: the whole device */
    int first, n;
} ticket;

struct CUdevResourceDesc_st {
    unsigned char sms[STANDIN_SMS];
    int n;
    CUdevResourceDesc next;
};

/* Destroyed ones are kept: their use is reported. */
struct CUgreenCtx_st {
    struct CUdevResourceDesc_st has;
    CUdevice device;
    int n_streams;
    bool gone;
    CUgreenCtx next;
};

static CUdevResourceDesc descs;
static CUgreenCtx contexts;
static int n_splits;

static CUdevResource resource_of(int split, int first, int n)
{
    const ticket t = { MAGIC, split, first, n };
    CUdevResource r;

    memset(&r, 0, sizeof r);
    r.type = n > 0 ? CU_DEV_RESOURCE_TYPE_SM : CU_DEV_RESOURCE_TYPE_INVALID;
    memcpy(r._internal_padding, &t, sizeof t);
    r.sm.smCount = (unsigned) n;
    return r;
}

static bool read_ticket(const CUdevResource *r, ticket *t)
{
    memcpy(t, r->_internal_padding, sizeof *t);
    return r->type == CU_DEV_RESOURCE_TYPE_SM && t->magic == MAGIC && t->n > 0;
}

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource *resource,
                                CUdevResourceType type)
{
    int n = 0;

    cuDeviceGetCount(&n);
    if (device < 0 || device >= n)
        return CUDA_ERROR_INVALID_DEVICE;
    if (type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    *resource = resource_of(0, 0, STANDIN_SMS);
    return CUDA_SUCCESS;
}

CUresult cuDevSmResourceSplitByCount(CUdevResource *result, unsigned *n_groups,
                                     const CUdevResource *input,
                                     CUdevResource *remaining, unsigned flags,
                                     unsigned least)
{
    unsigned each = least < GROUP ? GROUP : (least + GROUP - 1) / GROUP * GROUP;
    unsigned n = GROUPED / each;
    int split;
    ticket t;

    if (!read_ticket(input, &t) || t.split != 0 || flags || least > STANDIN_SMS)
        return CUDA_ERROR_INVALID_VALUE;
    if (!result) {
        *n_groups = n;
        return CUDA_SUCCESS;
    }
    standin_lock();
    split = ++n_splits;
    standin_unlock();
    n = *n_groups < n ? *n_groups : n;
    for (unsigned i = 0; i < n; i++)
        result[i] = resource_of(split, (int) (i * each), (int) each);
    if (remaining)
        *remaining = resource_of(split, (int) (n * each),
                                 STANDIN_SMS - (int) (n * each));
    *n_groups = n;
    return CUDA_SUCCESS;
}

/* Adds the SMs of one resource; returns false if they are of another split, or
 * present already. */
static bool add(CUdevResourceDesc desc, const ticket *t, int split)
{
    if (t->split != split)
        return false;
    for (int i = t->first; i < t->first + t->n; i++) {
        if (memchr(desc->sms, i, (size_t) desc->n))
            return false;
        desc->sms[desc->n++] = (unsigned char) i;
    }
    return true;
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *made,
                                   CUdevResource *resources, unsigned n)
{
    CUdevResourceDesc desc = calloc(1, sizeof *desc);
    ticket first = { 0 }, t;
    bool fits = n > 0 && read_ticket(&resources[0], &first);

    if (!desc)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < n && fits; i++)
        fits = read_ticket(&resources[i], &t) && add(desc, &t, first.split);
    if (!fits) {
        free(desc);
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    }
    standin_lock();
    desc->next = descs;
    descs = desc;
    standin_unlock();
    *made = desc;
    return CUDA_SUCCESS;
}

/* Retains the primary context, as the driver's manual specifies. */
CUresult cuGreenCtxCreate(CUgreenCtx *made, CUdevResourceDesc desc,
                          CUdevice device, unsigned flags)
{
    CUgreenCtx green;
    CUcontext primary;

    if (flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    if (cuDevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_DEVICE;
    green = calloc(1, sizeof *green);
    if (!green)
        return CUDA_ERROR_OUT_OF_MEMORY;
    green->has = *desc;
    green->device = device;
    standin_lock();
    green->next = contexts;
    contexts = green;
    standin_unlock();
    *made = green;
    return CUDA_SUCCESS;
}

/* Streams that still exist are a leak. */
CUresult cuGreenCtxDestroy(CUgreenCtx green)
{
    standin_lock();
    if (green->gone || green->n_streams > 0) {
        standin_report("a green context is destroyed %s",
                       green->gone ? "twice" : "before its streams");
        abort();
    }
    green->gone = true;
    standin_unlock();
    return cuDevicePrimaryCtxRelease(green->device);
}

CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx green,
                                unsigned flags, int priority)
{
    CUresult result;

    (void) priority;
    if (flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    if (green->gone)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    result = standin_stream_new(green, stream);
    standin_lock();
    green->n_streams += result == CUDA_SUCCESS;
    standin_unlock();
    return result;
}

void standin_green_release(CUgreenCtx green)
{
    standin_lock();
    green->n_streams--;
    standin_unlock();
}

bool standin_green_is_gone(const struct CUgreenCtx_st *green)
{
    return green && green->gone;
}

int standin_green_sms(const struct CUgreenCtx_st *green)
{
    return green ? green->has.n : STANDIN_SMS;
}

unsigned standin_green_sm(const struct CUgreenCtx_st *green, uint64_t block)
{
    uint64_t turn = block % (uint64_t) standin_green_sms(green);

    return green ? green->has.sms[turn] : (unsigned) turn;
}

#else /* headers without green contexts */

void standin_green_release(struct CUgreenCtx_st *green)
{
    (void) green;
}

bool standin_green_is_gone(const struct CUgreenCtx_st *green)
{
    return green != NULL;
}

int standin_green_sms(const struct CUgreenCtx_st *green)
{
    return green ? 0 : STANDIN_SMS;
}

unsigned standin_green_sm(const struct CUgreenCtx_st *green, uint64_t block)
{
    return green ? 0 : (unsigned) (block % STANDIN_SMS);
}

#endif
