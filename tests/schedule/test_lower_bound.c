/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/bound/lower_bound.h: known bounds by hand, then never
 * above the optimum of random problems. */
#include "schedule/bound/lower_bound.h"

#include <stdio.h>

#include "schedule/heuristic/upper_bound.h"
#include "tests/support/dense_problem.h"
#include "tests/support/exhaustive.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"
#include "tests/support/tiny_problem.h"
#include "tests/support/reference_validate.h"

static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                   MO_MEMORY_STATIC };

static int64_t bound_of(const mo_instance *x, const mo_regime *regime)
{
    mo_lower_bound lower = { 0 };

    MUST(mo_bound_lower(x, regime, &lower, &err));
    ck_assert_ptr_nonnull(lower.which);
    return lower.bound_ns;
}

/* For these the bound is the optimum, up to one part in 8,192. */
static const struct {
    const char *graph, *cluster;
    int64_t optimum_ns;
} exact[] = {
    /* nothing to do */
    { "a t.A=0", "A", 0 },
    /* a chain: 1 and 2 on A, or 3 to send and 1 on B */
    { "a t.A=1 t.B=5; b t.A=6 t.B=2; c t.A=6 t.B=1;"
      "*>* c.A.B=3 c.B.A=7; a>b; b>c",
      "A; B", 7000 },
    /* one device: the sum */
    { "* t.A=2; a; b; c; d; a>b; a>c; b>d", "A", 8000 },
    /* two that share the work, without transfers */
    { "* t.A=4 t.B=4; a; b; c; d", "A; B", 8000 },
    /* B is twice as fast: 3 of 6 and 6 of 3 */
    { "* t.A=6 t.B=3; a; b; c; d; e; f; g; h; i", "A; B", 18000 },
    /* pinned and grouped */
    { "* t.A=1 t.B=9; a pin=B; b colocate=g pin=B; c colocate=g; d", "A; B",
      27000 },
    /* memory forces half of it onto the slow one */
    { "* t.A=1 t.B=9; * memory_bytes=5; a; b; c; d",
      "A memory_bytes=10; B memory_bytes=10", 18000 },
    /* two loads, one after the other: the times of a and e add up with them */
    { "* t.A=2 t.B=2; *>* c.A.B=0 c.B.A=0; a; b; c; d; e; f; g; h; i;"
      "a>b; a>c; a>d; a>f; b>e; c>e; d>e; f>e; e>g; e>h; g>i; h>i",
      "A; B", 2000 + 4000 + 2000 + 2000 + 2000 },
    /* three layers, of which two are equal */
    { "* t.A=2 t.B=2; *>* c.A.B=0 c.B.A=0; a; b; c; d; e; f; g;"
      "h t.A=4 t.B=4; i t.A=4 t.B=4; j;"
      "a>b; a>c; b>d; c>d; d>e; d>f; e>g; f>g; g>h; g>i; h>j; i>j",
      "A; B", 4 * 2000 + 2 * 2000 + 4000 },
    /* no op is a clean cut, as z runs beside all; the chain bounds the rest */
    { "* t.A=2 t.B=2; *>* c.A.B=0 c.B.A=0; a; b; c; d; f; e; z t.A=0 t.B=0;"
      "a>b; a>c; a>d; a>f; b>e; c>e; d>e; f>e",
      "A; B", 2000 + 4000 + 2000 },
};

START_TEST(simple_problems_are_bounded_exactly)
{
    problem p = { 0 };
    int64_t bound_ns;

    problem_make(&p, exact[_i].graph, exact[_i].cluster, NULL);
    bound_ns = bound_of(p.x, &by_port);
    ck_assert_int_le(bound_ns, exact[_i].optimum_ns);
    ck_assert_int_ge(bound_ns,
                     exact[_i].optimum_ns - (exact[_i].optimum_ns >> 13));
    problem_clear(&p);
}
END_TEST

START_TEST(the_bound_that_won_is_named)
{
    problem p = { 0 };
    mo_lower_bound lower = { 0 };

    problem_make(&p, "* t.A=4 t.B=4; a; b; c; d", "A; B", NULL);
    MUST(mo_bound_lower(p.x, &by_port, &lower, &err));
    ck_assert_str_eq(lower.which, "load");
    problem_clear(&p);
    problem_make(&p, "* t.A=4 t.B=4; a; b; a>b c.A.B=1 c.B.A=1", "A; B", NULL);
    MUST(mo_bound_lower(p.x, &by_port, &lower, &err));
    ck_assert_str_eq(lower.which, "path");
    problem_clear(&p);
}
END_TEST

enum { SEEDS_AT_ONCE = 10 };

static void check_regime(const problem *p, int number, unsigned seed)
{
    mo_regime regime = regime_of(number);
    int64_t optimum_ns = exhaustive_optimum(p->x, &regime);
    int64_t bound_ns = bound_of(p->x, &regime);

    ck_assert_msg(optimum_ns == EXHAUSTIVE_NONE || bound_ns <= optimum_ns,
                  "seed %u, regime %d: %lld is more than %lld", seed, number,
                  (long long) bound_ns, (long long) optimum_ns);
}

START_TEST(no_schedule_beats_it)
{
    for (int i = 0; i < SEEDS_AT_ONCE; i++)
        random_problem_check((unsigned) (_i * SEEDS_AT_ONCE + i), check_regime);
}
END_TEST

static int64_t tiny_bound_of(const mo_instance *x, const mo_regime *regime,
                             int64_t optimum_ns)
{
    (void) optimum_ns;
    return bound_of(x, regime);
}

#define SUM_BOUNDS (1 << TINY_DEVICE | 1 << TINY_EQUAL)

/* Each bound alone, then all but one mechanism. */
static const tiny_bound bounds[] = {
    { "all", tiny_bound_of, NULL, 1 << TINY_CHAIN | SUM_BOUNDS },
    { "path", tiny_bound_of, "bound_load,bound_chain,bound_colocation",
      1 << TINY_CHAIN },
    { "load", tiny_bound_of, "bound_path,bound_chain,bound_colocation",
      SUM_BOUNDS },
    { "chain", tiny_bound_of,
      "bound_path,bound_load,bound_colocation,priced_chain", 1 << TINY_CHAIN },
    { "colocation", tiny_bound_of,
      "bound_path,bound_load,bound_chain,priced_chain", 0 },
    { "memory", tiny_bound_of, "bound_path,bound_load,bound_colocation", 0 },
    { "without the load test", tiny_bound_of, "infeasibility_test", 0 },
    { "without bisection", tiny_bound_of, "segment_bisection", 0 },
    { "without classes", tiny_bound_of, "segment_classes", 0 },
    { "without thresholds", tiny_bound_of, "priced_thresholds", 0 },
};

START_TEST(no_part_of_it_is_above_the_optimum)
{
    tiny_check(bounds, COUNT(bounds), (unsigned) _i);
}
END_TEST

/* Larger ones have several segments, chains and grid lines. */
START_TEST(no_schedule_of_a_crowd_beats_it)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = _i % 5; number < N_REGIMES; number += 5) {
        mo_regime regime = regime_of(number);
        mo_schedule *s = NULL;
        int64_t upper_ns, bound_ns = bound_of(p.x, &regime);

        MUST(mo_bound_upper(p.x, &regime, &s, &upper_ns, &err));
        ck_assert_msg(!s || bound_ns <= upper_ns,
                      "seed %d, regime %d: %lld is more than %lld", _i, number,
                      (long long) bound_ns, (long long) upper_ns);
        mo_schedule_free(s);
    }
    problem_clear(&p);
}
END_TEST

/* A hub with many devices around it, and a chain of ops. */
enum { HUB_DEVICES = 520, HUB_OPS = 8 };

static void hub_make(problem *p)
{
    static char cluster[HUB_DEVICES * 40], graph[HUB_OPS * 60];
    size_t n = 0, m = 0;

    for (int k = 0; k < HUB_DEVICES; k++)
        n += (size_t) snprintf(cluster + n, sizeof cluster - n,
                               "d%d model=t4; ", k);
    for (int k = 1; k < HUB_DEVICES; k++)
        n += (size_t) snprintf(cluster + n, sizeof cluster - n,
                               "d0-d%d gbps=8; ", k);
    for (int i = 0; i < HUB_OPS; i++)
        m += (size_t) snprintf(graph + m, sizeof graph - m,
                               "o%d op=ReLU flops=1e6 bytes=8e6; ", i);
    for (int i = 1; i < HUB_OPS; i++)
        m += (size_t) snprintf(graph + m, sizeof graph - m, "o%d>o%d bytes=8; ",
                               i - 1, i);
    problem_make(p, graph, cluster, NULL);
}

static int n_polls;
static bool is_due;

static bool count_poll(void)
{
    n_polls++;
    return is_due;
}

/* Between two polls there is at most one op's propagation to all devices; after
 * the stop there is none, and what was found holds. */
START_TEST(many_devices_are_stopped_between_ops)
{
    problem p = { 0 };
    mo_stop stop;
    mo_lower_bound whole = { 0 }, cut = { 0 };

    hub_make(&p);
    mo_stop_after(&stop, 0);
    stop.signaled = count_poll;
    is_due = false;
    n_polls = 0;
    MUST(mo_bound_lower_until(p.x, &by_port, &stop, &whole, &err));
    ck_assert_int_ge(n_polls, 4 * HUB_OPS);
    is_due = true;
    n_polls = 0;
    MUST(mo_bound_lower_until(p.x, &by_port, &stop, &cut, &err));
    ck_assert_int_le(n_polls, 16);
    ck_assert_int_le(cut.bound_ns, whole.bound_ns);
    problem_clear(&p);
}
END_TEST

SUITE(lower_bound)
{
    EACH(simple_problems_are_bounded_exactly, COUNT(exact));
    TEST(the_bound_that_won_is_named);
    SOME(many_devices_are_stopped_between_ops, 1, 0);
    SOME(no_part_of_it_is_above_the_optimum, at_length(400, 20), 1);
    SOME(no_schedule_beats_it, at_length(30, in_ci(5, 2)), 1);
    SOME(no_schedule_of_a_crowd_beats_it, at_length(20, in_ci(2, 1)), 0);
}
