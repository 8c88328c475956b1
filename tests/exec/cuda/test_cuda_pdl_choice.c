/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/backend/cuda/graph/pdl_choice.h: launches of programs with, or
 * without, programmatic dependent launch take longer than on the stand-in. */
#include <config.h>

#include <stdlib.h>
#include <unistd.h>

#include "base/stop.h"
#include "exec/backend/cuda/driver/cuda_api.h"
#include "tests/exec/cuda/cuda_pair.h"
#include "tests/exec/support/pinned_plan.h"
#include "tests/exec/support/plan_runner.h"
#include "tests/support/suite.h"

/* TRIED: replays of warm-ups before the choice; the first warm-up goes call by
 * call. */
enum { TRIED = 30, WARM_UPS = TRIED + 2, RUNS = 4, SLOW_NS = 10000000 };
enum { MOST_GRAPHS = 64, MOST_LAUNCHES = 256 };

static mo_cuda_api *api;
static mo_cuda_api real;
static bool slow_pdl;
static bool captured_pdl; /* by the launches since the last graph */
static struct {
    CUgraphExec exec;
    bool pdl;
} graphs[MOST_GRAPHS];
static int n_graphs, n_launches;
static bool launched_pdl[MOST_LAUNCHES];

static CUresult launch_kernel(const CUlaunchConfig *config, CUfunction function,
                              void **args, void **extra)
{
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id ==
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            captured_pdl = true;
    return real.cuLaunchKernelEx(config, function, args, extra);
}

static CUresult begin_capture(CUstream stream, CUstreamCaptureMode mode)
{
    captured_pdl = false;
    return real.cuStreamBeginCapture(stream, mode);
}

/* Of programs; graphs of the autotuner are not uploaded. */
static CUresult upload_graph(CUgraphExec exec, CUstream stream)
{
    ck_assert_int_lt(n_graphs, MOST_GRAPHS);
    graphs[n_graphs].exec = exec;
    graphs[n_graphs++].pdl = captured_pdl;
    return real.cuGraphUpload(exec, stream);
}

static CUresult launch_graph(CUgraphExec exec, CUstream stream)
{
    int g = n_graphs - 1;

    /* The last one at that address: others are gone. */
    while (g >= 0 && graphs[g].exec != exec)
        g--;
    if (g >= 0 && n_launches < MOST_LAUNCHES)
        launched_pdl[n_launches++] = graphs[g].pdl;
    if (g >= 0 && graphs[g].pdl == slow_pdl)
        for (int64_t end = mo_stop_clock_ns() + SLOW_NS;
             mo_stop_clock_ns() < end;)
            usleep(100);
    return real.cuGraphLaunch(exec, stream);
}

static void watch_launches(void)
{
    const mo_cuda_api *found = NULL;

    use_cuda();
    MUST(mo_cuda_api_get(&found, &err));
    memcpy(&api, &found, sizeof api);
    if (api->cuGraphLaunch == launch_graph) /* by an earlier test */
        return;
    real = *api;
    api->cuLaunchKernelEx = launch_kernel;
    api->cuStreamBeginCapture = begin_capture;
    api->cuGraphUpload = upload_graph;
    api->cuGraphLaunch = launch_graph;
}

static const char network[] = "x op=Parameter; a op=Tanh; b op=Exp; c op=Abs; "
                              "x>a; a>b; b>c";

static void make_plan(random_plan *made)
{
    pinned_plan_make(made, network, 0);
    for (int d = 0; d < made->plan->n_devices; d++)
        made->plan->devices[d].capacity_bytes = INT64_MAX;
}

/* Runs the network in a unit of its own; without a folder nothing is tuned. */
static void start(const char *folder, int warm_ups)
{
    random_plan made;
    plan_runner cpu, gpu;

    make_plan(&made);
    plan_runner_begin(&cpu, made.plan, 1);
    plan_runner_go(&cpu);
    plan_runner_begin(&gpu, made.plan, 1);
    gpu.backends[0] = &mo_backend_cuda;
    gpu.units[0] = (mo_backend_unit_options){ .cache = folder ? folder : "",
                                              .autotune = folder != NULL };
    gpu.options.warm_ups = warm_ups;
    gpu.options.runs = RUNS;
    gpu.options.whole = true;
    n_graphs = n_launches = 0;
    plan_runner_go(&gpu);
    ck_assert_str_eq(gpu.result.eager_reason, "");
    check_outputs_close(&cpu.result, &gpu.result, 1e-5, 1);
    plan_runner_end(&gpu);
    plan_runner_end(&cpu);
    random_plan_clear(&made);
}

static void check_launches(int first, int n, bool pdl)
{
    ck_assert_int_ge(n_launches, first + n);
    for (int i = first; i < first + n; i++)
        ck_assert_msg(launched_pdl[i] == pdl, "launch %d", i);
}

static void remove_folder(const char *folder)
{
    char command[64];

    snprintf(command, sizeof command, "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(the_faster_program_is_kept)
{
    char folder[] = "cuda_pdl.XXXXXX";

    slow_pdl = _i;
    watch_launches();
    ck_assert_ptr_nonnull(mkdtemp(folder));
    start(folder, WARM_UPS);
    for (int i = 0; i < TRIED; i++)
        check_launches(i, 1, i % 2 == 0);
    check_launches(TRIED, 1 + RUNS, !slow_pdl);
    start(folder, 2);
    check_launches(0, 1 + RUNS, !slow_pdl);
    ck_assert_int_eq(n_graphs, 1);
    remove_folder(folder);
}
END_TEST

START_TEST(few_warm_ups_choose_the_faster_or_nothing)
{
    char folder[] = "cuda_pdl.XXXXXX";

    slow_pdl = true;
    watch_launches();
    ck_assert_ptr_nonnull(mkdtemp(folder));
    /* Two replays, then one with PDL, each time. */
    for (int again = 0; again < 2; again++) {
        start(folder, 4);
        check_launches(0, 1, true);
        check_launches(1, 1, false);
        check_launches(2, 1 + RUNS, true);
    }
    start(folder, 9);
    check_launches(8, RUNS, false);
    remove_folder(folder);
}
END_TEST

START_TEST(without_tuning_nothing_is_tried)
{
    slow_pdl = true;
    watch_launches();
    start(NULL, 8);
    check_launches(0, 7 + RUNS, true);
    ck_assert_int_eq(n_graphs, 1);
}
END_TEST

SUITE(cuda_pdl_choice)
{
    EACH(the_faster_program_is_kept, 2);
    TEST(few_warm_ups_choose_the_faster_or_nothing);
    TEST(without_tuning_nothing_is_tried);
}
