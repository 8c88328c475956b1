/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/runtime/joint/joint.h: devices driven together compute the
 * CPUs' results in every order that their program allows, and emulated links
 * take their time. Units have separate memory (separate_memory.h). */

#include "exec/runtime/joint/joint.h"

#include <stdlib.h>

#include "exec/plan/ir/value_table.h"
#include "exec/measure/run_analysis.h"
#include "tests/exec/support/separate_memory.h"
#include "tests/exec/runtime/joint_case.h"
#include "tests/support/suite.h"

enum { PLANS = 200 };

/* Every third plan has a CPU device, too: then programs are cut into
 * segments. */
START_TEST(results_are_the_cpus)
{
    int n_devices = 2 + _i % 3;
    unsigned all = (1u << n_devices) - 1;
    unsigned mask = _i % 3 ? all : all & ~(1u << _i % n_devices);
    joint_case cpu, joint;

    joint_case_make(&cpu, (unsigned) _i, n_devices);
    joint_case_make(&joint, (unsigned) _i, n_devices);
    joint_case_place(&joint, &separate_backend, mask);
    joint.runner.options.eager = _i % 7 == 0;
    plan_runner_go(&cpu.runner);
    plan_runner_go(&joint.runner);
    check_outputs_equal(&cpu.runner.result, &joint.runner.result, _i);
    ck_assert_str_eq(joint.runner.result.eager_reason, "");
    joint_case_clear(&joint);
    joint_case_clear(&cpu);
}
END_TEST

/* The end of a device's await of the transfer that brings a value; 0: none
 * does. */
static int64_t awaited_ns(const joint_case *r, int d, int value)
{
    const mo_exec_plan *plan = r->made.plan;
    int t = plan->values[mo_plan_value_root(plan->values, value)].transfer;

    for (int i = 0; i < plan->devices[d].n_steps && t != MO_PLAN_NONE; i++) {
        const mo_plan_step *step = &plan->devices[d].steps[i];

        if (step->kind == MO_PLAN_STEP_AWAIT && step->what == t)
            return r->runner.result.steps[d][i].end_ns;
    }
    return 0;
}

/* A call begins when all its operands have arrived. */
static void check_step(const joint_case *r, int d, int i, int seed)
{
    const mo_exec_plan *plan = r->made.plan;
    const mo_plan_step *planned = &plan->devices[d].steps[i];
    const mo_run_step *step = &r->runner.result.steps[d][i];
    int64_t ready = 0;

    if (planned->kind == MO_PLAN_STEP_COMPUTE) {
        const mo_call *call = &plan->calls[planned->what].call;

        for (int k = 0; k < call->n_in; k++) {
            int64_t there = awaited_ns(r, d, call->in[k]);

            ready = there > ready ? there : ready;
        }
    }
    ck_assert_msg(step->begin_ns >= ready && step->end_ns >= step->begin_ns &&
                      step->end_ns <= r->runner.result.median_ns,
                  "seed %d: device %d: step %d is from %lld to %lld", seed, d,
                  i, (long long) step->begin_ns, (long long) step->end_ns);
}

static void check_steps(const joint_case *r, int seed)
{
    const mo_exec_plan *plan = r->made.plan;

    for (int d = 0; d < plan->n_devices; d++)
        for (int i = 0; i < plan->devices[d].n_steps; i++)
            check_step(r, d, i, seed);
}

START_TEST(steps_have_times)
{
    joint_case r;
    mo_measure_utilization ratios;

    joint_case_make(&r, (unsigned) _i, 3);
    joint_case_place(&r, &separate_backend, 7);
    plan_runner_go(&r.runner);
    check_steps(&r, _i);
    ck_assert_int_gt(r.runner.result.chain_ns, 0);
    MUST(mo_measure_utilization_of_run(r.made.plan, &r.runner.result, &ratios,
                                       &err));
    ck_assert_double_gt(ratios.path, 0);
    ck_assert_double_le(ratios.path, 1 + 1e-6);
    joint_case_clear(&r);
}
END_TEST

/* Whether a device outside the mask has steps. */
static bool is_split(const mo_exec_plan *plan, unsigned mask)
{
    for (int d = 0; d < plan->n_devices; d++)
        if (!(mask >> d & 1) && plan->devices[d].n_steps > 0)
            return true;
    return false;
}

START_TEST(what_is_not_one_program_has_no_chain)
{
    unsigned mask = 7 & ~(1u << _i % 3);
    joint_case r;

    joint_case_make(&r, (unsigned) _i, 3);
    joint_case_place(&r, &separate_backend, mask);
    plan_runner_go(&r.runner);
    if (is_split(r.made.plan, mask))
        ck_assert_int_eq(r.runner.result.chain_ns, 0);
    else
        ck_assert_int_gt(r.runner.result.chain_ns, 0);
    joint_case_clear(&r);
}
END_TEST

START_TEST(where_the_whole_is_enough_no_call_is_timed)
{
    const mo_backend backend = separate_without_timer();
    joint_case r;

    joint_case_make(&r, (unsigned) _i, 3);
    joint_case_place(&r, &backend, 7);
    r.runner.options.trace = false;
    r.runner.options.whole = true;
    plan_runner_go(&r.runner);
    ck_assert_int_gt(r.runner.result.median_ns, 0);
    for (int c = 0; c < r.made.plan->n_calls; c++)
        ck_assert_int_eq(r.runner.result.call_ns[c], 0);
    joint_case_clear(&r);
}
END_TEST

/* One at a time through each port: the transfers of a sender take the sum. */
START_TEST(transfers_are_held)
{
    enum { HOLD_NS = 3000000 };
    int64_t *hold_ns, sent[RANDOM_PLAN_DEVICES] = { 0 };
    joint_case r;

    joint_case_make(&r, (unsigned) _i, 2);
    joint_case_place(&r, &separate_backend, 3);
    hold_ns = calloc((size_t) r.made.plan->n_transfers + 1, sizeof *hold_ns);
    ck_assert_ptr_nonnull(hold_ns);
    for (int t = 0; t < r.made.plan->n_transfers; t++) {
        hold_ns[t] = HOLD_NS;
        sent[r.made.plan->transfers[t].from] += HOLD_NS;
    }
    r.runner.options.min_transfer_ns = hold_ns;
    r.runner.options.runs = 1;
    plan_runner_go(&r.runner);
    for (int d = 0; d < RANDOM_PLAN_DEVICES; d++)
        ck_assert_int_ge(r.runner.result.median_ns, sent[d]);
    free(hold_ns);
    joint_case_clear(&r);
}
END_TEST

START_TEST(stopped_it_ends)
{
    mo_stop stop;
    joint_case r;

    mo_stop_after(&stop, 0);
    mo_stop_request(&stop);
    joint_case_make(&r, 1, 3);
    joint_case_place(&r, &separate_backend, 7);
    r.runner.options.stop = &stop;
    plan_runner_go(&r.runner);
    ck_assert(r.runner.result.stopped);
    ck_assert_int_eq(r.runner.result.n_runs, 0);
    joint_case_clear(&r);
}
END_TEST

/* A device that cannot be opened fails the run. */
START_TEST(a_device_without_memory_is_named)
{
    mo_error err = { 0 };
    joint_case r;

    joint_case_make(&r, 1, 3);
    joint_case_place(&r, &separate_backend, 7);
    separate_free_bytes = 0;
    ck_assert_int_eq(
        mo_run_plan(r.made.plan, &r.runner.options, &r.runner.result, &err),
        MO_E_MEMORY);
    ck_assert_ptr_nonnull(strstr(err.text, "device '"));
    separate_free_bytes = INT64_MAX;
    joint_case_clear(&r);
}
END_TEST

SUITE(joint)
{
    SOME(results_are_the_cpus, PLANS, PLANS / 5);
    EACH(steps_have_times, 40);
    EACH(what_is_not_one_program_has_no_chain, 20);
    EACH(where_the_whole_is_enough_no_call_is_timed, 40);
    EACH(transfers_are_held, 6);
    TEST(stopped_it_ends);
    TEST(a_device_without_memory_is_named);
}
