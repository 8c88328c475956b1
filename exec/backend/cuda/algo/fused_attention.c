/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/cuda/algo/fused_attention.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/array.h"
#include "base/digest.h"
#include "base/minmax.h"
#include "exec/backend/check_call.h"
#include "exec/backend/cuda/algo/algo.h"
#include "exec/backend/cuda/algo/autotune.h"

/*
 * Tilings. Few queries are split into many blocks with warps that share the
 * keys; with many queries a warp takes more of them, since every key it loads
 * is used twice.
 */
enum { MAX_REGISTERS = 208, MAX_WARPS = 8, MAX_SPAN = 8, MAX_CLUSTER = 8 };

static int min_int(int64_t a, int64_t b)
{
    return (int) (a < b ? a : b);
}

/* Registers of a thread for queries, sums and scores, and for the keys and
 * values of an iteration. */
static int64_t count_registers(const mo_call_attention *c, int deep, int span)
{
    int64_t chunks = mo_ceil_div(c->width, 16),
            tiles = mo_ceil_div(c->v_width, 8);

    return (int64_t) 4 * deep * (2 * chunks + tiles + span) +
           span * (4 * chunks + 2 * tiles);
}

/* Keys of an iteration: as many as registers allow, of those of each warp. */
static int choose_span(const mo_call_attention *c, int deep, int warps)
{
    int span = min_int(MAX_SPAN, mo_ceil_div(c->keys, (int64_t) 8 * warps));

    while (span > 1 && count_registers(c, deep, span) > MAX_REGISTERS)
        span--;
    /* Full iterations need no bounds checks. */
    for (int whole = span; whole > span / 2 && whole > 0; whole--)
        if (c->keys % ((int64_t) 8 * whole) == 0)
            return whole;
    return span < 1 ? 1 : span;
}

/* The keys of a query are shared by so many warps, if there are enough. */
static mo_cuda_attention_tiling make_tiling(const mo_call_attention *c,
                                            int deep, int warps)
{
    mo_cuda_attention_tiling tiling = { .across = 1,
                                        .deep = deep,
                                        .cluster = 1 };

    tiling.span = choose_span(c, deep, warps);

    /* Warps along the keys: no more than there are iterations. */
    int64_t turns = mo_ceil_div(c->keys, (int64_t) 8 * tiling.span);
    int along = 1;

    while (along <= warps / 2 && along <= turns / 2)
        along *= 2;
    tiling.along = along;
    /* With few keys, warps of a block take other queries and find the keys in
     * the cache. */
    if (tiling.along == 1)
        tiling.across =
            min_int(4, mo_ceil_div(c->queries, (int64_t) 16 * deep));
    return tiling;
}

/* With few blocks, as in the step of a decoder, those of a cluster share the
 * keys: as many as there are idle SMs, or iterations for their warps. */
static mo_cuda_attention_tiling
make_clusters(const mo_cuda_attention_problem *problem, int sms)
{
    const mo_call_attention *c = &problem->call->u.attention;
    mo_cuda_attention_tiling tiling = make_tiling(c, 1, MAX_WARPS / 2);
    int64_t blocks = problem->batches * mo_ceil_div(c->queries, 16);
    int64_t turns = 0;

    /* Rather more blocks than long iterations. */
    while (tiling.span > 2 && tiling.span % 2 == 0 &&
           mo_ceil_div(c->keys, (int64_t) 8 * tiling.span * tiling.along) <
               MAX_CLUSTER)
        tiling.span /= 2;
    turns = mo_ceil_div(c->keys, (int64_t) 8 * tiling.span * tiling.along);
    while (problem->clusters && 2 * tiling.cluster <= MAX_CLUSTER &&
           2 * tiling.cluster * blocks <= sms && 2 * tiling.cluster <= turns)
        tiling.cluster *= 2;
    return tiling;
}

static int add_tiling(mo_cuda_attention_tiling *tilings, int n,
                      mo_cuda_attention_tiling tiling)
{
    for (int i = 0; i < n; i++)
        if (tilings[i].across == tiling.across &&
            tilings[i].along == tiling.along &&
            tilings[i].deep == tiling.deep && tilings[i].span == tiling.span &&
            tilings[i].cluster == tiling.cluster)
            return n;
    tilings[n] = tiling;
    return n + 1;
}

int mo_cuda_attention_find_tilings(
    const mo_cuda_attention_problem *problem, int sms,
    mo_cuda_attention_tiling tilings[MO_CUDA_ATTENTION_MAX_TILINGS])
{
    const mo_call_attention *c = &problem->call->u.attention;
    bool deep_fits =
        count_registers(c, 2, 1) <= MAX_REGISTERS && c->queries > 16;
    bool many =
        problem->batches * mo_ceil_div(c->queries, 16) >= 2 * (int64_t) sms;
    bool short_rows = c->keys <= (int64_t) 8 * choose_span(c, 1, 1);
    int first = deep_fits && many && !short_rows ? 2 : 1;
    mo_cuda_attention_tiling clusters = make_clusters(problem, sms);
    int n = 0;

    if (clusters.cluster > 1)
        n = add_tiling(tilings, n, clusters);
    if (short_rows)
        n = add_tiling(tilings, n, make_tiling(c, 1, 1));
    n = add_tiling(tilings, n, make_tiling(c, first, MAX_WARPS / 2));
    n = add_tiling(tilings, n, make_tiling(c, first, MAX_WARPS));
    if (first == 2 || deep_fits)
        n = add_tiling(tilings, n, make_tiling(c, 3 - first, MAX_WARPS / 2));
    return n;
}

/* A tiling with its function. */
typedef struct variant {
    char name[48];
    mo_cuda_function *function;
    mo_cuda_grid grid;
} variant;

typedef struct attention_kernel {
    mo_backend_kernel base;
    const mo_call *call;
    size_t *bytes; /* by operand: of in, then of out[0] */
    variant variants[MO_CUDA_ATTENTION_MAX_TILINGS];
    int n_variants; /* 0: the result is empty */
    int best;
    uint64_t key; /* in the tuning cache */
} attention_kernel;

static mo_cuda_attention_problem make_problem(const mo_backend_unit *unit,
                                              const mo_call *call,
                                              const mo_backend_operand *in,
                                              const mo_tensor_desc *out)
{
    const mo_call_attention *c = &call->u.attention;
    mo_cuda_attention_problem problem = { .call = call, .in = in, .out = out };

    problem.tensor = !mo_ablated(MO_ABLATION_cuda_attention_tensorcore) &&
                     unit->arch >= 80 && c->keys > 0 && c->width > 0 &&
                     c->width <= MO_CUDA_ATTENTION_MAX_HEAD_DIM &&
                     c->v_width <= MO_CUDA_ATTENTION_MAX_HEAD_DIM;
    problem.exact = unit->options.precision == MO_BACKEND_PRECISION_F32;
    problem.clusters = mo_cuda_has_clusters(unit);
    return problem;
}

/* Adds the tiling, unless only another one is wanted or its shared memory does
 * not fit. */
static mo_status add_variant(mo_backend_unit *unit,
                             const mo_cuda_attention_problem *problem,
                             const mo_cuda_attention_tiling *tiling,
                             const char *only, attention_kernel *kernel,
                             mo_error *err)
{
    variant *made = &kernel->variants[kernel->n_variants];
    mo_cuda_source code = { 0 };
    mo_status status =
        mo_cuda_emit_attention(problem, tiling, &code, &made->grid, err);

    snprintf(made->name, sizeof made->name, "%dx%dx%d warps, %d deep, %d span",
             tiling->across, tiling->along, tiling->cluster, tiling->deep,
             tiling->span);
    if (status == MO_OK && made->grid.shared <= unit->max_shared_bytes &&
        (!only || strcmp(only, made->name) == 0)) {
        status = mo_cuda_jit_request(unit, code.text, "attention",
                                     &made->function, err);
        kernel->n_variants += status == MO_OK;
    }
    mo_cuda_source_clear(&code);
    return status;
}

/* Without measuring the first tiling is taken; the fastest one of the tuning
 * cache suffices. The kernel by rows always works. */
static mo_status add_variants(mo_backend_unit *unit,
                              mo_cuda_attention_problem *problem,
                              attention_kernel *kernel, mo_error *err)
{
    mo_cuda_attention_tiling tilings[MO_CUDA_ATTENTION_MAX_TILINGS] = { { 0 } };
    int n = problem->tensor
                ? mo_cuda_attention_find_tilings(problem, unit->sms, tilings)
                : 1;
    const char *only = NULL;
    mo_status status = MO_OK;

    if (!unit->options.autotune)
        n = 1;
    if (n > 1) {
        mo_cuda_grid grid;
        mo_cuda_source code = { 0 };

        status =
            mo_cuda_emit_attention(problem, &tilings[0], &code, &grid, err);
        if (status == MO_OK)
            kernel->key = mo_digest_of(code.text, code.size);
        mo_cuda_source_clear(&code);
        only = mo_cuda_tuning_cache_best_name(unit->tuning_cache, kernel->key);
    }
    for (int i = 0; i < n && only && status == MO_OK; i++)
        status = add_variant(unit, problem, &tilings[i], only, kernel, err);
    if (kernel->n_variants == 0)
        for (int i = 0; i < n && status == MO_OK; i++)
            status = add_variant(unit, problem, &tilings[i], NULL, kernel, err);
    if (status == MO_OK && kernel->n_variants == 0) {
        problem->tensor = false;
        status = add_variant(unit, problem, &tilings[0], NULL, kernel, err);
    }
    return status;
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
    mo_cuda_attention_problem problem = make_problem(unit, call, in, out);
    mo_status status = mo_backend_check_attention(call, in, out, err);
    attention_kernel *made;

    if (status == MO_OK && call->u.attention.has_sinks)
        status = mo_fail(err, MO_E_SUPPORT,
                         "attention with sinks cannot be run on a GPU; place "
                         "it on a CPU");
    if (status == MO_OK) {
        /* Kernels have int indices for queries, keys and columns. */
        const mo_call_attention *c = &call->u.attention;
        const int64_t most = INT_MAX / 4;
        int64_t all = 1;
        bool fits = c->n_batch + 2 <= MO_MAX_RANK && c->queries < most &&
                    c->keys < most && c->width < most && c->v_width < most;

        for (int d = 0; d < c->n_batch && fits; d++)
            fits = mo_int64_mul(all, c->extent[d], &all);
        if (!fits || all > most)
            status =
                mo_fail(err, MO_E_LIMIT,
                        "attention over so many queries, keys or heads is too "
                        "large for the GPU");
        else
            problem.batches = all;
    }
    if (status != MO_OK)
        return status;
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->call = call;

    made->bytes = calloc((size_t) call->n_in + 1, sizeof *made->bytes);
    if (!made->bytes)
        status = mo_fail_memory(err);
    else {
        for (int i = 0; i < call->n_in; i++)
            made->bytes[i] = (size_t) mo_tensor_desc_bytes(&in[i].desc);
        made->bytes[call->n_in] = (size_t) mo_tensor_desc_bytes(&out[0]);
        status = MO_OK;
    }
    if (status == MO_OK && mo_tensor_desc_elements(&out[0]) > 0)
        status = add_variants(unit, &problem, made, err);
    if (status != MO_OK) {
        drop(unit, &made->base);
        return status;
    }
    *kernel = &made->base;
    return MO_OK;
}

static mo_status launch_variant(mo_backend_unit *unit,
                                const attention_kernel *kernel, int which,
                                const void *const *in, void *const *out,
                                CUstream stream, mo_error *err)
{
    const variant *chosen = &kernel->variants[which];
    const void *q = in[0], *k = in[1], *v = in[2];
    void *result = out[0];
    mo_cuda_attention_score_inputs score_inputs = { { NULL } };
    mo_cuda_epilogue_inputs extra =
        mo_cuda_epilogue_inputs_of(kernel->call, in);
    void *args[] = { &q, &k, &v, &result, &score_inputs, &extra };

    for (int i = 3; i < kernel->call->first_extra; i++)
        score_inputs.pointers[i - 3] = in[i];
    return mo_cuda_launch(unit, chosen->function, &chosen->grid, stream, args,
                          err);
}

static mo_status enqueue(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                         const void *const *in, void *const *out,
                         void *workspace, CUstream stream, mo_error *err)
{
    const attention_kernel *attention = (const attention_kernel *) kernel;

    (void) workspace;
    if (attention->n_variants == 0)
        return MO_OK;
    return launch_variant(unit, attention, attention->best, in, out, stream,
                          err);
}

/* Buffers for all operands while variants are timed. */
typedef struct tuning_run {
    mo_backend_unit *unit;
    const attention_kernel *kernel;
    CUdeviceptr memory;
    const void **in;
    void *out;
} tuning_run;

static size_t align_up(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static void *device_address(CUdeviceptr memory, size_t at)
{
    return (void *) (uintptr_t) (memory + at);
}

static mo_status begin_tuning(tuning_run *t, mo_error *err)
{
    const mo_cuda_api *api = t->unit->api;
    int n = t->kernel->call->n_in;
    size_t all = 0, at = 0;
    mo_status status;

    for (int i = 0; i <= n; i++)
        all += align_up(t->kernel->bytes[i]);
    t->in = calloc((size_t) n, sizeof *t->in);
    if (!t->in)
        return mo_fail_memory(err);
    status = mo_cuda_alloc(t->unit, all, &t->memory, err);
    if (status == MO_OK)
        status = mo_cuda_check(
            api, "cuMemsetD8Async",
            api->cuMemsetD8Async(t->memory, 0, all, t->unit->stream), err);
    for (int i = 0; i < n; i++) {
        t->in[i] = device_address(t->memory, at);
        at += align_up(t->kernel->bytes[i]);
    }
    t->out = device_address(t->memory, at);
    return status;
}

static mo_status run_variant(void *context, int i, CUstream stream,
                             mo_error *err)
{
    const tuning_run *t = context;

    return launch_variant(t->unit, t->kernel, i, t->in, &t->out, stream, err);
}

static mo_status finalize(mo_backend_unit *unit, mo_backend_kernel *kernel,
                          mo_error *err)
{
    attention_kernel *attention = (attention_kernel *) kernel;
    const char *names[MO_CUDA_ATTENTION_MAX_TILINGS];
    tuning_run t = { .unit = unit, .kernel = attention };
    mo_status status;

    if (attention->n_variants < 2)
        return MO_OK;
    for (int i = 0; i < attention->n_variants; i++)
        names[i] = attention->variants[i].name;
    status = begin_tuning(&t, err);
    if (status == MO_OK)
        status = mo_cuda_autotune(
            unit,
            &(mo_cuda_autotune_candidates){
                attention->key, names, attention->n_variants, run_variant, &t },
            &attention->best, err);
    mo_cuda_free(unit, t.memory);
    free(t.in);
    return status;
}

const mo_cuda_kernel_class mo_cuda_attention_kernel = { prepare, finalize,
                                                        enqueue, drop };
