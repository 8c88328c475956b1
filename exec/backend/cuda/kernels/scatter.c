/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scatter and scatter reduction, deterministic: no atomics.
 *
 * For every kind of index the data is [outer][axis][inner], the updates are
 * [outer][n_keys][inner], and key c is the place along the axis of updates c.
 * Each element of the result belongs to one thread, which applies its updates
 * in the order of the keys: the last one wins, and sums are the same in every
 * run.
 *
 * Each key of few is kept in shared memory by every block, and the thread of
 * the last key of a place applies all of that place. Many are sorted (bitonic
 * sort, Batcher 1968) by place and then by number, and the thread at the begin
 * of each run of equal places applies the run: "scatter_keys" computes keys and
 * sorts them block by block; then for each k from 2 * BLOCK_KEYS, doubling,
 * "scatter_step" runs with j from k / 2 down to BLOCK_KEYS, and
 * "scatter_merge"; at last "scatter_apply". Keys are padded to a power of two,
 * at least BLOCK_KEYS.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/backend/check_call.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/index_check.h"
#include "exec/op/call.h"

enum {
    MAX_SCAN_KEYS = 256,
    BLOCK_KEYS = 1024, /* keys that one block sorts in shared memory */
    SORT_THREADS = 512 /* two keys each */
};

typedef struct scatter_problem {
    const mo_call_scatter *call;
    mo_elem elem, index_elem;
    int64_t outer, axis, inner, n_keys;
    int64_t steps[MO_MAX_RANK]; /* ND: places per step along each of dims;
                                   ELEMENTS: strides of the data */
} scatter_problem;

/* Reduction, as in exec/backend/cpu/kernels/scatter.c */

/* For booleans a sum is "or" and a product "and". */
static mo_call_scatter_op merge_op(const scatter_problem *s)
{
    mo_call_scatter_op op = s->call->op;

    if (op == MO_CALL_SCATTER_MEAN)
        op = MO_CALL_SCATTER_SUM;
    if (s->elem == MO_ELEM_BOOL && op == MO_CALL_SCATTER_SUM)
        return MO_CALL_SCATTER_MAX;
    if (s->elem == MO_ELEM_BOOL && op == MO_CALL_SCATTER_PROD)
        return MO_CALL_SCATTER_MIN;
    return op;
}

/* Integers wrap around: they are computed as unsigned. */
static const char *compute_type(mo_elem elem, bool compares)
{
    if (elem == MO_ELEM_F64)
        return "double";
    if (mo_elem_is_float(elem))
        return "float";
    return compares ? mo_cuda_elem_type_name(elem) : "unsigned long long";
}

static void emit_load(mo_cuda_source *code, mo_elem elem, const char *type,
                      const char *name)
{
    if (elem == MO_ELEM_F16 || elem == MO_ELEM_BF16)
        mo_cuda_source_printf(code, "const float %c = mo_%s_load(%s);\n",
                              name[0], mo_elem_name(elem), name);
    else
        mo_cuda_source_printf(code, "const %s %c = (%s) %s;\n", type, name[0],
                              type, name);
}

/* A sum divided by the count; integers are rounded down. */
static void emit_divide(const scatter_problem *s, mo_cuda_source *code)
{
    bool real = mo_elem_is_float(s->elem);
    char result[MO_CUDA_EXPR_SIZE];

    mo_cuda_source_printf(
        code, "MO_DEVICE %s divide(%s sum, long long by)\n{\n",
        mo_cuda_elem_type_name(s->elem), mo_cuda_elem_type_name(s->elem));
    emit_load(code, s->elem, real ? compute_type(s->elem, true) : "long long",
              "sum");
    mo_cuda_source_append(
        code, real ? "const double v = (double) s / (double) by;\n"
                   : "const long long v = s / by - (s % by < 0);\n");
    mo_cuda_stored_expr(s->elem, "v", result);
    mo_cuda_source_printf(code, "return %s;\n}\n", result);
}

/* Code for an element v of index i of block o with n > 0 updates, the last one
 * last; each opens a loop over them, c by c. */
static void emit_merging(const scatter_problem *s, const char *each,
                         mo_cuda_source *code)
{
    const mo_call_scatter *call = s->call;

    /* The start value of an element that does not contribute itself. */
    if (call->op == MO_CALL_SCATTER_SET || !call->use_init) {
        char result[MO_CUDA_EXPR_SIZE];

        switch (s->call->op) {
        case MO_CALL_SCATTER_SUM:
        case MO_CALL_SCATTER_SUB:
        case MO_CALL_SCATTER_MEAN:
            mo_cuda_stored_expr(s->elem, "0", result);
            break;
        case MO_CALL_SCATTER_PROD:
            mo_cuda_stored_expr(s->elem, "1", result);
            break;
        default:
            snprintf(result, sizeof result, "UPDATE(last)");
        }
        mo_cuda_source_printf(code, "v = %s;\n", result);
    }
    if (call->op != MO_CALL_SCATTER_SET)
        mo_cuda_source_printf(code, "%sv = merge(v, UPDATE(c));\n}\n", each);
    if (call->op == MO_CALL_SCATTER_MEAN)
        mo_cuda_source_printf(code, "v = divide(v, (long long) n + %d);\n",
                              call->use_init);
}

static void emit_helpers(const scatter_problem *s, mo_cuda_source *code)
{
    static const char *const values[] = {
        [MO_CALL_SCATTER_SET] = "f",
        [MO_CALL_SCATTER_SUM] = "t + f",
        [MO_CALL_SCATTER_PROD] = "t * f",
        [MO_CALL_SCATTER_MIN] = "f < t ? f : t",
        [MO_CALL_SCATTER_MAX] = "f > t ? f : t",
        [MO_CALL_SCATTER_SUB] = "t - f",
    };
    mo_call_scatter_op op;
    bool compares;
    const char *type;
    char result[MO_CUDA_EXPR_SIZE];

    /* Comparisons with NaN are false: the old value stays. */
    op = merge_op(s);
    compares = op == MO_CALL_SCATTER_MIN || op == MO_CALL_SCATTER_MAX;
    type = compute_type(s->elem, compares);
    mo_cuda_source_printf(code, "MO_DEVICE %s merge(%s to, %s from)\n{\n",
                          mo_cuda_elem_type_name(s->elem),
                          mo_cuda_elem_type_name(s->elem),
                          mo_cuda_elem_type_name(s->elem));
    emit_load(code, s->elem, type, "to");
    emit_load(code, s->elem, type, "from");
    mo_cuda_source_printf(code, "(void) t;\nconst %s v = %s;\n", type,
                          values[op]);
    mo_cuda_stored_expr(s->elem, "v", result);
    mo_cuda_source_printf(code, "return %s;\n}\n", result);
    if (s->call->op == MO_CALL_SCATTER_MEAN)
        emit_divide(s, code);
    mo_cuda_source_printf(
        code,
        "#define UPDATE(c) updates[((long long) o * %lldLL + (c)) * "
        "%lldLL + i]\n",
        (long long) s->n_keys, (long long) s->inner);
}

static void emit_key(const scatter_problem *s, mo_cuda_source *code)
{
    mo_cuda_emit_index_check(code, s->index_elem);
    mo_cuda_source_printf(
        code,
        "MO_DEVICE long long key_of(const %s *indices, long long c, "
        "long long *wrong)\n"
        "{\n",
        mo_cuda_elem_type_name(s->index_elem));
    if (s->call->kind == MO_CALL_GATHER_ND) {
        /* Keys: the place of updates c, or -1. */
        const mo_call_scatter *call = s->call;

        mo_cuda_source_printf(code,
                              "const long long first = c * %d;\n"
                              "long long key = 0;\n",
                              call->depth);
        mo_cuda_emit_tuple_offset(code, "key", "first", call->dims, s->steps,
                                  call->depth);
        mo_cuda_source_append(code, "return key;\n}\n");
    } else if (s->call->kind == MO_CALL_GATHER_ELEMENTS) {
        const mo_call_scatter *call = s->call;

        mo_cuda_emit_indices(code, "c", call->updates.dims, call->updates.rank);
        mo_cuda_source_printf(
            code,
            "const long long at = mo_index(indices, c, %lldLL, wrong);\n"
            "return at < 0 ? -1 : at * %lldLL",
            (long long) call->data.dims[call->at],
            (long long) s->steps[call->at]);
        mo_cuda_emit_offset_except(code, s->steps, call->updates.rank,
                                   call->at);
        mo_cuda_source_append(code, ";\n}\n");
    } else
        mo_cuda_source_printf(
            code, "return mo_index(indices, c, %lldLL, wrong);\n}\n",
            (long long) s->axis);
}

/* "scatter": few keys, which every update scans. */
static void emit_scan_kernel(const scatter_problem *s, mo_cuda_source *code)
{
    const char *type = mo_cuda_elem_type_name(s->elem);
    int64_t extent[] = { s->outer, s->n_keys, s->inner };

    emit_key(s, code);
    emit_helpers(s, code);
    mo_cuda_source_printf(
        code,
        "MO_KERNEL_OF(scatter, %d)(const %s *indices, const %s *updates, "
        "%s *out, long long *wrong)\n{\n"
        "MO_SHARED long long keys[%lld];\n"
        "MO_BEGIN();\n"
        "for (int c = threadIdx.x; c < %lld; c += %d)\n"
        "    keys[c] = key_of(indices, c, wrong);\n"
        "MO_SYNC();\n",
        MO_CUDA_GRID_STRIDE_THREADS, mo_cuda_elem_type_name(s->index_elem),
        type, type, (long long) s->n_keys, (long long) s->n_keys,
        MO_CUDA_GRID_STRIDE_THREADS);
    mo_cuda_emit_grid_stride_loop(code, s->outer * s->n_keys * s->inner);
    mo_cuda_emit_indices(code, "t", extent, 3);
    mo_cuda_source_printf(
        code,
        "const long long o = i0, i = i2, place = keys[i1];\n"
        "const int last = (int) i1;\n"
        "int n = 0, later = 0;\n"
        "for (int c = 0; c < %lld; c++)\n"
        "    if (keys[c] == place)\n"
        "        n++, later |= c > last;\n"
        "if (place < 0 || later)\n"
        "    continue;\n"
        "%s *to = out + ((o * %lldLL + place) * %lldLL + i);\n"
        "%s v = *to;\n"
        "(void) n;\n",
        (long long) s->n_keys, type, (long long) s->axis, (long long) s->inner,
        type);
    emit_merging(
        s, "for (int c = 0; c <= last; c++) {\nif (keys[c] == place)\n", code);
    mo_cuda_source_append(code, "*to = v;\n}\n}\n");
}

/* Many keys: bitonic sort. */

#include "exec/backend/cuda/kernels/scatter_sort.inc"

/* Keys out of range are sorted behind all others. */
/* "scatter_keys", "scatter_step" and "scatter_merge" sort many keys, whose runs
 * "scatter_apply" applies. */
static void emit_keys_kernel(const scatter_problem *s, mo_cuda_source *code)
{
    emit_key(s, code);
    mo_cuda_source_append(code, exchange_source);
    mo_cuda_source_append(code, block_steps_source);
    mo_cuda_source_printf(
        code,
        "MO_KERNEL_OF(scatter_keys, %d)(const %s *indices, unsigned "
        "long long *keys, long long *wrong)\n{\n"
        "MO_SHARED unsigned long long shared[%d];\n"
        "MO_SHARED int is_sorted;\n"
        "const unsigned first = blockIdx.x * %du;\n"
        "MO_BEGIN();\n"
        "is_sorted = gridDim.x == 1;\n"
        "for (unsigned i = threadIdx.x; i < %du; i += %du) {\n"
        "    const long long c = (long long) first + i;\n"
        "    const long long key = c < %lldLL ? key_of(indices, c, wrong) : "
        "-1;\n"
        "    shared[i] = key < 0 ? ~0ull : (unsigned long long) key << "
        "32 | (unsigned long long) c;\n"
        "}\n"
        "MO_SYNC();\n"
        "for (unsigned i = threadIdx.x; i < %du - 1u; i += %du)\n"
        "    if (shared[i] > shared[i + 1])\n"
        "        is_sorted = 0;\n"
        "MO_SYNC();\n"
        "for (unsigned k = 2; k <= %du && !is_sorted; k *= 2)\n"
        "    block_steps(shared, first, k, k / 2);\n"
        "for (unsigned i = threadIdx.x; i < %du; i += %du)\n"
        "    keys[first + i] = shared[i];\n"
        "}\n",
        SORT_THREADS, mo_cuda_elem_type_name(s->index_elem), BLOCK_KEYS,
        BLOCK_KEYS, BLOCK_KEYS, SORT_THREADS, (long long) s->n_keys, BLOCK_KEYS,
        SORT_THREADS, BLOCK_KEYS, BLOCK_KEYS, SORT_THREADS);
}

static void emit_merge_kernel(mo_cuda_source *code)
{
    mo_cuda_source_append(code, exchange_source);
    mo_cuda_source_append(code, block_steps_source);
    mo_cuda_source_printf(
        code,
        "MO_KERNEL_OF(scatter_merge, %d)(unsigned long long *keys, "
        "unsigned k)\n{\n"
        "MO_SHARED unsigned long long shared[%d];\n"
        "const unsigned first = blockIdx.x * %du;\n"
        "MO_BEGIN();\n"
        "for (unsigned i = threadIdx.x; i < %du; i += %du)\n"
        "    shared[i] = keys[first + i];\n"
        "block_steps(shared, first, k, %du);\n"
        "for (unsigned i = threadIdx.x; i < %du; i += %du)\n"
        "    keys[first + i] = shared[i];\n"
        "}\n",
        SORT_THREADS, BLOCK_KEYS, BLOCK_KEYS, BLOCK_KEYS, SORT_THREADS,
        BLOCK_KEYS / 2, BLOCK_KEYS, SORT_THREADS);
}

static void emit_apply_kernel(const scatter_problem *s, mo_cuda_source *code)
{
    const char *type = mo_cuda_elem_type_name(s->elem);
    int64_t extent[] = { s->outer, s->n_keys, s->inner };

    emit_helpers(s, code);
    mo_cuda_source_printf(
        code,
        "MO_KERNEL_OF(scatter_apply, %d)(const unsigned long long "
        "*keys, const %s *updates, %s *out)\n{\n"
        "MO_BEGIN();\n",
        MO_CUDA_GRID_STRIDE_THREADS, type, type);
    mo_cuda_emit_grid_stride_loop(code, s->outer * s->n_keys * s->inner);
    mo_cuda_emit_indices(code, "t", extent, 3);
    mo_cuda_source_printf(
        code,
        "const long long o = i0, i = i2;\n"
        "const unsigned long long place = keys[i1] >> 32;\n"
        "if (place == 0xffffffffull || (i1 > 0 && keys[i1 - 1] >> 32 "
        "== place))\n"
        "    continue;\n"
        "long long end = i1 + 1;\n"
        "while (end < %lldLL && keys[end] >> 32 == place)\n"
        "    end++;\n"
        "const long long n = end - i1;\n"
        "const unsigned last = (unsigned) keys[end - 1];\n"
        "%s *to = out + ((o * %lldLL + (long long) place) * %lldLL + "
        "i);\n"
        "%s v = *to;\n"
        "(void) last, (void) n;\n",
        (long long) s->n_keys, type, (long long) s->axis, (long long) s->inner,
        type);
    emit_merging(s,
                 "for (long long q = i1; q < end; q++) {\n"
                 "const unsigned c = (unsigned) keys[q];\n",
                 code);
    mo_cuda_source_append(code, "*to = v;\n}\n}\n");
}

typedef struct scatter_kernel {
    mo_backend_kernel base;
    bool scans;
    int64_t n_sorted; /* keys, padded to a power of two */
    size_t bytes;     /* size of the data */
    mo_cuda_grid grid;
    mo_cuda_function
        *apply; /* NULL: no updates; for few keys the only function */
    mo_cuda_function *keys, *step, *merge;
} scatter_kernel;

static void set_strides(scatter_problem *s, const int64_t *dims, int n)
{
    int64_t step = 1;

    for (int d = n; d-- > 0; step *= dims[d])
        s->steps[d] = step;
    s->axis = step;
}

static scatter_problem make_problem(const mo_call_scatter *call, mo_elem elem,
                                    mo_elem index_elem)
{
    scatter_problem s = { .call = call,
                          .elem = elem,
                          .index_elem = index_elem,
                          .outer = 1,
                          .inner = call->inner,
                          .n_keys = call->count };

    switch (call->kind) {
    case MO_CALL_GATHER_AXIS:
        s.outer = call->outer;
        s.axis = call->axis;
        break;
    case MO_CALL_GATHER_ND:
        set_strides(&s, call->dims, call->depth);
        break;
    default:
        s.inner = 1;
        s.n_keys = mo_shape_elements(&call->updates);
        set_strides(&s, call->data.dims, call->data.rank);
    }
    return s;
}

static mo_status check_indices(const scatter_problem *s,
                               const mo_backend_operand *indices, mo_error *err)
{
    const mo_call_scatter *call = s->call;

    switch (call->kind) {
    case MO_CALL_GATHER_AXIS:
        return mo_cuda_check_constant_indices(indices, &call->axis, 1, err);
    case MO_CALL_GATHER_ND:
        return call->depth == 0 ? MO_OK
                                : mo_cuda_check_constant_indices(
                                      indices, call->dims, call->depth, err);
    default:
        return mo_cuda_check_constant_indices(
            indices, &call->data.dims[call->at], 1, err);
    }
}

static mo_status check_problem(const scatter_problem *s, const mo_call *call,
                               const mo_backend_operand *in,
                               const mo_tensor_desc *out, mo_error *err)
{
    mo_status status = mo_backend_check_scatter(call, in, out, err);

    if (status != MO_OK)
        return status;
    if (s->axis > INT32_MAX || s->n_keys > INT32_MAX / 2)
        return mo_fail(err, MO_E_LIMIT,
                       "a scatter into more than 2^31 places is too large for "
                       "a GPU; run it on a CPU");
    return check_indices(s, &in[1], err);
}

static mo_status request_scan(mo_backend_unit *unit, const scatter_problem *s,
                              scatter_kernel *kernel, mo_error *err)
{
    mo_cuda_source code = { 0 };

    kernel->scans = true;
    kernel->grid =
        mo_cuda_grid_stride_grid(unit, s->outer * s->n_keys * s->inner);
    emit_scan_kernel(s, &code);
    return mo_cuda_jit_request_source(unit, &code, "scatter", &kernel->apply,
                                      err);
}

static mo_status request_sort(mo_backend_unit *unit, const scatter_problem *s,
                              scatter_kernel *kernel, mo_error *err)
{
    mo_cuda_source code = { 0 };
    mo_status status;

    kernel->n_sorted = BLOCK_KEYS;
    while (kernel->n_sorted < s->n_keys)
        kernel->n_sorted *= 2;
    kernel->base.workspace = (size_t) kernel->n_sorted * sizeof(uint64_t);
    kernel->grid =
        mo_cuda_grid_stride_grid(unit, s->outer * s->n_keys * s->inner);
    emit_keys_kernel(s, &code);
    status = mo_cuda_jit_request_source(unit, &code, "scatter_keys",
                                        &kernel->keys, err);
    if (status == MO_OK) {
        emit_apply_kernel(s, &code);
        status = mo_cuda_jit_request_source(unit, &code, "scatter_apply",
                                            &kernel->apply, err);
    }
    if (status == MO_OK && kernel->n_sorted > BLOCK_KEYS) {
        mo_cuda_source_append(&code, exchange_source);
        mo_cuda_source_printf(
            &code,
            "MO_KERNEL_OF(scatter_step, %d)(unsigned long long *keys, "
            "unsigned k, unsigned j)\n{\n"
            "const unsigned t = blockIdx.x * %du + threadIdx.x;\n"
            "const unsigned i = 2 * t - (t & (j - 1));\n"
            "MO_BEGIN();\n"
            "exchange(&keys[i], &keys[i + j], (i & k) == 0);\n"
            "}\n",
            SORT_THREADS, SORT_THREADS);
        status = mo_cuda_jit_request_source(unit, &code, "scatter_step",
                                            &kernel->step, err);
    }
    if (status == MO_OK && kernel->n_sorted > BLOCK_KEYS) {
        emit_merge_kernel(&code);
        status = mo_cuda_jit_request_source(unit, &code, "scatter_merge",
                                            &kernel->merge, err);
    }
    return status;
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    scatter_problem s =
        make_problem(&call->u.scatter, out[0].elem, in[1].desc.elem);
    mo_status status = check_problem(&s, call, in, out, err);
    scatter_kernel *made;

    assert(!call->after);
    if (status == MO_OK)
        status = mo_cuda_index_error_enable(unit, err);
    if (status != MO_OK)
        return status;
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->bytes = (size_t) mo_tensor_desc_bytes(&out[0]);
    if (made->bytes > 0 && s.n_keys > 0)
        status = s.n_keys <= MAX_SCAN_KEYS ? request_scan(unit, &s, made, err)
                                           : request_sort(unit, &s, made, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *kernel = &made->base;
    return MO_OK;
}

static mo_status copy_data(mo_backend_unit *unit, const void *from, void *to,
                           size_t bytes, CUstream stream, mo_error *err)
{
    if (from == to || bytes == 0)
        return MO_OK;
    return mo_cuda_check(unit->api, "cuMemcpyDtoDAsync",
                         unit->api->cuMemcpyDtoDAsync((CUdeviceptr) to,
                                                      (CUdeviceptr) from, bytes,
                                                      stream),
                         err);
}

static mo_status sort_keys(mo_backend_unit *unit, const scatter_kernel *kernel,
                           const void *indices, void *keys, CUstream stream,
                           mo_error *err)
{
    unsigned k, j, n = (unsigned) kernel->n_sorted;
    volatile long long *wrong = unit->index_error;
    void *begin_args[] = { &indices, &keys, &wrong };
    void *args[] = { &keys, &k, &j };
    mo_cuda_grid grid = { .blocks = { n / BLOCK_KEYS, 1, 1 },
                          .threads = { SORT_THREADS, 1, 1 } };
    mo_status status =
        mo_cuda_launch(unit, kernel->keys, &grid, stream, begin_args, err);

    for (k = 2 * BLOCK_KEYS; status == MO_OK && k <= n; k *= 2) {
        for (j = k / 2; status == MO_OK && j >= BLOCK_KEYS; j /= 2)
            status =
                mo_cuda_launch(unit, kernel->step, &grid, stream, args, err);
        if (status == MO_OK)
            status =
                mo_cuda_launch(unit, kernel->merge, &grid, stream, args, err);
    }
    return status;
}

static mo_status enqueue(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const scatter_kernel *scatter = (const scatter_kernel *) kernel;
    const void *data = in[0], *indices = in[1], *updates = in[2];
    void *result = out[0];
    volatile long long *wrong = unit->index_error;
    void *few_args[] = { &indices, &updates, &result, &wrong };
    void *many_args[] = { &workspace, &updates, &result };
    mo_status status =
        copy_data(unit, data, result, scatter->bytes, stream, err);

    if (status != MO_OK || !scatter->apply)
        return status;
    if (scatter->scans)
        return mo_cuda_launch(unit, scatter->apply, &scatter->grid, stream,
                              few_args, err);
    status = sort_keys(unit, scatter, indices, workspace, stream, err);
    if (status == MO_OK)
        status = mo_cuda_launch(unit, scatter->apply, &scatter->grid, stream,
                                many_args, err);
    return status;
}

const mo_cuda_kernel_class mo_cuda_scatter_kernel = { prepare, NULL, enqueue,
                                                      mo_cuda_kernel_free };
