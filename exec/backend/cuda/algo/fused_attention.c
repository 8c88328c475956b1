/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/fused_attention.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/digest.h"
#include "exec/backend/check_call.h"
#include "exec/backend/cuda/algo/autotune.h"
#include "exec/backend/cuda/algo/tuning_cache.h"

/* One way to cut it. */
typedef struct way {
    char name[48];
    mo_cuda_function *function;
    mo_cuda_grid grid;
} way;

typedef struct attention_kernel {
    mo_backend_kernel base;
    const mo_call *call;
    size_t *bytes; /* by operand: of in, then of out[0] */
    way ways[MO_CUDA_ATTENTION_MAX_TILINGS];
    int n_ways; /* 0: there is nothing to do */
    int best;
    uint64_t key; /* of it in the notes */
} attention_kernel;

/* ---- prepare */

/* Kernels count queries, keys and columns in ints. */
static mo_status count(const mo_call_attention *c, int64_t *batches,
                       mo_error *err)
{
    const int64_t most = INT_MAX / 4;
    int64_t all = 1;
    bool fits = c->n_batch + 2 <= MO_MAX_RANK && c->queries < most &&
                c->keys < most && c->width < most && c->v_width < most;

    for (int d = 0; d < c->n_batch && fits; d++)
        fits = mo_int64_mul(all, c->extent[d], &all);
    if (!fits || all > most)
        return mo_fail(err, MO_E_LIMIT,
                       "attention over so many queries, keys or heads is too "
                       "large for the GPU");
    *batches = all;
    return MO_OK;
}

static mo_cuda_attention_problem task_of(const mo_backend_unit *unit,
                                         const mo_call *call,
                                         const mo_backend_operand *in,
                                         const mo_tensor_desc *out)
{
    const mo_call_attention *c = &call->u.attention;
    mo_cuda_attention_problem task = { .call = call, .in = in, .out = out };

    task.tensor = unit->arch >= 80 && c->keys > 0 && c->width > 0 &&
                  c->width <= MO_CUDA_ATTENTION_MAX_HEAD_DIM &&
                  c->v_width <= MO_CUDA_ATTENTION_MAX_HEAD_DIM;
    task.exact = unit->options.precision == MO_BACKEND_PRECISION_F32;
    return task;
}

/* The name of the fastest way, if that is known; or NULL.  Sources have all
 * numbers in them: one of them tells what is to be done. */
static mo_status find_note(mo_backend_unit *unit,
                           const mo_cuda_attention_problem *task,
                           const mo_cuda_attention_tiling *cut,
                           attention_kernel *kernel, const char **noted,
                           mo_error *err)
{
    mo_cuda_grid grid;
    mo_cuda_source code = { 0 };
    mo_status status = mo_cuda_emit_attention(task, cut, &code, &grid, err);

    if (status == MO_OK)
        kernel->key = mo_digest_of(code.text, code.size);
    mo_cuda_source_clear(&code);
    *noted = mo_cuda_tuning_cache_best_name(unit->tuning_cache, kernel->key);
    return status;
}

/* Unless only another one is wanted. */
static mo_status add_way(mo_backend_unit *unit,
                         const mo_cuda_attention_problem *task,
                         const mo_cuda_attention_tiling *cut, const char *only,
                         attention_kernel *kernel, mo_error *err)
{
    way *made = &kernel->ways[kernel->n_ways];
    mo_cuda_source code = { 0 };
    mo_status status =
        mo_cuda_emit_attention(task, cut, &code, &made->grid, err);

    snprintf(made->name, sizeof made->name, "%dx%d warps, %d deep, %d span",
             cut->across, cut->along, cut->deep, cut->span);
    if (status == MO_OK && made->grid.shared <= unit->max_shared_bytes &&
        (!only || strcmp(only, made->name) == 0)) {
        status = mo_cuda_jit_request(unit, code.text, "attention",
                                     &made->function, err);
        kernel->n_ways += status == MO_OK;
    }
    mo_cuda_source_clear(&code);
    return status;
}

/* Without measuring the first one will do, and what was the fastest before is
 * enough.  Rows go everywhere. */
static mo_status add_ways(mo_backend_unit *unit,
                          mo_cuda_attention_problem *task,
                          attention_kernel *kernel, mo_error *err)
{
    mo_cuda_attention_tiling cuts[MO_CUDA_ATTENTION_MAX_TILINGS] = { { 0 } };
    int n = task->tensor ? mo_cuda_attention_find_tilings(task, unit->sms, cuts)
                         : 1;
    const char *only = NULL;
    mo_status status = MO_OK;

    if (!unit->options.measure)
        n = 1;
    if (n > 1)
        status = find_note(unit, task, &cuts[0], kernel, &only, err);
    for (int i = 0; i < n && only && status == MO_OK; i++)
        status = add_way(unit, task, &cuts[i], only, kernel, err);
    if (kernel->n_ways == 0)
        for (int i = 0; i < n && status == MO_OK; i++)
            status = add_way(unit, task, &cuts[i], NULL, kernel, err);
    if (status == MO_OK && kernel->n_ways == 0) {
        task->tensor = false;
        status = add_way(unit, task, &cuts[0], NULL, kernel, err);
    }
    return status;
}

static mo_status keep_sizes(attention_kernel *kernel, const mo_call *call,
                            const mo_backend_operand *in,
                            const mo_tensor_desc *out, mo_error *err)
{
    kernel->bytes = calloc((size_t) call->n_in + 1, sizeof *kernel->bytes);
    if (!kernel->bytes)
        return mo_fail_memory(err);
    for (int i = 0; i < call->n_in; i++)
        kernel->bytes[i] = (size_t) mo_tensor_desc_bytes(&in[i].desc);
    kernel->bytes[call->n_in] = (size_t) mo_tensor_desc_bytes(&out[0]);
    return MO_OK;
}

static void drop(mo_backend_unit *unit, mo_backend_kernel *kernel)
{
    (void) unit;
    free(((attention_kernel *) kernel)->bytes);
    free(kernel);
}

static mo_status prepare(mo_backend_unit *unit, const mo_call *call,
                         const mo_backend_operand *in,
                         const mo_tensor_desc *out, mo_backend_kernel **kernel,
                         mo_error *err)
{
    mo_cuda_attention_problem task = task_of(unit, call, in, out);
    mo_status status = mo_backend_check_attention(call, in, out, err);
    attention_kernel *made;

    if (status == MO_OK)
        status = count(&call->u.attention, &task.batches, err);
    if (status != MO_OK)
        return status;
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->call = call;
    status = keep_sizes(made, call, in, out, err);
    if (status == MO_OK && mo_tensor_desc_elements(&out[0]) > 0)
        status = add_ways(unit, &task, made, err);
    if (status != MO_OK) {
        drop(unit, &made->base);
        return status;
    }
    *kernel = &made->base;
    return MO_OK;
}

/* ---- run */

static mo_cuda_attention_score_inputs seen_of(const mo_call *call,
                                              const void *const *in)
{
    mo_cuda_attention_score_inputs seen = { { NULL } };

    for (int i = 3; i < call->first_extra; i++)
        seen.pointers[i - 3] = in[i];
    return seen;
}

static mo_status launch(mo_backend_unit *unit, const attention_kernel *kernel,
                        int which, const void *const *in, void *const *out,
                        CUstream stream, mo_error *err)
{
    const way *it = &kernel->ways[which];
    const void *q = in[0], *k = in[1], *v = in[2];
    void *result = out[0];
    mo_cuda_attention_score_inputs seen = seen_of(kernel->call, in);
    mo_cuda_epilogue_inputs extra =
        mo_cuda_epilogue_inputs_of(kernel->call, in);
    void *args[] = { &q, &k, &v, &result, &seen, &extra };

    return mo_cuda_launch(unit, it->function, &it->grid, stream, args, err);
}

static mo_status enqueue(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const attention_kernel *attention = (const attention_kernel *) kernel;

    (void) workspace;
    if (attention->n_ways == 0)
        return MO_OK;
    return launch(unit, attention, attention->best, in, out, stream, err);
}

/* ---- settle */

/* Operands of its own, to try ways with. */
typedef struct trial {
    mo_backend_unit *unit;
    const attention_kernel *kernel;
    CUdeviceptr memory;
    const void **in;
    void *out;
} trial;

static size_t aligned(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static void *address(CUdeviceptr memory, size_t at)
{
    return (void *) (uintptr_t) (memory + at);
}

static mo_status begin_trial(trial *t, mo_error *err)
{
    const mo_cuda_api *api = t->unit->api;
    int n = t->kernel->call->n_in;
    size_t all = 0, at = 0;
    mo_status status;

    for (int i = 0; i <= n; i++)
        all += aligned(t->kernel->bytes[i]);
    t->in = calloc((size_t) n, sizeof *t->in);
    if (!t->in)
        return mo_fail_memory(err);
    status = mo_cuda_alloc(t->unit, all, &t->memory, err);
    if (status == MO_OK)
        status = mo_cuda_check(
            api, "cuMemsetD8Async",
            api->cuMemsetD8Async(t->memory, 0, all, t->unit->stream), err);
    for (int i = 0; i < n; i++) {
        t->in[i] = address(t->memory, at);
        at += aligned(t->kernel->bytes[i]);
    }
    t->out = address(t->memory, at);
    return status;
}

static mo_status try_way(void *context, int i, CUstream stream, mo_error *err)
{
    const trial *t = context;

    return launch(t->unit, t->kernel, i, t->in, &t->out, stream, err);
}

static mo_status settle(mo_backend_unit *unit, mo_backend_kernel *kernel,
                        mo_error *err)
{
    attention_kernel *attention = (attention_kernel *) kernel;
    const char *names[MO_CUDA_ATTENTION_MAX_TILINGS];
    trial t = { .unit = unit, .kernel = attention };
    int64_t ns;
    mo_status status;

    if (attention->n_ways < 2)
        return MO_OK;
    for (int i = 0; i < attention->n_ways; i++)
        names[i] = attention->ways[i].name;
    status = begin_trial(&t, err);
    if (status == MO_OK)
        status =
            mo_cuda_autotune(unit, attention->key, names, attention->n_ways,
                             try_way, &t, &attention->best, &ns, err);
    mo_cuda_free(unit, t.memory);
    free(t.in);
    return status;
}

const mo_cuda_kernel_class mo_cuda_attention_kernel = { prepare, settle,
                                                        enqueue, drop };
