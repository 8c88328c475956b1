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
 * Few keys are kept in shared memory, and every element scans them. Many are
 * sorted (bitonic sort, Batcher 1968) by place and then by number, and the
 * thread at the begin of each run of equal places applies the run:
 * "scatter_keys" computes keys and sorts them block by block; then for each k
 * from 2 * MO_CUDA_SCATTER_BLOCK_KEYS, doubling, "scatter_step" runs with j
 * from k / 2 down to MO_CUDA_SCATTER_BLOCK_KEYS, and "scatter_merge"; at last
 * "scatter_apply". Keys are padded to a power of two, at least
 * MO_CUDA_SCATTER_BLOCK_KEYS.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "exec/backend/check_call.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/index_check.h"
#include "exec/backend/cuda/kernels/scatter_source.h"
#include "exec/op/call.h"

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

static void set_strides(mo_cuda_scatter_problem *s, const int64_t *dims, int n)
{
    int64_t step = 1;

    for (int d = n; d-- > 0; step *= dims[d])
        s->steps[d] = step;
    s->axis = step;
}

static mo_cuda_scatter_problem make_problem(const mo_call_scatter *call,
                                            mo_elem elem, mo_elem index_elem)
{
    mo_cuda_scatter_problem s = { .call = call,
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

static mo_status check_indices(const mo_cuda_scatter_problem *s,
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

static mo_status check_problem(const mo_cuda_scatter_problem *s,
                               const mo_call *call,
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

static mo_status request_scan(mo_backend_unit *unit,
                              const mo_cuda_scatter_problem *s,
                              scatter_kernel *kernel, mo_error *err)
{
    mo_cuda_source code = { 0 };

    kernel->scans = true;
    kernel->grid =
        mo_cuda_grid_stride_grid(unit, s->outer * s->axis * s->inner);
    mo_cuda_scatter_emit_scan(s, &code);
    return mo_cuda_jit_request_source(unit, &code, "scatter", &kernel->apply,
                                      err);
}

static mo_status request_sort(mo_backend_unit *unit,
                              const mo_cuda_scatter_problem *s,
                              scatter_kernel *kernel, mo_error *err)
{
    mo_cuda_source code = { 0 };
    mo_status status;

    kernel->n_sorted = MO_CUDA_SCATTER_BLOCK_KEYS;
    while (kernel->n_sorted < s->n_keys)
        kernel->n_sorted *= 2;
    kernel->base.workspace = (size_t) kernel->n_sorted * sizeof(uint64_t);
    kernel->grid =
        mo_cuda_grid_stride_grid(unit, s->outer * s->n_keys * s->inner);
    mo_cuda_scatter_emit_keys(s, &code);
    status = mo_cuda_jit_request_source(unit, &code, "scatter_keys",
                                        &kernel->keys, err);
    if (status == MO_OK) {
        mo_cuda_scatter_emit_apply(s, &code);
        status = mo_cuda_jit_request_source(unit, &code, "scatter_apply",
                                            &kernel->apply, err);
    }
    if (status == MO_OK && kernel->n_sorted > MO_CUDA_SCATTER_BLOCK_KEYS) {
        mo_cuda_scatter_emit_step(&code);
        status = mo_cuda_jit_request_source(unit, &code, "scatter_step",
                                            &kernel->step, err);
    }
    if (status == MO_OK && kernel->n_sorted > MO_CUDA_SCATTER_BLOCK_KEYS) {
        mo_cuda_scatter_emit_merge(&code);
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
    mo_cuda_scatter_problem s =
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
        status = s.n_keys <= MO_CUDA_SCATTER_MAX_SCAN_KEYS
                     ? request_scan(unit, &s, made, err)
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
    mo_cuda_grid grid = { .blocks = { n / MO_CUDA_SCATTER_BLOCK_KEYS, 1, 1 },
                          .threads = { MO_CUDA_SCATTER_SORT_THREADS, 1, 1 } };
    mo_status status =
        mo_cuda_launch(unit, kernel->keys, &grid, stream, begin_args, err);

    for (k = 2 * MO_CUDA_SCATTER_BLOCK_KEYS; status == MO_OK && k <= n;
         k *= 2) {
        for (j = k / 2; status == MO_OK && j >= MO_CUDA_SCATTER_BLOCK_KEYS;
             j /= 2)
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
    void *few_args[] = { &data, &indices, &updates, &result, &wrong };
    void *many_args[] = { &workspace, &updates, &result };
    mo_status status;

    if (scatter->scans)
        return mo_cuda_launch(unit, scatter->apply, &scatter->grid, stream,
                              few_args, err);
    status = copy_data(unit, data, result, scatter->bytes, stream, err);
    if (status != MO_OK || !scatter->apply)
        return status;
    status = sort_keys(unit, scatter, indices, workspace, stream, err);
    if (status == MO_OK)
        status = mo_cuda_launch(unit, scatter->apply, &scatter->grid, stream,
                                many_args, err);
    return status;
}

const mo_cuda_kernel_class mo_cuda_scatter_kernel = { prepare, NULL, enqueue,
                                                      mo_cuda_kernel_free };
