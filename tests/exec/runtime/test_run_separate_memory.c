/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of exec/runtime/run.h for devices with separate memory: they compute
 * the CPUs' results bit by bit, whatever runs concurrently. */
#include "exec/measure/bench.h"
#include "tests/exec/support/separate_memory.h"
#include "tests/exec/support/plan_runner.h"
#include "tests/support/suite.h"

enum { LANES = 4, RUNS = 3 };

static const int lanes[RANDOM_PLAN_DEVICES] = { LANES, LANES, LANES, LANES };

typedef struct running {
    random_plan made;
    plan_runner runner;
} running;

/* apart: bit d: device d has separate memory. */
static void set_up(running *r, unsigned seed, int n_devices, unsigned apart)
{
    if (seed % 2)
        random_plan_of(&r->made, random_picture(seed), random_picture(seed),
                       NULL, seed, n_devices);
    else
        random_plan_make(&r->made, seed, n_devices);
    mo_plan_free(r->made.plan);
    r->made.plan = NULL;
    r->made.source.max_streams = apart ? lanes : NULL;
    r->made.source.layout = seed % 4 > 1;
    r->made.source.fuse = seed % 3 == 0;
    MUST(mo_plan_build(&r->made.source, &r->made.plan, &err));
    plan_runner_begin(&r->runner, r->made.plan, seed);
    for (int d = 0; d < RANDOM_PLAN_DEVICES; d++)
        if (apart >> d & 1)
            r->runner.backends[d] = &separate_backend;
    r->runner.options.warm_ups = 1;
    r->runner.options.runs = RUNS;
    r->runner.options.trace = true;
}

static void run(running *r)
{
    plan_runner_go(&r->runner);
}

static void tear_down(running *r)
{
    plan_runner_end(&r->runner);
    random_plan_clear(&r->made);
}

static void check_same(const running *a, const running *b, int seed)
{
    check_outputs_equal(&a->runner.result, &b->runner.result, seed);
}

START_TEST(results_are_the_cpus)
{
    int n_devices = 1 + _i % 3;
    unsigned apart = 1 + (unsigned) _i % ((1u << n_devices) - 1);
    running cpu, mixed;

    set_up(&cpu, (unsigned) _i, n_devices, 0);
    set_up(&mixed, (unsigned) _i, n_devices, apart);
    run(&cpu);
    run(&mixed);
    check_same(&cpu, &mixed, _i);
    tear_down(&mixed);
    tear_down(&cpu);
}
END_TEST

START_TEST(call_by_call_and_cold_they_are_the_same)
{
    running recorded, eager, cold;

    set_up(&recorded, (unsigned) _i, 2, 3);
    set_up(&eager, (unsigned) _i, 2, 3);
    set_up(&cold, (unsigned) _i, 2, 3);
    eager.runner.options.eager = true;
    cold.runner.options.warm_ups = 0;
    cold.runner.options.runs = 1;
    run(&recorded);
    run(&eager);
    run(&cold);
    check_same(&recorded, &eager, _i);
    check_same(&recorded, &cold, _i);
    tear_down(&recorded);
    tear_down(&eager);
    tear_down(&cold);
}
END_TEST

START_TEST(calls_are_timed_by_themselves)
{
    running r;

    set_up(&r, (unsigned) _i, 2, 3);
    run(&r);
    for (int d = 0; d < 2; d++) {
        const mo_plan_device *on = &r.made.plan->devices[d];
        int64_t wanted = SEPARATE_FIRST_NS, busy = 0, end = 0;

        for (int s = 0; s < on->n_steps; s++) {
            const mo_run_step *step = &r.runner.result.steps[d][s];

            ck_assert_int_ge(step->begin_ns, 0);
            ck_assert_int_ge(step->end_ns, step->begin_ns);
            end = step->end_ns > end ? step->end_ns : end;
            if (on->steps[s].kind != MO_PLAN_STEP_COMPUTE)
                continue;
            ck_assert_int_eq(r.runner.result.call_ns[on->steps[s].what],
                             wanted);
            busy += wanted;
            wanted += SEPARATE_CALL_NS;
        }
        ck_assert_int_eq(r.runner.result.busy_ns[d], busy);
        ck_assert_int_le(end, r.runner.result.median_ns);
    }
    tear_down(&r);
}
END_TEST

/* All makespans are known, and no times of calls. */
static void check_untimed(const running *r)
{
    const mo_run_result *result = &r->runner.result;

    ck_assert_int_eq(result->n_runs, RUNS);
    ck_assert_int_gt(result->median_ns, 0);
    for (int c = 0; c < r->made.plan->n_calls; c++)
        ck_assert_int_eq(result->call_ns[c], 0);
    for (int d = 0; d < r->made.plan->n_devices; d++)
        ck_assert_int_eq(result->busy_ns[d], 0);
}

START_TEST(where_the_whole_is_enough_no_call_is_timed)
{
    const mo_backend backend = separate_without_timer();
    running cpu, r;

    set_up(&cpu, (unsigned) _i, 2, 0);
    set_up(&r, (unsigned) _i, 2, 3);
    r.runner.backends[0] = r.runner.backends[1] = &backend;
    cpu.runner.options.trace = r.runner.options.trace = false;
    cpu.runner.options.whole = r.runner.options.whole = true;
    run(&cpu);
    run(&r);
    check_same(&cpu, &r, _i);
    check_untimed(&cpu);
    check_untimed(&r);
    tear_down(&r);
    tear_down(&cpu);
}
END_TEST

/* Nothing but the arena, the weights that kernels still read, and
 * workspaces. */
START_TEST(what_is_allocated_is_what_was_planned)
{
    running r;

    set_up(&r, (unsigned) _i, 2, 3);
    run(&r);
    for (int d = 0; d < 2; d++) {
        const mo_plan_device *on = &r.made.plan->devices[d];
        int64_t known = on->arena_bytes + r.runner.result.workspace_bytes[d];

        ck_assert_int_ge(r.runner.result.allocated_bytes[d], known);
        /* Each weight begins at a multiple of 256. */
        ck_assert_int_le(r.runner.result.allocated_bytes[d],
                         known + on->weight_bytes +
                             (int64_t) 256 * r.made.plan->n_values);
    }
    tear_down(&r);
}
END_TEST

START_TEST(a_device_that_is_too_small_says_what_it_needs_and_has)
{
    mo_error err = { 0 };
    int64_t free_before = separate_free_bytes;
    running r;

    set_up(&r, 5, 1, 1);
    separate_free_bytes = 100;
    ck_assert_int_eq(
        mo_run_plan(r.made.plan, &r.runner.options, &r.runner.result, &err),
        MO_E_MEMORY);
    ck_assert_ptr_nonnull(strstr(err.text, "device 'A' needs "));
    ck_assert_ptr_nonnull(strstr(err.text, " 100 are free; place less there"));
    separate_free_bytes = free_before;
    tear_down(&r);
}
END_TEST

/* Through host memory, there and back. */
START_TEST(messages_are_timed)
{
    static const char *const ids[] = { "A", "B" };
    mo_measure_link_row *rows = NULL;
    int n = 0;
    running r;

    set_up(&r, 2, 2, 3);
    MUST(mo_measure_links(&(mo_measure_links_options){ .n_devices = 2,
                                                       .ids = ids,
                                                       .run = &r.runner.options,
                                                       .repeats = 3 },
                          &rows, &n, &err));
    ck_assert_int_gt(n, 0);
    ck_assert_int_eq(n % 2, 0);
    for (int i = 0; i < n; i++)
        ck_assert_int_gt(rows[i].median_ns, 0);
    free(rows);
    tear_down(&r);
}
END_TEST

SUITE(run_separate_memory)
{
    SOME(results_are_the_cpus, 300, 12);
    SOME(call_by_call_and_cold_they_are_the_same, 60, 6);
    SOME(calls_are_timed_by_themselves, 40, 4);
    SOME(where_the_whole_is_enough_no_call_is_timed, 40, 4);
    SOME(what_is_allocated_is_what_was_planned, 40, 4);
    TEST(a_device_that_is_too_small_says_what_it_needs_and_has);
    TEST(messages_are_timed);
}
