/* Claims of exec/run_joint.h on several GPUs of the stand-in: what touches
 * another one's memory fails there, and graphs run in an unlikely order. */
#include <config.h>

#include <stdlib.h>

#include "exec/backend/cuda/api.h"
#include "tests/cuda_pair.h"
#include "tests/joint_case.h"
#include "tests/suite.h"

enum { GPUS = 3, PLANS = 4, HOLD_NS = 2000000 };

static void use_gpus(const char *peers)
{
    setenv("MOIRAI_STANDIN_GPUS", "3", 1);
    setenv("MOIRAI_STANDIN_PEERS", peers, 1);
    use_standin();
}

/* As much as networks of floats differ whose sums have another order. */
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
    joint_case_place(&gpus, &mo_backend_cuda, mask);
    gpus.runner.options.runs = 2;
    gpus.runner.options.eager = _i == 2;
    plan_runner_go(&cpu.runner);
    plan_runner_go(&gpus.runner);
    check_close(&cpu, &gpus, _i);
    joint_case_clear(&gpus);
    joint_case_clear(&cpu);
}
END_TEST

/* All on one GPU, whose streams they share nothing of. */
START_TEST(units_of_one_gpu_are_held)
{
    joint_case cpu, gpu;
    int64_t *hold_ns;

    use_gpus("1");
    joint_case_make(&cpu, 2, GPUS);
    joint_case_make(&gpu, 2, GPUS);
    joint_case_place(&gpu, &mo_backend_cuda, 7);
    for (int d = 0; d < GPUS; d++)
        gpu.runner.units[d].gpu = 1;
    hold_ns = calloc((size_t) gpu.made.plan->n_transfers + 1, sizeof *hold_ns);
    ck_assert_ptr_nonnull(hold_ns);
    ck_assert_int_gt(gpu.made.plan->n_transfers, 0);
    for (int t = 0; t < gpu.made.plan->n_transfers; t++)
        hold_ns[t] = HOLD_NS;
    gpu.runner.options.hold_ns = hold_ns;
    plan_runner_go(&cpu.runner);
    plan_runner_go(&gpu.runner);
    check_close(&cpu, &gpu, 2);
    /* The stand-in does one thing at a time; a microsecond or two of each is
     * the kernels' own. */
    ck_assert_int_ge(gpu.runner.result.median_ns,
                     gpu.made.plan->n_transfers * (HOLD_NS - 2000LL));
    free(hold_ns);
    joint_case_clear(&gpu);
    joint_case_clear(&cpu);
}
END_TEST

/* What the driver refuses while many streams are captured is told, and nothing
 * is left behind: the stand-in would say so. */
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
    mo_cuda_api *api;
    joint_case gpus;

    use_gpus("1");
    MUST(mo_cuda_api_get(&found, &err));
    memcpy(&api, &found, sizeof api);
    api->cuGraphLaunch = refuse;
    joint_case_make(&gpus, 2, GPUS);
    joint_case_place(&gpus, &mo_backend_cuda, 7);
    ck_assert_int_ne(mo_run_plan(gpus.made.plan, &gpus.runner.options,
                                 &gpus.runner.result, &why),
                     MO_OK);
    ck_assert_ptr_nonnull(strstr(why.text, "cuGraphLaunch"));
    joint_case_clear(&gpus);
}
END_TEST

SUITE(joint_cuda)
{
    EACH(results_are_the_cpus, PLANS);
    TEST(units_of_one_gpu_are_held);
    TEST(a_program_that_fails_ends_all);
}
