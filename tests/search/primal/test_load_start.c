/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of primal/load_start.h. */
#include "solvers/search/primal/load_start.h"

#include <math.h>

#include "tests/search/bound/fork_join_case.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                   MO_MEMORY_STATIC };

/* Eight equal branches; an op of 4 us on B saves 4 us on A, and its ten bytes
 * are priced there. */
#define BRANCHES                                                               \
    "* t.A=4; * t.B=4; * weight_bytes=10; *>* c.A.B=0 c.B.A=0;"                \
    "u pin=A; a; b; c; d; e; f; g; h; v pin=A;"                                \
    "u>a; u>b; u>c; u>d; u>e; u>f; u>g; u>h;"                                  \
    "a>v; b>v; c>v; d>v; e>v; f>v; g>v; h>v"

static const struct {
    double price_ns; /* of a byte on B */
    int64_t makespan_ns;
    int n_on_b;
} cases[] = {
    { 0, 24000, 4 },   { 100, 24000, 4 }, { 390, 24000, 4 },
    { 410, 40000, 0 }, { 1e6, 40000, 0 },
};

static mo_schedule *start_of(const fork_join_case *f, double price_b,
                             double below_ns)
{
    double price_ns[] = { 0, price_b };
    mo_primal_load_start *start = NULL;
    mo_schedule *schedule = NULL;

    MUST(mo_primal_load_start_new(f->fork, &by_port, price_ns, 1, NULL, &start,
                                  &err));
    ck_assert_ptr_nonnull(start);
    MUST(mo_primal_load_start_schedule(start, f->problem.x, &by_port, price_ns,
                                       below_ns, &schedule, &err));
    mo_primal_load_start_free(start);
    return schedule;
}

START_TEST(branches_move_by_price)
{
    fork_join_case f;
    mo_schedule *schedule;
    int n_on_b = 0;

    fork_join_case_make(&f, BRANCHES, "A; B; A-B gbps=8", &by_port);
    schedule = start_of(&f, cases[_i].price_ns, INFINITY);
    ck_assert_ptr_nonnull(schedule);
    for (int i = 0; i < f.problem.x->n; i++)
        n_on_b += schedule->device[i] == 1;
    ck_assert_int_eq(n_on_b, cases[_i].n_on_b);
    ck_assert_int_eq(schedule->makespan_ns, cases[_i].makespan_ns);
    mo_schedule_free(schedule);
    fork_join_case_clear(&f);
}
END_TEST

START_TEST(only_cheaper_ones_are_taken)
{
    fork_join_case f;
    mo_schedule *schedule;

    fork_join_case_make(&f, BRANCHES, "A; B; A-B gbps=8", &by_port);
    schedule = start_of(&f, 100, 28001);
    ck_assert_ptr_nonnull(schedule);
    mo_schedule_free(schedule);
    ck_assert_ptr_null(start_of(&f, 100, 28000));
    fork_join_case_clear(&f);
}
END_TEST

START_TEST(one_branch_needs_no_rounding)
{
    double price_ns[] = { 0, 0 };
    mo_primal_load_start *start = NULL;
    fork_join_case f;

    fork_join_case_make(
        &f, "* t.A=1; * t.B=1; *>* bytes=0; u; a; b; v; u>a; a>b; b>v",
        "A; B; A-B gbps=8", &by_port);
    MUST(mo_primal_load_start_new(f.fork, &by_port, price_ns, 1, NULL, &start,
                                  &err));
    ck_assert_ptr_null(start);
    fork_join_case_clear(&f);
}
END_TEST

SUITE(load_start)
{
    EACH(branches_move_by_price, COUNT(cases));
    TEST(only_cheaper_ones_are_taken);
    TEST(one_branch_needs_no_rounding);
}
