/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/exec/support/call_case.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cpu/gemm/block_kernels.h"
#include "exec/backend/cpu/gemm/micro_kernel.h"
#include "exec/backend/cpu/unit/cpu_unit.h"
#include "tests/exec/support/run_calls.h"
#include "tests/support/suite.h"

void case_begin(call_case *c, mo_call_kind kind)
{
    memset(c, 0, sizeof *c);
    c->call.kind = kind;
}

void case_end(call_case *c)
{
    for (int i = 0; i < CASE_OPERANDS; i++) {
        mo_tensor_clear(&c->in[i]);
        mo_tensor_clear(&c->out[i]);
    }
}

mo_shape shape_of(int rank, ...)
{
    mo_shape shape = { .rank = rank };
    va_list dims;

    va_start(dims, rank);
    for (int d = 0; d < rank; d++)
        shape.dims[d] = va_arg(dims, int64_t);
    va_end(dims);
    return shape;
}

mo_tensor_dense *case_in(call_case *c, mo_elem elem, mo_shape shape,
                         uint64_t seed)
{
    int i = c->call.n_in++;
    mo_tensor_desc desc = { elem, shape };

    c->in_number[i] = i;
    c->call.first_extra = c->call.n_in;
    MUST(mo_tensor_new(&desc, &c->in[i], &err));
    mo_tensor_fill_random(&c->in[i], mo_random_seed(seed, (uint64_t) i), 1, 10);
    return &c->in[i];
}

mo_tensor_dense *case_out(call_case *c, mo_elem elem, mo_shape shape)
{
    int i = c->call.n_out++;
    mo_tensor_desc desc = { elem, shape };

    c->out_number[i] = i;
    MUST(mo_tensor_new(&desc, &c->out[i], &err));
    return &c->out[i];
}

/* Strides of a tensor in its layout, by dimension of its shape. */
static mo_point_access access_of(const mo_shape *shape, bool channels_last)
{
    mo_point_access access = mo_point_access_dense(shape);
    int64_t stride;

    if (!channels_last)
        return access;
    access.stride[1] = 1;
    stride = shape->dims[1];
    for (int d = shape->rank - 1; d >= 2; d--) {
        access.stride[d] = stride;
        stride *= shape->dims[d];
    }
    access.stride[0] = stride;
    return access;
}

int64_t last_place(const mo_shape *shape, int64_t element)
{
    mo_point_access access = access_of(shape, true);
    int64_t at = 0;

    for (int d = shape->rank - 1; d >= 0; d--) {
        at += element % shape->dims[d] * access.stride[d];
        element /= shape->dims[d];
    }
    return at;
}

void case_after(call_case *c, int axis, bool channels_last, uint64_t seed)
{
    const mo_tensor_desc *out = &c->out[0].desc;
    int first = c->call.n_in;
    mo_point_program *p = &c->after;
    mo_point_step add = { .op = MO_POINT_ADD, .a = 0, .b = 1 };
    mo_point_step relu = { .op = MO_POINT_RELU };

    case_in(c, out->elem, shape_of(1, out->shape.dims[axis]), seed);
    case_in(c, out->elem, out->shape, seed);
    c->call.first_extra = first;
    *p = (mo_point_program){ .n_operands = 3 };
    for (int i = 0; i < 3; i++)
        p->operands[i].elem = out->elem;
    p->out = access_of(&out->shape, channels_last);
    p->operands[0].access = p->operands[2].access = p->out;
    p->operands[1].access.stride[axis] = 1;
    add.a = mo_point_push_step(p, add);
    add.b = 2;
    relu.a = mo_point_push_step(p, add);
    p->result = mo_point_push_step(p, relu);
    c->call.after = p;
}

double case_after_of(const call_case *c, int64_t element, double x)
{
    const mo_shape *shape = &c->out[0].desc.shape;
    const mo_point_program *p = &c->after;
    int first = c->call.first_extra;
    int64_t rest = element, bias = 0, other = 0;

    for (int d = shape->rank - 1; d >= 0; d--) {
        bias += rest % shape->dims[d] * p->operands[1].access.stride[d];
        other += rest % shape->dims[d] * p->operands[2].access.stride[d];
        rest /= shape->dims[d];
    }
    x += mo_tensor_get_double(&c->in[first], bias) +
         mo_tensor_get_double(&c->in[first + 1], other);
    return x > 0 ? x : 0;
}

/* Adds the call and its tensors to the list, under new numbers. */
static void list_case(call_case *c, call_list *list, bool *constant)
{
    int first = list->n_tensors;

    for (int i = 0; i < c->call.n_in; i++) {
        c->in_number[i] = first + i;
        list->tensors[first + i] = c->in[i];
        constant[first + i] = c->constant >> i & 1u;
    }
    for (int i = 0; i < c->call.n_out; i++) {
        c->out_number[i] = first + c->call.n_in + i;
        list->tensors[first + c->call.n_in + i] = c->out[i];
    }
    c->call.in = c->in_number;
    c->call.out = c->out_number;
    list->n_tensors += c->call.n_in + c->call.n_out;
    list->calls[list->n_calls++] = c->call;
}

void case_run_all(call_case *const *cases, int n, const mo_backend *backend,
                  mo_backend_unit *unit)
{
    size_t most = (size_t) n * 2 * CASE_OPERANDS;
    bool *constant = calloc(most + 1, sizeof *constant);
    call_list list = { .calls = calloc((size_t) n + 1, sizeof *list.calls),
                       .tensors = calloc(most + 1, sizeof *list.tensors),
                       .constant = constant };

    ck_assert(constant && list.calls && list.tensors);
    for (int i = 0; i < n; i++)
        list_case(cases[i], &list, constant);
    MUST(run_calls(backend, unit, &list, &err));
    free(constant);
    free(list.calls);
    free(list.tensors);
}

void case_run_on(call_case *c, const mo_backend *backend, mo_backend_unit *unit)
{
    case_run_all(&c, 1, backend, unit);
}

static void prepare(call_case *c, mo_backend_unit *unit,
                    mo_backend_kernel **kernel, size_t *bytes)
{
    mo_backend_operand in[CASE_OPERANDS] = { { .constant = NULL } };
    mo_tensor_desc out[CASE_OPERANDS];

    for (int i = 0; i < c->call.n_in; i++) {
        in[i].desc = c->in[i].desc;
        in[i].constant = c->constant >> i & 1u ? c->in[i].data : NULL;
    }
    for (int i = 0; i < c->call.n_out; i++)
        out[i] = c->out[i].desc;
    c->call.in = c->in_number;
    c->call.out = c->out_number;
    MUST(mo_backend_cpu.prepare(unit, &c->call, in, out, kernel, bytes, &err));
}

static void run_by_threads(call_case *c, int threads)
{
    const mo_backend *b = &mo_backend_cpu;
    const mo_backend_unit_options options = { .threads = threads };
    const void *in[CASE_OPERANDS];
    void *out[CASE_OPERANDS], *workspace = NULL;
    mo_backend_kernel *kernel = NULL;
    mo_backend_unit *unit = NULL;
    size_t bytes;

    MUST(b->open(&options, &unit, &err));
    if (c->micro_kernels)
        ((mo_cpu_unit *) unit)->micro_kernels =
            mo_cpu_micro_kernels_find(c->micro_kernels);
    if (c->block_kernels)
        ((mo_cpu_unit *) unit)->block_kernels =
            mo_cpu_block_kernels_find(c->block_kernels);
    prepare(c, unit, &kernel, &bytes);
    MUST(b->alloc(unit, bytes, &workspace, &err));
    for (int i = 0; i < c->call.n_in; i++)
        in[i] = b->consumed(kernel, i) ? NULL : c->in[i].data;
    for (int i = 0; i < c->call.n_out; i++)
        out[i] = c->out[i].data;
    MUST(b->run(unit, kernel, in, out, workspace, &err));
    b->release(unit, workspace);
    b->free_kernel(unit, kernel);
    b->close(unit);
}

void case_run(call_case *c, int threads)
{
    const mo_backend *backend = tested_backend();

    if (backend == &mo_backend_cpu)
        run_by_threads(c, threads);
    else
        case_run_on(c, backend, tested_unit(backend, MO_BACKEND_PRECISION_F32));
}

void case_run_threads(call_case *c)
{
    size_t bytes = (size_t) mo_tensor_desc_bytes(&c->out[0].desc);
    char *first = malloc(bytes + 1);

    case_run(c, 1);
    memcpy(first, c->out[0].data, bytes);
    for (int threads = 2; threads <= 4; threads++) {
        memset(c->out[0].data, 0x77, bytes);
        case_run(c, threads);
        ck_assert_msg(memcmp(first, c->out[0].data, bytes) == 0,
                      "%d threads make other bytes than one", threads);
    }
    free(first);
}

double tolerance_of(mo_elem elem)
{
    return elem == MO_ELEM_F64    ? 1e-12
           : elem == MO_ELEM_F16  ? 2e-3
           : elem == MO_ELEM_BF16 ? 1.6e-2
                                  : 1e-5;
}

void case_check(const call_case *c, const double *expected, bool channels_last,
                uint64_t seed)
{
    const mo_tensor_dense *out = &c->out[0];
    int64_t n = mo_tensor_desc_elements(&out->desc);
    double largest = 1, allowed;

    for (int64_t i = 0; i < n; i++)
        largest = fabs(expected[i]) > largest ? fabs(expected[i]) : largest;
    allowed = tolerance_of(out->desc.elem) * largest;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = channels_last ? last_place(&out->desc.shape, i) : i;
        double x = mo_tensor_get_double(out, at);

        if (!(fabs(x - expected[i]) <= allowed))
            ck_abort_msg("seed %llu: element %lld is %g, not %g",
                         (unsigned long long) seed, (long long) i, x,
                         expected[i]);
    }
}
