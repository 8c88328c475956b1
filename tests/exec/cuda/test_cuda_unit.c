/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of
 * exec/backend/cuda/{driver/cuda_unit,jit/jit_cache,graph/capture,algo/autotune}.h:
 * memory, functions, graphs over several streams, autotuning. */
#include <config.h>

#include <stdio.h>
#include <unistd.h>

#include "base/random.h"
#include "exec/backend/cuda/algo/autotune.h"
#include "exec/backend/cuda/kernels/kernel_class.h"
#include "exec/backend/cuda/jit/jit_cache.h"
#include "tests/exec/cuda/cuda_pair.h"
#include "tests/support/suite.h"

static const mo_backend *const cuda = &mo_backend_cuda;

static mo_backend_unit *open_unit(const char *cache, bool measure)
{
    const mo_backend_unit_options options = { .cache = cache,
                                              .autotune = measure };
    mo_backend_unit *unit = NULL;

    use_cuda();
    MUST(cuda->open(&options, &unit, &err));
    return unit;
}

START_TEST(bytes_come_back_as_they_were_put)
{
    mo_backend_unit *unit = open_unit("", false);
    char text[] = "Clotho spins, Lachesis measures", back[sizeof text] = "";
    void *memory = NULL;

    MUST(cuda->alloc(unit, sizeof text, &memory, &err));
    MUST(cuda->upload(unit, memory, text, sizeof text, &err));
    MUST(cuda->upload(unit, memory, NULL, 0, &err));
    MUST(cuda->download(unit, back, memory, sizeof back, &err));
    ck_assert_str_eq(back, text);
    cuda->release(unit, memory);
    cuda->release(unit, NULL);
    cuda->close(unit);
}
END_TEST

START_TEST(out_of_memory_says_what_was_wanted_and_what_is_free)
{
    mo_backend_unit *unit = open_unit("", false);
    int64_t left = 0, total = 0;
    mo_error why = { 0 };
    CUdeviceptr memory = 0;

    MUST(cuda->memory_info(unit, &left, &total, &err));
    ck_assert(0 < left && left <= total);
    ck_assert_int_eq(mo_cuda_alloc(unit, (size_t) total * 2, &memory, &why),
                     MO_E_MEMORY);
    ck_assert_ptr_nonnull(strstr(why.text, "MiB are wanted"));
    ck_assert_ptr_nonnull(strstr(why.text, "MiB are free"));
    ck_assert_uint_eq(memory, 0);
    cuda->close(unit);
}
END_TEST

START_TEST(what_kernels_keep_is_counted)
{
    mo_backend_unit *unit = open_unit("", false);
    CUdeviceptr a = 0, b = 0;

    ck_assert_int_eq(cuda->packed_bytes(unit), 0);
    MUST(mo_cuda_alloc(unit, 1000, &a, &err));
    MUST(mo_cuda_alloc(unit, 24, &b, &err));
    ck_assert_int_eq(cuda->packed_bytes(unit), 1024);
    mo_cuda_free(unit, a);
    mo_cuda_free(unit, 0);
    ck_assert_int_eq(cuda->packed_bytes(unit), 24);
    cuda->close(unit); /* frees the rest */
}
END_TEST

START_TEST(a_gpu_that_is_not_there_is_refused)
{
    const mo_backend_unit_options options = { .gpu = 1000 };
    mo_backend_unit *unit = NULL;
    mo_error err = { 0 };

    use_cuda();
    ck_assert_int_eq(cuda->open(&options, &unit, &err), MO_E_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "no GPU 1000"));
}
END_TEST

static const char add_source[] =
    "MO_KERNEL(mix)(const int *a, const int *b, int *out, int n, int salt)\n"
    "{\n"
    "    MO_BEGIN();\n"
    "    for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
    "        out[i] = a[i] * 3 + b[i] * 5 + salt;\n"
    "}\n"
    "MO_KERNEL(other)(int *out)\n"
    "{\n"
    "    MO_BEGIN();\n"
    "    if (threadIdx.x == 0)\n"
    "        *out = 7;\n"
    "}\n";

START_TEST(a_function_is_asked_for_once)
{
    mo_backend_unit *unit = open_unit("", false);
    mo_cuda_function *a = NULL, *b = NULL, *c = NULL;

    MUST(mo_cuda_jit_request(unit, add_source, "mix", &a, &err));
    MUST(mo_cuda_jit_request(unit, add_source, "mix", &b, &err));
    MUST(mo_cuda_jit_request(unit, add_source, "other", &c, &err));
    ck_assert_ptr_eq(a, b);
    ck_assert_ptr_ne(a, c);
    MUST(mo_cuda_jit_compile(unit, &err));
    MUST(mo_cuda_jit_compile(unit, &err));
    cuda->close(unit);
}
END_TEST

START_TEST(a_function_that_is_not_in_its_source_is_told)
{
    mo_backend_unit *unit = open_unit("", false);
    mo_cuda_function *function = NULL;
    mo_error why = { 0 };

    MUST(mo_cuda_jit_request(unit, add_source, "atropos", &function, &err));
    ck_assert_int_ne(mo_cuda_jit_compile(unit, &why), MO_OK);
    ck_assert_ptr_nonnull(strstr(why.text, "'atropos'"));
    cuda->close(unit);
}
END_TEST

enum { NUMBERS = 40, MOST_CALLS = 24 };

/* out = 3 a + 5 b + salt, by a kernel class of the test. */
typedef struct mix_kernel {
    mo_backend_kernel base;
    mo_cuda_function *function;
    int salt;
} mix_kernel;

static mo_status enqueue_mix(mo_backend_unit *unit,
                             const mo_backend_kernel *kernel,
                             const void *const *in, void *const *out,
                             void *workspace, CUstream stream, mo_error *err)
{
    const mix_kernel *mix = (const mix_kernel *) kernel;
    const mo_cuda_grid grid = { { 1, 1, 1 }, { 32, 1, 1 }, 0, 0 };
    const void *a = in[0], *b = in[1];
    void *to = out[0];
    int n = NUMBERS, salt = mix->salt;
    void *args[] = { &a, &b, &to, &n, &salt };

    (void) workspace;
    return mo_cuda_launch(unit, mix->function, &grid, stream, args, err);
}

static const mo_cuda_kernel_class mix_class = { NULL, NULL, enqueue_mix, NULL };

/* A random network: call i writes array i + 1; array 0 is the input. */
typedef struct network {
    int n;
    mix_kernel kernels[MOST_CALLS];
    mo_backend_program_call calls[MOST_CALLS];
    const void *in[MOST_CALLS][2];
    void *out[MOST_CALLS][1];
    int reads[MOST_CALLS][2];
    int waits[MOST_CALLS][2];
    void *memory;
} network;

static char *array_at(const network *net, int i)
{
    return (char *) net->memory + (size_t) i * 256;
}

static void make_call(network *net, int i, int lanes, mo_random *random)
{
    mo_backend_program_call *call = &net->calls[i];
    int n_waits = 0;

    net->kernels[i].base.cls = &mix_class;
    net->kernels[i].salt = i;
    call->stream = mo_random_below(random, lanes);
    for (int k = 0; k < 2; k++) {
        int array = mo_random_below(random, i + 1);

        net->reads[i][k] = array;
        net->in[i][k] = array_at(net, array);
        if (array > 0)
            net->waits[i][n_waits++] = array - 1;
    }
    net->out[i][0] = array_at(net, i + 1);
    call->kernel = &net->kernels[i].base;
    call->in = net->in[i];
    call->out = net->out[i];
    call->deps = net->waits[i];
    call->n_deps = n_waits;
}

static void make_network(mo_backend_unit *unit, network *net, int lanes,
                         mo_random *random)
{
    mo_cuda_function *function = NULL;

    MUST(cuda->alloc(unit, (MOST_CALLS + 1) * 256, &net->memory, &err));
    MUST(mo_cuda_jit_request(unit, add_source, "mix", &function, &err));
    MUST(mo_cuda_jit_compile(unit, &err));
    net->n = 1 + mo_random_below(random, MOST_CALLS);
    for (int i = 0; i < net->n; i++) {
        make_call(net, i, lanes, random);
        net->kernels[i].function = function;
    }
}

/* Computes all arrays on the host, from the first. */
static void expect(const network *net, unsigned (*arrays)[NUMBERS])
{
    for (int i = 0; i < net->n; i++)
        for (int k = 0; k < NUMBERS; k++)
            arrays[i + 1][k] = arrays[net->reads[i][0]][k] * 3 +
                               arrays[net->reads[i][1]][k] * 5 + (unsigned) i;
}

static void put_first(mo_backend_unit *unit, const network *net,
                      unsigned *first, unsigned with)
{
    for (unsigned k = 0; k < NUMBERS; k++)
        first[k] = k * 17 + with;
    MUST(cuda->upload(unit, net->memory, first, NUMBERS * sizeof *first, &err));
}

static void check_arrays(mo_backend_unit *unit, const network *net,
                         unsigned (*arrays)[NUMBERS], int seed)
{
    expect(net, arrays);
    for (int i = 1; i <= net->n; i++) {
        unsigned found[NUMBERS];

        MUST(cuda->download(unit, found, array_at(net, i), sizeof found, &err));
        ck_assert_msg(memcmp(found, arrays[i], sizeof found) == 0,
                      "seed %d, call %d of %d", seed, i - 1, net->n);
    }
}

START_TEST(a_program_over_lanes_does_what_its_calls_do)
{
    mo_random random = { (uint64_t) _i };
    mo_backend_unit *unit = open_unit("", false);
    unsigned arrays[MOST_CALLS + 1][NUMBERS] = { { 0 } };
    network net = { 0 };
    mo_backend_program *program = NULL;

    make_network(unit, &net, 1 + _i % MO_CUDA_MAX_COMPUTE_STREAMS, &random);
    MUST(cuda->record(unit, net.calls, net.n, &program, &err));
    for (unsigned replay = 0; replay < 3; replay++) {
        put_first(unit, &net, arrays[0], replay);
        MUST(cuda->replay(unit, program, &err));
        MUST(cuda->wait(unit, &err));
        check_arrays(unit, &net, arrays, _i);
    }
    cuda->free_program(unit, program);
    cuda->free_program(unit, NULL);
    cuda->release(unit, net.memory);
    cuda->close(unit);
}
END_TEST

START_TEST(timing_does_the_calls_too)
{
    mo_random random = { (uint64_t) _i };
    mo_backend_unit *unit = open_unit("", false);
    unsigned arrays[MOST_CALLS + 1][NUMBERS] = { { 0 } };
    int64_t ns[MOST_CALLS], whole = -1;
    network net = { 0 };

    make_network(unit, &net, 4, &random);
    for (int i = 0; i < net.n; i++)
        ns[i] = -1;
    put_first(unit, &net, arrays[0], 5);
    MUST(cuda->time_calls(unit, net.calls, net.n, ns, &whole, &err));
    check_arrays(unit, &net, arrays, _i);
    for (int i = 0; i < net.n; i++)
        ck_assert_int_ge(ns[i], 0);
    ck_assert_int_ge(whole, 0);
    cuda->release(unit, net.memory);
    cuda->close(unit);
}
END_TEST

START_TEST(an_empty_program_is_a_program)
{
    mo_backend_unit *unit = open_unit("", false);
    mo_backend_program *program = NULL;

    MUST(cuda->record(unit, NULL, 0, &program, &err));
    MUST(cuda->replay(unit, program, &err));
    MUST(cuda->wait(unit, &err));
    cuda->free_program(unit, program);
    cuda->close(unit);
}
END_TEST

static mo_status refuse(mo_backend_unit *unit, const mo_backend_kernel *kernel,
                        const void *const *in, void *const *out,
                        void *workspace, CUstream stream, mo_error *err)
{
    (void) unit, (void) kernel, (void) in, (void) out, (void) workspace;
    (void) stream;
    return mo_fail(err, MO_E_INPUT, "no thread left");
}

/* A failed capture leaves usable streams. */
START_TEST(a_call_that_fails_ends_the_recording)
{
    const mo_cuda_kernel_class refusing = { NULL, NULL, refuse, NULL };
    mo_random random = { 3 };
    mo_backend_unit *unit = open_unit("", false);
    network net = { 0 };
    mo_backend_program *program = NULL;
    mo_error why = { 0 };

    make_network(unit, &net, 4, &random);
    net.kernels[net.n - 1].base.cls = &refusing;
    net.kernels[net.n - 1].base.kind = MO_CALL_SOFTMAX;
    ck_assert_int_eq(cuda->record(unit, net.calls, net.n, &program, &why),
                     MO_E_INPUT);
    ck_assert_str_eq(why.text, "softmax: no thread left");
    net.kernels[net.n - 1].base.cls = &mix_class;
    MUST(cuda->record(unit, net.calls, net.n, &program, &err));
    cuda->free_program(unit, program);
    cuda->release(unit, net.memory);
    cuda->close(unit);
}
END_TEST

/* Candidate i runs that many rounds, or fails with that status. */
typedef struct tuning_case {
    mo_backend_unit *unit;
    mo_cuda_function *function;
    CUdeviceptr memory;
    int rounds[4];
    mo_status status[4];
    int tries;
} tuning_case;

static const char spin_source[] =
    "MO_KERNEL(spin)(unsigned *x, int rounds)\n"
    "{\n"
    "    MO_BEGIN();\n"
    "    unsigned y = x[threadIdx.x];\n"
    "    for (int i = 0; i < rounds; i++)\n"
    "        y = y * 1664525u + 1013904223u + (y >> 16);\n"
    "    x[threadIdx.x] = y;\n"
    "}\n";

static mo_status run_candidate(void *context, int i, CUstream stream,
                               mo_error *err)
{
    const mo_cuda_grid grid = { { 1, 1, 1 }, { 32, 1, 1 }, 0, 0 };
    tuning_case *c = context;
    void *args[] = { &c->memory, &c->rounds[i] };

    c->tries++;
    if (c->status[i] != MO_OK)
        return mo_fail(err, c->status[i], "candidate %d", i);
    return mo_cuda_launch(c->unit, c->function, &grid, stream, args, err);
}

static tuning_case open_tuning_case(const char *cache, bool measure)
{
    tuning_case c = { .unit = open_unit(cache, measure),
                      .rounds = { 400000, 100, 100, 400000 },
                      .status = { MO_OK, MO_E_SUPPORT, MO_OK, MO_OK } };

    MUST(mo_cuda_jit_request(c.unit, spin_source, "spin", &c.function, &err));
    MUST(mo_cuda_jit_compile(c.unit, &err));
    MUST(mo_cuda_alloc(c.unit, 128, &c.memory, &err));
    return c;
}

static const char *const names[] = { "slow way", "none", "quick way", "slow" };

static mo_status tune(tuning_case *c, uint64_t key, int n, int *best,
                      mo_error *err)
{
    return mo_cuda_autotune(
        c->unit,
        &(mo_cuda_autotune_candidates){ key, names, n, run_candidate, c }, best,
        err);
}

START_TEST(the_fastest_that_works_is_chosen)
{
    tuning_case c = open_tuning_case("", true);
    int best = -1;

    MUST(tune(&c, 1, 4, &best, &err));
    ck_assert_int_eq(best, 2);
    cuda->close(c.unit);
}
END_TEST

START_TEST(without_measuring_the_first_that_works_is_chosen)
{
    tuning_case c = open_tuning_case("", false);
    int best = -1;

    c.status[0] = MO_E_SUPPORT;
    MUST(tune(&c, 1, 4, &best, &err));
    ck_assert_int_eq(best, 2);
    ck_assert_int_eq(c.tries, 3);
    cuda->close(c.unit);
}
END_TEST

START_TEST(failures_are_told)
{
    tuning_case c = open_tuning_case("", _i);
    mo_error err = { 0 };
    int best = -1;

    c.status[0] = MO_E_INPUT;
    ck_assert_int_eq(tune(&c, 1, 4, &best, &err), MO_E_INPUT);
    ck_assert_str_eq(err.text, "candidate 0");
    c.status[0] = MO_E_SUPPORT;
    ck_assert_int_eq(tune(&c, 1, 2, &best, &err), MO_E_SUPPORT);
    ck_assert_int_eq(tune(&c, 1, 0, &best, &err), MO_E_SUPPORT);
    cuda->close(c.unit);
}
END_TEST

/* Returns the number of runs of an autotuning in a unit of its own. *best: the
 * choice, if known. */
static int count_tuning_runs(const char *folder, uint64_t key, int n, int *best)
{
    tuning_case c = open_tuning_case(folder, true);
    int chosen = -1;

    MUST(tune(&c, key, n, &chosen, &err));
    ck_assert(*best < 0 || chosen == *best);
    *best = chosen;
    cuda->close(c.unit);
    return c.tries;
}

START_TEST(what_was_measured_is_noted)
{
    char folder[] = "cuda_notes.XXXXXX", command[64];
    int one = -1, another = -1, first = 0;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_gt(count_tuning_runs(folder, 1, 4, &one), 3);
    ck_assert_int_eq(count_tuning_runs(folder, 1, 4, &one), 0);
    ck_assert_int_gt(count_tuning_runs(folder, 2, 4, &another),
                     3); /* another key */
    ck_assert_int_eq(count_tuning_runs(folder, 1, 4, &one),
                     0); /* is still cached */
    ck_assert_int_gt(count_tuning_runs(folder, 1, 2, &first),
                     0); /* without that candidate */
    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

SUITE(cuda_unit)
{
    TEST(bytes_come_back_as_they_were_put);
    TEST(out_of_memory_says_what_was_wanted_and_what_is_free);
    TEST(what_kernels_keep_is_counted);
    TEST(a_gpu_that_is_not_there_is_refused);
    TEST(a_function_is_asked_for_once);
    TEST(a_function_that_is_not_in_its_source_is_told);
    SOME(a_program_over_lanes_does_what_its_calls_do, 12, 4);
    EACH(timing_does_the_calls_too, 3);
    TEST(an_empty_program_is_a_program);
    TEST(a_call_that_fails_ends_the_recording);
    /* On the stand-in all candidates take equally long. */
    SOME(the_fastest_that_works_is_chosen, 1, 0);
    TEST(without_measuring_the_first_that_works_is_chosen);
    EACH(failures_are_told, 2);
    TEST(what_was_measured_is_noted);
}
