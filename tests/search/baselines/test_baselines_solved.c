/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of the methods in solvers/search/baselines with programs solved by
 * HiGHS. */
#include <stdio.h>

#include "models/write/lp_writer.h"
#include "solvers/search/method.h"
#include "solvers/search/baselines/baseline_milp.h"
#include "tests/support/dense_problem.h"
#include "tests/support/validated_placement.h"
#include "tests/support/model_case.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/scratch.h"
#include "tests/support/highs_solve.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"

enum { A, B, C, D };

static const mo_regime plain = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                                 MO_MEMORY_NONE };

static mo_method_result place_until(const mo_method *method,
                                    const mo_instance *x,
                                    const mo_regime *regime,
                                    const mo_stop *stop)
{
    mo_solver_install found = { 0 };
    const mo_method_task task = { .x = x,
                                  .regime = *regime,
                                  .threads = 1,
                                  .stop = stop,
                                  .assist = &mo_solver_highs,
                                  .found = &found };
    mo_method_result placed = { 0 };

    MUST(mo_solver_highs.find(getenv("MOIRAI_HIGHS_LIB"), &found, &err));
    MUST(method->place(&task, &placed, &err));
    mo_solver_install_clear(&found);
    return placed;
}

static mo_method_result place(const mo_method *method, const mo_instance *x,
                              const mo_regime *regime)
{
    return place_until(method, x, regime, NULL);
}

static int device_of(const problem *p, const mo_method_result *placed,
                     const char *name)
{
    return placed->schedule->device[problem_op(p, name)];
}

/*
 * When a has ended on A, at 2, d could start there at once and b at 4, when it
 * has got what e made on B. m-ETF starts d, and b and g come after it, at 7
 * and 9. For m-SCT b is the favourite child of a: the program's w is 2 + 100 f
 * + 22 and 1 + 3 (1 - f) + 22, equal at f = 2 / 103. So A waits for b, then
 * goes on with g, b's own, and d is left to B, where it can start at 12.
 */
static const char favourite_child[] =
    "a t.A=2 t.B=2; b t.A=2 t.B=2; d t.A=5 t.B=5; e t.A=1 t.B=1;"
    "g t.A=20 t.B=20; a>b c.A.B=100 c.B.A=100; a>d c.A.B=10 c.B.A=10;"
    "e>b c.A.B=3 c.B.A=3; b>g c.A.B=9 c.B.A=9";

START_TEST(m_sct_waits_for_the_favourite_child)
{
    problem p = { 0 };
    mo_method_result etf, sct;

    problem_make(&p, favourite_child, "A; B; A-B gbps=8", NULL);
    etf = place(&mo_method_m_etf, p.x, &plain);
    sct = place(&mo_method_m_sct, p.x, &plain);
    ck_assert_int_eq(etf.schedule->makespan_ns, 29000);
    ck_assert_int_eq(sct.schedule->makespan_ns, 26000);
    ck_assert_int_eq(device_of(&p, &sct, "d"), B);
    ck_assert_int_eq(sct.schedule->start_ns[problem_op(&p, "d")], 12000);
    mo_method_result_clear(&etf);
    mo_method_result_clear(&sct);
    problem_clear(&p);
}
END_TEST

/* The same with h, which could start on any device at 2 and so is urgent: A
 * takes it while it waits. Then it waits no longer, since its last op has no
 * favourite child, and d comes first. */
START_TEST(m_sct_lets_what_is_urgent_go_first)
{
    char graph[600];
    problem p = { 0 };
    mo_method_result sct;

    snprintf(graph, sizeof graph, "%s; h t.A=1 t.B=1; a>h c.A.B=0 c.B.A=0",
             favourite_child);
    problem_make(&p, graph, "A; B; A-B gbps=8", NULL);
    sct = place(&mo_method_m_sct, p.x, &plain);
    ck_assert_int_eq(sct.schedule->start_ns[problem_op(&p, "h")], 2000);
    ck_assert_int_eq(device_of(&p, &sct, "h"), A);
    ck_assert_int_eq(sct.schedule->start_ns[problem_op(&p, "d")], 3000);
    ck_assert_int_eq(sct.schedule->start_ns[problem_op(&p, "b")], 8000);
    mo_method_result_clear(&sct);
    problem_clear(&p);
}
END_TEST

/* C and D are four times as fast, and the program puts all of the op there; by
 * its start alone it would go to A. */
START_TEST(getf_keeps_to_the_group_that_the_program_wants)
{
    problem p = { 0 };
    mo_method_result getf, etf;

    problem_make(&p, "a t.A=8 t.B=8 t.C=2 t.D=2",
                 "A; B; C; D; A-B gbps=8; B-C gbps=8; C-D gbps=8", NULL);
    getf = place(&mo_method_getf, p.x, &plain);
    etf = place(&mo_method_m_etf, p.x, &plain);
    ck_assert_int_eq(device_of(&p, &getf, "a"), C);
    ck_assert_int_eq(getf.schedule->makespan_ns, 2000);
    ck_assert_int_eq(device_of(&p, &etf, "a"), A);
    mo_method_result_clear(&etf);
    mo_method_result_clear(&getf);
    problem_clear(&p);
}
END_TEST

/* Sent from A to B b takes 3 + 4, behind c on A 3 + 5; C is slower. */
START_TEST(pesto_is_best_on_the_two_fastest_devices)
{
    problem p = { 0 };
    mo_method_result pesto;

    problem_make(&p,
                 "* t.A=5 t.B=5 t.C=6; a t.A=1 t.B=2 t.C=9; b t.B=4; c; "
                 "a>b bytes=3000; a>c bytes=3000",
                 "A; B; C; A-B gbps=8; A-C gbps=8; B-C gbps=8", NULL);
    pesto = place(&mo_method_pesto, p.x, &plain);
    ck_assert_int_eq(pesto.schedule->makespan_ns, 8000);
    ck_assert_int_eq(device_of(&p, &pesto, "a"), A);
    ck_assert_int_eq(device_of(&p, &pesto, "b"), B);
    ck_assert_int_eq(device_of(&p, &pesto, "c"), A);
    mo_method_result_clear(&pesto);
    problem_clear(&p);
}
END_TEST

static const struct {
    const char *graph, *cluster, *why;
} hopeless[] = {
    { "* t.A=1 t.B=1 t.C=9; a pin=C; b; a>b bytes=8",
      "A; B; C; A-B gbps=8; B-C gbps=8", "is pinned to 'C'" },
    { "* t.A=1 t.B=1 t.C=9 weight_bytes=6; a; b; c",
      "A memory_bytes=6; B memory_bytes=6; C memory_bytes=6; A-B gbps=8; "
      "B-C gbps=8",
      "infeasible" },
};

START_TEST(pesto_reports_why_it_has_no_schedule)
{
    const mo_regime within_sums = { .memory = MO_MEMORY_STATIC };
    problem p = { 0 };
    mo_method_result pesto;

    problem_make(&p, hopeless[_i].graph, hopeless[_i].cluster, NULL);
    pesto = place(&mo_method_pesto, p.x, &within_sums);
    ck_assert_ptr_null(pesto.schedule);
    ck_assert_msg(strstr(pesto.why, hopeless[_i].why), "%s", pesto.why);
    mo_method_result_clear(&pesto);
    problem_clear(&p);
}
END_TEST

/* Its integer program has a MIP start, which is a solution when time is
 * short. */
START_TEST(pesto_answers_within_its_time)
{
    mo_regime by_port = { .memory = MO_MEMORY_NONE };
    problem p = { 0 };
    mo_stop stop = { 0 };
    mo_method_result pesto;
    int64_t begin_ns = mo_stop_clock_ns();

    crowd_make(&p, 3);
    for (int i = 0; i < p.x->n; i++)
        p.x->pin[i] = p.x->group[i] = MO_FREE;
    mo_stop_after(&stop, 0.5);
    pesto = place_until(&mo_method_pesto, p.x, &by_port, &stop);
    ck_assert_msg(pesto.schedule, "%s", pesto.why);
    ck_assert_int_lt(mo_stop_clock_ns() - begin_ns, INT64_C(20000000000));
    mo_method_result_clear(&pesto);
    problem_clear(&p);
}
END_TEST

/* A signal that arrives while the model is made stops the method. */
START_TEST(a_stop_request_starts_no_solver)
{
    mo_regime by_port = { .memory = MO_MEMORY_NONE };
    problem p = { 0 };
    mo_stop stop = { 0 };
    mo_method_result pesto;

    crowd_make(&p, 3);
    for (int i = 0; i < p.x->n; i++)
        p.x->pin[i] = p.x->group[i] = MO_FREE;
    mo_stop_after(&stop, 5);
    mo_stop_request(&stop);
    pesto = place_until(&mo_method_pesto, p.x, &by_port, &stop);
    ck_assert_ptr_null(pesto.schedule);
    ck_assert_str_eq(pesto.why, "stopped before the solver began");
    mo_method_result_clear(&pesto);
    problem_clear(&p);
}
END_TEST

static const mo_method *const methods[] = { &mo_method_m_sct, &mo_method_getf,
                                            &mo_method_pesto };

/* Pesto's two devices may be too small, or others pinned to; the other methods
 * always have a schedule. */
START_TEST(only_memory_is_violated_and_that_is_reported)
{
    const mo_regime regime = regime_of(_i % N_REGIMES);
    random_problem text;
    problem p = { 0 };

    random_problem_make(&text, (unsigned) _i);
    problem_make(&p, text.graph, text.cluster, NULL);
    for (int m = 0; m < COUNT(methods); m++) {
        mo_method_result placed = place(methods[m], p.x, &regime);

        if (placed.schedule)
            check_judged(p.x, &placed, methods[m]->name, _i);
        else
            ck_assert_msg(methods[m] == &mo_method_pesto && placed.why[0],
                          "%s, seed %d: %s", methods[m]->name, _i, placed.why);
        mo_method_result_clear(&placed);
    }
    problem_clear(&p);
    random_problem_clear(&text);
}
END_TEST

START_TEST(many_ops_are_placed_by_their_programs)
{
    const mo_regime regime = regime_of(_i % N_REGIMES);
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int m = 0; m < 2; m++) {
        mo_method_result placed = place(methods[m], p.x, &regime);

        ck_assert_msg(placed.schedule, "%s, seed %d: %s", methods[m]->name, _i,
                      placed.why);
        check_judged(p.x, &placed, methods[m]->name, _i);
        mo_method_result_clear(&placed);
    }
    problem_clear(&p);
}
END_TEST

START_TEST(no_ops_take_no_time)
{
    problem p = { 0 };

    problem_make(&p, "", "A; B; A-B gbps=8", NULL);
    for (int m = 0; m < COUNT(methods); m++) {
        mo_method_result placed = place(methods[m], p.x, &plain);

        ck_assert_msg(placed.schedule, "%s: %s", methods[m]->name, placed.why);
        ck_assert_int_eq(placed.schedule->makespan_ns, 0);
        mo_method_result_clear(&placed);
    }
    problem_clear(&p);
}
END_TEST

static void write_relaxed(const mo_model *model, const char *path)
{
    mo_sink *exact = NULL, *sink = NULL;
    mo_out *out = NULL;

    MUST(mo_out_open(path, &out, &err));
    MUST(mo_lp_writer_new(out, NULL, &exact, &err));
    MUST(mo_baseline_lp_relax_new(exact, &sink, &err));
    MUST(mo_model_write(model, sink, &err));
    mo_sink_free(sink);
    MUST(mo_out_commit(out, &err));
}

/* Two ops of 3 on two equal devices that may be split take 3 as well, three
 * take 4.5 and not 6. */
START_TEST(a_relaxed_model_may_split_ops)
{
    problem p = { 0 };
    model_case c;
    solved result;

    problem_make(&p, "* t.A=3 t.B=3; a; b; c", "A; B; A-B gbps=8", NULL);
    model_case_open(&c, &p, &mo_formulation_getf, &plain, false);
    write_relaxed(&c.model, "relaxed.lp");
    solve_file("relaxed.lp", &result);
    ck_assert_int_eq(result.integers, 0);
    ck_assert_int_eq(result.rows, model_case_count(&c, NULL));
    ck_assert_double_eq_tol(result.objective * (double) c.frame->unit_ns, 4500,
                            1e-3);
    ck_assert_double_eq_tol(model_case_solve(&c), 6000, 1e-3);
    solved_clear(&result);
    model_case_close(&c);
    problem_clear(&p);
}
END_TEST

SUITE(baselines_solved)
{
    solve_or_skip();
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    TEST(m_sct_waits_for_the_favourite_child);
    TEST(m_sct_lets_what_is_urgent_go_first);
    TEST(getf_keeps_to_the_group_that_the_program_wants);
    TEST(pesto_is_best_on_the_two_fastest_devices);
    EACH(pesto_reports_why_it_has_no_schedule, COUNT(hopeless));
    TEST(pesto_answers_within_its_time);
    TEST(a_stop_request_starts_no_solver);
    SOME(only_memory_is_violated_and_that_is_reported, 72, 3);
    SOME(many_ops_are_placed_by_their_programs, 24, 2);
    TEST(no_ops_take_no_time);
    TEST(a_relaxed_model_may_split_ops);
}
