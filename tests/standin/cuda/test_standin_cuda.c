/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of standin_cuda.h: kernels run as on a GPU, and errors are reported
 * that a GPU ignores. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cuda/jit/jit_cache.h"
#include "exec/tensor/half.h"
#include "tests/exec/cuda/cuda_pair.h"
#include "tests/support/suite.h"

static const mo_cuda_api *api;

enum { GPUS = 2 };

static CUcontext contexts[GPUS];

static void setup(void)
{
    setenv("MOIRAI_STANDIN_GPUS", "2", 1);
    use_standin();
    MUST(mo_cuda_api_get(&api, &err));
    for (int i = 0; i < GPUS; i++)
        ck_assert_int_eq(api->cuDevicePrimaryCtxRetain(&contexts[i], i),
                         CUDA_SUCCESS);
    api->cuCtxSetCurrent(contexts[0]);
}

/* A kernel called "k" with its module. */
typedef struct kernel {
    CUmodule module;
    CUfunction function;
} kernel;

static kernel build(const char *source)
{
    kernel k = { NULL, NULL };
    char *cubin = NULL;
    size_t size;

    MUST(mo_cuda_nvrtc_compile(api, source, "k", 90, &cubin, &size, &err));
    ck_assert_int_eq(api->cuModuleLoadData(&k.module, cubin), CUDA_SUCCESS);
    free(cubin);
    ck_assert_int_eq(api->cuModuleGetFunction(&k.function, k.module, "k"),
                     CUDA_SUCCESS);
    return k;
}

static CUresult launch(kernel k, unsigned blocks, unsigned threads,
                       unsigned shared, unsigned cluster, CUstream stream,
                       void **args)
{
    CUlaunchAttribute attribute = { .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                    .value.clusterDim = { cluster, 1, 1 } };
    CUlaunchConfig config = { .gridDimX = blocks,
                              .gridDimY = 1,
                              .gridDimZ = 1,
                              .blockDimX = threads,
                              .blockDimY = 1,
                              .blockDimZ = 1,
                              .sharedMemBytes = shared,
                              .hStream = stream,
                              .attrs = &attribute,
                              .numAttrs = cluster > 1 };

    return api->cuLaunchKernelEx(&config, k.function, args, NULL);
}

/* Device memory is accessible to the test. */
static float *floats(size_t n)
{
    CUdeviceptr memory = 0;

    ck_assert_int_eq(api->cuMemAlloc(&memory, n * sizeof(float)), CUDA_SUCCESS);
    return (float *) (uintptr_t) memory;
}

static void release(const void *memory)
{
    ck_assert_int_eq(api->cuMemFree((CUdeviceptr) (uintptr_t) memory),
                     CUDA_SUCCESS);
}

START_TEST(blocks_add_up_by_shuffles_and_barriers)
{
    kernel k = build("MO_KERNEL_OF(k, 256)(float *to, int n)\n"
                     "{\n"
                     "    MO_SHARED float scratch[32];\n"
                     "    float x = 0.0f;\n"
                     "    MO_BEGIN();\n"
                     "    for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
                     "        x += (float) i;\n"
                     "    x = mo_block_sum_f(x, scratch);\n"
                     "    if (threadIdx.x == 255)\n"
                     "        to[blockIdx.x] = x;\n"
                     "}\n");
    float *to = floats(3);
    int n = 1000;
    void *args[] = { &to, &n };

    ck_assert_int_eq(launch(k, 3, 256, 0, 1, NULL, args), CUDA_SUCCESS);
    for (int i = 0; i < 3; i++)
        ck_assert_float_eq(to[i], 499500);
    release(to);
    api->cuModuleUnload(k.module);
}
END_TEST

/* Fragments are loaded as in the drawings of the PTX manual; matrices differ
 * in every element. */
static const char tf32_source[] =
    "MO_KERNEL(k)(const float *a, const float *b, float *d)\n"
    "{\n"
    "    int g = MO_LANE / 4, t = MO_LANE % 4;\n"
    "    unsigned ra[4] = { mo_bits_of(a[g * 8 + t]),\n"
    "                       mo_bits_of(a[(g + 8) * 8 + t]),\n"
    "                       mo_bits_of(a[g * 8 + t + 4]),\n"
    "                       mo_bits_of(a[(g + 8) * 8 + t + 4]) };\n"
    "    unsigned rb[2] = { mo_bits_of(b[t * 8 + g]),\n"
    "                       mo_bits_of(b[(t + 4) * 8 + g]) };\n"
    "    float r[4] = { 1.0f, 1.0f, 1.0f, 1.0f };\n"
    "    mo_mma_tf32_16x8x8(r, ra, rb);\n"
    "    for (int i = 0; i < 4; i++)\n"
    "        d[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = r[i];\n"
    "}\n";

static void check_product(const float *a, const float *b, const float *d,
                          int depth)
{
    for (int row = 0; row < 16; row++)
        for (int column = 0; column < 8; column++) {
            float sum = 1;

            for (int k = 0; k < depth; k++)
                sum += a[row * depth + k] * b[k * 8 + column];
            ck_assert_float_eq(d[row * 8 + column], sum);
        }
}

START_TEST(tensor_cores_multiply_tf32)
{
    kernel k = build(tf32_source);
    float *a = floats(16 * 8), *b = floats(8 * 8), *d = floats(16 * 8);
    void *args[] = { &a, &b, &d };

    for (int i = 0; i < 16 * 8; i++)
        a[i] = (float) (i % 13 - 6);
    for (int i = 0; i < 8 * 8; i++)
        b[i] = (float) (i % 11 - 5);
    ck_assert_int_eq(launch(k, 1, 32, 0, 1, NULL, args), CUDA_SUCCESS);
    check_product(a, b, d, 8);
    a[0] = 1 + 0x1p-12f; /* bits beyond TF32 are truncated */
    b[0] = 1;
    ck_assert_int_eq(launch(k, 1, 32, 0, 1, NULL, args), CUDA_SUCCESS);
    a[0] = 1;
    check_product(a, b, d, 8);
    release(a);
    release(b);
    release(d);
    api->cuModuleUnload(k.module);
}
END_TEST

/* The rows of a and b go to shared memory, then into fragments by ldmatrix. */
static const char half_source[] =
    "MO_KERNEL(k)(const float *a, const float *b, float *d)\n"
    "{\n"
    "    MO_SHARED TYPE sa[16 * 16], sb[16 * 8];\n"
    "    int g = MO_LANE / 4, t = MO_LANE % 4;\n"
    "    unsigned ra[4], rb[2];\n"
    "    float r[4] = { 1.0f, 1.0f, 1.0f, 1.0f };\n"
    "    for (int i = MO_LANE; i < 16 * 16; i += 32)\n"
    "        sa[i] = STORE(a[i]);\n"
    "    for (int i = MO_LANE; i < 16 * 8; i += 32)\n"
    "        sb[i] = STORE(b[i]);\n"
    "    MO_SYNC();\n"
    "    mo_ldmatrix_x4(ra, &sa[MO_LANE % 16 * 16 + MO_LANE / 16 * 8]);\n"
    "    mo_ldmatrix_turned_x2(rb, &sb[MO_LANE % 16 * 8]);\n"
    "    MULTIPLY(r, ra, rb);\n"
    "    for (int i = 0; i < 4; i++)\n"
    "        d[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = r[i];\n"
    "}\n";

static const char *const half_words[] = {
    "#define TYPE mo_f16\n#define STORE mo_f16_store\n"
    "#define MULTIPLY mo_mma_f16_16x8x16\n",
    "#define TYPE mo_bf16\n#define STORE mo_bf16_store\n"
    "#define MULTIPLY mo_mma_bf16_16x8x16\n",
};

START_TEST(tensor_cores_multiply_halves)
{
    char source[4096];
    float *a = floats(16 * 16), *b = floats(16 * 8), *d = floats(16 * 8);
    void *args[] = { &a, &b, &d };
    kernel k;

    snprintf(source, sizeof source, "%s%s", half_words[_i], half_source);
    k = build(source);
    for (int i = 0; i < 16 * 16; i++)
        a[i] = (float) (i % 13 - 6);
    for (int i = 0; i < 16 * 8; i++)
        b[i] = (float) (i % 11 - 5);
    ck_assert_int_eq(launch(k, 1, 32, 0, 1, NULL, args), CUDA_SUCCESS);
    check_product(a, b, d, 16);
    release(a);
    release(b);
    release(d);
    api->cuModuleUnload(k.module);
}
END_TEST

START_TEST(blocks_of_a_cluster_see_each_other)
{
    kernel k = build(
        "MO_KERNEL(k)(float *to)\n"
        "{\n"
        "    MO_SHARED float own[4];\n"
        "    MO_DYNAMIC_SHARED(float, more);\n"
        "    int next = (blockIdx.x + 1) % 4;\n"
        "    own[threadIdx.x] = (float) (blockIdx.x * 10 + threadIdx.x);\n"
        "    more[threadIdx.x] = -own[threadIdx.x];\n"
        "    mo_cluster_sync();\n"
        "    if (threadIdx.x == 0) {\n"
        "        to[blockIdx.x * 2] = mo_cluster_load_f4(own, next).w;\n"
        "        to[blockIdx.x * 2 + 1] = mo_cluster_load_f4(more, next).y;\n"
        "    }\n"
        "    mo_cluster_sync();\n"
        "}\n");
    float *to = floats(16);
    void *args[] = { &to };

    ck_assert_int_eq(launch(k, 8, 4, 16, 4, NULL, args), CUDA_SUCCESS);
    for (int i = 0; i < 8; i++) {
        int next = i / 4 * 4 + (i + 1) % 4;

        ck_assert_float_eq(to[i * 2], (float) (next * 10 + 3));
        ck_assert_float_eq(to[i * 2 + 1], (float) (-next * 10 - 1));
    }
    release(to);
    api->cuModuleUnload(k.module);
}
END_TEST

/* Each hangs on a GPU, or is undefined there; here it fails. */
static const struct {
    const char *what, *body;
    unsigned threads, shared;
} wrongs[] = {
    { "a warp without one of its lanes",
      "if (threadIdx.x != 5)\n        to[0] = mo_shfl_f(1.0f, 0);", 32, 0 },
    { "a warp that is not whole", "to[0] = mo_shfl_f(1.0f, 0);", 31, 0 },
    { "a barrier that one thread waits beside",
      "if (threadIdx.x != 40)\n        MO_SYNC();\n"
      "    else\n        mo_sync_warp();",
      64, 0 },
    { "a write past an allocation", "to[60] = 1.0f;", 64, 0 },
    { "a write before an allocation", "to[-1] = 1.0f;", 64, 0 },
    { "a write past dynamic shared memory",
      "MO_DYNAMIC_SHARED(float, x);\n    x[10] = to[0];", 64, 40 },
};

START_TEST(what_is_wrong_fails)
{
    float *to = floats(60);
    void *args[] = { &to };
    char source[1024];
    kernel k;

    snprintf(source, sizeof source, "MO_KERNEL(k)(float *to)\n{\n    %s\n}\n",
             wrongs[_i].body);
    k = build(source);
    ck_assert_msg(launch(k, 1, wrongs[_i].threads, wrongs[_i].shared, 1, NULL,
                         args) == CUDA_ERROR_LAUNCH_FAILED,
                  "%s is not told", wrongs[_i].what);
    api->cuModuleUnload(k.module);
    /* Memory with overwritten guards cannot be freed. */
}
END_TEST

START_TEST(large_launches_are_refused)
{
    kernel k = build("MO_KERNEL(k)(float *to) { to[0] = 1.0f; }\n");
    float *to = floats(1);
    void *args[] = { &to };

    ck_assert_int_ne(launch(k, 0, 1, 0, 1, NULL, args), CUDA_SUCCESS);
    ck_assert_int_ne(launch(k, 1, 1025, 0, 1, NULL, args), CUDA_SUCCESS);
    ck_assert_int_ne(launch(k, 1, 1, 49153, 1, NULL, args), CUDA_SUCCESS);
    ck_assert_int_ne(launch(k, 3, 1, 0, 2, NULL, args), CUDA_SUCCESS);
    ck_assert_int_eq(
        api->cuFuncSetAttribute(
            k.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 49153),
        CUDA_SUCCESS);
    ck_assert_int_eq(launch(k, 1, 1, 49153, 1, NULL, args), CUDA_SUCCESS);
    release(to);
    api->cuModuleUnload(k.module);
}
END_TEST

START_TEST(memory_ends)
{
    CUdeviceptr memory = 0, more = 0;

    ck_assert_int_eq(api->cuMemAlloc(&memory, (size_t) 3 << 28), CUDA_SUCCESS);
    ck_assert_int_eq(api->cuMemAlloc(&more, (size_t) 1 << 29),
                     CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(api->cuMemFree(memory), CUDA_SUCCESS);
    ck_assert_int_eq(api->cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

static const char append_source[] =
    "MO_KERNEL(k)(float *x, float factor, float more)\n"
    "{\n"
    "    MO_BEGIN();\n"
    "    x[0] = x[0] * factor + more;\n"
    "}\n";

static void append(kernel k, CUstream stream, float *x, float more)
{
    float factor = 10;
    void *args[] = { &x, &factor, &more };

    ck_assert_int_eq(launch(k, 1, 1, 0, 1, stream, args), CUDA_SUCCESS);
}

/* 1, then 2 in parallel; with a join 3 after both. */
static CUresult capture(kernel k, CUstream s[2], float *x, bool join,
                        CUgraph *graph)
{
    CUevent forked, joined;

    api->cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING);
    api->cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING);
    api->cuStreamBeginCapture(s[0], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    api->cuEventRecord(forked, s[0]);
    api->cuStreamWaitEvent(s[1], forked, 0);
    append(k, s[0], x, 1);
    append(k, s[1], x, 2);
    api->cuEventRecord(joined, s[1]);
    if (join)
        api->cuStreamWaitEvent(s[0], joined, 0);
    append(k, s[0], x, 3);
    api->cuEventDestroy(forked);
    api->cuEventDestroy(joined);
    return api->cuStreamEndCapture(s[0], graph);
}

START_TEST(graphs_run_in_an_unlikely_order)
{
    kernel k = build(append_source);
    CUstream s[2];
    CUgraph graph;
    CUgraphExec exec;
    float *x = floats(1);

    api->cuStreamCreate(&s[0], CU_STREAM_NON_BLOCKING);
    api->cuStreamCreate(&s[1], CU_STREAM_NON_BLOCKING);
    x[0] = 0;
    ck_assert_int_eq(capture(k, s, x, true, &graph), CUDA_SUCCESS);
    ck_assert_float_eq(x[0], 0);
    ck_assert_int_eq(api->cuGraphInstantiateWithFlags(&exec, graph, 0),
                     CUDA_SUCCESS);
    api->cuGraphDestroy(graph);
    for (int i = 0; i < 2; i++) {
        x[0] = 0;
        ck_assert_int_eq(api->cuGraphLaunch(exec, s[0]), CUDA_SUCCESS);
        ck_assert_float_eq(x[0], 213);
    }
    api->cuGraphExecDestroy(exec);
    ck_assert_int_eq(capture(k, s, x, false, &graph),
                     CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    api->cuStreamDestroy(s[0]);
    api->cuStreamDestroy(s[1]);
    release(x);
    api->cuModuleUnload(k.module);
}
END_TEST

/* Without peer access a GPU reaches another one's memory only by a copy that
 * names both. */
START_TEST(memory_of_other_gpus_is_theirs)
{
    kernel k = build("MO_KERNEL(k)(float *to)\n"
                     "{\n"
                     "    MO_BEGIN();\n"
                     "    to[0] = 5.0f;\n"
                     "}\n");
    float *here = floats(1), *there;
    void *args[] = { &there };
    CUdeviceptr to;

    api->cuCtxSetCurrent(contexts[1]);
    there = floats(1);
    to = (CUdeviceptr) (uintptr_t) there;
    api->cuCtxSetCurrent(contexts[0]);
    *here = 4;
    ck_assert_int_ne(launch(k, 1, 1, 0, 1, NULL, args), CUDA_SUCCESS);
    ck_assert_int_ne(api->cuMemcpyDtoDAsync(to, (CUdeviceptr) (uintptr_t) here,
                                            sizeof *here, NULL),
                     CUDA_SUCCESS);
    ck_assert_int_eq(api->cuMemcpyPeerAsync(to, contexts[1],
                                            (CUdeviceptr) (uintptr_t) here,
                                            contexts[0], sizeof *here, NULL),
                     CUDA_SUCCESS);
    ck_assert_float_eq(*there, 4);
    ck_assert_int_eq(api->cuCtxEnablePeerAccess(contexts[1], 0), CUDA_SUCCESS);
    ck_assert_int_eq(launch(k, 1, 1, 0, 1, NULL, args), CUDA_SUCCESS);
    ck_assert_float_eq(*there, 5);
    release(here);
    release(there);
    api->cuModuleUnload(k.module);
}
END_TEST

START_TEST(what_does_not_compile_is_told)
{
    mo_error err = { 0 };
    char *cubin = NULL;
    size_t size;

    ck_assert_int_ne(mo_cuda_nvrtc_compile(api, "MO_KERNEL(k)(int n) { m }",
                                           "k", 90, &cubin, &size, &err),
                     MO_OK);
}
END_TEST

SUITE(standin_cuda)
{
    tcase_add_checked_fixture(tests, setup, NULL);
    TEST(blocks_add_up_by_shuffles_and_barriers);
    TEST(tensor_cores_multiply_tf32);
    EACH(tensor_cores_multiply_halves, COUNT(half_words));
    TEST(blocks_of_a_cluster_see_each_other);
    TEST(large_launches_are_refused);
    TEST(memory_ends);
    TEST(graphs_run_in_an_unlikely_order);
    TEST(memory_of_other_gpus_is_theirs);
    TEST(what_does_not_compile_is_told);
    EACH(what_is_wrong_fails, COUNT(wrongs));
}
