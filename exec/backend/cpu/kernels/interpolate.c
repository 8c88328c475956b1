/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interpolation: of nearest neighbours, and separable (linear, cubic).
 *
 * The weights of a separable one are products of one weight per dimension, so
 * dimensions are resized one after the other, those that shrink most first.
 * Intermediate results are floats, whatever the type of the tensors.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/check_call.h"
#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/unit/load_f32.h"
#include "exec/backend/cpu/unit/multiversion.h"
#include "exec/op/interp_taps.h"

/* Nearest neighbours: every dimension has a table of source offsets. */
typedef struct nearest_kernel {
    mo_cpu_kernel base;
    int rank; /* dimensions up to the last one that is resized */
    int64_t extent[MO_MAX_RANK];
    int64_t *from[MO_MAX_RANK]; /* offsets by element, in bytes */
    size_t width;               /* bytes copied as one element */
    int64_t n_rows;
    bool doubles; /* every element of the last dimension twice */
} nearest_kernel;

typedef struct nearest_run {
    const nearest_kernel *kernel;
    const char *in;
    char *out;
} nearest_run;

/* Returns the input row at an index of the outer dimensions; moves on to the
 * next one. */
static const char *next_row(const nearest_run *run, int64_t *index)
{
    const nearest_kernel *kernel = run->kernel;
    const char *row = run->in;
    bool carry = true;

    for (int d = kernel->rank - 1; d-- > 0;) {
        row += kernel->from[d][index[d]];
        index[d] += carry;
        carry = index[d] == kernel->extent[d];
        index[d] = carry ? 0 : index[d];
    }
    return row;
}

/* width is constant. */
#define COPY_ELEMENTS(width)                                                   \
    for (int64_t j = 0; j < columns; j++)                                      \
    memcpy(out + (size_t) j * (width), in + from[j], (width))

static void copy_row(const nearest_kernel *kernel, const char *in, char *out)
{
    int64_t columns = kernel->extent[kernel->rank - 1];
    const int64_t *from = kernel->from[kernel->rank - 1];

    if (kernel->doubles && kernel->width == 4)
        for (int64_t j = 0; j < columns / 2; j++) {
            memcpy(out + 8 * j, in + 4 * j, 4);
            memcpy(out + 8 * j + 4, in + 4 * j, 4);
        }
    else if (kernel->width == 4)
        COPY_ELEMENTS(4);
    else
        COPY_ELEMENTS(kernel->width);
}

static void copy_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const nearest_run *run = context;
    const nearest_kernel *kernel = run->kernel;
    size_t row = (size_t) kernel->extent[kernel->rank - 1] * kernel->width;
    int64_t index[MO_MAX_RANK] = { 0 }, rest = begin;
    const char *before = NULL;

    (void) worker;
    for (int d = kernel->rank - 1; d-- > 0; rest /= kernel->extent[d])
        index[d] = rest % kernel->extent[d];
    for (int64_t i = begin; i < end; i++) {
        const char *in = next_row(run, index);
        char *out = run->out + (size_t) i * row;

        if (in == before)
            memcpy(out, out - row, row);
        else
            copy_row(kernel, in, out);
        before = in;
    }
}

static mo_status run_nearest(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                             const void *const *in, void *const *out,
                             void *workspace, mo_error *err)
{
    enum { JOB_BYTES = 1 << 15 };
    const nearest_kernel *k = (const nearest_kernel *) kernel;
    nearest_run run = { k, in[0], out[0] };
    int64_t row;

    (void) workspace, (void) err;
    row = k->extent[k->rank - 1] * (int64_t) k->width;
    if (row > 0)
        mo_cpu_thread_pool_parallel_for(unit->pool, k->n_rows,
                                        JOB_BYTES / row + 1, copy_rows, &run);
    return MO_OK;
}

static void free_nearest(mo_cpu_kernel *kernel)
{
    nearest_kernel *nearest = (nearest_kernel *) kernel;

    for (int d = 0; d < nearest->rank; d++)
        free(nearest->from[d]);
    free(nearest);
}

/* The table of dimension d, whose elements are stride bytes apart. */
static mo_status make_table(const mo_call_interpolate *call, int d,
                            int64_t stride, int64_t **from, mo_error *err)
{
    mo_call_interp_taps taps = { 0 };
    mo_status status = MO_OK;

    if (call->moves[d])
        status = mo_call_interp_taps_init(call, d, &taps, err);
    if (status != MO_OK)
        return status;
    *from = calloc((size_t) call->out[d] + 1, sizeof **from);
    for (int64_t i = 0; *from && i < call->out[d]; i++)
        (*from)[i] = (call->moves[d] ? taps.index[i] : i) * stride;
    mo_call_interp_taps_clear(&taps);
    return *from ? MO_OK : mo_fail_memory(err);
}

static const mo_cpu_kernel_class interp_nearest = { NULL, run_nearest,
                                                    free_nearest };

static bool is_doubled(const nearest_kernel *kernel, int64_t size)
{
    int last = kernel->rank - 1;
    bool all = kernel->extent[last] == 2 * size;

    for (int64_t i = 0; all && i < kernel->extent[last]; i++)
        all = kernel->from[last][i] == i / 2 * (int64_t) kernel->width;
    return all;
}

static mo_status prepare_nearest(const mo_call *call, const mo_tensor_desc *out,
                                 mo_cpu_kernel **kernel, mo_error *err)
{
    const mo_call_interpolate *c = &call->u.interpolate;
    nearest_kernel *nearest = calloc(1, sizeof *nearest);
    mo_status status = MO_OK;
    int64_t stride;

    if (!nearest)
        return mo_fail_memory(err);
    nearest->base.cls = &interp_nearest;
    nearest->width = mo_elem_size(out[0].elem);
    nearest->rank = c->rank;
    while (nearest->rank > 1 && !c->moves[nearest->rank - 1])
        nearest->width *= (size_t) c->out[--nearest->rank];
    stride = (int64_t) nearest->width;
    nearest->n_rows = 1;
    for (int d = nearest->rank; status == MO_OK && d-- > 0;) {
        nearest->extent[d] = c->out[d];
        status = make_table(c, d, stride, &nearest->from[d], err);
        stride *= c->in[d];
        nearest->n_rows *= d < nearest->rank - 1 ? c->out[d] : 1;
    }
    if (status != MO_OK) {
        free_nearest(&nearest->base);
        return status;
    }
    nearest->doubles = is_doubled(nearest, c->in[nearest->rank - 1]);
    *kernel = &nearest->base;
    return MO_OK;
}

/* From [outer][in][inner] to [outer][taps.n][inner]. */
typedef struct pass {
    mo_call_interp_taps taps;
    int64_t outer, in, inner;
    int64_t pairs_begin, pairs_end; /* elements of two taps each */
} pass;

typedef struct separable_kernel {
    mo_cpu_kernel base;
    mo_elem elem;
    int n_passes;
    pass passes[MO_MAX_RANK];
    int64_t n_in, n_out;
    size_t half; /* bytes of each of the two float buffers */
} separable_kernel;

typedef struct separable_run {
    const pass *pass;
    const float *in;
    float *out;
} separable_run;

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
    const separable_run *run = context;
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

static void find_pairs(pass *p)
{
    const int64_t *first = p->taps.first;
    int64_t at = 0;

    while (at < p->taps.n && first[at + 1] != first[at] + 2)
        at++;
    p->pairs_begin = at;
    while (at < p->taps.n && first[at + 1] == first[at] + 2)
        at++;
    p->pairs_end = at;
}

MO_CPU_MULTIVERSION
static void add_pairs(float *restrict to, const float *restrict from,
                      const int64_t *index, const float *weight, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = weight[2 * i] * from[index[2 * i]] +
                weight[2 * i + 1] * from[index[2 * i + 1]];
}

static void add_taps(const mo_call_interp_taps *taps, const float *in,
                     float *out, int64_t begin, int64_t end)
{
    for (int64_t j = begin; j < end; j++) {
        float sum = 0;

        for (int64_t t = taps->first[j]; t < taps->first[j + 1]; t++)
            sum += taps->weight[t] * in[taps->index[t]];
        out[j] = sum;
    }
}

/* The last dimension: rows of the input become rows of the result. */
static void interpolate_columns(void *context, int64_t begin, int64_t end,
                                int worker)
{
    const separable_run *run = context;
    const pass *p = run->pass;
    const mo_call_interp_taps *taps = &p->taps;
    int64_t pairs = taps->first[p->pairs_begin];

    (void) worker;
    for (int64_t i = begin; i < end; i++) {
        const float *in = run->in + i * p->in;
        float *out = run->out + i * taps->n;

        add_taps(taps, in, out, 0, p->pairs_begin);
        add_pairs(out + p->pairs_begin, in, taps->index + pairs,
                  taps->weight + pairs, p->pairs_end - p->pairs_begin);
        add_taps(taps, in, out, p->pairs_end, taps->n);
    }
}

static void run_pass(mo_cpu_unit *unit, const pass *p, const float *in,
                     float *out)
{
    enum { AT_ONCE = 1 << 13 };
    separable_run run = { p, in, out };

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

static mo_status run_separable(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                               const void *const *in, void *const *out,
                               void *workspace, mo_error *err)
{
    enum { AT_ONCE = 1 << 13 };
    const separable_kernel *k = (const separable_kernel *) kernel;
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

static void free_separable(mo_cpu_kernel *kernel)
{
    separable_kernel *separable = (separable_kernel *) kernel;

    for (int i = 0; i < separable->n_passes; i++)
        mo_call_interp_taps_clear(&separable->passes[i].taps);
    free(separable);
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
                             separable_kernel *separable, mo_error *err)
{
    int order[MO_MAX_RANK], n = order_dims(call, order);
    int64_t size[MO_MAX_RANK], most = separable->n_in;
    mo_status status = MO_OK;

    for (int d = 0; d < call->rank; d++)
        size[d] = call->in[d];
    for (int i = 0; status == MO_OK && i < n; i++) {
        pass *p = &separable->passes[i];
        int64_t made;

        p->outer = p->inner = 1;
        for (int d = 0; d < order[i]; d++)
            p->outer *= size[d];
        for (int d = order[i] + 1; d < call->rank; d++)
            p->inner *= size[d];
        p->in = size[order[i]];
        status = mo_call_interp_taps_init(call, order[i], &p->taps, err);
        separable->n_passes += status == MO_OK;
        if (status == MO_OK)
            find_pairs(p);
        size[order[i]] = call->out[order[i]];
        made = p->outer * p->inner * size[order[i]];
        most = made > most ? made : most;
    }
    separable->half = mo_cpu_round_to_line((size_t) most * sizeof(float));
    return status;
}

static const mo_cpu_kernel_class interp_separable = { NULL, run_separable,
                                                      free_separable };

static mo_status prepare_separable(const mo_call *call,
                                   const mo_backend_operand *in,
                                   const mo_tensor_desc *out,
                                   mo_cpu_kernel **kernel, size_t *workspace,
                                   mo_error *err)
{
    separable_kernel *separable = calloc(1, sizeof *separable);
    mo_status status;

    if (!separable)
        return mo_fail_memory(err);
    separable->base.cls = &interp_separable;
    separable->elem = out[0].elem;
    separable->n_in = mo_tensor_desc_elements(&in[0].desc);
    separable->n_out = mo_tensor_desc_elements(&out[0]);
    status = make_passes(&call->u.interpolate, separable, err);
    if (status != MO_OK) {
        free_separable(&separable->base);
        return status;
    }
    *workspace = 2 * separable->half;
    *kernel = &separable->base;
    return MO_OK;
}

static mo_status prepare_interpolate(mo_cpu_unit *unit, const mo_call *call,
                                     const mo_backend_operand *in,
                                     const mo_tensor_desc *out,
                                     mo_cpu_kernel **kernel, size_t *workspace,
                                     mo_error *err)
{
    mo_status status = mo_backend_check_interpolate(call, in, out, err);

    (void) unit;
    assert(!call->after);
    if (status != MO_OK)
        return status;
    return call->u.interpolate.mode == MO_CALL_INTERPOLATE_NEAREST
               ? prepare_nearest(call, out, kernel, err)
               : prepare_separable(call, in, out, kernel, workspace, err);
}

/* The kernel has the class of its algorithm. */
const mo_cpu_kernel_class mo_cpu_interpolate = { prepare_interpolate, NULL,
                                                 NULL };
