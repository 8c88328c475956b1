/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of the method moirai, driver/moirai.c. */
#include <stdio.h>

#include "ingest/zoo.h"
#include "schedule/heuristic/upper_bound.h"
#include "schedule/validate/validate.h"
#include "solvers/search/exact/exact.h"
#include "solvers/search/method.h"
#include "tests/support/dense_problem.h"
#include "tests/support/exhaustive.h"
#include "tests/support/exhaustive_live.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/layered_problem.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"

static mo_method_result placed_by(const mo_method *method,
                                  const mo_method_task *task)
{
    mo_method_result placed = { 0 };
    mo_verdict *verdict = NULL;

    MUST(method->place(task, &placed, &err));
    if (placed.schedule && placed.fits) {
        MUST(mo_validate(task->x, placed.schedule, 1, &verdict, &err));
        ck_assert_msg(verdict->n == 0, "%s", verdict->violations[0].text);
        mo_verdict_free(verdict);
    }
    return placed;
}

static mo_method_result placed_with(const mo_method_task *task)
{
    mo_method_result placed = placed_by(&mo_method_moirai, task);

    ck_assert(!placed.schedule || placed.fits);
    ck_assert(!placed.schedule ||
              placed.lower_ns <= placed.schedule->makespan_ns);
    return placed;
}

static void check_optimum(const mo_instance *x, const mo_regime *regime,
                          int64_t optimum_ns, unsigned seed, int number)
{
    mo_method_task task = {
        .x = x, .regime = *regime, .seed = seed, .threads = 1
    };
    mo_method_result placed = placed_with(&task);
    int64_t found_ns =
        placed.schedule ? placed.schedule->makespan_ns : EXHAUSTIVE_NONE;

    ck_assert_msg(found_ns == optimum_ns, "seed %u, regime %d: %lld, not %lld",
                  seed, number, (long long) found_ns, (long long) optimum_ns);
    ck_assert_msg(!placed.schedule || placed.lower_ns == optimum_ns,
                  "seed %u, regime %d: bound %lld of %lld", seed, number,
                  (long long) placed.lower_ns, (long long) optimum_ns);
    mo_method_result_clear(&placed);
}

static void check_regime(const problem *p, int number, unsigned seed)
{
    mo_regime regime = regime_of(number);

    if (regime.memory != MO_MEMORY_LIVE)
        check_optimum(p->x, &regime, exhaustive_optimum(p->x, &regime), seed,
                      number);
}

static void check_live(const problem *p, int number, unsigned seed)
{
    mo_regime regime = regime_of(number);

    if (regime.memory == MO_MEMORY_LIVE)
        check_optimum(p->x, &regime, exhaustive_live_optimum(p->x, &regime),
                      seed, number);
}

/* Live memory by the models' rule is another problem; fewer ops by the true
 * one. */
START_TEST(small_problems_are_solved)
{
    if (_i % 4 == 0)
        random_problem_check_small((unsigned) _i, check_live);
    else
        random_problem_check((unsigned) _i, check_regime);
}
END_TEST

/* A group of one inside the span of another, and, where almost nothing takes
 * time, devices that allow no op. */
static const struct {
    const char *graph, *cluster;
} traps[] = {
    { "*>* bytes=1 c.A.B=1 c.B.A=1; "
      "a t.A=9 t.B=3 colocate=g; b t.A=4 t.B=4 colocate=h; "
      "c t.A=1 t.B=9 colocate=g; d t.A=6 t.B=0; a>b; b>c; c>d",
      "A; B; A-B gbps=8" },
    { "*>* bytes=1 c.A.B=0 c.A.C=0 c.B.A=1 c.B.C=0 c.C.A=1 c.C.B=1; "
      "* memory=3 t.A=3 t.B=1 t.C=0; "
      "a; b memory=4 t.A=3 t.B=0 t.C=3; c; d t.A=0 t.B=9 t.C=0; e; "
      "f memory=4; a>b; a>c; b>c; b>e; b>f; c>d; c>f; d>f; e>f",
      "A memory_bytes=8; B memory_bytes=13; C memory_bytes=8; "
      "A-B gbps=8; B-C gbps=8; A-C gbps=8" },
};

START_TEST(traps_are_avoided)
{
    problem p = { 0 };

    problem_make(&p, traps[_i].graph, traps[_i].cluster, NULL);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);

        if (regime.memory != MO_MEMORY_LIVE)
            check_optimum(p.x, &regime, exhaustive_optimum(p.x, &regime), 1,
                          number);
    }
    problem_clear(&p);
}
END_TEST

/* Solves the whole at once, without cuts. */
static int64_t optimum_of(const mo_instance *x, const mo_regime *regime)
{
    mo_exact_options options = { .below_ns = INT64_MAX, .nodes = 20000 };
    mo_exact_result result = { 0 };
    int64_t optimum_ns = 0;

    MUST(mo_exact_solve(x, regime, &options, &result, &err));
    if (result.finished)
        optimum_ns = result.best ? result.best->makespan_ns : EXHAUSTIVE_NONE;
    mo_schedule_free(result.best);
    return optimum_ns;
}

START_TEST(segments_add_up_to_the_optimum_of_the_whole)
{
    problem p = { 0 };

    stack_make(&p, (unsigned) _i);
    for (int number = _i % 3; number < N_REGIMES; number += 3) {
        mo_regime regime = regime_of(number);
        int64_t optimum_ns = optimum_of(p.x, &regime);

        if (optimum_ns != 0)
            check_optimum(p.x, &regime, optimum_ns, (unsigned) _i, number);
    }
    problem_clear(&p);
}
END_TEST

static void check_same(const mo_method_result *a, const mo_method_result *b,
                       int threads)
{
    ck_assert_int_eq(a->schedule != NULL, b->schedule != NULL);
    ck_assert_int_eq(a->rounds, b->rounds);
    ck_assert_msg(a->lower_ns == b->lower_ns, "with %d threads", threads);
    if (!a->schedule)
        return;
    ck_assert_mem_eq(a->schedule->device, b->schedule->device,
                     (size_t) a->schedule->n * sizeof *a->schedule->device);
    ck_assert_mem_eq(a->schedule->start_ns, b->schedule->start_ns,
                     (size_t) a->schedule->n * sizeof *a->schedule->start_ns);
    ck_assert_int_eq(a->schedule->n_transfers, b->schedule->n_transfers);
}

/* Steps of eleven visit all regimes; the first three have each memory model and
 * both kinds of tensors. */
START_TEST(threads_do_not_change_the_answer)
{
    static const int threads[] = { 2, 5 };
    problem p = { 0 };
    mo_method_task task = { .regime = regime_of(11 * _i % N_REGIMES),
                            .seed = (uint64_t) _i,
                            .threads = 1,
                            .rounds = 2 };
    mo_method_result first;

    crowd_make(&p, 2 * (unsigned) _i);
    task.x = p.x;
    first = placed_with(&task);
    for (int i = 0; i < COUNT(threads); i++) {
        mo_method_result again;

        task.threads = threads[i];
        again = placed_with(&task);
        check_same(&first, &again, threads[i]);
        mo_method_result_clear(&again);
    }
    mo_method_result_clear(&first);
    problem_clear(&p);
}
END_TEST

/* Baselines that overflow do not count. */
START_TEST(no_quick_method_is_better)
{
    static const mo_method *const others[] = {
        &mo_method_single, &mo_method_m_topo, &mo_method_m_etf, &mo_method_heft,
        &mo_method_peft,   &mo_method_cpop,   &mo_method_hare
    };
    problem p = { 0 };
    mo_method_task task = { .regime = regime_of(_i % N_REGIMES),
                            .seed = (uint64_t) _i,
                            .threads = 1,
                            .rounds = 1 };
    mo_method_result ours;

    crowd_make(&p, (unsigned) _i);
    task.x = p.x;
    ours = placed_with(&task);
    for (int i = 0; i < COUNT(others); i++) {
        mo_method_result theirs = placed_by(others[i], &task);

        if (theirs.schedule && theirs.fits)
            ck_assert_msg(ours.schedule && ours.schedule->makespan_ns <=
                                               theirs.schedule->makespan_ns,
                          "seed %d: %s is better", _i, others[i]->name);
        mo_method_result_clear(&theirs);
    }
    mo_method_result_clear(&ours);
    problem_clear(&p);
}
END_TEST

START_TEST(without_time_there_is_an_answer)
{
    problem p = { 0 };
    mo_stop stop;
    mo_method_task task = { .regime = regime_of(_i),
                            .threads = 2,
                            .stop = &stop };
    mo_method_result placed;

    problem_make(&p,
                 "* t.A=2; * t.B=3; a; b; c; d; a>b bytes=9000;"
                 "a>c bytes=9000; b>d bytes=1000; c>d bytes=1000",
                 "A; B; A-B gbps=8", NULL);
    task.x = p.x;
    mo_stop_after(&stop, 0);
    mo_stop_request(&stop);
    placed = placed_with(&task);
    ck_assert_ptr_nonnull(placed.schedule);
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

START_TEST(what_fits_nowhere_is_reported)
{
    problem p = { 0 };
    mo_method_task task = { .regime = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                        MO_MEMORY_STATIC },
                            .threads = 1 };
    mo_method_result placed;

    problem_make(&p,
                 "* t.A=1; * t.B=1; a weight_bytes=9; b weight_bytes=9;"
                 "c weight_bytes=9; a>b bytes=5000; b>c bytes=5000",
                 "A memory_bytes=10; B memory_bytes=10; A-B gbps=8", NULL);
    task.x = p.x;
    placed = placed_with(&task);
    ck_assert_ptr_null(placed.schedule);
    ck_assert_str_ne(placed.why, "");
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

START_TEST(a_single_op_goes_where_it_is_fastest)
{
    problem p = { 0 };
    mo_method_task task = { .regime = regime_of(_i), .threads = 1 };
    mo_method_result placed;

    problem_make(&p, "a t.A=7 t.B=3", "A; B; A-B gbps=8", NULL);
    task.x = p.x;
    placed = placed_with(&task);
    ck_assert_int_eq(placed.schedule->makespan_ns, 3000);
    ck_assert_int_eq(placed.lower_ns, 3000);
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* More devices than states: then the bound is that of the whole. */
START_TEST(many_devices_are_no_trouble)
{
    enum { N_DEVICES = 20 };
    problem p = { 0 };
    char graph[512] = "*>* bytes=1000;", cluster[1024] = "";
    mo_method_task task = { .regime = regime_of(_i),
                            .threads = 2,
                            .rounds = 2 };
    mo_method_result placed;
    size_t at = strlen(graph);

    for (int k = 0; k < N_DEVICES; k++)
        at += (size_t) snprintf(graph + at, sizeof graph - at, "* t.d%d=%d;", k,
                                5 + (k * 7) % N_DEVICES);
    snprintf(graph + at, sizeof graph - at,
             "a; b; c; d; e pin=d19; f; a>b; a>c; b>d; c>d; d>e; e>f");
    at = 0;
    for (int k = 0; k < N_DEVICES; k++)
        at += (size_t) snprintf(cluster + at, sizeof cluster - at, "d%d;", k);
    for (int k = 1; k < N_DEVICES; k++)
        at += (size_t) snprintf(cluster + at, sizeof cluster - at,
                                "d0-d%d gbps=80;", k);
    problem_make(&p, graph, cluster, NULL);
    task.x = p.x;
    placed = placed_with(&task);
    ck_assert_ptr_nonnull(placed.schedule);
    ck_assert_int_gt(placed.lower_ns, 0);
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* Equal layers are one class: a round for one improves all. */
START_TEST(stacked_layers_take_their_number_of_times_as_long)
{
    static const int layers[] = { 3, 4 };
    int64_t makespan_ns[COUNT(layers)], lower_ns[COUNT(layers)];

    for (int i = 0; i < COUNT(layers); i++) {
        mo_zoo_config config = { "zoo", layers[i], 64, 4, 32, 1, "f32" };
        mo_method_task task = { .regime = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                            MO_MEMORY_NONE },
                                .seed = 1,
                                .threads = 2,
                                .rounds = 3 };
        problem p = { 0 };
        mo_graph *g = NULL;
        mo_method_result placed;

        MUST(mo_zoo_build(&config, &g, &err));
        ck_assert_int_eq(problem_try_graph(&p, g,
                                           "A model=v100; B model=t4;"
                                           "A-B gbps=100",
                                           NULL),
                         MO_OK);
        task.x = p.x;
        placed = placed_with(&task);
        makespan_ns[i] = placed.schedule->makespan_ns;
        lower_ns[i] = placed.lower_ns;
        mo_method_result_clear(&placed);
        problem_clear(&p);
    }
    ck_assert_int_gt(lower_ns[0], makespan_ns[0] * 8 / 10);
    ck_assert_int_gt(lower_ns[1], lower_ns[0]);
    ck_assert_int_lt(makespan_ns[1], makespan_ns[0] * 3 / 2);
}
END_TEST

/* The start of a model that is written without a search. */
START_TEST(no_start_of_a_model_is_better)
{
    mo_method_task task = { .regime = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                        MO_MEMORY_NONE },
                            .seed = 1,
                            .threads = 1,
                            .rounds = 1 };
    problem p = { 0 };
    mo_schedule *start = NULL;
    mo_method_result placed;
    int64_t start_ns;

    crowd_make(&p, (unsigned) _i);
    task.x = p.x;
    MUST(mo_bound_upper(p.x, &task.regime, &start, &start_ns, &err));
    placed = placed_with(&task);
    ck_assert_msg(placed.schedule && placed.schedule->makespan_ns <= start_ns,
                  "seed %d: %lld, the start %lld", _i,
                  (long long) placed.schedule->makespan_ns,
                  (long long) start_ns);
    mo_method_result_clear(&placed);
    mo_schedule_free(start);
    problem_clear(&p);
}
END_TEST

SUITE(method_moirai)
{
    SOME(small_problems_are_solved, at_length(120, 40), 4);
    EACH(traps_are_avoided, COUNT(traps));
    SOME(segments_add_up_to_the_optimum_of_the_whole,
         at_length(60, in_ci(8, 4)), 2);
    SOME(threads_do_not_change_the_answer, at_length(8, in_ci(3, 1)), 1);
    SOME(no_quick_method_is_better, at_length(12, in_ci(6, 3)), 1);
    SOME(no_start_of_a_model_is_better, at_length(8, 3), 1);
    SOME(without_time_there_is_an_answer, N_REGIMES, 6);
    TEST(what_fits_nowhere_is_reported);
    EACH(a_single_op_goes_where_it_is_fastest, N_REGIMES);
    SOME(many_devices_are_no_trouble, N_REGIMES, 3);
    SOME(stacked_layers_take_their_number_of_times_as_long, in_ci(1, 0), 0);
}
