/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Separable interpolation (linear, cubic): the weights are products of one
 * weight per dimension, so dimensions are resized one after the other, those
 * that shrink most first. Intermediate results are floats, whatever the type
 * of the tensors.
 */
#include <stdlib.h>

#include "exec/backend/cpu/unit/multiversion.h"
#include "exec/backend/cpu/unit/load_f32.h"
#include "exec/backend/cpu/kernels/interpolate.h"
#include "exec/op/interp_taps.h"

/* From [outer][in][inner] to [outer][taps.n][inner]. */
typedef struct pass {
    mo_call_interp_taps taps;
    int64_t outer, in, inner;
} pass;

typedef struct blend_kernel {
    mo_cpu_kernel base;
    mo_elem elem;
    int n_passes;
    pass passes[MO_MAX_RANK];
    int64_t n_in, n_out;
    size_t half; /* bytes of each of the two float buffers */
} blend_kernel;

typedef struct blend_run {
    const pass *pass;
    const float *in;
    float *out;
} blend_run;

MO_CPU_MULTIVERSION
static void add_row(float *restrict to, const float *restrict from,
                    float weight, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] += weight * from[i];
}

MO_CPU_MULTIVERSION
static void set_row(float *restrict to, const float *restrict from,
                    float weight, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = weight * from[i];
}

/* Rows of inner elements, each a weighted sum of rows; zero without taps. */
static void interpolate_rows(void *context, int64_t begin, int64_t end,
                             int worker)
{
    const blend_run *run = context;
    const pass *p = run->pass;
    const mo_call_interp_taps *taps = &p->taps;

    (void) worker;
    for (int64_t i = begin; i < end; i++) {
        const float *in = run->in + i / taps->n * p->in * p->inner;
        float *out = run->out + i * p->inner;
        int64_t t = taps->first[i % taps->n];
        int64_t stop = taps->first[i % taps->n + 1];

        set_row(out, in + (t < stop ? taps->index[t] : 0) * p->inner,
                t < stop ? taps->weight[t] : 0, p->inner);
        for (t++; t < stop; t++)
            add_row(out, in + taps->index[t] * p->inner, taps->weight[t],
                    p->inner);
    }
}

/* The last dimension: rows of the input become rows of the result. */
static void interpolate_columns(void *context, int64_t begin, int64_t end,
                                int worker)
{
    const blend_run *run = context;
    const pass *p = run->pass;
    const mo_call_interp_taps *taps = &p->taps;

    (void) worker;
    for (int64_t i = begin; i < end; i++) {
        const float *in = run->in + i * p->in;
        float *out = run->out + i * taps->n;

        for (int64_t j = 0; j < taps->n; j++) {
            float sum = 0;

            for (int64_t t = taps->first[j]; t < taps->first[j + 1]; t++)
                sum += taps->weight[t] * in[taps->index[t]];
            out[j] = sum;
        }
    }
}

static void run_pass(mo_cpu_unit *unit, const pass *p, const float *in,
                     float *out)
{
    enum { AT_ONCE = 1 << 13 };
    blend_run run = { p, in, out };

    if (p->inner == 1)
        mo_cpu_thread_pool_parallel_for(unit->pool, p->outer,
                                        AT_ONCE / (p->taps.n + 1) + 1,
                                        interpolate_columns, &run);
    else
        mo_cpu_thread_pool_parallel_for(unit->pool, p->outer * p->taps.n,
                                        AT_ONCE / (p->inner + 1) + 1,
                                        interpolate_rows, &run);
}

typedef struct store_run {
    mo_tensor_dense out;
    const float *from;
} store_run;

static void store_part(void *context, int64_t begin, int64_t end, int worker)
{
    store_run *run = context;

    (void) worker;
    for (int64_t i = begin; i < end; i++)
        mo_tensor_set_double(&run->out, i, run->from[i]);
}

static mo_status run_blend(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                           const void *const *in, void *const *out,
                           void *workspace, mo_error *err)
{
    enum { AT_ONCE = 1 << 13 };
    const blend_kernel *k = (const blend_kernel *) kernel;
    float *place[2] = { workspace,
                        (float *) workspace + k->half / sizeof(float) };
    const float *from = in[0];
    int next = 0;

    (void) err;
    if (k->n_out == 0)
        return MO_OK;
    if (k->elem != MO_ELEM_F32) {
        mo_cpu_load_f32(in[0], k->elem, 0, 1, k->n_in, place[0]);
        from = place[0];
        next = 1;
    }
    for (int i = 0; i < k->n_passes; i++) {
        bool last = i == k->n_passes - 1 && k->elem == MO_ELEM_F32;
        float *to = last ? out[0] : place[next];

        run_pass(unit, &k->passes[i], from, to);
        from = to;
        next = 1 - next;
    }
    if (k->elem != MO_ELEM_F32) {
        store_run store = { { { k->elem, { 0 } }, out[0], false }, from };

        mo_cpu_thread_pool_parallel_for(unit->pool, k->n_out, AT_ONCE,
                                        store_part, &store);
    }
    return MO_OK;
}

static void free_linear(mo_cpu_kernel *kernel)
{
    blend_kernel *blend = (blend_kernel *) kernel;

    for (int i = 0; i < blend->n_passes; i++)
        mo_call_interp_taps_clear(&blend->passes[i].taps);
    free(blend);
}

/* Dimensions in the order of resizing: ascending by growth. At least one, so
 * that there is a pass that converts. */
static int order_dims(const mo_call_interpolate *call, int order[MO_MAX_RANK])
{
    int n = 0;

    for (int d = 0; d < call->rank; d++) {
        double growth = (double) call->out[d] / (double) (call->in[d] + 1);
        int i = n;

        if (!call->moves[d])
            continue;
        for (; i > 0; i--) {
            int before = order[i - 1];

            if ((double) call->out[before] <=
                growth * (double) (call->in[before] + 1))
                break;
            order[i] = before;
        }
        order[i] = d;
        n++;
    }
    if (n == 0 && call->rank > 0)
        order[n++] = call->rank - 1;
    return n;
}

static mo_status make_passes(const mo_call_interpolate *call,
                             blend_kernel *blend, mo_error *err)
{
    int order[MO_MAX_RANK], n = order_dims(call, order);
    int64_t size[MO_MAX_RANK], most = blend->n_in;
    mo_status status = MO_OK;

    for (int d = 0; d < call->rank; d++)
        size[d] = call->in[d];
    for (int i = 0; status == MO_OK && i < n; i++) {
        pass *p = &blend->passes[i];
        int64_t made;

        p->outer = p->inner = 1;
        for (int d = 0; d < order[i]; d++)
            p->outer *= size[d];
        for (int d = order[i] + 1; d < call->rank; d++)
            p->inner *= size[d];
        p->in = size[order[i]];
        status = mo_call_interp_taps_init(call, order[i], &p->taps, err);
        blend->n_passes += status == MO_OK;
        size[order[i]] = call->out[order[i]];
        made = p->outer * p->inner * size[order[i]];
        most = made > most ? made : most;
    }
    blend->half = mo_cpu_round_to_line((size_t) most * sizeof(float));
    return status;
}

static mo_status prepare_blend(mo_cpu_unit *unit, const mo_call *call,
                               const mo_backend_operand *in,
                               const mo_tensor_desc *out,
                               mo_cpu_kernel **kernel, size_t *workspace,
                               mo_error *err)
{
    blend_kernel *blend = calloc(1, sizeof *blend);
    mo_status status;

    (void) unit;
    if (!blend)
        return mo_fail_memory(err);
    blend->elem = out[0].elem;
    blend->n_in = mo_tensor_desc_elements(&in[0].desc);
    blend->n_out = mo_tensor_desc_elements(&out[0]);
    status = make_passes(&call->u.interpolate, blend, err);
    if (status != MO_OK) {
        free_linear(&blend->base);
        return status;
    }
    *workspace = 2 * blend->half;
    *kernel = &blend->base;
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_interp_linear = { prepare_blend, run_blend,
                                                   free_linear };
