/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of primal/milp_subproblem.h: results of a solver are correct or
 * rejected. */
#include <config.h>

#include "solvers/registry.h"
#include "solvers/search/primal/milp_subproblem.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/parallel_for.h"
#include "schedule/heuristic/upper_bound.h"
#include "schedule/validate/validate.h"
#include "tests/support/exhaustive.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

enum { N_PROBLEMS = 120, FEW_PROBLEMS = 4, SECONDS = 300 };

static mo_solver_install highs;

static void find_highs(void)
{
    MUST(mo_solver_highs.find(NULL, &highs, &err));
    if (!highs.program && !highs.library) {
        fprintf(stderr, "skipped: no HiGHS here\n");
        exit(77);
    }
    MUST(mo_solver_query_version(&mo_solver_highs,
                                 highs.program ? MO_SOLVER_VIA_PROCESS
                                               : MO_SOLVER_VIA_LIBRARY,
                                 &highs, &err));
}

static mo_primal_milp_options asking_highs(void)
{
    return (mo_primal_milp_options){ .solver = &mo_solver_highs,
                                     .found = &highs,
                                     .seconds = 60 };
}

typedef struct world {
    problem p;
    mo_regime regime;
    int64_t optimum_ns;
} world;

static void world_make(world *w, unsigned seed)
{
    random_problem r;

    *w = (world){ .regime = { (mo_congestion) (seed % 4),
                              (mo_tensors) (seed / 4 % 2),
                              (mo_memory) (seed / 8 % 3) } };
    random_problem_make(&r, seed);
    problem_make(&w->p, r.graph, r.cluster, NULL);
    random_problem_clear(&r);
    w->optimum_ns = exhaustive_optimum(w->p.x, &w->regime);
}

static void check_valid(const world *w, const mo_primal_milp_result *r,
                        unsigned seed)
{
    mo_verdict *verdict;

    if (!r->schedule)
        return;
    MUST(mo_validate(w->p.x, r->schedule, 1, &verdict, &err));
    ck_assert_msg(verdict->n == 0, "seed %u: %s", seed,
                  verdict->violations[0].text);
    mo_verdict_free(verdict);
}

/* Exhaustive search applies the models' bound on live memory: a schedule that
 * does not need it may be shorter, and such a model gives no bound. */
static void check_optimum(const world *w, const mo_primal_milp_result *r,
                          unsigned seed)
{
    bool live = w->regime.memory == MO_MEMORY_LIVE;

    ck_assert_msg((w->optimum_ns == EXHAUSTIVE_NONE) == !r->schedule, "seed %u",
                  seed);
    if (!r->schedule) {
        ck_assert_msg(!r->proven, "seed %u", seed);
        return;
    }
    ck_assert_msg(
        r->schedule->makespan_ns == w->optimum_ns, "seed %u: %lld ns, not %lld",
        seed, (long long) r->schedule->makespan_ns, (long long) w->optimum_ns);
    ck_assert_msg(r->proven == !live, "seed %u", seed);
    ck_assert_msg(r->lower_ns <= w->optimum_ns &&
                      (live || (double) r->lower_ns >=
                                   0.999998 * (double) w->optimum_ns - 1),
                  "seed %u: a bound of %lld ns where %lld is the least", seed,
                  (long long) r->lower_ns, (long long) w->optimum_ns);
}

static void solve_problem(unsigned seed)
{
    mo_primal_milp_options options = asking_highs();
    mo_primal_milp_result result;
    world w;

    world_make(&w, seed);
    MUST(mo_primal_milp_solve(w.p.x, &w.regime, &options, &result, &err));
    check_valid(&w, &result, seed);
    check_optimum(&w, &result, seed);
    mo_primal_milp_result_clear(&result);
    problem_clear(&w.p);
}

START_TEST(the_optimum_is_found_and_proven)
{
    solve_problem((unsigned) _i);
}
END_TEST

START_TEST(a_start_is_improved_or_kept)
{
    mo_primal_milp_options options = asking_highs();
    mo_schedule *start = NULL;
    mo_primal_milp_result result;
    int64_t bound_ns;
    world w;

    world_make(&w, (unsigned) _i);
    MUST(mo_bound_upper(w.p.x, &w.regime, &start, &bound_ns, &err));
    options.start = start;
    MUST(mo_primal_milp_solve(w.p.x, &w.regime, &options, &result, &err));
    check_valid(&w, &result, (unsigned) _i);
    if (start && result.schedule)
        ck_assert_int_le(result.schedule->makespan_ns, start->makespan_ns);
    if (w.regime.memory != MO_MEMORY_LIVE)
        check_optimum(&w, &result, (unsigned) _i);
    mo_primal_milp_result_clear(&result);
    mo_schedule_free(start);
    problem_clear(&w.p);
}
END_TEST

static void solve_job(void *context, int job, int thread)
{
    (void) context;
    (void) thread;
    solve_problem((unsigned) job);
}

START_TEST(several_threads_may_solve_at_once)
{
    mo_parallel_for(4, 12, solve_job, NULL);
}
END_TEST

START_TEST(without_time_no_solver_runs)
{
    mo_primal_milp_options options = asking_highs();
    mo_stop stop;
    mo_primal_milp_result result;
    world w;

    world_make(&w, 1);
    mo_stop_after(&stop, 100);
    mo_stop_request(&stop);
    options.stop = &stop;
    MUST(mo_primal_milp_solve(w.p.x, &w.regime, &options, &result, &err));
    ck_assert_ptr_null(result.schedule);
    ck_assert_int_eq(result.lower_ns, 0);
    ck_assert(!result.proven);
    problem_clear(&w.p);
}
END_TEST

/* Programs that replace HiGHS. */
static const char *const wrong_solvers[] = {
    "exit 1",
    "echo '  Primal bound      1'; echo '  Dual bound        9999999'",
    ("printf '=obj= 1\\nw 1\\nx_0_0 1\\n' >solution.sol; "
     "echo '  Status            Optimal'; echo '  Dual bound        1'"),
    "kill -9 $$",
};

START_TEST(wrong_results_are_rejected)
{
    mo_solver_install found = { .program = realpath(".", NULL) };
    mo_primal_milp_options options = asking_highs();
    char script[512], path[4096];
    mo_schedule *start = NULL;
    mo_primal_milp_result result;
    int64_t bound_ns;
    world w;

    ck_assert_ptr_nonnull(found.program);
    snprintf(path, sizeof path, "%.4000s/highs", found.program);
    free(found.program);
    found.program = path;
    snprintf(script, sizeof script, "#!/bin/sh\n%s\n", wrong_solvers[_i]);
    scratch_write("highs", script);
    ck_assert_int_eq(chmod("highs", 0755), 0);
    world_make(&w, 1);
    MUST(mo_bound_upper(w.p.x, &w.regime, &start, &bound_ns, &err));
    ck_assert_ptr_nonnull(start);
    options.found = &found;
    options.start = start;
    MUST(mo_primal_milp_solve(w.p.x, &w.regime, &options, &result, &err));
    ck_assert_ptr_null(result.schedule);
    ck_assert(!result.proven && result.lower_ns <= w.optimum_ns);
    mo_primal_milp_result_clear(&result);
    mo_schedule_free(start);
    problem_clear(&w.p);
}
END_TEST

/* a, b and the transfer take multiples of 500 ns. */
static const struct {
    double bound_ns;
    int64_t step_ns, lower_ns;
} bounds[] = {
    { 0, 1, 0 },          { -5, 1, 0 },        { 1e300, 1, 0 },
    { 1500, 1, 1500 },    { 1499.9, 1, 1500 }, { 1600, 1, 2000 },
    { 1500.01, 1, 1500 }, /* might be 1500 and a tolerance */
    { 1600, 1000, 500 },  /* three items may have lost 500 ns each */
};

START_TEST(bounds_are_what_can_be_reached)
{
    problem p = { 0 };

    problem_make(&p, "* t.A=1.5 t.B=2; a; b; a>b c.A.B=0.5 c.B.A=1",
                 "A; B; A-B gbps=8", NULL);
    for (int i = 0; i < COUNT(bounds); i++)
        ck_assert_msg(
            mo_primal_milp_bound_ns(p.x, bounds[i].bound_ns,
                                    bounds[i].step_ns) == bounds[i].lower_ns,
            "%g is %lld, not %lld", bounds[i].bound_ns,
            (long long) mo_primal_milp_bound_ns(p.x, bounds[i].bound_ns,
                                                bounds[i].step_ns),
            (long long) bounds[i].lower_ns);
    problem_clear(&p);
}
END_TEST

SUITE(milp_subproblem)
{
    find_highs();
    tcase_set_timeout(tests, SECONDS);
    tcase_add_checked_fixture(tests, scratch_enter, scratch_leave);
    SOME(the_optimum_is_found_and_proven, N_PROBLEMS, FEW_PROBLEMS);
    SOME(a_start_is_improved_or_kept, N_PROBLEMS, FEW_PROBLEMS);
    TEST(several_threads_may_solve_at_once);
    TEST(without_time_no_solver_runs);
    EACH(wrong_results_are_rejected, COUNT(wrong_solvers));
    TEST(bounds_are_what_can_be_reached);
}
