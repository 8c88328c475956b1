/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parallel_for.h"
#include "exec/tensor/nhwc.h"
#include "exec/plan/ir/value_table.h"
#include "exec/runtime/device/device_run_internal.h"

enum {
    WEIGHT_ALIGN = 256,    /* what kernels of GPUs may count on */
    PUT_AT_ONCE = 8 << 20, /* bytes */
    COPY_AT_ONCE = 1 << 20 /* by one thread */
};

/* --------------------------------------------------------- in the process */

/* Weights are read where the file is mapped, unless kernels could not: an
 * offset in a file may be any, and a layout another one. */
static bool is_readable(const mo_plan_value *value)
{
    uintptr_t at = (uintptr_t) value->constant->data;

    return !value->channels_last &&
           at % mo_elem_size(value->constant->desc.elem) == 0;
}

/* Memory that kernels read a constant from: the unit's own, unless it is
 * apart. */
static mo_status new_copy(mo_run_device *d, int64_t bytes, void **copy,
                          mo_error *err)
{
    mo_status status;

    if (d->backend->apart) {
        *copy = malloc((size_t) bytes + 1);
        if (!*copy)
            return mo_fail_memory(err);
        d->copies[d->n_copies++] = *copy;
        return MO_OK;
    }
    status = mo_run_alloc_device_memory(d, bytes, copy, err);
    if (status == MO_OK)
        d->unit_copies[d->n_unit_copies++] = *copy;
    return status;
}

static mo_status copy_constant(mo_run_device *d, int v, mo_error *err)
{
    const mo_plan_value *value = &d->plan->values[v];
    int64_t bytes = mo_tensor_desc_bytes(&value->desc);
    void *copy = NULL, *turned = NULL;
    mo_status status = new_copy(d, bytes, &copy, err);

    if (status != MO_OK)
        return status;
    if (bytes > 0)
        memcpy(copy, value->constant->data, (size_t) bytes);
    d->constants[v] = copy;
    if (!value->channels_last)
        return MO_OK;
    /* The bytes are aligned now; they are turned into a second copy. */
    status = new_copy(d, bytes, &turned, err);
    if (status != MO_OK)
        return status;
    mo_tensor_to_nhwc(&value->desc, copy, turned);
    d->constants[v] = turned;
    return MO_OK;
}

mo_status mo_run_bind_constants(mo_run_device *d, mo_error *err)
{
    const mo_exec_plan *plan = d->plan;
    mo_status status = MO_OK;

    for (int v = 0; v < plan->n_values && status == MO_OK; v++) {
        const mo_plan_value *value = &plan->values[v];

        if (value->device != d->device || !value->constant)
            continue;
        if (is_readable(value))
            d->constants[v] = value->constant->data;
        else
            status = copy_constant(d, v, err);
    }
    for (int v = 0; v < plan->n_values; v++)
        d->constants[v] = d->constants[mo_plan_value_root(plan->values, v)];
    return status;
}

/* ------------------------------------------------------------ in the unit */

static void mark(const mo_run_device *d, int value, bool *needed)
{
    int root = mo_plan_value_root(d->plan->values, value);

    needed[root] = d->plan->values[root].constant != NULL;
}

/* What kernels have packed they do not read again. */
static void mark_needed(const mo_run_device *d, bool *needed)
{
    for (int i = 0; i < d->n_actions; i++) {
        const mo_run_action *a = &d->actions[i];

        if (a->kind == MO_PLAN_STEP_SEND)
            mark(d, d->plan->transfers[a->what].from_value, needed);
        if (a->kind != MO_PLAN_STEP_COMPUTE)
            continue;
        for (int k = 0; k < d->plan->calls[a->what].call.n_in; k++)
            if (!d->backend->consumed(a->kernel, k))
                mark(d, d->plan->calls[a->what].call.in[k], needed);
    }
}

/* The same data under several shapes: the longest first. */
static int compare_weights(const void *a, const void *b)
{
    const mo_run_weight *x = a, *y = b;

    if (x->data != y->data)
        return (const char *) x->data < (const char *) y->data ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static bool is_repeated(const mo_run_weights *weights, int i)
{
    return i > 0 && weights->items[i].data == weights->items[i - 1].data;
}

static mo_status place_weights(mo_run_weights *weights, mo_error *err)
{
    for (int i = 0; i < weights->n; i++) {
        mo_run_weight *w = &weights->items[i];
        int64_t end;

        if (is_repeated(weights, i)) {
            w->offset = weights->items[i - 1].offset;
            continue;
        }
        w->offset = weights->bytes;
        if (!mo_int64_add(weights->bytes, w->bytes, &end) ||
            !mo_int64_add(end, WEIGHT_ALIGN - 1, &end))
            return mo_fail(err, MO_E_LIMIT, "weights of more than 2^63 bytes");
        weights->bytes = end / WEIGHT_ALIGN * WEIGHT_ALIGN;
    }
    return MO_OK;
}

mo_status mo_run_collect_weights(mo_run_device *d, mo_run_weights *weights,
                                 mo_error *err)
{
    const mo_exec_plan *plan = d->plan;
    size_t room = (size_t) plan->n_values + 1;
    bool *needed = mo_arena_array(d->arena, room, sizeof *needed);

    *weights = (mo_run_weights){ .items = mo_arena_array(
                                     d->arena, room, sizeof *weights->items) };
    if (!needed || !weights->items)
        return mo_fail_memory(err);
    mark_needed(d, needed);
    for (int v = 0; v < plan->n_values; v++)
        if (needed[v] && plan->values[v].device == d->device)
            weights->items[weights->n++] = (mo_run_weight){
                .value = v,
                .data = d->constants[v],
                .bytes = mo_tensor_desc_bytes(&plan->values[v].desc),
            };
    qsort(weights->items, (size_t) weights->n, sizeof *weights->items,
          compare_weights);
    return place_weights(weights, err);
}

typedef struct copying {
    char *to;
    const char *from;
    size_t bytes;
} copying;

static void copy_part(void *context, int job, int thread)
{
    const copying *c = context;
    size_t at = (size_t) job * COPY_AT_ONCE, left = c->bytes - at;

    (void) thread;
    memcpy(c->to + at, c->from + at, left < COPY_AT_ONCE ? left : COPY_AT_ONCE);
}

/* A file that is mapped is brought in page by page, which takes longer than
 * copying: several threads do both. */
static void copy(char *to, const char *from, size_t bytes)
{
    copying c = { to, from, bytes };

    mo_parallel_for(0, (int) ((bytes + COPY_AT_ONCE - 1) / COPY_AT_ONCE),
                    copy_part, &c);
}

/* Through memory that the unit reads fast: a mapped file it would not. */
static mo_status put_weight(mo_run_device *d, const mo_run_weight *w,
                            void *near, mo_error *err)
{
    mo_status status = MO_OK;

    for (int64_t done = 0; done < w->bytes && status == MO_OK;) {
        int64_t left = w->bytes - done;
        size_t n = (size_t) (left < PUT_AT_ONCE ? left : PUT_AT_ONCE);

        copy(near, (const char *) w->data + done, n);
        status = d->backend->put(d->unit, d->weights + w->offset + done, near,
                                 n, err);
        done += (int64_t) n;
    }
    return status;
}

mo_status mo_run_upload_weights(mo_run_device *d, const mo_run_weights *weights,
                                mo_error *err)
{
    void *near = NULL;
    mo_status status = MO_OK;

    if (weights->bytes == 0)
        return MO_OK;
    status = d->backend->alloc_near(d->unit, PUT_AT_ONCE, &near, err);
    for (int i = 0; i < weights->n && status == MO_OK; i++) {
        const mo_run_weight *w = &weights->items[i];

        d->where[w->value] = d->weights + w->offset;
        if (!is_repeated(weights, i))
            status = put_weight(d, w, near, err);
    }
    if (near)
        d->backend->release_near(d->unit, near);
    return status;
}
