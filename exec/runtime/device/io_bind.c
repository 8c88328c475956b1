/* SPDX-License-Identifier: Apache-2.0 */
/*
 * I/O binding: inputs, outputs and constants of a device, and upload of its
 * weights.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parallel_for.h"
#include "exec/plan/ir/value_table.h"
#include "exec/runtime/device/device_run_internal.h"
#include "exec/tensor/convert.h"
#include "exec/tensor/mmap_file.h"
#include "exec/tensor/nhwc.h"

mo_status mo_run_convert_input(const mo_plan_value *value,
                               const mo_tensor_dense *input,
                               void *buffers[MO_RUN_N_CONVERTED],
                               const void **bytes, mo_error *err)
{
    const bool wanted[MO_RUN_N_CONVERTED] = {
        input->desc.elem != value->desc.elem, value->channels_last
    };

    for (int i = 0; i < MO_RUN_N_CONVERTED; i++) {
        if (wanted[i] && !buffers[i])
            buffers[i] =
                malloc((size_t) mo_tensor_desc_bytes(&value->desc) + 1);
        if (wanted[i] && !buffers[i])
            return mo_fail_memory(err);
    }
    *bytes = input->data;
    if (wanted[0]) {
        mo_tensor_narrow_f32(value->desc.elem, *bytes, buffers[0],
                             mo_tensor_desc_elements(&value->desc));
        *bytes = buffers[0];
    }
    if (wanted[1]) {
        mo_tensor_to_nhwc(&value->desc, *bytes, buffers[1]);
        *bytes = buffers[1];
    }
    return MO_OK;
}

mo_status mo_run_bind_inputs(mo_run_device *d, mo_error *err)
{
    const mo_exec_plan *plan = d->plan;
    mo_status status = MO_OK;

    for (int i = 0; i < plan->n_inputs && d->options->inputs; i++)
        for (int k = 0; k < plan->inputs[i].n_values; k++) {
            int v = plan->inputs[i].values[k];

            void *buffers[MO_RUN_N_CONVERTED] = { NULL };

            if (status != MO_OK || plan->values[v].device != d->device ||
                !d->where[v] ||
                mo_tensor_desc_bytes(&plan->values[v].desc) == 0)
                continue;
            status =
                mo_run_convert_input(&plan->values[v], &d->options->inputs[i],
                                     buffers, &d->inputs[v], err);
            for (int b = 0; b < MO_RUN_N_CONVERTED; b++)
                if (buffers[b])
                    d->copies[d->n_copies++] = buffers[b];
        }
    return status;
}

mo_status mo_run_load_inputs(mo_run_device *d, mo_error *err)
{
    mo_status status = MO_OK;

    for (int v = 0; v < d->plan->n_values && status == MO_OK; v++) {
        size_t bytes;

        if (!d->inputs || !d->inputs[v])
            continue;
        bytes = (size_t) mo_tensor_desc_bytes(&d->plan->values[v].desc);
        if (d->backend->separate_memory)
            status = d->backend->upload(d->unit, d->where[v], d->inputs[v],
                                        bytes, err);
        else
            memcpy(d->where[v], d->inputs[v], bytes);
    }
    return status;
}

mo_status mo_run_fetch_outputs(mo_run_device *d, mo_error *err)
{
    const mo_exec_plan *plan = d->plan;
    mo_status status = MO_OK;

    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++) {
        int v = plan->outputs[i].value;
        size_t bytes = (size_t) mo_tensor_desc_bytes(&plan->values[v].desc);

        if (plan->values[v].device != d->device || d->fetched[v] ||
            d->constants[v] || bytes == 0)
            continue;
        d->fetched[v] = malloc(bytes);
        if (!d->fetched[v])
            return mo_fail_memory(err);
        status = d->backend->download(d->unit, d->fetched[v], d->where[v],
                                      bytes, err);
    }
    return status;
}

const void *mo_run_device_output(const mo_run_device *device, int value)
{
    if (device->constants[value])
        return device->constants[value];
    return device->backend->separate_memory ? device->fetched[value]
                                            : device->where[value];
}

enum {
    WEIGHT_ALIGN = 256,       /* alignment that GPU kernels assume */
    UPLOAD_BYTES = 8 << 20,   /* bytes per upload */
    COPY_PART_BYTES = 1 << 20 /* bytes per thread */
};

/* Weights are read from the mapped file, unless kernels could not: they may be
 * unaligned, or in another layout. */
static bool is_readable(const mo_plan_value *value)
{
    uintptr_t at = (uintptr_t) value->constant->data;

    return !value->channels_last &&
           at % mo_elem_size(value->constant->desc.elem) == 0;
}

/* Where memory is shared, a kernel that packs a constant needs an aligned copy
 * only while it is prepared. */
bool mo_run_is_copied_late(const mo_run_device *d, int v)
{
    const mo_plan_value *value =
        &d->plan->values[mo_plan_value_root(d->plan->values, v)];

    return value->constant && !value->channels_last && !is_readable(value) &&
           !d->backend->separate_memory;
}

/* Allocates memory from which kernels read a constant: the unit's, unless it
 * is separate. */
static mo_status alloc_constant_copy(mo_run_device *d, int64_t bytes,
                                     void **copy_parallel, mo_error *err)
{
    mo_status status;

    if (d->backend->separate_memory) {
        *copy_parallel = malloc((size_t) bytes + 1);
        if (!*copy_parallel)
            return mo_fail_memory(err);
        d->copies[d->n_copies++] = *copy_parallel;
        return MO_OK;
    }
    status = mo_run_alloc_device_memory(d, bytes, copy_parallel, err);
    if (status == MO_OK)
        d->unit_copies[d->n_unit_copies++] = *copy_parallel;
    return status;
}

static mo_status copy_constant(mo_run_device *d, int v, mo_error *err)
{
    const mo_plan_value *value = &d->plan->values[v];
    int64_t bytes = mo_tensor_desc_bytes(&value->desc);
    void *copy_parallel = NULL, *converted = NULL;
    mo_status status = alloc_constant_copy(d, bytes, &copy_parallel, err);

    if (status != MO_OK)
        return status;
    if (bytes > 0)
        memcpy(copy_parallel, value->constant->data, (size_t) bytes);
    d->constants[v] = copy_parallel;
    if (!value->channels_last)
        return MO_OK;
    /* The bytes are aligned now; a second copy converts the layout. */
    status = alloc_constant_copy(d, bytes, &converted, err);
    if (status != MO_OK)
        return status;
    mo_tensor_to_nhwc(&value->desc, copy_parallel, converted);
    d->constants[v] = converted;
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
        if (is_readable(value) || mo_run_is_copied_late(d, v))
            d->constants[v] = value->constant->data;
        else
            status = copy_constant(d, v, err);
    }
    for (int v = 0; v < plan->n_values; v++)
        d->constants[v] = d->constants[mo_plan_value_root(plan->values, v)];
    return status;
}

static void mark_root(const mo_run_device *d, int value, bool *needed)
{
    int root = mo_plan_value_root(d->plan->values, value);

    needed[root] = d->plan->values[root].constant != NULL;
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

static bool is_same_data(const mo_run_weights *weights, int i)
{
    return i > 0 && weights->items[i].data == weights->items[i - 1].data;
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

    /* Kernels do not read again what they have packed. */
    for (int i = 0; i < d->n_actions; i++) {
        const mo_run_action *a = &d->actions[i];

        if (a->kind == MO_PLAN_STEP_SEND)
            mark_root(d, d->plan->transfers[a->what].from_value, needed);
        if (a->kind != MO_PLAN_STEP_COMPUTE)
            continue;
        for (int k = 0; k < d->plan->calls[a->what].call.n_in; k++)
            if (!d->backend->consumed(a->kernel, k))
                mark_root(d, d->plan->calls[a->what].call.in[k], needed);
    }
    for (int v = 0; v < plan->n_values; v++)
        if (needed[v] && plan->values[v].device == d->device)
            weights->items[weights->n++] = (mo_run_weight){
                .value = v,
                .data = d->constants[v],
                .bytes = mo_tensor_desc_bytes(&plan->values[v].desc),
            };
    qsort(weights->items, (size_t) weights->n, sizeof *weights->items,
          compare_weights);

    for (int i = 0; i < weights->n; i++) {
        mo_run_weight *w = &weights->items[i];
        int64_t end;

        if (is_same_data(weights, i)) {
            w->offset = weights->items[i - 1].offset;
            continue;
        }
        w->offset = weights->bytes;
        if (!mo_int64_add(weights->bytes, w->bytes, &end) ||
            !mo_int64_add(end, WEIGHT_ALIGN - 1, &end))
            return mo_fail(err, MO_E_LIMIT, "weights of more than 2^63 bytes");
        weights->bytes = end / WEIGHT_ALIGN * WEIGHT_ALIGN;
        weights->data_bytes += w->bytes;
    }
    return MO_OK;
}

typedef struct copying {
    char *to;
    const char *from;
    size_t bytes;
} copying;

static void copy_part(void *context, int job, int thread)
{
    const copying *c = context;
    size_t at = (size_t) job * COPY_PART_BYTES, left = c->bytes - at;

    (void) thread;
    memcpy(c->to + at, c->from + at,
           left < COPY_PART_BYTES ? left : COPY_PART_BYTES);
}

mo_status mo_run_upload_weights(mo_run_device *d, const mo_run_weights *weights,
                                mo_error *err)
{
    void *near = NULL;
    mo_status status = MO_OK;

    if (weights->bytes == 0)
        return MO_OK;
    status = d->backend->alloc_pinned(d->unit, UPLOAD_BYTES, &near, err);
    for (int i = 0; i < weights->n && status == MO_OK; i++) {
        const mo_run_weight *w = &weights->items[i];

        d->where[w->value] = d->weights + w->offset;
        if (!is_same_data(weights, i)) {
            /* Through a staging buffer that the unit reads fast, unlike a
             * mapped file. */
            status = MO_OK;

            for (int64_t done = 0; done < w->bytes && status == MO_OK;) {
                int64_t left = w->bytes - done;
                size_t n = (size_t) (left < UPLOAD_BYTES ? left : UPLOAD_BYTES);

                /* Page faults of a mapped file take longer than copying:
                 * several threads do both. */
                mo_parallel_for(
                    0, (int) ((n + COPY_PART_BYTES - 1) / COPY_PART_BYTES),
                    copy_part,
                    &(copying){ near, (const char *) w->data + done, n });
                status = d->backend->upload(
                    d->unit, d->weights + w->offset + done, near, n, err);
                done += (int64_t) n;
            }
        }
        mo_mmap_file_release(w->data, (size_t) w->bytes);
    }
    if (near)
        d->backend->free_pinned(d->unit, near);
    return status;
}
