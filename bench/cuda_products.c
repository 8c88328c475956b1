/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/cuda_products [-v] [f32|tf32|f16|bf16] - algorithms compared on the
 * GPU, for the matrix products and convolutions of known networks at batch 1,
 * each with a bias and an activation.
 *
 * A line per problem: the best of our own tensor core kernels, of cuBLASLt, of
 * cuDNN and of the direct kernels, in microseconds; with -v all algorithms. A
 * time is the least of several replays of a graph of many runs.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cuda/jit/jit_cache.h"
#include "exec/backend/cuda/algo/pack_weights.h"
#include "exec/backend/cuda/algo/algo.h"

enum { RUNS = 20, REPLAYS = 5, OPERANDS = 3, APART = 256 };

/* A product of m x k and k x n; or, with a kernel, a convolution of a square
 * image of m x m pixels, k channels to n. */
typedef struct problem {
    const char *network;
    int m, n, k;
    int kernel, stride;
} problem;

static const problem problems[] = {
    { "resnet50", 224, 64, 3, 7, 2 },    { "resnet50", 56, 64, 64, 1, 1 },
    { "resnet50", 56, 64, 64, 3, 1 },    { "resnet50", 56, 256, 64, 1, 1 },
    { "resnet50", 56, 64, 256, 1, 1 },   { "resnet50", 56, 128, 256, 1, 1 },
    { "resnet50", 56, 128, 128, 3, 2 },  { "resnet50", 56, 512, 256, 1, 2 },
    { "resnet50", 28, 512, 128, 1, 1 },  { "resnet50", 28, 128, 512, 1, 1 },
    { "resnet50", 28, 128, 128, 3, 1 },  { "resnet50", 28, 256, 512, 1, 1 },
    { "resnet50", 28, 256, 256, 3, 2 },  { "resnet50", 28, 1024, 512, 1, 2 },
    { "resnet50", 14, 1024, 256, 1, 1 }, { "resnet50", 14, 256, 1024, 1, 1 },
    { "resnet50", 14, 256, 256, 3, 1 },  { "resnet50", 14, 512, 1024, 1, 1 },
    { "resnet50", 14, 512, 512, 3, 2 },  { "resnet50", 14, 2048, 1024, 1, 2 },
    { "resnet50", 7, 2048, 512, 1, 1 },  { "resnet50", 7, 512, 2048, 1, 1 },
    { "resnet50", 7, 512, 512, 3, 1 },   { "resnet50", 1, 1000, 2048, 0, 0 },
    { "bert", 128, 768, 768, 0, 0 },     { "bert", 128, 2304, 768, 0, 0 },
    { "bert", 128, 3072, 768, 0, 0 },    { "bert", 128, 768, 3072, 0, 0 },
    { "gpt2", 512, 768, 768, 0, 0 },     { "gpt2", 512, 2304, 768, 0, 0 },
    { "gpt2", 512, 3072, 768, 0, 0 },    { "gpt2", 512, 768, 3072, 0, 0 },
    { "gpt2", 512, 50257, 768, 0, 0 },   { "swin_t", 3136, 96, 48, 0, 0 },
    { "swin_t", 3136, 288, 96, 0, 0 },   { "swin_t", 3136, 96, 96, 0, 0 },
    { "swin_t", 3136, 384, 96, 0, 0 },   { "swin_t", 3136, 96, 384, 0, 0 },
    { "swin_t", 784, 576, 192, 0, 0 },   { "swin_t", 784, 192, 768, 0, 0 },
    { "swin_t", 196, 1152, 384, 0, 0 },  { "swin_t", 196, 1536, 384, 0, 0 },
    { "swin_t", 196, 384, 1536, 0, 0 },  { "swin_t", 49, 2304, 768, 0, 0 },
    { "swin_t", 49, 3072, 768, 0, 0 },   { "swin_t", 49, 768, 3072, 0, 0 },
};

typedef struct bench {
    mo_backend_unit *unit;
    mo_elem elem;
    bool verbose;
    /* of the current problem */
    const problem *problem;
    mo_call call;
    mo_point_program after;
    mo_backend_operand in[OPERANDS];
    mo_tensor_desc out;
    mo_cuda_algo_problem task;
    CUdeviceptr memory;
    const void *at[OPERANDS];
    void *to, *workspace;
} bench;

static void make_product(bench *b)
{
    const problem *p = b->problem;

    b->call.kind = MO_CALL_MATMUL;
    b->call.u.matmul = (mo_call_matmul){ .m = p->m,
                                         .n = p->n,
                                         .k = p->k,
                                         .a = { .row = p->k, .column = 1 },
                                         .b = { .row = 1, .column = p->k },
                                         .c = { .row = p->n, .column = 1 } };
    b->in[0].desc.shape = (mo_shape){ 2, { p->m, p->k } };
    b->in[1].desc.shape = (mo_shape){ 2, { p->n, p->k } };
    b->out.shape = (mo_shape){ 2, { p->m, p->n } };
}

static void make_conv(bench *b)
{
    const problem *p = b->problem;
    mo_call_conv *c = &b->call.u.conv;
    int pad = p->kernel / 2,
        side = (p->m + 2 * pad - p->kernel) / p->stride + 1;

    b->call.kind = MO_CALL_CONV;
    *c = (mo_call_conv){ .batch = 1,
                         .in_channels = p->k,
                         .out_channels = p->n,
                         .groups = 1,
                         .channels_last = true,
                         .sweep.spatial = 2 };
    for (int d = 0; d < 2; d++) {
        c->sweep.in[d] = p->m;
        c->sweep.out[d] = side;
        c->sweep.kernel[d] = p->kernel;
        c->sweep.stride[d] = p->stride;
        c->sweep.dilation[d] = 1;
        c->sweep.pad_begin[d] = c->sweep.pad_end[d] = pad;
    }
    b->in[0].desc.shape = (mo_shape){ 4, { 1, p->k, p->m, p->m } };
    b->in[1].desc.shape = (mo_shape){ 4, { p->n, p->k, p->kernel, p->kernel } };
    b->out.shape = (mo_shape){ 4, { 1, p->n, side, side } };
}

/* Layout of the result: rows, or channels last. */
static mo_point_access lies(const bench *b)
{
    mo_point_access access = mo_point_access_dense(&b->out.shape);

    if (b->call.kind == MO_CALL_CONV) {
        access.stride[3] = b->out.shape.dims[1];
        access.stride[2] = access.stride[3] * b->out.shape.dims[3];
        access.stride[1] = 1;
    }
    return access;
}

static void make_end(bench *b)
{
    int channel = 1; /* the same axis of both shapes */
    mo_point_program *after = &b->after;

    *after = (mo_point_program){ .n_operands = 2, .out = lies(b) };
    after->operands[0] = (mo_point_operand){ b->out.elem, after->out };
    after->operands[1].elem = b->out.elem;
    after->operands[1].access.stride[channel] = 1;
    after->result = mo_point_push_step(
        after, (mo_point_step){ .op = MO_POINT_ADD, .b = 1 });
    after->result = mo_point_push_step(
        after, (mo_point_step){ .op = MO_POINT_RELU, .a = after->result });
    b->in[2].desc.shape = (mo_shape){ 1, { b->problem->n } };
    b->call.after = after;
    b->call.first_extra = 2;
    b->call.n_in = OPERANDS;
    b->call.n_out = 1;
}

static size_t room_of(const mo_tensor_desc *desc)
{
    return ((size_t) mo_tensor_desc_bytes(desc) + APART) / APART * APART;
}

static mo_status make_room(bench *b, size_t workspace, mo_error *err)
{
    const mo_cuda_api *api = b->unit->api;
    size_t bytes = room_of(&b->out) + workspace;
    CUdeviceptr at;
    mo_status status;

    for (int i = 0; i < OPERANDS; i++)
        bytes += room_of(&b->in[i].desc);
    status = mo_cuda_alloc(b->unit, bytes, &b->memory, err);
    if (status != MO_OK)
        return status;
    at = b->memory;
    b->to = (void *) (uintptr_t) at;
    at += room_of(&b->out);
    for (int i = 0; i < OPERANDS; i++) {
        b->at[i] = (const void *) (uintptr_t) at;
        at += room_of(&b->in[i].desc);
    }
    b->workspace = (void *) (uintptr_t) at;
    return mo_cuda_check(
        api, "cuMemsetD8Async",
        api->cuMemsetD8Async(b->memory, 0x3c, bytes, b->unit->stream), err);
}

static mo_status enqueue(const bench *b, const mo_cuda_algo *way, int runs,
                         mo_error *err)
{
    void *const out[] = { b->to };
    mo_status status = MO_OK;

    for (int i = 0; i < runs && status == MO_OK; i++)
        status = way->kind->enqueue(b->unit, way, b->at, out, b->workspace,
                                    b->unit->stream, err);
    return status;
}

static CUgraphExec capture(const bench *b, const mo_cuda_algo *way)
{
    const mo_cuda_api *api = b->unit->api;
    CUgraphExec exec = NULL;
    CUgraph graph = NULL;
    mo_status status;

    if (api->cuStreamBeginCapture(
            b->unit->stream, CU_STREAM_CAPTURE_MODE_RELAXED) != CUDA_SUCCESS)
        return NULL;
    status = enqueue(b, way, RUNS, NULL);
    if (api->cuStreamEndCapture(b->unit->stream, &graph) == CUDA_SUCCESS) {
        if (status == MO_OK)
            (void) api->cuGraphInstantiateWithFlags(&exec, graph, 0);
        api->cuGraphDestroy(graph);
    }
    return exec;
}

static double replay(const bench *b, CUgraphExec exec, CUevent begin,
                     CUevent end)
{
    const mo_cuda_api *api = b->unit->api;
    double best = 0;

    for (int i = 0; i < REPLAYS; i++) {
        float ms = 0;

        api->cuEventRecord(begin, b->unit->stream);
        api->cuGraphLaunch(exec, b->unit->stream);
        api->cuEventRecord(end, b->unit->stream);
        if (api->cuEventSynchronize(end) != CUDA_SUCCESS ||
            api->cuEventElapsedTime(&ms, begin, end) != CUDA_SUCCESS)
            return -1;
        if (i == 0 || ms < best)
            best = ms;
    }
    return best * 1000 / RUNS;
}

/* Microseconds of one run; negative if the algorithm fails. */
static double time_of(const bench *b, const mo_cuda_algo *way)
{
    const mo_cuda_api *api = b->unit->api;
    CUevent begin = NULL, end = NULL;
    CUgraphExec exec;
    double us = -1;
    mo_error err = { 0 };

    if (enqueue(b, way, 1, &err) != MO_OK ||
        api->cuStreamSynchronize(b->unit->stream) != CUDA_SUCCESS) {
        if (b->verbose)
            printf("    %-32s %s\n", way->name, err.text);
        return -1;
    }
    exec = capture(b, way);
    if (exec && api->cuEventCreate(&begin, 0) == CUDA_SUCCESS &&
        api->cuEventCreate(&end, 0) == CUDA_SUCCESS)
        us = replay(b, exec, begin, end);
    if (begin)
        api->cuEventDestroy(begin);
    if (end)
        api->cuEventDestroy(end);
    if (exec)
        api->cuGraphExecDestroy(exec);
    return us;
}

static void print_best(const bench *b, const mo_cuda_algo_list *ways)
{
    const char *name = "-";
    double best = -1;

    for (int i = 0; i < ways->n; i++) {
        double us = time_of(b, ways->algos[i]);

        if (b->verbose)
            printf("    %-32s %8.2f\n", ways->algos[i]->name, us);
        if (us >= 0 && (best < 0 || us < best)) {
            best = us;
            name = ways->algos[i]->name;
        }
    }
    printf("  %7.2f %-30s", best, name);
}

static mo_status time_ways(bench *b, mo_cuda_algo_list *all, int kinds,
                           mo_error *err)
{
    size_t workspace = 0;
    mo_status status = mo_cuda_jit_compile(b->unit, err);

    for (int k = 0; k < kinds; k++)
        for (int i = 0; i < all[k].n; i++)
            if (all[k].algos[i]->workspace > workspace)
                workspace = all[k].algos[i]->workspace;
    if (status == MO_OK)
        status = make_room(b, workspace, err);
    for (int k = 0; k < kinds && status == MO_OK; k++)
        print_best(b, &all[k]);
    printf("\n");
    fflush(stdout);
    mo_cuda_free(b->unit, b->memory);
    b->memory = 0;
    return status;
}

static void drop_ways(mo_backend_unit *unit, mo_cuda_algo_list *ways)
{
    for (int i = 0; i < ways->n; i++)
        ways->algos[i]->kind->drop(unit, ways->algos[i]);
    free(ways->algos);
}

static mo_status run_problem(bench *b, mo_error *err)
{
    static mo_cuda_algo_finder *const finders[] = {
        mo_cuda_tensorcore_algos,
        mo_cuda_cublaslt_algos,
        mo_cuda_cudnn_algos,
        mo_cuda_direct_algos,
    };
    enum { KINDS = sizeof finders / sizeof *finders };
    mo_cuda_algo_list all[KINDS] = { { 0 } };
    mo_status status = mo_cuda_pack_weights(b->unit, &b->task, err);
    const problem *p = b->problem;

    for (int i = 0; i < KINDS && status == MO_OK; i++)
        status = finders[i](b->unit, &b->task, &all[i], err);
    printf("%-9s %4d %5d %5d %dx%d/%d", p->network, p->m, p->n, p->k, p->kernel,
           p->kernel, p->stride);
    if (b->verbose)
        printf("\n");
    if (status == MO_OK)
        status = time_ways(b, all, KINDS, err);
    for (int i = 0; i < KINDS; i++)
        drop_ways(b->unit, &all[i]);
    mo_cuda_packed_weights_free(b->unit, &b->task);
    return status;
}

static mo_status make_and_run(bench *b, mo_error *err)
{
    void *weights;
    mo_status status;

    for (int i = 0; i < OPERANDS; i++)
        b->in[i].desc.elem = b->elem;
    b->out.elem = b->elem;
    if (b->problem->kernel > 0)
        make_conv(b);
    else
        make_product(b);
    make_end(b);
    weights = calloc(1, (size_t) mo_tensor_desc_bytes(&b->in[1].desc));
    if (!weights)
        return mo_fail_memory(err);
    b->in[1].constant = weights;
    b->task =
        (mo_cuda_algo_problem){ .call = &b->call, .in = b->in, .out = &b->out };
    status = run_problem(b, err);
    free(weights);
    return status;
}

int main(int argc, char **argv)
{
    mo_backend_unit_options options = { .autotune = true,
                                        .precision =
                                            MO_BACKEND_PRECISION_TF32 };
    bench b = { .elem = MO_ELEM_F32 };
    mo_error err = { 0 };
    mo_status status;

    for (int i = 1; i < argc; i++) {
        b.verbose = b.verbose || strcmp(argv[i], "-v") == 0;
        if (strcmp(argv[i], "f32") == 0)
            options.precision = MO_BACKEND_PRECISION_F32;
        if (strcmp(argv[i], "f16") == 0)
            b.elem = MO_ELEM_F16;
        if (strcmp(argv[i], "bf16") == 0)
            b.elem = MO_ELEM_BF16;
    }
    status = mo_backend_cuda.open(&options, &b.unit, &err);
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        if (status == MO_OK) {
            b.problem = &problems[i];
            status = make_and_run(&b, &err);
        }
    if (b.unit)
        mo_backend_cuda.close(b.unit);
    if (status != MO_OK)
        fprintf(stderr, "cuda_products: %s\n", err.text);
    return status == MO_OK ? 0 : 1;
}
