/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cpu/kernels/interpolate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/check_call.h"
#include "exec/op/interp_taps.h"

/*
 * Nearest-neighbour interpolation: every dimension has a table of source
 * offsets.
 */

typedef struct nearest_kernel {
    mo_cpu_kernel base;
    int rank; /* dimensions up to the last one that is resized */
    int64_t extent[MO_MAX_RANK];
    int64_t *from[MO_MAX_RANK]; /* offsets by element, in bytes */
    size_t width;               /* bytes copied as one element */
    int64_t n_rows;
} nearest_kernel;

typedef struct nearest_run {
    const nearest_kernel *kernel;
    const char *in;
    char *out;
} nearest_run;

/* Returns the input row of output row i. */
static const char *find_row(const nearest_run *run, int64_t i)
{
    const nearest_kernel *kernel = run->kernel;
    const char *row = run->in;

    for (int d = kernel->rank - 1; d-- > 0;) {
        row += kernel->from[d][i % kernel->extent[d]];
        i /= kernel->extent[d];
    }
    return row;
}

static void copy_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const nearest_run *run = context;
    const nearest_kernel *kernel = run->kernel;
    int64_t columns = kernel->extent[kernel->rank - 1];
    const int64_t *from = kernel->from[kernel->rank - 1];
    size_t width = kernel->width;

    (void) worker;
    for (int64_t i = begin; i < end; i++) {
        const char *in = find_row(run, i);
        char *out = run->out + (size_t) (i * columns) * width;

        if (width == 4)
            for (int64_t j = 0; j < columns; j++)
                memcpy(out + j * 4, in + from[j], 4);
        else
            for (int64_t j = 0; j < columns; j++)
                memcpy(out + (size_t) j * width, in + from[j], width);
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

static mo_status prepare_nearest(mo_cpu_unit *unit, const mo_call *call,
                                 const mo_backend_operand *in,
                                 const mo_tensor_desc *out,
                                 mo_cpu_kernel **kernel, size_t *workspace,
                                 mo_error *err)
{
    const mo_call_interpolate *c = &call->u.interpolate;
    nearest_kernel *nearest = calloc(1, sizeof *nearest);
    mo_status status = MO_OK;
    int64_t stride;

    (void) unit, (void) in, (void) workspace;
    if (!nearest)
        return mo_fail_memory(err);
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
    *kernel = &nearest->base;
    return MO_OK;
}

static const mo_cpu_kernel_class interp_nearest = { prepare_nearest,
                                                    run_nearest, free_nearest };

/* Wraps a kernel of one of the two algorithms. */
typedef struct interpolate_kernel {
    mo_cpu_kernel base;
    const mo_cpu_kernel_class *algo;
    mo_cpu_kernel *inner;
} interpolate_kernel;

static mo_status prepare_interpolate(mo_cpu_unit *unit, const mo_call *call,
                                     const mo_backend_operand *in,
                                     const mo_tensor_desc *out,
                                     mo_cpu_kernel **kernel, size_t *workspace,
                                     mo_error *err)
{
    const mo_call_interpolate *c = &call->u.interpolate;
    interpolate_kernel *made;
    mo_status status = mo_backend_check_interpolate(call, in, out, err);

    assert(!call->after);
    if (status != MO_OK)
        return status;
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->algo = c->mode == MO_CALL_INTERPOLATE_NEAREST ? &interp_nearest
                                                        : &mo_cpu_interp_linear;
    status =
        made->algo->prepare(unit, call, in, out, &made->inner, workspace, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *kernel = &made->base;
    return MO_OK;
}

static mo_status run_interpolate(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                                 const void *const *in, void *const *out,
                                 void *workspace, mo_error *err)
{
    const interpolate_kernel *k = (const interpolate_kernel *) kernel;

    return k->algo->run(unit, k->inner, in, out, workspace, err);
}

static void free_interpolate(mo_cpu_kernel *kernel)
{
    interpolate_kernel *k = (interpolate_kernel *) kernel;

    k->algo->free(k->inner);
    free(k);
}

const mo_cpu_kernel_class mo_cpu_interpolate = { prepare_interpolate,
                                                 run_interpolate,
                                                 free_interpolate };
