/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gather, GatherND and GatherElements: every index selects a slice of
 * contiguous elements; slices are copied in parallel.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "exec/backend/check_call.h"
#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/kernels/index_bounds.h"

enum { JOB_BYTES = 1 << 15 };

typedef struct gather_kernel {
    mo_cpu_kernel base;
    mo_call_gather gather;
    mo_elem index_elem;
    int64_t n_slices;
    size_t width; /* bytes of a slice */
    /* ND: slices per step along each of gather.dims. */
    int64_t steps[MO_MAX_RANK];
    int64_t per_batch; /* ND: slices of the data per batch */
    /* ELEMENTS: strides of the data, in elements. */
    int64_t strides[MO_MAX_RANK];
} gather_kernel;

typedef struct gather_run {
    const gather_kernel *kernel;
    const char *data;
    char *result;
    mo_cpu_indices indices;
} gather_run;

/* The cases of constant width compile to single loads and stores. */
static void copy_slice(gather_run *run, int64_t to, int64_t from)
{
    size_t width = run->kernel->width;
    char *out = run->result + (size_t) to * width;
    const char *in = run->data + (size_t) from * width;

    switch (width) {
    case 4:
        memcpy(out, in, 4);
        break;
    case 8:
        memcpy(out, in, 8);
        break;
    default:
        memcpy(out, in, width);
    }
}

/* Gather: slices of the result are [batch][outer][count]. */
static void gather_along_axis(void *context, int64_t begin, int64_t end,
                              int worker)
{
    gather_run *run = context;
    const mo_call_gather *g = &run->kernel->gather;

    (void) worker;
    for (int64_t i = begin; i < end;) {
        int64_t row = i / g->count, which = i % g->count;
        int64_t first =
            row / g->outer * g->count; /* first index of its batch */
        int64_t left = g->count - which;
        int64_t stop = left < end - i ? i + left : end;

        for (; i < stop; i++, which++) {
            int64_t at =
                mo_cpu_index_resolve(&run->indices, first + which, g->axis);

            if (at >= 0)
                copy_slice(run, i, row * g->axis + at);
        }
    }
}

/* GatherND: slices of the result are [batch][count]. */
static void gather_tuples(void *context, int64_t begin, int64_t end, int worker)
{
    gather_run *run = context;
    const gather_kernel *kernel = run->kernel;
    const mo_call_gather *g = &kernel->gather;

    (void) worker;
    for (int64_t i = begin; i < end; i++) {
        int64_t from = i / g->count * kernel->per_batch;
        bool valid = true;

        for (int d = 0; d < g->depth; d++) {
            int64_t at = mo_cpu_index_resolve(&run->indices, i * g->depth + d,
                                              g->dims[d]);

            valid = valid && at >= 0;
            from += at * kernel->steps[d];
        }
        if (valid)
            copy_slice(run, i, from);
    }
}

/* Returns the offset in the data of element i of the result for index 0. */
static int64_t base_of(const gather_kernel *kernel, int64_t i)
{
    const mo_shape *shape = &kernel->gather.result;
    int64_t base = 0;

    for (int d = shape->rank; i > 0 && d-- > 0;) {
        if (d != kernel->gather.at)
            base += i % shape->dims[d] * kernel->strides[d];
        i /= shape->dims[d];
    }
    return base;
}

/* Copies elements at[i] * stride + i * step; width is constant. */
#define TAKE(width)                                                            \
    for (int i = 0; i < n; i++)                                                \
    memcpy(out + (size_t) i * (width),                                         \
           in + (size_t) (at[i] * stride + i * step) * (width), (width))

static void take_elements(const char *in, char *out, size_t width,
                          const int64_t *at, int64_t stride, int64_t step,
                          int n)
{
    switch (width) {
    case 1:
        TAKE(1);
        break;
    case 2:
        TAKE(2);
        break;
    case 4:
        TAKE(4);
        break;
    default:
        TAKE(8);
    }
}

/* GatherElements: one index for each element of the result. */
static void gather_elements(void *context, int64_t begin, int64_t end,
                            int worker)
{
    enum { AT_ONCE = 512 };
    gather_run *run = context;
    const gather_kernel *kernel = run->kernel;
    const mo_call_gather *g = &kernel->gather;
    int64_t row = g->result.dims[g->result.rank - 1];
    int64_t step = g->at != g->result.rank - 1, at[AT_ONCE];

    (void) worker;
    for (int64_t i = begin; i < end;) {
        int n = (int) mo_min_i64(mo_min_i64(AT_ONCE, end - i), row - i % row);
        int64_t base = base_of(kernel, i);

        /* The run fails if an index is wrong; none is used. */
        if (mo_cpu_index_resolve_all(&run->indices, i, n, g->data.dims[g->at],
                                     at))
            take_elements(run->data + (size_t) base * kernel->width,
                          run->result + (size_t) i * kernel->width,
                          kernel->width, at, kernel->strides[g->at], step, n);
        i += n;
    }
}

/* Returns the exclusive upper limit of the i-th index. */
static int64_t index_limit(const mo_call_gather *g, int64_t i)
{
    switch (g->kind) {
    case MO_CALL_GATHER_AXIS:
        return g->axis;
    case MO_CALL_GATHER_ND:
        return g->dims[i % (g->depth > 0 ? g->depth : 1)];
    default:
        return g->data.dims[g->at];
    }
}

static mo_status run_gather(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                            const void *const *in, void *const *out,
                            void *workspace, mo_error *err)
{
    static mo_cpu_thread_pool_range_fn *const ways[] = {
        [MO_CALL_GATHER_AXIS] = gather_along_axis,
        [MO_CALL_GATHER_ELEMENTS] = gather_elements,
        [MO_CALL_GATHER_ND] = gather_tuples,
    };
    const gather_kernel *g = (const gather_kernel *) kernel;
    gather_run run = { g, in[0], out[0], { in[1], g->index_elem, -1 } };
    int64_t slices_per_job = JOB_BYTES / (int64_t) (g->width + 1) + 1;
    int64_t wrong;

    (void) workspace;
    if (g->width == 0)
        return MO_OK;
    mo_cpu_thread_pool_parallel_for(unit->pool, g->n_slices, slices_per_job,
                                    ways[g->gather.kind], &run);
    wrong = atomic_load(&run.indices.first_wrong);
    return mo_cpu_index_status(
        &run.indices, wrong < 0 ? 0 : index_limit(&g->gather, wrong), err);
}

static void set_sizes(gather_kernel *kernel, size_t element)
{
    const mo_call_gather *g = &kernel->gather;
    int64_t inner = g->kind == MO_CALL_GATHER_ELEMENTS ? 1 : g->inner;
    int64_t stride = 1;

    kernel->width = (size_t) inner * element;
    switch (g->kind) {
    case MO_CALL_GATHER_AXIS:
        kernel->n_slices = g->batch * g->outer * g->count;
        break;
    case MO_CALL_GATHER_ND:
        kernel->n_slices = g->batch * g->count;
        kernel->per_batch = 1;
        for (int d = g->depth; d-- > 0;) {
            kernel->steps[d] = kernel->per_batch;
            kernel->per_batch *= g->dims[d];
        }
        break;
    default:
        kernel->n_slices = mo_shape_elements(&g->result);
        for (int d = g->data.rank; d-- > 0;) {
            kernel->strides[d] = stride;
            stride *= g->data.dims[d];
        }
    }
}

static mo_status prepare_gather(mo_cpu_unit *unit, const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out,
                                mo_cpu_kernel **kernel, size_t *workspace,
                                mo_error *err)
{
    mo_status status = mo_backend_check_gather(call, in, out, err);
    gather_kernel *gather;

    assert(!call->after);
    (void) unit, (void) workspace;
    if (status != MO_OK)
        return status;
    gather = calloc(1, sizeof *gather);
    if (!gather)
        return mo_fail_memory(err);
    gather->gather = call->u.gather;
    gather->index_elem = in[1].desc.elem;
    set_sizes(gather, mo_elem_size(out[0].elem));
    *kernel = &gather->base;
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_gather = { prepare_gather, run_gather, NULL };
