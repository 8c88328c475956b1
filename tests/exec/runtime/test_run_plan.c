/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind threads */
/* Tests of exec/runtime/run.h: random plans without the planner, failing and
 * slow backends, stop conditions. */
#include <config.h>

#include "exec/runtime/run.h"

#include <stdio.h>

#include "base/random.h"
#include "tests/exec/support/manual_plan.h"
#include "tests/support/suite.h"

enum { MAX_DEVICES = 4 };

/* A run of a plan in this process, with its options. */
typedef struct bench {
    mo_exec_plan *plan;
    mo_transport_world *world;
    mo_tensor_dense input;
    const mo_backend *backends[MAX_DEVICES];
    mo_backend_unit_options units[MAX_DEVICES];
    int rank_of[MAX_DEVICES];
    mo_run_plan_options options;
    mo_run_result result;
} bench;

static void set_up(bench *b, const manual_plan_options *plan,
                   const mo_backend *backend, uint32_t x)
{
    memset(b, 0, sizeof *b);
    b->plan = manual_plan_make(plan);
    MUST(mo_transport_local.open(&(mo_transport_world_options){ 0 }, &b->world,
                                 &err));
    MUST(mo_tensor_new(&b->plan->inputs[0].desc, &b->input, &err));
    for (int64_t i = 0; i < plan->elements; i++)
        ((uint32_t *) b->input.data)[i] = x;
    for (int d = 0; d < MAX_DEVICES; d++)
        b->backends[d] = backend;
    b->options = (mo_run_plan_options){ .transport = &mo_transport_local,
                                        .world = b->world,
                                        .backends = b->backends,
                                        .units = b->units,
                                        .rank_of = b->rank_of,
                                        .inputs = &b->input,
                                        .warm_ups = 1,
                                        .runs = 3,
                                        .trace = true };
}

static void tear_down(bench *b)
{
    mo_run_result_clear(&b->result);
    mo_tensor_clear(&b->input);
    mo_transport_local.close(b->world);
    mo_arena_free(b->plan->arena);
}

static manual_plan_options random_options(uint64_t seed)
{
    mo_random r = { mo_random_seed(seed, 77) };

    return (manual_plan_options){
        .seed = seed,
        .n_devices = mo_random_below(&r, MAX_DEVICES) + 1,
        .n_calls = mo_random_below(&r, 40) + 1,
        /* On both sides of the block size of copies, and none at all. */
        .elements = (int64_t) mo_random_below(&r, 4) * 5000,
    };
}

static void check_outputs(const bench *b, uint32_t x, int seed)
{
    ck_assert_int_eq(b->result.n_outputs, b->plan->n_outputs);
    for (int o = 0; o < b->result.n_outputs; o++) {
        const mo_tensor_dense *y = &b->result.outputs[o];
        uint32_t wanted = manual_plan_result(b->plan, o, x);

        for (int64_t i = 0; i < mo_tensor_desc_elements(&y->desc); i++)
            ck_assert_msg(((uint32_t *) y->data)[i] == wanted,
                          "seed %d, output %d: element %lld is wrong", seed, o,
                          (long long) i);
    }
}

START_TEST(any_plan_gives_what_one_device_would)
{
    manual_plan_options options = random_options((uint64_t) _i);
    uint32_t x = 1234567u * (uint32_t) _i + 5;
    bench b;

    set_up(&b, &options, &manual_backend, x);
    MUST(mo_run_plan(b.plan, &b.options, &b.result, &err));
    check_outputs(&b, x, _i);
    tear_down(&b);
}
END_TEST

START_TEST(one_world_runs_plan_after_plan)
{
    manual_plan_options options = { 5, 3, 30, 12000 };
    bench b;

    set_up(&b, &options, &manual_backend, 9);
    for (int i = 0; i < 5; i++) {
        mo_run_result_clear(&b.result);
        MUST(mo_run_plan(b.plan, &b.options, &b.result, &err));
        check_outputs(&b, 9, i);
    }
    tear_down(&b);
}
END_TEST

static bool may_fail(const mo_exec_plan *plan)
{
    for (int c = 0; c < plan->n_calls; c++)
        if (plan->calls[c].call.n_in > 2 && c % 7 == 3)
            return true;
    return false;
}

START_TEST(a_kernel_that_fails_ends_the_run_with_its_error)
{
    manual_plan_options options = random_options((uint64_t) _i);
    mo_error err = { 0 };
    mo_status status;
    bench b;

    set_up(&b, &options, &manual_backend_failing, 1);
    status = mo_run_plan(b.plan, &b.options, &b.result, &err);
    if (may_fail(b.plan)) {
        ck_assert_int_eq(status, MO_E_INPUT);
        ck_assert_ptr_nonnull(strstr(err.text, "does not feel like it"));
    } else {
        ck_assert_int_eq(status, MO_OK);
    }
    tear_down(&b);
}
END_TEST

START_TEST(times_fit_together)
{
    manual_plan_options options = { (uint64_t) _i, 3, 25, 10000 };
    bench b;

    set_up(&b, &options, &manual_backend_slow, 2);
    b.options.runs = 5;
    MUST(mo_run_plan(b.plan, &b.options, &b.result, &err));
    ck_assert_int_eq(b.result.n_runs, 5);
    ck_assert_int_eq(b.result.makespan_ns[b.result.median_run],
                     b.result.median_ns);
    for (int c = 0; c < b.plan->n_calls; c++)
        ck_assert_int_ge(b.result.call_ns[c], 500000);
    for (int d = 0; d < options.n_devices; d++) {
        const mo_plan_device *device = &b.plan->devices[d];
        int64_t busy = 0, last = 0;

        for (int i = 0; i < device->n_steps; i++) {
            const mo_run_step *step = &b.result.steps[d][i];

            ck_assert_int_ge(step->begin_ns, last);
            ck_assert_int_ge(step->end_ns, step->begin_ns);
            last = step->end_ns;
            if (device->steps[i].kind == MO_PLAN_STEP_COMPUTE)
                busy += step->end_ns - step->begin_ns;
        }
        ck_assert_int_le(last, b.result.median_ns);
        ck_assert_int_eq(busy, b.result.busy_ns[d]);
        ck_assert_int_eq(b.result.allocated_bytes[d],
                         device->arena_bytes + b.result.workspace_bytes[d]);
    }
    tear_down(&b);
}
END_TEST

START_TEST(a_wrong_input_is_refused)
{
    manual_plan_options options = { 5, 2, 10, 100 };
    mo_error err = { 0 };
    bench b;

    set_up(&b, &options, &manual_backend, 9);
    b.input.desc.shape.dims[0] = 99;
    ck_assert_int_eq(mo_run_plan(b.plan, &b.options, &b.result, &err),
                     MO_E_INPUT);
    ck_assert_str_eq(err.text, "input 'x' is u32[100], but u32[99] was given");
    tear_down(&b);
}
END_TEST

START_TEST(a_rank_that_is_not_there_is_refused)
{
    manual_plan_options options = { 5, 2, 10, 100 };
    mo_error err = { 0 };
    bench b;

    set_up(&b, &options, &manual_backend, 9);
    b.rank_of[1] = 1;
    ck_assert_int_eq(mo_run_plan(b.plan, &b.options, &b.result, &err),
                     MO_E_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "device 'B' is of rank 1"));
    tear_down(&b);
}
END_TEST

START_TEST(a_stop_ends_between_runs)
{
    manual_plan_options options = { 5, 2, 10, 100 };
    mo_stop stop;
    bench b;

    set_up(&b, &options, &manual_backend, 9);
    mo_stop_after(&stop, 0);
    mo_stop_request(&stop);
    b.options.stop = &stop;
    MUST(mo_run_plan(b.plan, &b.options, &b.result, &err));
    ck_assert(b.result.stopped);
    ck_assert_int_eq(b.result.n_runs, 0);
    tear_down(&b);
}
END_TEST

/* Short calls, and runs short enough that some are not preempted: the quickest
 * one counts. */
START_TEST(running_costs_next_to_nothing_beside_kernels)
{
    manual_plan_options options = { 3, 1, 100, 3000 };
    int64_t sum = 0, quickest = INT64_MAX;
    bench b;

    set_up(&b, &options, &manual_backend, 9);
    b.options.runs = 101;
    MUST(mo_run_plan(b.plan, &b.options, &b.result, &err));
    for (int c = 0; c < b.plan->n_calls; c++)
        sum += b.result.call_ns[c];
    for (int r = 0; r < b.result.n_runs; r++)
        if (b.result.makespan_ns[r] < quickest)
            quickest = b.result.makespan_ns[r];
    ck_assert_msg((double) quickest <= 1.05 * (double) sum,
                  "makespan %lld ns, kernels %lld ns", (long long) quickest,
                  (long long) sum);
    tear_down(&b);
}
END_TEST

SUITE(run_plan)
{
    SOME(any_plan_gives_what_one_device_would, 300, 20);
    TEST(one_world_runs_plan_after_plan);
    SOME(a_kernel_that_fails_ends_the_run_with_its_error, 100, 10);
    EACH(times_fit_together, 3);
    TEST(a_wrong_input_is_refused);
    TEST(a_rank_that_is_not_there_is_refused);
    TEST(a_stop_ends_between_runs);
    if (!is_watched())
        TEST(running_costs_next_to_nothing_beside_kernels);
}
