/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/cuda_attention [f32|tf32] - tilings of fused attention compared on the
 * GPU, for the shapes of known networks at batch 1.
 *
 * A line per tiling, in microseconds; the candidates of the autotuner are
 * marked, the untuned default first. A time is the least of several replays of
 * a graph of many runs.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cuda/algo/fused_attention.h"

enum { RUNS = 20, REPLAYS = 5, OPERANDS = 5, MOST_WAYS = 64 };

/* Heads of q, k and v are interleaved in one row, as products leave them. */
typedef struct problem {
    const char *network;
    int windows, heads, tokens, width;
    bool causal, biased; /* by [heads, tokens, tokens] and [windows, ...] */
} problem;

static const problem problems[] = {
    { "bert", 1, 12, 128, 64, false, false },
    { "gpt2", 1, 12, 512, 64, true, false },
    { "vit", 1, 12, 197, 64, false, false },
    { "swin_t 1", 64, 3, 49, 32, false, true },
    { "swin_t 2", 16, 6, 49, 32, false, true },
    { "swin_t 3", 4, 12, 49, 32, false, true },
    { "swin_t 4", 1, 24, 49, 32, false, true },
};

typedef struct way {
    mo_cuda_attention_tiling cut;
    int place; /* rank among the candidates of the autotuner, or -1 */
    mo_cuda_function *function;
    mo_cuda_grid grid;
} way;

typedef struct bench {
    mo_backend_unit *unit;
    const problem *problem;
    mo_call call;
    mo_point_program score;
    mo_backend_operand in[OPERANDS];
    mo_tensor_desc out;
    mo_cuda_attention_problem task;
    CUdeviceptr memory;
    way ways[MOST_WAYS];
    int n_ways;
} bench;

static void make_score(bench *b)
{
    const problem *p = b->problem;
    int64_t square = (int64_t) p->tokens * p->tokens;
    mo_point_step add = { .op = MO_POINT_ADD, .b = 1 };
    mo_point_program *s = &b->score;

    *s = (mo_point_program){ .n_operands = 3 };
    s->out = mo_point_access_dense(
        &(mo_shape){ 4, { p->windows, p->heads, p->tokens, p->tokens } });
    for (int i = 0; i < 3; i++)
        s->operands[i] = (mo_point_operand){ MO_ELEM_F32, s->out };
    s->operands[1].access.stride[0] = 0;
    s->operands[2].access.stride[0] = square;
    s->operands[2].access.stride[1] = 0;
    add.a = mo_point_push_step(s, add);
    add.b = 2;
    s->result = mo_point_push_step(s, add);
    b->in[3].desc.shape = (mo_shape){ 2, { p->heads, square } };
    b->in[4].desc.shape = (mo_shape){ 2, { p->windows, square } };
    b->call.u.attention.score = s;
}

static void make_call(bench *b)
{
    const problem *p = b->problem;
    mo_call_attention *a = &b->call.u.attention;
    int64_t row = (int64_t) p->heads * p->width;

    b->call = (mo_call){ .kind = MO_CALL_ATTENTION,
                         .n_in = p->biased ? 5 : 3,
                         .n_out = 1,
                         .first_extra = p->biased ? 5 : 3 };
    *a = (mo_call_attention){ .n_batch = 2,
                              .extent = { p->windows, p->heads },
                              .queries = p->tokens,
                              .keys = p->tokens,
                              .width = p->width,
                              .v_width = p->width,
                              .k_offset = row,
                              .v_offset = 2 * row,
                              .q_row = 3 * row,
                              .k_row = 3 * row,
                              .v_row = 3 * row,
                              .out_row = row,
                              .q_batch = { 3 * row * p->tokens, p->width },
                              .k_batch = { 3 * row * p->tokens, p->width },
                              .v_batch = { 3 * row * p->tokens, p->width },
                              .out_batch = { row * p->tokens, p->width },
                              .scale = 0.125,
                              .causal = p->causal };
    for (int i = 0; i < OPERANDS; i++)
        b->in[i].desc =
            (mo_tensor_desc){ MO_ELEM_F32,
                              { 3, { p->windows, p->tokens, 3 * row } } };
    b->out = (mo_tensor_desc){
        MO_ELEM_F32, { 4, { p->windows, p->tokens, p->heads, p->width } }
    };
    if (p->biased)
        make_score(b);
    b->task =
        (mo_cuda_attention_problem){ .call = &b->call,
                                     .in = b->in,
                                     .out = &b->out,
                                     .batches = (int64_t) p->windows * p->heads,
                                     .tensor = true,
                                     .exact = b->unit->options.precision ==
                                              MO_BACKEND_PRECISION_F32 };
}

static int place_of(const bench *b, const mo_cuda_attention_tiling *cut)
{
    mo_cuda_attention_tiling tried[MO_CUDA_ATTENTION_MAX_TILINGS];
    int n = mo_cuda_attention_find_tilings(&b->task, b->unit->sms, tried);

    for (int i = 0; i < n; i++)
        if (tried[i].across == cut->across && tried[i].along == cut->along &&
            tried[i].deep == cut->deep && tried[i].span == cut->span)
            return i;
    return -1;
}

static mo_status add_way(bench *b, mo_cuda_attention_tiling cut, mo_error *err)
{
    way *w = &b->ways[b->n_ways];
    mo_cuda_source code = { 0 };
    mo_status status;

    w->cut = cut;
    w->place = place_of(b, &cut);
    status = mo_cuda_emit_attention(&b->task, &cut, &code, &w->grid, err);
    if (status == MO_OK && w->grid.shared <= b->unit->max_shared_bytes) {
        status = mo_cuda_jit_request(b->unit, code.text, "attention",
                                     &w->function, err);
        b->n_ways++;
    }
    mo_cuda_source_clear(&code);
    return status;
}

static mo_status add_ways(bench *b, mo_error *err)
{
    static const int spans[] = { 1, 2, 4, 7 };
    mo_status status = MO_OK;

    b->n_ways = 0;
    for (int warps = 1; warps <= 8; warps *= 2)
        for (int deep = 1; deep <= 2; deep++)
            for (int s = 0; s < 4 && status == MO_OK; s++) {
                int keys = 8 * spans[s] * warps;

                if (keys < 2 * b->problem->tokens)
                    status = add_way(
                        b,
                        (mo_cuda_attention_tiling){ 1, warps, deep, spans[s] },
                        err);
                if (warps == 1 && status == MO_OK)
                    status = add_way(
                        b, (mo_cuda_attention_tiling){ 4, 1, deep, spans[s] },
                        err);
            }
    return status == MO_OK ? mo_cuda_jit_compile(b->unit, err) : status;
}

static size_t room_of(const mo_tensor_desc *desc)
{
    return ((size_t) mo_tensor_desc_bytes(desc) + 256) / 256 * 256;
}

static mo_status make_room(bench *b, mo_error *err)
{
    const mo_cuda_api *api = b->unit->api;
    size_t bytes = room_of(&b->out) + room_of(&b->in[0].desc) +
                   room_of(&b->in[3].desc) + room_of(&b->in[4].desc);
    mo_status status = mo_cuda_alloc(b->unit, bytes, &b->memory, err);

    if (status != MO_OK)
        return status;
    return mo_cuda_check(
        api, "cuMemsetD8Async",
        api->cuMemsetD8Async(b->memory, 0x3c, bytes, b->unit->stream), err);
}

static mo_status enqueue(const bench *b, const way *w, mo_error *err)
{
    CUdeviceptr rows = b->memory + room_of(&b->out);
    CUdeviceptr biases = rows + room_of(&b->in[0].desc);
    CUdeviceptr out = b->memory;
    mo_cuda_attention_score_inputs seen = {
        { (const void *) (uintptr_t) biases,
          (const void *) (uintptr_t) (biases + room_of(&b->in[3].desc)) }
    };
    mo_cuda_epilogue_inputs extra = { { NULL } };
    void *args[] = { &rows, &rows, &rows, &out, &seen, &extra };
    mo_status status = MO_OK;

    for (int i = 0; i < RUNS && status == MO_OK; i++)
        status = mo_cuda_launch(b->unit, w->function, &w->grid, b->unit->stream,
                                args, err);
    return status;
}

static mo_status capture(const bench *b, const way *w, CUgraphExec *exec,
                         mo_error *err)
{
    const mo_cuda_api *api = b->unit->api;
    CUgraph graph = NULL;
    mo_status status =
        mo_cuda_check(api, "cuStreamBeginCapture",
                      api->cuStreamBeginCapture(b->unit->stream,
                                                CU_STREAM_CAPTURE_MODE_RELAXED),
                      err);

    if (status == MO_OK)
        status = enqueue(b, w, err);
    if (api->cuStreamEndCapture(b->unit->stream, &graph) != CUDA_SUCCESS ||
        status != MO_OK)
        return status != MO_OK ? status
                               : mo_fail(err, MO_E_SUPPORT, "no graph of it");
    status =
        mo_cuda_check(api, "cuGraphInstantiate",
                      api->cuGraphInstantiateWithFlags(exec, graph, 0), err);
    api->cuGraphDestroy(graph);
    return status;
}

static mo_status clock_once(const bench *b, CUgraphExec exec, CUevent *events,
                            float *us, mo_error *err)
{
    const mo_cuda_api *api = b->unit->api;
    float ms = 0;
    CUresult result = api->cuEventRecord(events[0], b->unit->stream);

    if (result == CUDA_SUCCESS)
        result = api->cuGraphLaunch(exec, b->unit->stream);
    if (result == CUDA_SUCCESS)
        result = api->cuEventRecord(events[1], b->unit->stream);
    if (result == CUDA_SUCCESS)
        result = api->cuEventSynchronize(events[1]);
    if (result == CUDA_SUCCESS)
        result = api->cuEventElapsedTime(&ms, events[0], events[1]);
    if (ms * 1000 / RUNS < *us)
        *us = ms * 1000 / RUNS;
    return mo_cuda_check(api, "timing attention", result, err);
}

static mo_status time_way(const bench *b, const way *w, CUevent *events,
                          mo_error *err)
{
    CUgraphExec exec = NULL;
    float us = 1e30f;
    mo_status status = capture(b, w, &exec, err);

    for (int i = 0; i <= REPLAYS && status == MO_OK; i++)
        status = clock_once(b, exec, events, &us, err);
    if (exec)
        b->unit->api->cuGraphExecDestroy(exec);
    if (status == MO_OK)
        printf("%-9s %dx%d warps, %d deep, span %d: %8.2f us%s%.0d\n",
               b->problem->network, w->cut.across, w->cut.along, w->cut.deep,
               w->cut.span, us, w->place < 0 ? "" : "  tried ", w->place + 1);
    return status;
}

static mo_status run_problem(bench *b, CUevent *events, mo_error *err)
{
    mo_status status;

    make_call(b);
    status = make_room(b, err);
    if (status == MO_OK)
        status = add_ways(b, err);
    for (int i = 0; i < b->n_ways && status == MO_OK; i++)
        status = time_way(b, &b->ways[i], events, err);
    mo_cuda_free(b->unit, b->memory);
    b->memory = 0;
    return status;
}

int main(int argc, char **argv)
{
    bool exact = argc > 1 && strcmp(argv[1], "f32") == 0;
    const mo_backend_unit_options options = {
        .precision =
            exact ? MO_BACKEND_PRECISION_F32 : MO_BACKEND_PRECISION_TF32,
        .cache = ""
    };
    bench *b = calloc(1, sizeof *b);
    CUevent events[2] = { NULL, NULL };
    mo_error err = { 0 };
    mo_status status = b ? mo_backend_cuda.open(&options, &b->unit, &err)
                         : mo_fail_memory(&err);

    for (int i = 0; i < 2 && status == MO_OK; i++)
        status = mo_cuda_check(
            b->unit->api, "cuEventCreate",
            b->unit->api->cuEventCreate(&events[i], CU_EVENT_DEFAULT), &err);
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        if (status != MO_OK)
            break;
        b->problem = &problems[i];
        status = run_problem(b, events, &err);
    }
    if (status != MO_OK)
        fprintf(stderr, "cuda_attention: %s\n", err.text);
    if (b && b->unit)
        mo_backend_cuda.close(b->unit);
    free(b);
    return status == MO_OK ? 0 : 1;
}
