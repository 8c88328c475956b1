/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scatter: the data is copied in parallel, then updated by one thread in the
 * order of the indices, so that the last of several updates of an element
 * wins.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "exec/backend/check_call.h"
#include "exec/backend/cpu/unit/cpu_unit.h"
#include "exec/backend/cpu/unit/multiversion.h"
#include "exec/backend/cpu/kernels/index_bounds.h"
#include "exec/tensor/dense_tensor.h"
#include "exec/tensor/half.h"

typedef enum merge_op {
    MERGE_ZERO, /* sets to 0; the values of updates are not read */
    MERGE_ONE,
    MERGE_SET,
    MERGE_SUM,
    MERGE_SUB,
    MERGE_PROD,
    MERGE_MIN,
    MERGE_MAX
} merge_op;

/* Comparisons with NaN are false: the left operand stays. */
#define MERGE_LOOP(type, sum, difference, product)                             \
    do {                                                                       \
        type *to = data;                                                       \
        const type *from = updates;                                            \
                                                                               \
        for (int64_t i = 0; i < count; i++)                                    \
            switch (op) {                                                      \
            case MERGE_ZERO:                                                   \
                to[i] = 0;                                                     \
                break;                                                         \
            case MERGE_ONE:                                                    \
                to[i] = 1;                                                     \
                break;                                                         \
            case MERGE_SET:                                                    \
                to[i] = from[i];                                               \
                break;                                                         \
            case MERGE_SUM:                                                    \
                to[i] = (type) (sum);                                          \
                break;                                                         \
            case MERGE_SUB:                                                    \
                to[i] = (type) (difference);                                   \
                break;                                                         \
            case MERGE_PROD:                                                   \
                to[i] = (type) (product);                                      \
                break;                                                         \
            case MERGE_MIN:                                                    \
                to[i] = from[i] < to[i] ? from[i] : to[i];                     \
                break;                                                         \
            case MERGE_MAX:                                                    \
                to[i] = from[i] > to[i] ? from[i] : to[i];                     \
                break;                                                         \
            }                                                                  \
    } while (0)

#define MERGE_REALS(type)                                                      \
    MERGE_LOOP(type, to[i] + from[i], to[i] - from[i], to[i] * from[i])

/* Computed in unsigned integers, which wrap around. */
#define MERGE_INTEGERS(type)                                                   \
    MERGE_LOOP(type, (uint64_t) to[i] + (uint64_t) from[i],                    \
               (uint64_t) to[i] - (uint64_t) from[i],                          \
               (uint64_t) to[i] * (uint64_t) from[i])

static void merge_f32(merge_op op, void *data, const void *updates,
                      int64_t count)
{
    MERGE_REALS(float);
}

static void merge_f64(merge_op op, void *data, const void *updates,
                      int64_t count)
{
    MERGE_REALS(double);
}

static float load_half(mo_elem elem, uint16_t half)
{
    return elem == MO_ELEM_F16 ? mo_f16_to_f32(half) : mo_bf16_to_f32(half);
}

/* Every step is rounded to the element type. */
static void merge_halves(merge_op op, mo_elem elem, uint16_t *data,
                         const uint16_t *updates, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        float to = load_half(elem, data[i]), from = load_half(elem, updates[i]);

        merge_f32(op, &to, &from, 1);
        data[i] = elem == MO_ELEM_F16 ? mo_f32_to_f16(to) : mo_f32_to_bf16(to);
    }
}

static void merge_integers(merge_op op, mo_elem elem, void *data,
                           const void *updates, int64_t count)
{
    switch (elem) {
    case MO_ELEM_I64:
        MERGE_INTEGERS(int64_t);
        break;
    case MO_ELEM_I32:
        MERGE_INTEGERS(int32_t);
        break;
    case MO_ELEM_I16:
        MERGE_INTEGERS(int16_t);
        break;
    case MO_ELEM_I8:
        MERGE_INTEGERS(int8_t);
        break;
    case MO_ELEM_U64:
        MERGE_INTEGERS(uint64_t);
        break;
    case MO_ELEM_U32:
        MERGE_INTEGERS(uint32_t);
        break;
    case MO_ELEM_U16:
        MERGE_INTEGERS(uint16_t);
        break;
    default:
        MERGE_INTEGERS(uint8_t);
    }
}

/* data[i] = data[i] op updates[i] for count elements. Integers wrap around;
 * for booleans a sum is "or", a product "and". */
static void merge_elements(merge_op op, mo_elem elem, void *data,
                           const void *updates, int64_t count)
{
    if (elem == MO_ELEM_BOOL && op == MERGE_SUM)
        op = MERGE_MAX;
    if (elem == MO_ELEM_BOOL && op == MERGE_PROD)
        op = MERGE_MIN;
    if (op == MERGE_SET)
        memcpy(data, updates, (size_t) count * mo_elem_size(elem));
    else if (elem == MO_ELEM_F32)
        merge_f32(op, data, updates, count);
    else if (elem == MO_ELEM_F64)
        merge_f64(op, data, updates, count);
    else if (mo_elem_is_float(elem))
        merge_halves(op, elem, data, updates, count);
    else
        merge_integers(op, elem, data, updates, count);
}

/* data[i] /= by; integers are rounded down. */
static void divide_element(mo_elem elem, void *data, int64_t i, int64_t by)
{
    mo_tensor_dense dense = { { elem, { 0 } }, data, false };
    int64_t whole;

    if (mo_elem_is_float(elem)) {
        mo_tensor_set_double(&dense, i,
                             mo_tensor_get_double(&dense, i) / (double) by);
        return;
    }
    whole = mo_tensor_get_int(&dense, i);
    mo_tensor_set_int(
        &dense, i, whole / by - (whole % by != 0 && (whole < 0) != (by < 0)));
}

typedef struct scatter_kernel {
    mo_cpu_kernel base;
    mo_call_scatter scatter;
    mo_elem elem, index_elem;
    int64_t elements; /* of the data */
    int64_t n_slices; /* of the updates */
    int64_t inner;    /* elements of a slice */
    /* ND: slices per step along each of dims; ELEMENTS: strides of the data. */
    int64_t steps[MO_MAX_RANK];
} scatter_kernel;

typedef struct scatter_run {
    const scatter_kernel *kernel;
    const char *data, *updates;
    char *result;
    int32_t *counts; /* MEAN: updates per element */
    /* Places of the updates of a row that is summed up; lengths of the runs of
     * neighbours, at the first of each. */
    int64_t *places, *lengths;
    mo_cpu_indices indices;
} scatter_run;

/* Destination of slice i of the updates; -1: index out of range. */

static int64_t place_along_axis(scatter_run *run, int64_t i)
{
    const mo_call_scatter *s = &run->kernel->scatter;
    int64_t at = mo_cpu_index_resolve(&run->indices, i % s->count, s->axis);

    return at < 0 ? -1 : i / s->count * s->axis + at;
}

static int64_t place_tuple(scatter_run *run, int64_t i)
{
    const mo_call_scatter *s = &run->kernel->scatter;
    int64_t place = 0;

    for (int d = 0; d < s->depth; d++) {
        int64_t at =
            mo_cpu_index_resolve(&run->indices, i * s->depth + d, s->dims[d]);

        if (at < 0)
            return -1;
        place += at * run->kernel->steps[d];
    }
    return place;
}

typedef int64_t find_place(scatter_run *run, int64_t i);

static find_place *const places[] = {
    [MO_CALL_GATHER_AXIS] = place_along_axis,
    [MO_CALL_GATHER_ND] = place_tuple,
};

static void copy_part(void *context, int64_t begin, int64_t end, int worker)
{
    scatter_run *run = context;

    (void) worker;
    memcpy(run->result + begin, run->data + begin, (size_t) (end - begin));
}

/* Returns the offset in the data of update i for index 0. */
static int64_t base_of(const scatter_kernel *kernel, int64_t i)
{
    const mo_shape *shape = &kernel->scatter.updates;
    int64_t base = 0;

    for (int d = shape->rank; i > 0 && d-- > 0;) {
        if (d != kernel->scatter.at)
            base += i % shape->dims[d] * kernel->steps[d];
        i /= shape->dims[d];
    }
    return base;
}

/* Combines updates, one for each index, with the data; a row at a time. */
static void reduce_elements(scatter_run *run, merge_op op)
{
    enum { AT_ONCE = 512 };
    const scatter_kernel *kernel = run->kernel;
    const mo_call_scatter *s = &kernel->scatter;
    int64_t row =
        s->updates.rank > 0 ? s->updates.dims[s->updates.rank - 1] : 1;
    int64_t step = s->at != s->updates.rank - 1, stride = kernel->steps[s->at];
    int64_t at[AT_ONCE];
    size_t width = mo_elem_size(kernel->elem);
    int n;

    for (int64_t i = 0; i < kernel->n_slices; i += n) {
        int64_t base = base_of(kernel, i);
        const char *from = run->updates + (size_t) i * width;

        n = (int) mo_min_i64(mo_min_i64(AT_ONCE, kernel->n_slices - i),
                             row - i % row);
        mo_cpu_index_resolve_all(&run->indices, i, n, s->data.dims[s->at], at);
        for (int k = 0; k < n; k++) {
            int64_t to = base + at[k] * stride + k * step;

            if (at[k] < 0)
                continue;
            if (op == MERGE_SET && width == 4)
                memcpy(run->result + to * 4, from + k * 4, 4);
            else if (op == MERGE_SUM && kernel->elem == MO_ELEM_F32)
                ((float *) (void *) run->result)[to] +=
                    ((const float *) (const void *) from)[k];
            else
                merge_elements(op, kernel->elem,
                               run->result + (size_t) to * width,
                               from + (size_t) k * width, 1);
            if (run->counts && op == MERGE_SUM)
                run->counts[to]++;
        }
    }
}

/* Combines the slices of the updates with the data. */
static void reduce_slices(scatter_run *run, merge_op op)
{
    const scatter_kernel *kernel = run->kernel;
    size_t width = mo_elem_size(kernel->elem);
    find_place *find = places[kernel->scatter.kind];

    if (!find) {
        reduce_elements(run, op);
        return;
    }
    for (int64_t i = 0; i < kernel->n_slices; i++) {
        int64_t place = find(run, i);
        size_t to = (size_t) (place * kernel->inner);

        if (place < 0)
            continue;
        merge_elements(op, kernel->elem, run->result + to * width,
                       run->updates + (size_t) (i * kernel->inner) * width,
                       kernel->inner);
        for (int64_t k = 0; run->counts && op == MERGE_SUM && k < kernel->inner;
             k++)
            run->counts[to + (size_t) k]++;
    }
}

/* Returns whether rows of floats are summed up at the same places each. */
static bool sums_rows(const scatter_kernel *kernel)
{
    const mo_call_scatter *s = &kernel->scatter;

    return s->kind == MO_CALL_GATHER_AXIS && s->op == MO_CALL_SCATTER_SUM &&
           s->use_init && s->inner == 1 && kernel->elem == MO_ELEM_F32;
}

static void find_runs(scatter_run *run)
{
    int64_t first = 0;

    for (int64_t i = 1; i <= run->kernel->scatter.count; i++)
        if (i == run->kernel->scatter.count ||
            run->places[i] != run->places[i - 1] + 1) {
            run->lengths[first] = i - first;
            first = i;
        }
}

MO_CPU_MULTIVERSION static void sum_row(const scatter_run *run,
                                        const float *from, float *row)
{
    int64_t count = run->kernel->scatter.count;

    for (int64_t i = 0, n; i < count; i += n) {
        float *to = row + run->places[i];

        n = run->lengths[i];
        MO_CPU_IVDEP for (int64_t k = 0; k < n; k++) to[k] += from[i + k];
    }
}

static void sum_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const scatter_run *run = context;
    const mo_call_scatter *s = &run->kernel->scatter;
    const float *from = (const float *) (const void *) run->updates;
    float *to = (float *) (void *) run->result;

    (void) worker;
    for (int64_t row = begin; row < end; row++)
        sum_row(run, from + row * s->count, to + row * s->axis);
}

/* Initial operation on an element that is updated if its own value does not
 * take part. Minimum and maximum are idempotent: a repeated update does not
 * change them. */
static merge_op initial_op(mo_call_scatter_op op)
{
    switch (op) {
    case MO_CALL_SCATTER_SUM:
    case MO_CALL_SCATTER_SUB:
    case MO_CALL_SCATTER_MEAN:
        return MERGE_ZERO;
    case MO_CALL_SCATTER_PROD:
        return MERGE_ONE;
    default:
        return MERGE_SET;
    }
}

static int64_t size_for(const mo_call_scatter *s, int64_t i)
{
    switch (s->kind) {
    case MO_CALL_GATHER_AXIS:
        return s->axis;
    case MO_CALL_GATHER_ND:
        return s->dims[i % (s->depth > 0 ? s->depth : 1)];
    default:
        return s->data.dims[s->at];
    }
}

static mo_status run_scatter(mo_cpu_unit *unit, const mo_cpu_kernel *kernel,
                             const void *const *in, void *const *out,
                             void *workspace, mo_error *err)
{
    enum { AT_ONCE = 1 << 16 };
    static const merge_op ops[] = {
        [MO_CALL_SCATTER_SET] = MERGE_SET,   [MO_CALL_SCATTER_SUM] = MERGE_SUM,
        [MO_CALL_SCATTER_PROD] = MERGE_PROD, [MO_CALL_SCATTER_MIN] = MERGE_MIN,
        [MO_CALL_SCATTER_MAX] = MERGE_MAX,   [MO_CALL_SCATTER_MEAN] = MERGE_SUM,
        [MO_CALL_SCATTER_SUB] = MERGE_SUB,
    };
    const scatter_kernel *k = (const scatter_kernel *) kernel;
    const mo_call_scatter *s = &k->scatter;
    scatter_run run = { .kernel = k,
                        .data = in[0],
                        .updates = in[2],
                        .result = out[0],
                        .indices = { in[1], k->index_elem, -1 } };
    int64_t wrong;

    if (run.data != run.result)
        mo_cpu_thread_pool_parallel_for(
            unit->pool, k->elements * (int64_t) mo_elem_size(k->elem), AT_ONCE,
            copy_part, &run);
    if (k->inner == 0)
        return MO_OK;
    if (sums_rows(k)) {
        run.places = workspace;
        run.lengths = run.places + s->count;
        mo_cpu_index_resolve_all(&run.indices, 0, (int) s->count, s->axis,
                                 run.places);
        wrong = atomic_load(&run.indices.first_wrong);
        if (wrong >= 0)
            return mo_cpu_index_status(&run.indices, s->axis, err);
        find_runs(&run);
        mo_cpu_thread_pool_parallel_for(
            unit->pool, s->outer, AT_ONCE / (s->count + 1) + 1, sum_rows, &run);
        return MO_OK;
    }
    if (s->op == MO_CALL_SCATTER_MEAN) {
        run.counts = workspace;
        memset(run.counts, 0, (size_t) k->elements * sizeof *run.counts);
    }
    if (s->op != MO_CALL_SCATTER_SET && !s->use_init)
        reduce_slices(&run, initial_op(s->op));
    reduce_slices(&run, ops[s->op]);
    wrong = atomic_load(&run.indices.first_wrong);
    if (wrong >= 0)
        return mo_cpu_index_status(&run.indices, size_for(s, wrong), err);
    /* Elements without an update keep their value. */
    for (int64_t i = 0; run.counts && i < k->elements; i++)
        if (run.counts[i] > 0)
            divide_element(k->elem, run.result, i, run.counts[i] + s->use_init);
    return MO_OK;
}

static void set_sizes(scatter_kernel *kernel)
{
    const mo_call_scatter *s = &kernel->scatter;
    int64_t step = 1;

    kernel->inner = s->inner;
    switch (s->kind) {
    case MO_CALL_GATHER_AXIS:
        kernel->n_slices = s->outer * s->count;
        break;
    case MO_CALL_GATHER_ND:
        kernel->n_slices = s->count;
        for (int d = s->depth; d-- > 0; step *= s->dims[d])
            kernel->steps[d] = step;
        break;
    default:
        kernel->inner = 1;
        kernel->n_slices = mo_shape_elements(&s->updates);
        for (int d = s->data.rank; d-- > 0; step *= s->data.dims[d])
            kernel->steps[d] = step;
    }
}

static mo_status prepare_scatter(mo_cpu_unit *unit, const mo_call *call,
                                 const mo_backend_operand *in,
                                 const mo_tensor_desc *out,
                                 mo_cpu_kernel **kernel, size_t *workspace,
                                 mo_error *err)
{
    mo_status status = mo_backend_check_scatter(call, in, out, err);
    scatter_kernel *scatter;

    assert(!call->after);
    (void) unit;
    if (status != MO_OK)
        return status;
    scatter = calloc(1, sizeof *scatter);
    if (!scatter)
        return mo_fail_memory(err);
    scatter->scatter = call->u.scatter;
    scatter->elem = out[0].elem;
    scatter->index_elem = in[1].desc.elem;
    scatter->elements = mo_tensor_desc_elements(&out[0]);
    set_sizes(scatter);
    if (scatter->n_slices >= INT32_MAX) {
        free(scatter);
        return mo_fail(err, MO_E_LIMIT,
                       "a scatter of 2^31 updates or more cannot be run");
    }
    if (scatter->scatter.op == MO_CALL_SCATTER_MEAN)
        *workspace = (size_t) scatter->elements * sizeof(int32_t);
    if (sums_rows(scatter))
        *workspace = 2 * (size_t) scatter->scatter.count * sizeof(int64_t);
    *kernel = &scatter->base;
    return MO_OK;
}

const mo_cpu_kernel_class mo_cpu_scatter = { prepare_scatter, run_scatter,
                                             NULL };
