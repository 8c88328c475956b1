/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best of long lines.  Blocks sort chunks of a line and keep the best K of
 * each as a run; then two neighbouring runs become one, of which again only the
 * best K are kept, until there is one.  Where an entry goes is its place in its
 * own run and the number of those in the other one that are better.
 *
 * Should the best be in the order of their indices, they are sorted once more,
 * by these, in the same way.
 */
#include <stdlib.h>

#include "base/array.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/kernels/single_kernel.h"
#include "exec/backend/cuda/kernels/topk.h"

#include "exec/backend/cuda/kernels/topk_multipass.inc"

typedef struct passes_kernel {
    mo_backend_kernel base;
    mo_call_topk topk;
    int64_t lines;
    size_t half; /* bytes of each of the two places for entries */
    mo_cuda_function *sort, *again, *merge, *put;
} passes_kernel;

/* ---- prepare */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t runs_of(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

/* Entries of a line, before any two runs are one. */
static mo_status set_room(passes_kernel *made, mo_error *err)
{
    const mo_call_topk *topk = &made->topk;
    int64_t most = 0, bytes;

    for (int64_t size = MO_CUDA_TOPK_CHUNK; size < 2 * topk->count; size *= 2) {
        int64_t entries = runs_of(topk->count, size) * least(topk->k, size);

        most = entries > most ? entries : most;
    }
    if (!mo_int64_mul(most, made->lines, &most) ||
        !mo_int64_mul(most, 2 * MO_CUDA_TOPK_ENTRY_BYTES, &bytes))
        return mo_fail(err, MO_E_LIMIT, "the best %lld of %lld lines",
                       (long long) topk->k, (long long) made->lines);
    made->half = (size_t) bytes / 2;
    made->base.workspace = (size_t) bytes;
    return MO_OK;
}

static mo_status ask(mo_backend_unit *unit, const mo_call *call,
                     const mo_backend_operand *in, const mo_tensor_desc *out,
                     bool again, const char *source, const char *name,
                     mo_cuda_function **function, mo_error *err)
{
    mo_cuda_source code = { 0 };
    int64_t elements = mo_tensor_desc_elements(&in[0].desc);

    mo_cuda_emit_topk(&code, &call->u.topk, out, 2 * elements,
                      MO_CUDA_TOPK_CHUNK);
    mo_cuda_source_append(&code, run_source);
    mo_cuda_source_printf(&code, "#define AGAIN %d\n", again);
    mo_cuda_source_append(&code, source);
    return mo_cuda_jit_request_source(unit, &code, name, function, err);
}

static mo_status ask_all(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, passes_kernel *made,
                         mo_error *err)
{
    mo_status status = ask(unit, call, in, out, false, sort_source, "topk_sort",
                           &made->sort, err);

    if (status == MO_OK && call->u.topk.sort == MO_CALL_TOPK_BY_INDEX)
        status = ask(unit, call, in, out, true, sort_source, "topk_sort",
                     &made->again, err);
    if (status == MO_OK)
        status = ask(unit, call, in, out, false, merge_source, "topk_merge",
                     &made->merge, err);
    if (status == MO_OK)
        status = ask(unit, call, in, out, false, put_source, "topk_put",
                     &made->put, err);
    return status;
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    passes_kernel *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    made->topk = call->u.topk;
    made->lines = call->u.topk.outer * call->u.topk.inner;
    status = set_room(made, err);
    if (status == MO_OK)
        status = ask_all(unit, call, in, out, made, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *kernel = &made->base;
    return MO_OK;
}

/* ---- enqueue */

typedef struct passing {
    mo_backend_unit *unit;
    const passes_kernel *kernel;
    const void *in;
    void *place[2]; /* [0] holds the entries */
    CUstream stream;
    mo_error *err;
} passing;

static void turn(passing *p)
{
    void *other = p->place[0];

    p->place[0] = p->place[1];
    p->place[1] = other;
}

static mo_status launch(passing *p, const mo_cuda_function *function,
                        int64_t items, int per_block, void **args)
{
    mo_cuda_grid grid;
    mo_status status =
        mo_cuda_grid_1d(items, per_block, MO_CUDA_TOPK_THREADS, &grid, p->err);

    if (status != MO_OK)
        return status;
    return mo_cuda_launch(p->unit, function, &grid, p->stream, args, p->err);
}

/* Sorts count entries of each line, beginning with chunks of them. */
static mo_status sort_all(passing *p, const mo_cuda_function *function,
                          int64_t count)
{
    const passes_kernel *k = p->kernel;
    void *sort_args[] = { &p->in, &p->place[0], &p->place[1] };
    mo_status status =
        launch(p, function, k->lines * runs_of(count, MO_CUDA_TOPK_CHUNK), 1,
               sort_args);

    turn(p);
    for (int64_t size = MO_CUDA_TOPK_CHUNK; status == MO_OK && size < count;
         size *= 2) {
        long long size_arg = size, count_arg = count;
        void *merge_args[] = { &p->place[0], &p->place[1], &size_arg,
                               &count_arg };

        status =
            launch(p, k->merge,
                   k->lines * runs_of(count, size) * least(k->topk.k, size),
                   MO_CUDA_TOPK_THREADS, merge_args);
        turn(p);
    }
    return status;
}

static mo_status enqueue(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const passes_kernel *k = (const passes_kernel *) kernel;
    passing p = { unit,   k,
                  in[0],  { workspace, (char *) workspace + k->half },
                  stream, err };
    void *values = out[0], *indices = out[1];
    void *put_args[] = { &p.in, &p.place[0], &values, &indices };
    mo_status status;

    if (k->topk.k == 0 || k->lines == 0)
        return MO_OK;
    status = sort_all(&p, k->sort, k->topk.count);
    if (status == MO_OK && k->again)
        status = sort_all(&p, k->again, k->topk.k);
    if (status == MO_OK)
        status = launch(&p, k->put, k->lines * k->topk.k, MO_CUDA_TOPK_THREADS,
                        put_args);
    return status;
}

const mo_cuda_kernel_class mo_cuda_topk_multipass_kernel = {
    prepare, NULL, enqueue, mo_cuda_kernel_free
};
