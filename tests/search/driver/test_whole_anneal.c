/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of driver/whole_anneal.h. */
#include "solvers/search/driver/whole_anneal.h"

#include "schedule/heuristic/heft.h"
#include "schedule/validate/validate.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

static const mo_regime usual = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                 MO_MEMORY_STATIC };

/* Full devices, each with the ops that the other is fast at. */
static void make_search(problem *p, mo_method_task *task, mo_search_state *s)
{
    static const int device[] = { 1, 1, 0, 0 };

    problem_make(p,
                 "* weight_bytes=10; a t.A=1 t.B=2; b t.A=1 t.B=2;"
                 "c t.A=2 t.B=1; d t.A=2 t.B=1",
                 "A memory_bytes=20; B memory_bytes=20; A-B gbps=8", NULL);
    *task = (mo_method_task){ .x = p->x, .regime = usual, .seed = 1 };
    *s = (mo_search_state){ .task = task, .x = p->x, .regime = usual };
    MUST(mo_heft(p->x, &usual, device, &s->best, &err));
    ck_assert(s->best);
}

static int64_t run_pool(mo_search_anneal_pool *pool, const mo_search_state *s,
                        int64_t moves)
{
    mo_schedule *best = NULL;
    mo_verdict *verdict = NULL;
    int64_t makespan_ns;

    MUST(mo_search_anneal_pool_run(pool, s, moves, NULL, &best, &err));
    ck_assert_int_ge(pool->n, 1);
    ck_assert_int_le(pool->n, MO_SEARCH_ANNEAL_POOL_SIZE);
    makespan_ns = best->makespan_ns;
    MUST(mo_validate(s->x, best, 1, &verdict, &err));
    ck_assert_int_eq(verdict->n, 0);
    mo_verdict_free(verdict);
    mo_schedule_free(best);
    return makespan_ns;
}

START_TEST(it_ends_at_the_lower_bound)
{
    mo_search_anneal_pool pool = { 0 };
    mo_method_task task;
    mo_search_state s;
    problem p = { 0 };

    make_search(&p, &task, &s);
    s.lower_ns = 2000;
    ck_assert_int_eq(s.best->makespan_ns, 4000);
    ck_assert_int_eq(run_pool(&pool, &s, INT64_MAX / 2), 2000);
    mo_search_anneal_pool_clear(&pool);
    mo_schedule_free(s.best);
    problem_clear(&p);
}
END_TEST

/* Of 4, 4, 2, 2, 1 and 1 schedules in turn; then again of 4. */
START_TEST(half_of_the_schedules_are_dropped)
{
    static const int left[] = { 4, 4, 4, 4, 4, 4, 4, 2, 2, 2, 2, 1, 1, 4, 4 };
    mo_search_anneal_pool pool = { .moves = 10 };
    mo_method_task task;
    mo_search_state s;
    problem p = { 0 };

    make_search(&p, &task, &s);
    for (int i = 0; i < (int) (sizeof left / sizeof *left); i++) {
        ck_assert_int_le(run_pool(&pool, &s, 1), s.best->makespan_ns);
        ck_assert_int_eq(pool.n, left[i]);
    }
    ck_assert_int_eq(pool.moves, 16);
    mo_search_anneal_pool_clear(&pool);
    ck_assert_int_eq(pool.n, 0);
    mo_schedule_free(s.best);
    problem_clear(&p);
}
END_TEST

/* A shorter one from elsewhere takes part. */
START_TEST(the_incumbent_joins)
{
    static const int device[] = { 0, 0, 1, 1 };
    mo_search_anneal_pool pool = { .moves = 1 };
    mo_method_task task;
    mo_search_state s;
    problem p = { 0 };

    make_search(&p, &task, &s);
    ck_assert_int_gt(run_pool(&pool, &s, 1), 2000);
    mo_schedule_free(s.best);
    MUST(mo_heft(p.x, &usual, device, &s.best, &err));
    ck_assert_int_eq(run_pool(&pool, &s, 1), 2000);
    mo_search_anneal_pool_clear(&pool);
    mo_schedule_free(s.best);
    problem_clear(&p);
}
END_TEST

SUITE(whole_anneal)
{
    TEST(it_ends_at_the_lower_bound);
    TEST(half_of_the_schedules_are_dropped);
    TEST(the_incumbent_joins);
}
