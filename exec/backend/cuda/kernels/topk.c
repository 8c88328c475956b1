/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Top-k: one block per line sorts in shared memory (topk.cu), long lines take
 * several passes (topk_multipass.cu).
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/minmax.h"
#include "exec/backend/cuda/jit/codegen.h"
#include "exec/backend/cuda/jit/codegen_epilogue.h"
#include "exec/backend/cuda/kernels/kernel_class.h"
#include "exec/backend/cuda/kernels/single_kernel.h"

/* Entries that one block sorts in shared memory, and its threads, at most.
 * Elements are compared by integer keys in the same order, and equal ones by
 * their index: no two entries are equal, and every sort gives the same
 * order. */
enum { MAX_CHUNK = 2048, MAX_THREADS = 512, ENTRY_BYTES = 16 };

#include "exec/backend/cuda/kernels/topk.inc"

static void emit_common(mo_cuda_source *code, const mo_call_topk *topk,
                        const mo_tensor_desc *out, int64_t elements, int chunk)
{
    mo_elem elem = out[0].elem;

    mo_cuda_emit_types(code, elem, 1, elements);
    mo_cuda_source_printf(
        code,
        "typedef %s INDEX;\n#define REAL %d\n#define SIGNED %d\n"
        "#define LARGEST %d\n#define BY_INDEX %d\n"
        "#define LINES %lldLL\n#define COUNT %lldLL\n"
        "#define INNER %lldLL\n#define K %lldLL\n"
        "#define CHUNK %d\n#define BLOCK %d\n",
        mo_cuda_elem_type_name(out[1].elem), mo_elem_is_float(elem),
        elem != MO_ELEM_U64, topk->largest, topk->sort == MO_CALL_TOPK_BY_INDEX,
        (long long) topk->outer * topk->inner, (long long) topk->count,
        (long long) topk->inner, (long long) topk->k, chunk,
        chunk / 2 < MAX_THREADS ? chunk / 2 : MAX_THREADS);
    mo_cuda_source_append(code, common_source);
}

static mo_status prepare_single_block(mo_backend_unit *unit,
                                      const mo_call *call,
                                      const mo_backend_operand *in,
                                      const mo_tensor_desc *out,
                                      mo_backend_kernel **kernel, mo_error *err)
{
    enum { LEAST_CHUNK = 64 };
    const mo_call_topk *topk = &call->u.topk;
    mo_cuda_single_kernel_spec draft = { .name = "topk" };
    int chunk = LEAST_CHUNK;
    mo_status status;

    while (chunk < topk->count)
        chunk *= 2;
    status = mo_cuda_grid_1d(topk->k > 0 ? topk->outer * topk->inner : 0, 1,
                             chunk / 2 < MAX_THREADS ? chunk / 2 : MAX_THREADS,
                             &draft.grid, err);
    if (status != MO_OK)
        return status;
    emit_common(&draft.code, topk, out, mo_tensor_desc_elements(&in[0].desc),
                chunk);
    mo_cuda_source_append(&draft.code, kernel_source);
    return mo_cuda_single_kernel_new(unit, call, 1, &draft, kernel, err);
}

/*
 * Long lines. Blocks sort chunks of a line and keep the best K of each as a
 * run; then pairs of neighbouring runs are merged, of which again the best K
 * are kept, until one is left. The place of an entry in the merged run is its
 * place in its own run plus the number of better entries in the other one
 * (merge by ranking).
 *
 * Where results are in the order of their indices, the K entries are sorted
 * once more by these, in the same way.
 */
#include "exec/backend/cuda/kernels/topk_multipass.inc"

typedef struct multipass_kernel {
    mo_backend_kernel base;
    mo_call_topk topk;
    int64_t lines;
    size_t half; /* bytes of each of the two buffers of entries */
    mo_cuda_function *sort, *again, *merge, *put;
} multipass_kernel;

static int64_t count_runs(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

/* A kernel of a call. */
typedef struct topk_pass {
    bool needed, again;
    const char *source, *name;
    mo_cuda_function **function;
} topk_pass;

static mo_status prepare_multipass(mo_backend_unit *unit, const mo_call *call,
                                   const mo_backend_operand *in,
                                   const mo_tensor_desc *out,
                                   mo_backend_kernel **kernel, mo_error *err)
{
    multipass_kernel *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    made->topk = call->u.topk;
    made->lines = call->u.topk.outer * call->u.topk.inner;

    /* The largest number of entries of a line in any pass. */
    const mo_call_topk *topk = &made->topk;
    int64_t most = 0, bytes;

    for (int64_t size = MAX_CHUNK; size < 2 * topk->count; size *= 2) {
        int64_t entries =
            count_runs(topk->count, size) * mo_min_i64(topk->k, size);

        most = entries > most ? entries : most;
    }
    if (!mo_int64_mul(most, made->lines, &most) ||
        !mo_int64_mul(most, (int64_t) 2 * ENTRY_BYTES, &bytes))
        status = mo_fail(err, MO_E_LIMIT, "the best %lld of %lld lines",
                         (long long) topk->k, (long long) made->lines);
    else {
        made->half = (size_t) bytes / 2;
        made->base.workspace = (size_t) bytes;
        status = MO_OK;
    }
    if (status == MO_OK) {
        bool by_index = call->u.topk.sort == MO_CALL_TOPK_BY_INDEX;
        const topk_pass passes[] = {
            { true, false, sort_source, "topk_sort", &made->sort },
            { by_index, true, sort_source, "topk_sort", &made->again },
            { true, false, merge_source, "topk_merge", &made->merge },
            { true, false, put_source, "topk_put", &made->put },
        };
        int64_t elements = mo_tensor_desc_elements(&in[0].desc);
        status = MO_OK;

        for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
            mo_cuda_source code = { 0 };

            if (!passes[i].needed || status != MO_OK)
                continue;
            emit_common(&code, &call->u.topk, out, 2 * elements, MAX_CHUNK);
            mo_cuda_source_append(&code, run_source);
            mo_cuda_source_printf(&code, "#define AGAIN %d\n", passes[i].again);
            mo_cuda_source_append(&code, passes[i].source);
            status = mo_cuda_jit_request_source(unit, &code, passes[i].name,
                                                passes[i].function, err);
        }
    }
    if (status != MO_OK) {
        free(made);
        return status;
    }
    *kernel = &made->base;
    return MO_OK;
}

typedef struct multipass_run {
    mo_backend_unit *unit;
    const multipass_kernel *kernel;
    const void *in;
    void *place[2]; /* [0] is the input of the next pass */
    CUstream stream;
    mo_error *err;
} multipass_run;

static void swap_buffers(multipass_run *p)
{
    void *other = p->place[0];

    p->place[0] = p->place[1];
    p->place[1] = other;
}

static mo_status launch_pass(multipass_run *p, const mo_cuda_function *function,
                             int64_t items, int per_block, void **args)
{
    mo_cuda_grid grid;
    mo_status status =
        mo_cuda_grid_1d(items, per_block, MAX_THREADS, &grid, p->err);

    if (status != MO_OK)
        return status;
    return mo_cuda_launch(p->unit, function, &grid, p->stream, args, p->err);
}

/* Sorts count entries of each line: chunks, then merges. */
static mo_status sort_lines(multipass_run *p, const mo_cuda_function *function,
                            int64_t count)
{
    const multipass_kernel *k = p->kernel;
    void *sort_args[] = { &p->in, &p->place[0], &p->place[1] };
    mo_status status = launch_pass(
        p, function, k->lines * count_runs(count, MAX_CHUNK), 1, sort_args);

    swap_buffers(p);
    for (int64_t size = MAX_CHUNK; status == MO_OK && size < count; size *= 2) {
        long long size_arg = size, count_arg = count;
        void *merge_args[] = { &p->place[0], &p->place[1], &size_arg,
                               &count_arg };

        status = launch_pass(p, k->merge,
                             k->lines * count_runs(count, size) *
                                 mo_min_i64(k->topk.k, size),
                             MAX_THREADS, merge_args);
        swap_buffers(p);
    }
    return status;
}

static mo_status enqueue_multipass(mo_backend_unit *unit,
                                   const mo_backend_kernel *kernel,
                                   const void *const *in, void *const *out,
                                   void *workspace, CUstream stream,
                                   mo_error *err)
{
    const multipass_kernel *k = (const multipass_kernel *) kernel;
    multipass_run p = { unit,   k,
                        in[0],  { workspace, (char *) workspace + k->half },
                        stream, err };
    void *values = out[0], *indices = out[1];
    void *put_args[] = { &p.in, &p.place[0], &values, &indices };
    mo_status status;

    if (k->topk.k == 0 || k->lines == 0)
        return MO_OK;
    status = sort_lines(&p, k->sort, k->topk.count);
    if (status == MO_OK && k->again)
        status = sort_lines(&p, k->again, k->topk.k);
    if (status == MO_OK)
        status = launch_pass(&p, k->put, k->lines * k->topk.k, MAX_THREADS,
                             put_args);
    return status;
}

/* inner is the kernel of one of the two algorithms, owned. */
typedef struct topk_kernel {
    mo_backend_kernel base;
    bool small;
    mo_backend_kernel *inner;
} topk_kernel;

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    topk_kernel *made;
    mo_status status = mo_cuda_check_same_type(call, in, out, err);

    if (status != MO_OK)
        return status;
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->small = call->u.topk.count <= MAX_CHUNK;
    status = (made->small ? prepare_single_block : prepare_multipass)(
        unit, call, in, out, &made->inner, err);
    if (status != MO_OK) {
        free(made);
        return status;
    }
    made->base.workspace = made->inner->workspace;
    *kernel = &made->base;
    return MO_OK;
}

static mo_status enqueue(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const topk_kernel *made = (const topk_kernel *) kernel;

    return (made->small ? mo_cuda_single_kernel_enqueue : enqueue_multipass)(
        unit, made->inner, in, out, workspace, stream, err);
}

static void drop(mo_backend_unit *unit, mo_backend_kernel *kernel)
{
    topk_kernel *made = (topk_kernel *) kernel;

    (made->small ? mo_cuda_single_kernel_free
                 : mo_cuda_kernel_free)(unit, made->inner);
    free(made);
}

const mo_cuda_kernel_class mo_cuda_topk_kernel = { prepare, NULL, enqueue,
                                                   drop };
