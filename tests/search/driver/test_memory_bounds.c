/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of driver/priced_bound.h and of the jobs that raise bounds where memory
 * binds: they are never above the optimum, and close to it along a chain.
 */
#include "solvers/search/driver/priced_bound.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "solvers/registry.h"
#include "solvers/search/driver/job.h"
#include "tests/support/exhaustive.h"
#include "tests/support/exhaustive_live.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"

extern const mo_search_job mo_search_job_memory_prices, mo_search_job_root_lp;

static void open_search(mo_search_state *s, const mo_method_task *task)
{
    MUST(mo_search_state_open(task, s, &err));
    MUST(mo_search_initial_schedules(s, &err));
    MUST(mo_chain_blocks_new(s->classes, 1, NULL, &s->blocks, &err));
    MUST(mo_search_update_bounds(s, "blocks", &err));
}

static void raise_by_prices(mo_search_state *s)
{
    int64_t bound_ns = 0;

    MUST(mo_search_priced_bound_new(s, &s->priced, &err));
    if (s->priced)
        MUST(mo_search_priced_bound_compute(s->priced, NULL, &bound_ns, &err));
    mo_search_raise_lower(s, bound_ns, "prices");
}

/* Runs a job for so many rounds at most, each with much work; returns how many
 * it had. */
static int run_job(mo_search_state *s, const mo_search_job *job, int rounds)
{
    const mo_search_grant grant = { .work = INT64_C(100000000000), .seed = 1 };
    _Atomic int64_t work = 0;
    const mo_stop stop = { .deadline_ns = INT64_MAX, .work = &work };
    void *self = NULL;
    int n = 1, n_rounds = 0;

    MUST(job->open(s, &self, &err));
    while (self && n > 0 && n_rounds < rounds) {
        n = 0;
        MUST(job->plan(self, &grant, &n, &err));
        for (int i = 0; i < n; i++)
            MUST(job->run(self, i, &stop, &err));
        if (n > 0)
            MUST(job->merge(self, &stop, &err));
        n_rounds += n > 0;
    }
    if (self)
        job->close(self);
    return n_rounds;
}

static const mo_solver *highs(void)
{
    const char *library = getenv("MOIRAI_HIGHS_LIB");

    return library && *library ? mo_solver_table[0] : NULL;
}

static void check_regime(const problem *p, int number, unsigned seed)
{
    mo_regime regime = regime_of(number);
    mo_method_task task = {
        .x = p->x, .regime = regime, .threads = 1, .assist = highs()
    };
    bool live = regime.memory == MO_MEMORY_LIVE;
    int64_t optimum, prices_ns, root_ns;
    mo_search_state s;

    if (number % 5 != (int) (seed % 5) || regime.memory == MO_MEMORY_NONE)
        return;
    optimum = live ? exhaustive_live_optimum(p->x, &regime)
                   : exhaustive_optimum(p->x, &regime);
    open_search(&s, &task);
    raise_by_prices(&s);
    run_job(&s, &mo_search_job_memory_prices, INT_MAX);
    prices_ns = s.lower_ns;
    run_job(&s, &mo_search_job_root_lp, 1);
    root_ns = s.lower_ns;
    mo_search_state_close(&s);
    ck_assert_msg(optimum == EXHAUSTIVE_NONE ||
                      (prices_ns <= optimum && root_ns <= optimum),
                  "seed %u, regime %d: %lld by prices, %lld by the root LP, "
                  "optimum %lld",
                  seed, number, (long long) prices_ns, (long long) root_ns,
                  (long long) optimum);
}

START_TEST(no_schedule_beats_them)
{
    random_problem_check_small((unsigned) _i, check_regime);
}
END_TEST

/* A chain of 60 ops, of which half fit on A, where they take a third: two runs
 * and a transfer are optimal. */
static void make_chain(problem *p)
{
    char graph[4096];
    size_t n = (size_t) snprintf(graph, sizeof graph,
                                 "* t.A=1 t.B=3 weight_bytes=10 "
                                 "workspace_bytes=0; *>* c.A.B=2 c.B.A=2; o0");

    for (int i = 1; i < 60; i++)
        n += (size_t) snprintf(graph + n, sizeof graph - n, "; o%d; o%d>o%d", i,
                               i - 1, i);
    problem_make(p, graph, "A memory_bytes=300; B memory_bytes=600", NULL);
}

START_TEST(prices_are_close_along_a_chain)
{
    const mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                               _i == 0 ? MO_MEMORY_STATIC : MO_MEMORY_LIVE };
    problem p = { 0 };
    mo_search_state s;

    make_chain(&p);
    open_search(&s,
                &(mo_method_task){ .x = p.x, .regime = regime, .threads = 1 });
    ck_assert_int_gt(s.segments->n, 1);
    raise_by_prices(&s);
    ck_assert_int_ge(s.lower_ns, 119900);
    ck_assert_int_le(s.lower_ns, 122000);
    mo_search_state_close(&s);
    problem_clear(&p);
}
END_TEST

/* Seven branches of 4 us, too many to be enumerated, on two equal devices, of
 * which B cannot hold all: four are on one of them.  By cases, and by
 * refutation after them. */
START_TEST(whole_branches_are_counted)
{
    const mo_regime regime = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                               MO_MEMORY_STATIC };
    problem p = { 0 };
    mo_search_state s;
    int64_t prices_ns;

    problem_make(&p,
                 "* t.A=4 t.B=4 weight_bytes=10 workspace_bytes=0; *>* c.A.B=0 "
                 "c.B.A=0; u; a; b; c; d; e; f; g; v; u>a; u>b; u>c; u>d; u>e;"
                 "u>f; u>g; a>v; b>v; c>v; d>v; e>v; f>v; g>v",
                 "A memory_bytes=90; B memory_bytes=60", NULL);
    open_search(&s,
                &(mo_method_task){ .x = p.x, .regime = regime, .threads = 1 });
    raise_by_prices(&s);
    prices_ns = s.lower_ns;
    ck_assert_int_ge(
        run_job(&s, &mo_search_job_memory_prices, _i == 0 ? 1 : INT_MAX), 1);
    ck_assert_int_gt(s.lower_ns, prices_ns);
    ck_assert_int_ge(s.lower_ns, _i == 0 ? 23990 : 23000);
    ck_assert_int_le(s.lower_ns, 24000);
    mo_search_state_close(&s);
    problem_clear(&p);
}
END_TEST

SUITE(memory_bounds)
{
    SOME(no_schedule_beats_them, at_length(1000, 60), 1);
    EACH(prices_are_close_along_a_chain, 2);
    EACH(whole_branches_are_counted, 2);
}
