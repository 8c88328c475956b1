/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/backend/cuda/driver/sm_partition.h: the SMs that a part runs
 * on, and which partitions are possible. */
#include <config.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/backend/cuda/kernels/kernel_class.h"
#include "exec/backend/cuda/jit/jit_cache.h"
#include "exec/backend/cuda/driver/sm_partition.h"
#include "tests/exec/cuda/cuda_pair.h"
#include "tests/support/suite.h"

enum { MOST_SMS = 256, N_PARTS = 4 };

static const mo_backend *const cuda = &mo_backend_cuda;
static const int parts[N_PARTS] = { 64, 32, 16, 8 };

static mo_backend_unit_options as_part(const int *all, int n, int part)
{
    return (mo_backend_unit_options){
        .parts = all, .n_parts = n, .part = part, .cache = ""
    };
}

static mo_backend_unit *open_part(const int *all, int n, int part)
{
    const mo_backend_unit_options options = as_part(all, n, part);
    mo_backend_unit *unit = NULL;

    use_cuda();
    MUST(cuda->open(&options, &unit, &err));
    return unit;
}

/* Fails with a message that contains these words. */
static void expect_failure(const int *all, int n, const char *words)
{
    const mo_backend_unit_options options = as_part(all, n, 0);
    mo_backend_unit *unit = NULL;
    mo_error why = { 0 };

    ck_assert_int_eq(cuda->open(&options, &unit, &why), MO_E_INPUT);
    ck_assert_msg(strstr(why.text, words), "'%s' lacks '%s'", why.text, words);
    ck_assert_ptr_null(unit);
}

/* Every block counts its SM, and stays until other blocks had to use other
 * SMs. */
static const char census_source[] =
    "#ifdef MO_ON_CPU\n"
    "unsigned mo_cpu_sm(void);\n"
    "#define SM mo_cpu_sm()\n"
    "#define CLOCK() 0\n"
    "#else\n"
    "MO_DEVICE unsigned sm_now(void)\n"
    "{\n"
    "    unsigned sm;\n"
    "    asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(sm));\n"
    "    return sm;\n"
    "}\n"
    "#define SM sm_now()\n"
    "#define CLOCK() clock64()\n"
    "#endif\n"
    "MO_KERNEL(census)(unsigned *seen, long long clocks)\n"
    "{\n"
    "    long long begun;\n"
    "    MO_BEGIN();\n"
    "    begun = CLOCK();\n"
    "    if (threadIdx.x == 0)\n"
    "        mo_atomic_add(seen + SM, 1);\n"
    "    while (CLOCK() - begun < clocks && CLOCK() != 0)\n"
    "        ;\n"
    "}\n";

typedef struct census {
    mo_backend_kernel base;
    mo_cuda_function *function;
} census;

static mo_status enqueue_census(mo_backend_unit *unit,
                                const mo_backend_kernel *kernel,
                                const void *const *in, void *const *out,
                                void *workspace, CUstream stream, mo_error *err)
{
    const mo_cuda_grid grid = { { 8 * MOST_SMS, 1, 1 }, { 256, 1, 1 }, 0, 0 };
    void *seen = out[0];
    long long clocks = 20000;
    void *args[] = { &seen, &clocks };

    (void) in, (void) workspace;
    return mo_cuda_launch(unit, ((const census *) kernel)->function, &grid,
                          stream, args, err);
}

static const mo_cuda_kernel_class census_class = { NULL, NULL, enqueue_census,
                                                   NULL };

/* Blocks by SM. */
typedef struct counts {
    unsigned at[MOST_SMS];
} counts;

static void *make_census(mo_backend_unit *unit, census *c)
{
    static const counts none;
    void *memory = NULL;

    c->base.cls = &census_class;
    MUST(
        mo_cuda_jit_request(unit, census_source, "census", &c->function, &err));
    MUST(mo_cuda_jit_compile(unit, &err));
    MUST(cuda->alloc(unit, sizeof none, &memory, &err));
    MUST(cuda->upload(unit, memory, &none, sizeof none, &err));
    return memory;
}

static counts read_census(mo_backend_unit *unit, void *memory)
{
    counts seen;

    MUST(cuda->wait(unit, &err));
    MUST(cuda->download(unit, &seen, memory, sizeof seen, &err));
    cuda->release(unit, memory);
    return seen;
}

/* By a graph of two streams. */
static counts count_by_program(mo_backend_unit *unit)
{
    census c = { .function = NULL };
    void *memory = make_census(unit, &c);
    const mo_backend_program_call calls[] = {
        { .kernel = &c.base, .out = &memory, .stream = 0 },
        { .kernel = &c.base, .out = &memory, .stream = 1 },
    };
    mo_backend_program *program = NULL;

    MUST(cuda->record(unit, calls, 2, &program, &err));
    MUST(cuda->replay(unit, program, &err));
    MUST(cuda->wait(unit, &err));
    cuda->free_program(unit, program);
    return read_census(unit, memory);
}

/* In a stream of the rest. */
static counts count_left_over(mo_backend_unit *unit)
{
    census c = { .function = NULL };
    void *memory = make_census(unit, &c);
    CUstream stream = NULL;
    counts seen;

    MUST(mo_cuda_sm_partition_stream_create(unit, true, &stream, &err));
    MUST(enqueue_census(unit, &c.base, NULL, &memory, NULL, stream, &err));
    ck_assert_int_eq(unit->api->cuStreamSynchronize(stream), CUDA_SUCCESS);
    ck_assert_int_eq(unit->api->cuStreamDestroy(stream), CUDA_SUCCESS);
    seen = read_census(unit, memory);
    return seen;
}

/* Adds the SMs seen to all; returns their number, none of which was in all
 * before. */
static int add_census(counts seen, bool all[MOST_SMS])
{
    int n = 0;

    for (int i = 0; i < MOST_SMS; i++) {
        if (seen.at[i] == 0)
            continue;
        ck_assert_msg(!all[i], "SM %d is in two parts", i);
        all[i] = true;
        n++;
    }
    return n;
}

START_TEST(parts_have_exactly_their_sms)
{
    bool all[MOST_SMS] = { false };
    mo_backend_unit *units[N_PARTS];

    for (int i = 0; i < N_PARTS; i++)
        units[i] = open_part(parts, N_PARTS, i);
    for (int i = 0; i < N_PARTS; i++) {
        ck_assert_int_eq(units[i]->sms, parts[i]);
        ck_assert_int_eq(add_census(count_by_program(units[i]), all), parts[i]);
    }
    ck_assert_int_gt(add_census(count_left_over(units[3]), all), 0);
    for (int i = 0; i < N_PARTS; i++)
        cuda->close(units[i]);
}
END_TEST

START_TEST(a_whole_gpu_has_more)
{
    bool all[MOST_SMS] = { false };
    mo_backend_unit *unit = open_part(NULL, 0, 0);

    ck_assert_int_gt(add_census(count_by_program(unit), all), 120);
    ck_assert_ptr_null(strstr(cuda->device_name(unit), " SMs"));
    cuda->close(unit);
}
END_TEST

START_TEST(a_part_says_what_it_is)
{
    mo_backend_unit *unit = open_part(parts, N_PARTS, 2);

    ck_assert_ptr_nonnull(strstr(cuda->device_name(unit), ", 16 of "));
    cuda->close(unit);
}
END_TEST

START_TEST(numbers_that_cannot_be_are_refused)
{
    static const int odd[] = { 64, 13 }, none[] = { 0 }, many[] = { 999, 1 };
    static const int huge[] = { 2147483640, 2147483640 };

    use_cuda();
    expect_failure(odd, 2, "a part of 13 SMs: GPU 0 has ");
    expect_failure(none, 1, "a part of 0 SMs");
    expect_failure(many, 2, "a part of 999 SMs");
    expect_failure(huge, 2, "are 4294967280 SMs");
}
END_TEST

/* As an H200 is divided. */
START_TEST(what_is_possible_is_told)
{
    static const int many[] = { 72, 64 }, odd[] = { 20 };

    use_standin();
    expect_failure(
        many, 2,
        "parts of 72,64 SMs are 136 SMs: GPU 0 has 132, of which 120 can "
        "be divided in groups of 8");
    expect_failure(odd, 1,
                   "132 SMs, of which 120 can be divided in groups of 8");
}
END_TEST

START_TEST(a_gpu_is_divided_in_one_way)
{
    static const int other[] = { 32, 64, 16, 8 };
    mo_backend_unit *unit = open_part(parts, N_PARTS, 0);

    expect_failure(
        other, N_PARTS,
        "GPU 0 is in use as parts of 64,32,16,8 SMs and cannot be parts of "
        "32,64,16,8 SMs at the same time");
    expect_failure(parts, 3, "cannot be parts of 64,32,16 SMs");
    expect_failure(NULL, 0, "cannot be a whole");
    cuda->close(unit);
    unit = open_part(NULL, 0, 0);
    expect_failure(parts, N_PARTS, "in use as a whole");
    cuda->close(unit);
    unit = open_part(other, N_PARTS, 3); /* when no unit uses it */
    cuda->close(unit);
}
END_TEST

static void *open_and_close(void *options)
{
    mo_backend_unit *unit = NULL;
    mo_error err = { 0 };

    for (int i = 0; i < 20; i++) {
        if (cuda->open(options, &unit, &err) != MO_OK)
            return options;
        cuda->close(unit);
    }
    return NULL;
}

START_TEST(parts_come_and_go_in_any_thread)
{
    mo_backend_unit_options options[N_PARTS];
    pthread_t threads[N_PARTS];

    use_cuda();
    for (int i = 0; i < N_PARTS; i++) {
        options[i] = as_part(parts, N_PARTS, i);
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, open_and_close, &options[i]), 0);
    }
    for (int i = 0; i < N_PARTS; i++) {
        void *failed = NULL;

        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
}
END_TEST

/* Headers before CUDA 12.5 and older drivers have no green contexts. */
static void skip_where_nothing_is_divided(void)
{
    const mo_cuda_api *api;
    mo_error why = { 0 };

    use_cuda();
    if (mo_cuda_api_get(&api, &why) == MO_OK &&
        mo_cuda_api_require_green_contexts(&why) == MO_OK)
        return;
    printf("skipped: %s\n", why.text);
    exit(77);
}

SUITE(cuda_sm_partition)
{
    skip_where_nothing_is_divided();
    TEST(parts_have_exactly_their_sms);
    TEST(a_whole_gpu_has_more);
    TEST(a_part_says_what_it_is);
    TEST(numbers_that_cannot_be_are_refused);
    if (!getenv("MOIRAI_TEST_GPU"))
        TEST(what_is_possible_is_told);
    TEST(a_gpu_is_divided_in_one_way);
    TEST(parts_come_and_go_in_any_thread);
}
