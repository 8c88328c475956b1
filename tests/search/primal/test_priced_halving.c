/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of primal/priced_halving.h, and of budgets in
 * mo_cg_relaxation_new(), which provides its starts. */
#include "solvers/search/primal/successive_halving.h"

#include "schedule/heuristic/heft.h"
#include "solvers/search/bound/colgen/branch_and_price.h"
#include "tests/search/bound/fork_join_case.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"

enum { N_OPS = 10, MOVES = 200 };

static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                   MO_MEMORY_STATIC };

/* Eight equal branches; an op of 4 us on B saves 4 us on A, and its ten bytes
 * are priced there. */
#define BRANCHES                                                               \
    "* t.A=4; * t.B=4; * weight_bytes=10; *>* c.A.B=0 c.B.A=0;"                \
    "u pin=A; a; b; c; d; e; f; g; h; v pin=A;"                                \
    "u>a; u>b; u>c; u>d; u>e; u>f; u>g; u>h;"                                  \
    "a>v; b>v; c>v; d>v; e>v; f>v; g>v; h>v"

static int count_on_b(const int *device, int n)
{
    int n_on_b = 0;

    for (int i = 0; i < n; i++)
        n_on_b += device[i] == 1;
    return n_on_b;
}

static double priced_ns(const mo_schedule *s, const double *price_ns)
{
    return (double) s->makespan_ns +
           10 * price_ns[1] * count_on_b(s->device, N_OPS);
}

static const struct {
    double price_ns; /* of a byte on B */
    int64_t makespan_ns;
    int n_on_b;
} cases[] = {
    { 0, 24000, 4 },   { 100, 24000, 4 }, { 390, 24000, 4 },
    { 410, 40000, 0 }, { 1e6, 40000, 0 },
};

/* From all on A, and from all between u and v on B. */
START_TEST(the_least_priced_time_is_found)
{
    double price_ns[] = { 0, cases[_i / 2].price_ns };
    mo_primal_anneal_options anneal = { .seed = 5,
                                        .moves = MOVES,
                                        .price_ns = price_ns };
    int placement[N_OPS];
    mo_schedule *start = NULL, *best = NULL;
    mo_primal_halving_others others = { .n = 0 };
    fork_join_case f;

    fork_join_case_make(&f, BRANCHES, "A; B; A-B gbps=8", &by_port);
    for (int i = 0; i < N_OPS; i++)
        placement[i] = i != f.segment.u && i != f.segment.v && _i % 2 == 1;
    MUST(mo_heft(f.problem.x, &by_port, placement, &start, &err));
    ck_assert_ptr_nonnull(start);
    MUST(mo_primal_priced_halving(
        f.problem.x, &by_port, start,
        &(mo_primal_halving_options){
            .fork = f.fork, .anneal = &anneal, .others = &others },
        &best, &err));
    ck_assert_ptr_nonnull(best);
    ck_assert_int_gt(others.n, 0);
    for (int i = 0; i < others.n; i++) {
        check_valid(f.problem.x, others.schedules[i]);
        ck_assert_double_ge(priced_ns(others.schedules[i], price_ns),
                            priced_ns(best, price_ns));
        mo_schedule_free(others.schedules[i]);
    }
    ck_assert_int_eq(count_on_b(best->device, N_OPS), cases[_i / 2].n_on_b);
    ck_assert_int_eq(best->makespan_ns, cases[_i / 2].makespan_ns);
    mo_schedule_free(best);
    mo_schedule_free(start);
    fork_join_case_clear(&f);
}
END_TEST

static const struct {
    double budget_ns;
    int64_t time_ns;
    bool is_feasible;
} budgets[] = {
    { 4100, 16000, true }, { 3900, 16000, false }, { 3900, 20000, true },
    { 100, 31000, false }, { 100, 32000, true },
};

/* Four branches on B take 16 us and 4000 ns of budget, none 32 us. */
START_TEST(a_budget_limits_branches)
{
    double price_ns[] = { 0, 100 };
    mo_cg_budget budget = { .price_ns = price_ns, .ns = budgets[_i].budget_ns };
    mo_cg_relaxation *relaxation = NULL;
    fork_join_case f;

    fork_join_case_make(&f, BRANCHES, "A; B; A-B gbps=8", &by_port);
    MUST(mo_cg_relaxation_new(&(mo_forkjoin_case){ f.fork, 0, 0 },
                              budgets[_i].time_ns, NULL, &budget, NULL,
                              &relaxation, &err));
    ck_assert_int_eq(relaxation != NULL, budgets[_i].is_feasible);
    mo_cg_relaxation_free(relaxation);
    fork_join_case_clear(&f);
}
END_TEST

SUITE(priced_halving)
{
    EACH(the_least_priced_time_is_found, 2 * COUNT(cases));
    EACH(a_budget_limits_branches, COUNT(budgets));
}
