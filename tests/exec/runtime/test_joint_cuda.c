/* SPDX-License-Identifier: Apache-2.0 */
/* tags: gpu no-valgrind */
/* Tests of exec/runtime/joint/joint.h on several GPUs of the stand-in: an
 * access to another GPU's memory fails there, and graphs run in an unlikely
 * order. With MOIRAI_TEST_GPU, on the real GPUs in turn. */
#include <config.h>

#include <stdlib.h>

#include "exec/backend/cuda/driver/cuda_api.h"
#include "tests/exec/cuda/cuda_pair.h"
#include "tests/exec/runtime/joint_case.h"
#include "tests/support/suite.h"

/* OWN_NS: launch and completion of the kernels of an emulated transfer. */
enum { GPUS = 3, PLANS = 4, HOLD_NS = 2000000, OWN_NS = 2000 };

static void use_gpus(const char *peers)
{
    setenv("MOIRAI_STANDIN_GPUS", "3", 1);
    setenv("MOIRAI_STANDIN_PEERS", peers, 1);
    use_cuda();
}

static void place(joint_case *c, unsigned mask)
{
    int n = 0;

    MUST(mo_backend_cuda.count_devices(&n, &err));
    joint_case_place(c, &mo_backend_cuda, mask);
    for (int d = 0; d < GPUS; d++)
        c->runner.units[d].gpu = d % n;
}

/* The tolerance of floats with another order of summation. */
static void check_close(const joint_case *a, const joint_case *b, int seed)
{
    check_outputs_close(&a->runner.result, &b->runner.result, 1e-4, seed);
}

START_TEST(results_are_the_cpus)
{
    unsigned mask = _i % 3 ? 7 : 5;
    joint_case cpu, gpus;

    use_gpus(_i % 2 ? "1" : "0");
    joint_case_make(&cpu, (unsigned) _i, GPUS);
    joint_case_make(&gpus, (unsigned) _i, GPUS);
    place(&gpus, mask);
    gpus.runner.options.runs = 2;
    gpus.runner.options.eager = _i == 2;
    plan_runner_go(&cpu.runner);
    plan_runner_go(&gpus.runner);
    check_close(&cpu, &gpus, _i);
    joint_case_clear(&gpus);
    joint_case_clear(&cpu);
}
END_TEST

/* On one GPU, on separate streams, and on several. */
START_TEST(transfers_are_held)
{
    int64_t *hold_ns, sent[RANDOM_PLAN_DEVICES] = { 0 };
    joint_case cpu, gpu;

    use_gpus("1");
    joint_case_make(&cpu, 2, GPUS);
    joint_case_make(&gpu, 2, GPUS);
    place(&gpu, 7);
    for (int d = 0; d < GPUS && _i == 0; d++)
        gpu.runner.units[d].gpu = 0;
    hold_ns = calloc((size_t) gpu.made.plan->n_transfers + 1, sizeof *hold_ns);
    ck_assert_ptr_nonnull(hold_ns);
    ck_assert_int_gt(gpu.made.plan->n_transfers, 0);
    for (int t = 0; t < gpu.made.plan->n_transfers; t++) {
        hold_ns[t] = HOLD_NS;
        sent[gpu.made.plan->transfers[t].from] += HOLD_NS - OWN_NS;
    }
    gpu.runner.options.min_transfer_ns = hold_ns;
    plan_runner_go(&cpu.runner);
    plan_runner_go(&gpu.runner);
    check_close(&cpu, &gpu, 2);
    for (int d = 0; d < GPUS; d++)
        ck_assert_int_ge(gpu.runner.result.median_ns, sent[d]);
    free(hold_ns);
    joint_case_clear(&gpu);
    joint_case_clear(&cpu);
}
END_TEST

/* An error while many streams are captured is returned without leaks, which
 * the stand-in would report. */
static CUresult refuse(CUgraphExec graph, CUstream stream)
{
    (void) graph;
    (void) stream;
    return CUDA_ERROR_LAUNCH_FAILED;
}

START_TEST(a_program_that_fails_ends_all)
{
    const mo_cuda_api *found = NULL;
    mo_error why = { 0 };
    CUresult (*launch)(CUgraphExec, CUstream);
    mo_cuda_api *api;
    joint_case gpus;

    use_gpus("1");
    MUST(mo_cuda_api_get(&found, &err));
    memcpy(&api, &found, sizeof api);
    launch = api->cuGraphLaunch;
    api->cuGraphLaunch = refuse;
    joint_case_make(&gpus, 2, GPUS);
    place(&gpus, 7);
    ck_assert_int_ne(mo_run_plan(gpus.made.plan, &gpus.runner.options,
                                 &gpus.runner.result, &why),
                     MO_OK);
    api->cuGraphLaunch = launch;
    ck_assert_ptr_nonnull(strstr(why.text, "cuGraphLaunch"));
    joint_case_clear(&gpus);
}
END_TEST

/* Without graphs of several GPUs, calls are launched one by one. */
static CUresult refuse_graph(CUgraphExec graph, CUstream stream)
{
    (void) graph;
    (void) stream;
    return CUDA_ERROR_NOT_SUPPORTED;
}

START_TEST(without_graphs_calls_are_begun_one_by_one)
{
    const mo_cuda_api *found = NULL;
    CUresult (*upload)(CUgraphExec, CUstream);
    joint_case cpu, gpus;
    mo_cuda_api *api;

    use_gpus("1");
    MUST(mo_cuda_api_get(&found, &err));
    memcpy(&api, &found, sizeof api);
    joint_case_make(&cpu, 3, GPUS);
    joint_case_make(&gpus, 3, GPUS);
    place(&gpus, 7);
    plan_runner_go(&cpu.runner);
    upload = api->cuGraphUpload;
    api->cuGraphUpload = refuse_graph;
    plan_runner_go(&gpus.runner);
    api->cuGraphUpload = upload;
    check_close(&cpu, &gpus, 3);
    ck_assert_ptr_nonnull(
        strstr(gpus.runner.result.eager_reason, "cuGraphUpload"));
    joint_case_clear(&gpus);
    joint_case_clear(&cpu);
}
END_TEST

SUITE(joint_cuda)
{
    EACH(results_are_the_cpus, PLANS);
    EACH(transfers_are_held, 2);
    TEST(a_program_that_fails_ends_all);
    TEST(without_graphs_calls_are_begun_one_by_one);
}
