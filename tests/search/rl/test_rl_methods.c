/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of the reinforcement-learning methods through the table of methods:
 * constraints, determinism and stop conditions. */
#include <config.h>

#include <stdio.h>

#include "base/random.h"
#include "schedule/heuristic/single_device.h"
#include "tests/support/dense_problem.h"
#include "tests/support/validated_placement.h"
#include "tests/search/rl/rl_methods_case.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"

static const mo_regime ports_live = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                      MO_MEMORY_LIVE };
static const mo_regime ports_memory = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                        MO_MEMORY_STATIC };

static void check_same(const mo_schedule *a, const mo_schedule *b, int n,
                       const char *name)
{
    ck_assert_int_eq(a->makespan_ns, b->makespan_ns);
    for (int i = 0; i < n; i++)
        ck_assert_msg(a->device[i] == b->device[i] &&
                          a->start_ns[i] == b->start_ns[i],
                      "%s: op %d", name, i);
}

START_TEST(any_number_of_threads_learns_the_same)
{
    static const int threads[] = { 2, 5 };
    problem p = { 0 };
    mo_method_task task = {
        .regime = learners_ports, .seed = 3, .threads = 1, .rounds = 3
    };
    mo_method_result alone;

    crowd_make(&p, 4);
    task.x = p.x;
    alone = learners_place(learners[_i], &task);
    for (int i = 0; i < COUNT(threads); i++) {
        mo_method_result placed;

        task.threads = threads[i];
        placed = learners_place(learners[_i], &task);
        check_same(alone.schedule, placed.schedule, p.x->n, learners[_i]->name);
        mo_method_result_clear(&placed);
    }
    mo_method_result_clear(&alone);
    problem_clear(&p);
}
END_TEST

/* Dense problems have pins, groups and memory limits; overflow is reported.
 * Where everything may be on one device and fits there, the result is no
 * worse. */
START_TEST(rules_are_kept_and_one_device_is_no_better)
{
    static const mo_regime *const regimes[] = { &learners_ports, &ports_memory,
                                                &ports_live };
    int seed = _i / N_LEARNERS;
    const mo_method *method = learners[_i % N_LEARNERS];
    mo_method_task task = { .regime = *regimes[seed % COUNT(regimes)],
                            .seed = (uint64_t) seed,
                            .threads = 1,
                            .rounds = 1 };
    problem p = { 0 };
    mo_method_result placed;
    int64_t single_ns = 0;
    int single = MO_FREE;

    crowd_make(&p, (unsigned) seed);
    task.x = p.x;
    placed = learners_place(method, &task);
    check_judged(p.x, &placed, method->name, seed);
    MUST(mo_single_device_best(p.x, &task.regime, &single, &single_ns, &err));
    ck_assert_msg(
        single == MO_FREE ||
            (placed.fits && placed.schedule->makespan_ns <= single_ns),
        "%s, seed %d: worse than device %d", method->name, seed, single);
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* Memory is full at one moment only; what was freed before is available
 * then. */
START_TEST(what_lives_at_once_has_room)
{
    const mo_method *method = learners[_i % N_LEARNERS];
    mo_random random = { (uint64_t) _i };
    mo_method_task task = {
        .regime = ports_live, .seed = 1, .threads = 1, .rounds = 4
    };
    mo_out *out = text_new();
    problem p = { 0 };
    mo_method_result placed;
    char *text;

    for (int i = 0; i < 8; i++)
        mo_out_printf(out, "o%d t.A=9 t.B=%d workspace_bytes=%d;", i,
                      8 + mo_random_below(&random, 20),
                      100 + mo_random_below(&random, 400));
    for (int i = 1; i < 8; i++)
        mo_out_printf(out, "o%d>o%d bytes=%d;", mo_random_below(&random, i), i,
                      100 + mo_random_below(&random, 900));
    text = text_end(out);
    problem_make(&p, text,
                 "A memory_bytes=1500; B memory_bytes=100000; A-B gbps=8",
                 NULL);
    task.x = p.x;
    placed = learners_place(method, &task);
    check_judged(p.x, &placed, method->name, _i);
    ck_assert_msg(placed.fits, "%s, %d: all fits on B", method->name, _i);
    mo_method_result_clear(&placed);
    problem_clear(&p);
    free(text);
}
END_TEST

START_TEST(nothing_is_placed_at_once)
{
    problem p = { 0 };
    mo_method_task task = { .regime = learners_ports,
                            .threads = 1,
                            .rounds = 2 };
    mo_method_result placed;

    problem_make(&p, "", "A; B; A-B gbps=8", NULL);
    task.x = p.x;
    placed = learners_place(learners[_i], &task);
    ck_assert_int_eq(placed.schedule->makespan_ns, 0);
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* With no limit but the time it ends there, with the best so far. */
START_TEST(a_stop_ends_it)
{
    problem p = { 0 };
    mo_stop stop;
    mo_method_task task = {
        .regime = learners_ports, .seed = 1, .threads = 2, .stop = &stop
    };
    int64_t begun_ns = mo_stop_clock_ns();
    mo_method_result placed;

    crowd_make(&p, 4);
    task.x = p.x;
    mo_stop_after(&stop, 0.2);
    placed = learners_place(learners[_i], &task);
    ck_assert_int_lt(mo_stop_clock_ns() - begun_ns, 20 * INT64_C(1000000000));
    ck_assert_int_ge(placed.rounds, 1);
    check_judged(p.x, &placed, learners[_i]->name, 4);
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* It returns the initial placement, without an episode. */
START_TEST(a_stop_that_came_before_ends_it_at_once)
{
    problem p = { 0 };
    mo_stop stop;
    mo_method_task task = {
        .regime = learners_ports, .threads = 1, .stop = &stop, .curve = "a.csv"
    };
    mo_method_result placed;

    crowd_make(&p, 4);
    task.x = p.x;
    mo_stop_after(&stop, 600);
    mo_stop_request(&stop);
    placed = learners_place(learners[_i], &task);
    check_judged(p.x, &placed, learners[_i]->name, 4);
    ck_assert_ptr_null(strstr(scratch_read("a.csv"), "\n8,"));
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

SUITE(rl_methods)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    tcase_set_timeout(tests, 600);
    EACH(any_number_of_threads_learns_the_same, N_LEARNERS);
    SOME(rules_are_kept_and_one_device_is_no_better, 24, 6);
    SOME(what_lives_at_once_has_room, 20, 2);
    EACH(nothing_is_placed_at_once, N_LEARNERS);
    EACH(a_stop_ends_it, N_LEARNERS);
    EACH(a_stop_that_came_before_ends_it_at_once, N_LEARNERS);
}
