/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of schedule/bound/colocation_bound.h: on random problems, most with
 * equal devices whose memory binds, no bound is above the optimum of exhaustive
 * search, in every regime; and by hand where it is exact.
 *
 * MOIRAI_LONG runs 5,000 problems.
 */
#include "schedule/bound/colocation_bound.h"

#include "tests/support/exhaustive.h"
#include "tests/support/exhaustive_live.h"
#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"
#include "tests/support/tiny_problem.h"

enum { MAX_OPS = 64, MAX_DEVICES = 4 };

static int64_t bound_of(const mo_instance *x, const mo_regime *regime)
{
    bool allowed[MAX_OPS * MAX_DEVICES];
    mo_allowed_devices domains = { x, *regime, allowed };
    const mo_coloc_effort most = { MO_COLOC_WORK, 4e6 };
    const mo_coloc_effort some = { MO_COLOC_WORK, 0 }, none = { 0, 0 };
    const mo_coloc_effort few = { MO_COLOC_WORK, 320 * x->n * x->n };
    int64_t bound_ns = 0, less_ns = 0, few_ns = 0, narrow_ns = 0;

    ck_assert(x->n <= MAX_OPS && x->n_devices <= MAX_DEVICES);
    MUST(mo_allowed_devices_find(&domains, &err));
    MUST(mo_bound_colocation(&domains, NULL, 0, &most, NULL, &bound_ns, &err));
    MUST(mo_bound_colocation(&domains, NULL, 0, &few, NULL, &few_ns, &err));
    MUST(mo_bound_colocation(&domains, NULL, 0, &some, NULL, &less_ns, &err));
    MUST(mo_bound_colocation(&domains, NULL, 0, &none, NULL, &narrow_ns, &err));
    ck_assert_int_le(few_ns, bound_ns);
    ck_assert_int_le(less_ns, few_ns);
    ck_assert_int_le(narrow_ns, less_ns);
    return bound_ns;
}

/* Two or three equal devices, which hold some of the ops, and in most a slow
 * one that holds all; some ops are a group. */
static void make_spread(problem *p, unsigned seed)
{
    test_random random = { seed * UINT64_C(0x9e3779b97f4a7c15) + 1 };
    int n = 3 + random_below(&random, seed % 16 == 0 ? 5 : 3), need = 0;
    bool host = random_below(&random, 4) > 0, third = seed % 4 == 0;
    const char *const ends[] = { "A.B", "B.A", "A.H", "H.A", "B.H", "H.B",
                                 "A.C", "C.A", "B.C", "C.B", "C.H", "H.C" };
    char graph[4096], cluster[256];
    int at = snprintf(graph, sizeof graph, "* workspace_bytes=0; *>*");

    for (int k = 0; k < (third ? 12 : 6); k++)
        at += snprintf(graph + at, sizeof graph - (size_t) at, " c.%s=1",
                       ends[k]);
    for (int i = 0; i < n; i++) {
        int us = random_below(&random, 5), bytes = random_below(&random, 4);

        need += bytes;
        at += snprintf(graph + at, sizeof graph - (size_t) at,
                       "; %c t.A=%d t.B=%d t.H=%d weight_bytes=%d%s", 'a' + i,
                       us, us, 4 * us, bytes,
                       random_below(&random, 6) == 0 ? " colocate=g" : "");
        if (third)
            at +=
                snprintf(graph + at, sizeof graph - (size_t) at, " t.C=%d", us);
    }
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++)
            if (random_below(&random, i - j + 1) == 0) {
                int us = random_below(&random, 5);

                at += snprintf(graph + at, sizeof graph - (size_t) at,
                               "; %c>%c", 'a' + j, 'a' + i);
                for (int k = 0; k < (third ? 12 : 6); k++)
                    at += snprintf(graph + at, sizeof graph - (size_t) at,
                                   " c.%s=%d", ends[k], us);
            }
    need = third ? need / 3 : need / 2;
    at = snprintf(cluster, sizeof cluster,
                  "A memory_bytes=%d; B memory_bytes=%d; H memory_bytes=%d",
                  need + 2, need + 2, host ? 3 * need + 9 : 2);
    if (third)
        snprintf(cluster + at, sizeof cluster - (size_t) at,
                 "; C memory_bytes=%d", need + 2);
    problem_make(p, graph, cluster, NULL);
}

/* Each problem in every regime, or, as usual, in each fifth. */
START_TEST(no_schedule_beats_a_colocation_bound)
{
    int stride = at_length(1, 5);
    problem p = { 0 };

    if (_i % 2 == 0) {
        make_spread(&p, (unsigned) _i);
    } else {
        random_problem r;

        random_problem_sized(&r, (unsigned) _i, 3, 5);
        problem_make(&p, r.graph, r.cluster, NULL);
        random_problem_clear(&r);
    }
    for (int number = _i % stride; number < N_REGIMES; number += stride) {
        mo_regime regime = regime_of(number);
        bool live = regime.memory == MO_MEMORY_LIVE;
        int64_t optimum, bound;

        /* More with live memory take the oracle too long. */
        if (live && (p.x->n > 4 || p.x->n_flows > 4))
            continue;
        optimum = live ? exhaustive_live_optimum(p.x, &regime)
                       : exhaustive_optimum(p.x, &regime);
        if (optimum == EXHAUSTIVE_NONE)
            continue;
        bound = bound_of(p.x, &regime);
        ck_assert_msg(bound <= optimum,
                      "seed %d, regime %d: %lld is more than %lld", _i, number,
                      (long long) bound, (long long) optimum);
    }
    problem_clear(&p);
}
END_TEST

static int64_t tiny_bound_of(const mo_instance *x, const mo_regime *regime,
                             int64_t optimum_ns)
{
    bool allowed[MAX_OPS * MAX_DEVICES];
    mo_allowed_devices domains = { x, *regime, allowed };
    const mo_coloc_effort effort = { MO_COLOC_WORK, 1e5 };
    int64_t bound_ns = 0;

    (void) optimum_ns;
    MUST(mo_allowed_devices_find(&domains, &err));
    MUST(
        mo_bound_colocation(&domains, NULL, 0, &effort, NULL, &bound_ns, &err));
    return bound_ns;
}

/* All of it, then without each of its parts. */
static const tiny_bound bounds[] = {
    { "all", tiny_bound_of, NULL, 0 },
    { "nothing", tiny_bound_of, "bound_colocation", 0 },
    { "without ports", tiny_bound_of, "colocation_ports", 0 },
    { "without tests", tiny_bound_of, "colocation_test", 0 },
    { "without searches", tiny_bound_of, "colocation_search", 0 },
    { "without refinement", tiny_bound_of, "colocation_chain", 0 },
    { "without backjumping", tiny_bound_of, "colocation_backjumping", 0 },
};

START_TEST(no_part_of_it_is_above_the_optimum)
{
    tiny_check(bounds, COUNT(bounds), (unsigned) _i);
}
END_TEST

/* Problems on equal devices whose bound is the optimum. */
static const struct {
    const char *graph, *cluster;
    int64_t optimum_ns;
} exact[] = {
    /* Two ops fit on a device: five of a chain take three of them. */
    { "* t.A=1 t.B=1 t.C=1 weight_bytes=5 workspace_bytes=0;"
      "*>* bytes=8; a; b; c; d; e; a>b; b>c; c>d; d>e",
      "A memory_bytes=10; B memory_bytes=10; C memory_bytes=10;"
      "A-B gbps=0.032; B-C gbps=0.032; A-C gbps=0.032",
      9000 },
    /* Everything fits; the branches run one after the other, since a transfer
     * takes longer. */
    { "* t.A=2 t.B=2 t.C=2 weight_bytes=1 workspace_bytes=0;"
      "*>* bytes=8; a; b; c; d; a>b; a>c; b>d; c>d",
      "A; B; C; A-B gbps=0.032; B-C gbps=0.032; A-C gbps=0.032", 8000 },
    /* Memory separates the branches, there and back. */
    { "* t.A=1 t.B=1 t.C=1 weight_bytes=5 workspace_bytes=0;"
      "*>* bytes=8; a; b; c; d; a>b; a>c; b>d; c>d",
      "A memory_bytes=15; B memory_bytes=15; C memory_bytes=15;"
      "A-B gbps=0.032; B-C gbps=0.032; A-C gbps=0.032",
      5000 },
};

START_TEST(small_problems_are_bounded_exactly)
{
    const mo_regime regime = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                               MO_MEMORY_STATIC };
    problem p = { 0 };

    problem_make(&p, exact[_i].graph, exact[_i].cluster, NULL);
    ck_assert_int_eq(exhaustive_optimum(p.x, &regime), exact[_i].optimum_ns);
    ck_assert_int_eq(bound_of(p.x, &regime), exact[_i].optimum_ns);
    problem_clear(&p);
}
END_TEST

/* Five branches of 4 us: without ports three of them run elsewhere, there and
 * back in 12 us.  One port sends and receives one tensor after the other, so
 * that two elsewhere and three here, in 15 us, is best. */
START_TEST(ports_raise_the_bound)
{
    const mo_regime port = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                             MO_MEMORY_STATIC };
    const mo_regime none = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                             MO_MEMORY_STATIC };
    problem p = { 0 };

    problem_make(&p,
                 "* t.A=4 t.B=4 t.C=4 t.D=4 weight_bytes=1; *>* bytes=12;"
                 "a t.A=1 t.B=1 t.C=1 t.D=1; b; c; d; e; f;"
                 "z t.A=1 t.B=1 t.C=1 t.D=1;"
                 "a>b; a>c; a>d; a>e; a>f; b>z; c>z; d>z; e>z; f>z",
                 "A; B; C; D; A-B gbps=0.032; B-C gbps=0.032; A-C gbps=0.032;"
                 "A-D gbps=0.032; B-D gbps=0.032; C-D gbps=0.032",
                 NULL);
    ck_assert_int_le(bound_of(p.x, &none), 12000);
    ck_assert_int_ge(bound_of(p.x, &port), 13000);
    ck_assert_int_le(bound_of(p.x, &port), 15000);
    problem_clear(&p);
}
END_TEST

START_TEST(known_intervals_raise_the_bound)
{
    const mo_regime regime = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                               MO_MEMORY_STATIC };
    const mo_coloc_pair_bound known[] = { { 0, 2, 10000, 7000 },
                                          { 1, 2, MO_MAX_TOTAL_NS, 3000 } };
    const mo_coloc_effort effort = { MO_COLOC_WORK, 0 };
    bool allowed[MAX_OPS * MAX_DEVICES];
    problem p = { 0 };
    mo_allowed_devices domains;
    int64_t bound_ns = 0;

    problem_make(&p,
                 "* t.A=1 t.B=1 weight_bytes=1; *>* bytes=8; a; b; c; d;"
                 "a>b; b>c; c>d",
                 "A; B; A-B gbps=0.064", NULL);
    domains = (mo_allowed_devices){ p.x, regime, allowed };
    MUST(mo_allowed_devices_find(&domains, &err));
    MUST(mo_bound_colocation(&domains, known, 2, &effort, NULL, &bound_ns,
                             &err));
    ck_assert_int_eq(bound_ns, 1000 + 7000 + 1000 + 1000);
    problem_clear(&p);
}
END_TEST

SUITE(colocation_bound)
{
    SOME(no_schedule_beats_a_colocation_bound, at_length(5000, 200), 2);
    SOME(no_part_of_it_is_above_the_optimum, at_length(400, 40), 1);
    EACH(small_problems_are_bounded_exactly, COUNT(exact));
    TEST(ports_raise_the_bound);
    TEST(known_intervals_raise_the_bound);
}
