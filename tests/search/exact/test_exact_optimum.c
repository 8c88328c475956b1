/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of solvers/search/exact/exact.h: the optimum of random problems equals
 * that of exhaustive search. */
#include "solvers/search/exact/exact.h"

#include <stdio.h>

#include "tests/search/exact/exact_case.h"
#include "tests/support/exhaustive.h"
#include "tests/support/exhaustive_live.h"
#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"
#include "tests/support/tiny_problem.h"
#include "tests/support/reference_validate.h"

enum { SEEDS_AT_ONCE = 10 };

static int seeds_at_once(void)
{
    return how_many(SEEDS_AT_ONCE, 3);
}

static void check_optimum(const mo_instance *x, int number, int64_t optimum_ns,
                          unsigned seed)
{
    mo_regime regime = regime_of(number);
    int64_t found_ns = exact_optimum(x, &regime);

    ck_assert_msg(found_ns == optimum_ns, "seed %u, regime %d: %lld, not %lld",
                  seed, number, (long long) found_ns, (long long) optimum_ns);
}

/* Below the optimum nothing is found; below the optimum + 1 it is. */
static void check_below(const mo_instance *x, int number, int64_t optimum_ns,
                        unsigned seed)
{
    mo_regime regime = regime_of(number);
    mo_exact_result none = exact_solve_below(x, &regime, optimum_ns);
    mo_exact_result one = exact_solve_below(x, &regime, optimum_ns + 1);

    ck_assert_msg(none.finished && !none.best && none.lower_ns == optimum_ns,
                  "seed %u, regime %d: below the optimum", seed, number);
    ck_assert_msg(one.finished && one.best &&
                      one.best->makespan_ns == optimum_ns,
                  "seed %u, regime %d: just above the optimum", seed, number);
    mo_schedule_free(one.best);
}

static void check_regime(const problem *p, int number, unsigned seed)
{
    mo_regime regime = regime_of(number);
    int64_t optimum_ns;

    if (regime.memory == MO_MEMORY_LIVE)
        return;
    optimum_ns = exhaustive_optimum(p->x, &regime);
    check_optimum(p->x, number, optimum_ns, seed);
    if (optimum_ns != EXHAUSTIVE_NONE && (seed + (unsigned) number) % 4 == 0)
        check_below(p->x, number, optimum_ns, seed);
}

START_TEST(it_is_the_optimum)
{
    for (int i = 0; i < seeds_at_once(); i++)
        random_problem_check((unsigned) (_i * SEEDS_AT_ONCE + i), check_regime);
}
END_TEST

static int64_t tiny_optimum_ns(const mo_instance *x, const mo_regime *regime,
                               int64_t optimum_ns)
{
    (void) optimum_ns;
    return exact_optimum(x, regime);
}

/* Without any one mechanism it still is. */
#define WITHOUT(mechanism)                                                     \
    {                                                                          \
        "without " mechanism, tiny_optimum_ns, mechanism, TINY_ALL             \
    }

static const tiny_bound bounds[] = {
    { "all", tiny_optimum_ns, NULL, TINY_ALL },
    WITHOUT("exact_activity"),
    WITHOUT("exact_destructive_bound"),
    WITHOUT("exact_edge_finding"),
    WITHOUT("exact_excess_minimization"),
    WITHOUT("exact_initial_schedule"),
    WITHOUT("exact_minimization"),
    WITHOUT("exact_phase_saving"),
    WITHOUT("exact_restarts"),
};

START_TEST(it_is_the_optimum_without_a_mechanism)
{
    tiny_check(bounds, COUNT(bounds), (unsigned) _i);
}
END_TEST

/* Live memory is tested on fewer ops, with all congestion and tensor
 * regimes. */
static void check_live(const problem *p, int number, unsigned seed)
{
    mo_regime regime = regime_of(number);

    if (regime.memory == MO_MEMORY_LIVE)
        check_optimum(p->x, number, exhaustive_live_optimum(p->x, &regime),
                      seed);
}

START_TEST(it_is_the_optimum_with_live_memory)
{
    for (int i = 0; i < seeds_at_once(); i++)
        random_problem_check_small((unsigned) (_i * SEEDS_AT_ONCE + i),
                                   check_live);
}
END_TEST

/* More ops on two devices, with times from a small set: some close together,
 * some so far apart that stepping from one to the other would take too long. */
static const char *const close_times[] = { "0", "1", "2", "3", "5" };
static const char *const far_times[] = { "0", "0.001", "0.002", "1",
                                         "10000000" };

enum { MAX_EDGES = 11 };

static char *random_text(unsigned seed, const char *const *times, int fewest)
{
    test_random random = { seed * UINT64_C(0x9e3779b97f4a7c15) };
    int n = fewest + random_below(&random, 3), n_edges = 0;
    mo_out *out = text_new();

    for (int i = 0; i < n; i++)
        mo_out_printf(out, "%c t.A=%s t.B=%s;", 'a' + i,
                      times[random_below(&random, 5)],
                      times[random_below(&random, 5)]);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (random_below(&random, 3) == 0 && n_edges++ < MAX_EDGES)
                mo_out_printf(out,
                              "%c>%c tensor=u%d bytes=1 c.A.B=%s c.B.A=%s;",
                              'a' + i, 'a' + j, random_below(&random, 2),
                              times[random_below(&random, 5)],
                              times[random_below(&random, 5)]);
    return text_end(out);
}

static void check_times(unsigned seed, const char *const *times, int fewest)
{
    problem p = { 0 };
    char *graph = random_text(seed, times, fewest);

    problem_make(&p, graph, "A; B", NULL);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);

        if (regime.memory == MO_MEMORY_NONE)
            check_optimum(p.x, number, exhaustive_optimum(p.x, &regime), seed);
    }
    problem_clear(&p);
    free(graph);
}

START_TEST(it_is_the_optimum_of_more_ops)
{
    for (int i = 0; i < seeds_at_once(); i++)
        check_times((unsigned) (_i * SEEDS_AT_ONCE + i), close_times, 7);
}
END_TEST

START_TEST(times_may_differ_by_much)
{
    for (int i = 0; i < seeds_at_once(); i++)
        check_times((unsigned) (_i * SEEDS_AT_ONCE + i), far_times, 4);
}
END_TEST

/* A problem that can be reversed: the readers of every op become its inputs,
 * and transfers from A to B go from B to A. */
enum { MAX_DRAWN = 20 };

static void put_edge(mo_out *out, test_random *random, int from, int to,
                     bool backwards)
{
    const char *there = close_times[random_below(random, 5)];
    const char *back = close_times[random_below(random, 5)];

    if (backwards)
        mo_out_printf(out, "n%d>n%d bytes=1 c.A.B=%s c.B.A=%s;", to, from, back,
                      there);
    else
        mo_out_printf(out, "n%d>n%d bytes=1 c.A.B=%s c.B.A=%s;", from, to,
                      there, back);
}

static char *reversible_text(unsigned seed, bool backwards)
{
    test_random random = { seed * UINT64_C(0x9e3779b97f4a7c15) + 1 };
    int n = 12 + random_below(&random, MAX_DRAWN - 12);
    mo_out *out = text_new();

    for (int i = 0; i < n; i++)
        mo_out_printf(out, "n%d t.A=%d t.B=%d;", i, random_below(&random, 9),
                      1 + random_below(&random, 9));
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (random_below(&random, n) < 2)
                put_edge(out, &random, i, j, backwards);
    return text_end(out);
}

static void solve_reversible(unsigned seed, bool backwards, int64_t *optimum_ns)
{
    problem p = { 0 };
    char *graph = reversible_text(seed, backwards);

    problem_make(&p, graph, "A; B", NULL);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);

        if (regime.tensors == MO_TENSORS_PER_EDGE &&
            regime.memory == MO_MEMORY_NONE)
            optimum_ns[number] = exact_optimum(p.x, &regime);
    }
    problem_clear(&p);
    free(graph);
}

/* Heads become tails and first becomes last: other propagation derives the
 * same optimum. */
START_TEST(reversed_graphs_have_the_same_optimum)
{
    int64_t forth_ns[N_REGIMES] = { 0 }, back_ns[N_REGIMES] = { 0 };

    for (int i = 0; i < seeds_at_once(); i++) {
        unsigned seed = (unsigned) (_i * SEEDS_AT_ONCE + i);

        solve_reversible(seed, false, forth_ns);
        solve_reversible(seed, true, back_ns);
        for (int number = 0; number < N_REGIMES; number++)
            ck_assert_msg(forth_ns[number] == back_ns[number],
                          "seed %u, regime %d: %lld and %lld", seed, number,
                          (long long) forth_ns[number],
                          (long long) back_ns[number]);
    }
}
END_TEST

/* Branches between two ops, most of them equal: times, sizes and flows are
 * drawn once for all, and the last branch may differ. */
static void put_branch(mo_out *out, test_random random, int branch, int n)
{
    for (int i = 0; i < n; i++)
        mo_out_printf(out,
                      "b%d%d t.A=%s t.B=%s weight_bytes=%d workspace_bytes=%d;",
                      branch, i, close_times[random_below(&random, 5)],
                      close_times[random_below(&random, 5)],
                      random_below(&random, 3), random_below(&random, 3));
    for (int i = 0; i < n; i++) {
        int size = 1000 * (1 + random_below(&random, 3));
        bool reads_u = i == 0 || random_below(&random, 2);

        if (reads_u)
            mo_out_printf(out, "u>b%d%d tensor=y bytes=2000;", branch, i);
        if (i + 1 < n)
            mo_out_printf(out, "b%d%d>b%d%d bytes=%d;", branch, i, branch,
                          i + 1, size);
        if (i + 1 == n || random_below(&random, 4) == 0)
            mo_out_printf(out, "b%d%d>v bytes=%d;", branch, i, size);
    }
}

static char *symmetric_text(unsigned seed, int most)
{
    test_random random = { seed * UINT64_C(0xd1342543de82ef95) };
    int n = most < 6 ? 1 : 1 + random_below(&random, 2);
    int n_branches = 2 + random_below(&random, (most - 2) / n - 1);
    mo_out *out = text_new();

    mo_out_printf(out, "u t.A=1 t.B=2; v t.A=2 t.B=1;");
    for (int b = 0; b < n_branches; b++) {
        test_random same = random;

        if (b == n_branches - 1 && seed % 3 == 0)
            same.state++;
        put_branch(out, same, b, n);
    }
    return text_end(out);
}

static void check_symmetric(unsigned seed, int most, bool is_live)
{
    static const char *const clusters[] = {
        "A; B; A-B gbps=8",
        "A memory_bytes=9000; B memory_bytes=9000; A-B gbps=16",
        "A memory_bytes=5; B memory_bytes=6; A-B gbps=8",
    };
    problem p = { 0 };
    char *graph = symmetric_text(seed, most);

    problem_make(&p, graph, clusters[seed % 3], NULL);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);

        if ((regime.memory == MO_MEMORY_LIVE) != is_live)
            continue;
        check_optimum(p.x, number,
                      is_live ? exhaustive_live_optimum(p.x, &regime)
                              : exhaustive_optimum(p.x, &regime),
                      seed);
    }
    problem_clear(&p);
    free(graph);
}

START_TEST(it_is_the_optimum_of_equal_branches)
{
    for (int i = 0; i < seeds_at_once(); i++) {
        check_symmetric((unsigned) (_i * SEEDS_AT_ONCE + i), 7, false);
        check_symmetric((unsigned) (_i * SEEDS_AT_ONCE + i), 5, true);
    }
}
END_TEST

SUITE(exact_optimum)
{
    SOME(it_is_the_optimum_without_a_mechanism, at_length(400, 12), 1);
    SOME(it_is_the_optimum, at_length(100, 30), 1);
    SOME(it_is_the_optimum_with_live_memory, at_length(50, 15), 1);
    SOME(it_is_the_optimum_of_more_ops, at_length(20, 6), 1);
    SOME(times_may_differ_by_much, at_length(20, 6), 1);
    SOME(reversed_graphs_have_the_same_optimum, at_length(20, 6), 1);
    SOME(it_is_the_optimum_of_equal_branches, 5, 1);
}
