/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/search/bound/load/load_bound.h: hand-made cases, then never
 * above the optimum of random fork-joins. */
#include "solvers/search/bound/load/load_bound.h"

#include "base/random.h"
#include "solvers/search/bound/colgen/branch_and_price.h"
#include "tests/support/exhaustive.h"
#include "tests/search/bound/fork_join_case.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"
#include "tests/support/tiny_problem.h"

enum { MAX_OPS = 16, MAX_DEVICES = 3 };

static int64_t bound_of(const mo_instance *x, const mo_regime *regime, int a,
                        int b)
{
    fork_join_case f;
    mo_forkjoin_case at;
    int64_t bound_ns = -1;

    fork_join_case_find(&f, x, regime);
    at = mo_forkjoin_at(f.fork, a, b);
    MUST(mo_load_bound(&at, &bound_ns, &err));
    fork_join_case_clear(&f);
    return bound_ns;
}

/* For these the bound is the optimum, up to one part in a thousand. */
static const struct {
    const char *graph;
    mo_regime regime;
    int64_t optimum_ns;
} exact[] = {
    /* nothing between u and v */
    { "* t.A=2 t.B=2; *>* c.A.B=0 c.B.A=0; u; v; u>v",
      { MO_CONGESTION_PORT, MO_TENSORS_ONCE, MO_MEMORY_NONE },
      0 },
    /* one branch: its path, with both transfers */
    { "* t.A=90 t.B=3; *>* c.A.B=5 c.B.A=7; u; a; b; v; u>a; a>b; b>v",
      { MO_CONGESTION_PORT, MO_TENSORS_ONCE, MO_MEMORY_NONE },
      18000 },
    /* four branches, two on either device */
    { "* t.A=4 t.B=4; *>* c.A.B=0 c.B.A=0; u; a; b; c; d; v;"
      "u>a; u>b; u>c; u>d; a>v; b>v; c>v; d>v",
      { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE, MO_MEMORY_NONE },
      8000 },
    /* all must go to B, through one port there or back */
    { "* t.A=90 t.B=1; *>* c.A.B=4 c.B.A=1; u; a; b; c; d; v;"
      "u>a; u>b; u>c; u>d; a>v; b>v; c>v; d>v",
      { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE, MO_MEMORY_NONE },
      18000 },
    { "* t.A=90 t.B=1; *>* c.A.B=1 c.B.A=4; u; a; b; c; d; v;"
      "u>a; u>b; u>c; u>d; a>v; b>v; c>v; d>v",
      { MO_CONGESTION_CHANNEL, MO_TENSORS_PER_EDGE, MO_MEMORY_NONE },
      18000 },
    /* one transfer serves all */
    { "* t.A=90 t.B=1; *>* c.A.B=4 c.B.A=1 tensor=y; u; a; b; c; d; v;"
      "u>a; u>b; u>c; u>d; a>v; b>v; c>v; d>v",
      { MO_CONGESTION_NONE, MO_TENSORS_ONCE, MO_MEMORY_NONE },
      9000 },
    /* no u: work starts at 0; no v: it ends with the last op */
    { "* t.A=4 t.B=4; *>* c.A.B=90000 c.B.A=90000; a; b; c; d; v pin=A;"
      "a>v; b>v; c>v; d>v",
      { MO_CONGESTION_PORT, MO_TENSORS_ONCE, MO_MEMORY_NONE },
      16000 },
    { "* t.A=4 t.B=4; *>* c.A.B=1 c.B.A=1; u; a; b; c; d; u>a; u>b; u>c; u>d",
      { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE, MO_MEMORY_NONE },
      8500 },
};

START_TEST(small_cases_are_tight)
{
    problem p = { 0 };
    int64_t bound_ns;

    problem_make(&p, exact[_i].graph, "A; B; A-B gbps=8", NULL);
    bound_ns = bound_of(p.x, &exact[_i].regime, 0, 0);
    ck_assert_int_le(bound_ns, exact[_i].optimum_ns);
    ck_assert_int_ge(bound_ns,
                     exact[_i].optimum_ns - exact[_i].optimum_ns / 1000);
    problem_clear(&p);
}
END_TEST

enum { MAX_CASES = 60 };

/* The bound with prices by op and device. */
static int64_t priced_bound_of(const mo_instance *x, const mo_regime *regime,
                               int a, int b, const int64_t *price_ns,
                               int max_cases, double *used_bytes)
{
    fork_join_case f;
    mo_forkjoin_case at;
    int64_t bound_ns = -1;

    fork_join_case_find(&f, x, regime);
    at = mo_forkjoin_at(f.fork, a, b);
    MUST(mo_load_bound_priced(&at, price_ns, max_cases, &bound_ns, used_bytes,
                              &err));
    fork_join_case_clear(&f);
    return bound_ns;
}

/* Whether branch and price refutes that time and prices are less; returns the
 * number of searches, 0: it does not. */
static int refute(const mo_instance *x, const mo_regime *regime, int a, int b,
                  const int64_t *price_ns, int64_t target_ns)
{
    fork_join_case f;
    mo_cg_priced_task task = { .price_ns = price_ns };
    bool refuted = false;
    int n_calls = 0;

    fork_join_case_find(&f, x, regime);
    task.at = mo_forkjoin_at(f.fork, a, b);
    MUST(mo_cg_priced_refute(&task, target_ns, &refuted, &n_calls, &err));
    fork_join_case_clear(&f);
    return refuted ? n_calls : 0;
}

static bool is_refuted(const mo_instance *x, const mo_regime *regime, int a,
                       int b, const int64_t *price_ns, int64_t target_ns)
{
    return refute(x, regime, a, b, price_ns, target_ns) > 0;
}

static int device_of(const mo_instance *x, const char *name)
{
    for (int i = 0; i < x->n; i++)
        if (strcmp(x->op_names[i], name) == 0)
            return x->pin[i];
    return MO_FREE;
}

static int64_t load_ns(const mo_instance *x, const mo_regime *regime,
                       int64_t optimum_ns)
{
    (void) optimum_ns;
    return bound_of(x, regime, device_of(x, "u"), device_of(x, "v"));
}

static const int64_t no_prices[MAX_OPS * MAX_DEVICES];

static int64_t cases_ns(const mo_instance *x, const mo_regime *regime,
                        int64_t optimum_ns)
{
    double used_bytes[MAX_DEVICES];

    (void) optimum_ns;
    ck_assert(x->n <= MAX_OPS && x->n_devices <= MAX_DEVICES);
    return priced_bound_of(x, regime, device_of(x, "u"), device_of(x, "v"),
                           no_prices, MAX_CASES, used_bytes);
}

static int64_t refuted_ns(const mo_instance *x, const mo_regime *regime,
                          int64_t optimum_ns)
{
    int a = device_of(x, "u"), b = device_of(x, "v");

    if (is_refuted(x, regime, a, b, no_prices, optimum_ns + 1))
        return optimum_ns + 1;
    return is_refuted(x, regime, a, b, no_prices, optimum_ns - optimum_ns / 100)
               ? optimum_ns
               : 0;
}

#define SUM_BOUNDS (1 << TINY_DEVICE | 1 << TINY_EQUAL)

static const tiny_bound bounds[] = {
    { "load", load_ns, NULL, 1 << TINY_CHAIN | SUM_BOUNDS },
    { "without orders", load_ns, "load_orders", 0 },
    { "without limits", load_ns, "load_limits", 0 },
    { "without separation", load_ns, "load_separation", 0 },
    { "nothing", load_ns, "load_bound", 0 },
    { "no relaxation", load_ns, "in_forest", 0 },
    { "cases", cases_ns, NULL, 1 << TINY_CHAIN | SUM_BOUNDS },
    { "priced without cases", cases_ns, "load_cases", 0 },
    { "priced without orders", cases_ns, "load_orders", 0 },
    { "refutation", refuted_ns, NULL, 0 },
};

START_TEST(never_above_the_optimum)
{
    tiny_check(bounds, COUNT(bounds), (unsigned) _i);
}
END_TEST

/* Of every placement its optimum and its price. */
START_TEST(with_prices_never_above_a_placement)
{
    mo_random random = { (uint64_t) _i + 1000 };
    mo_regime regime = { (mo_congestion) (_i % 4), (mo_tensors) (_i / 4 % 2),
                         MO_MEMORY_NONE };
    int64_t price_ns[MAX_OPS * MAX_DEVICES], bound_ns[2], least_ns = INT64_MAX;
    int best[MAX_OPS] = { 0 }, a, b;
    bool is_end[MAX_OPS];
    double used_bytes[MAX_DEVICES];
    tiny_problem t;
    const mo_instance *x;

    tiny_make(&t, TINY_FORK, (unsigned) _i);
    x = t.problem.x;
    a = device_of(x, "u");
    b = device_of(x, "v");
    ck_assert(x->n <= MAX_OPS && x->n_devices == 3);
    /* By device alone in every other case: equal branches stay equal. */
    for (int i = 0; i < x->n * 3; i++)
        price_ns[i] = _i % 2 && i >= 3 ? price_ns[i - 3]
                                       : 500 * mo_random_below(&random, 20);
    for (int i = 0; i < 2; i++)
        bound_ns[i] = priced_bound_of(x, &regime, a, b, price_ns, i * MAX_CASES,
                                      used_bytes);
    ck_assert_int_le(bound_ns[0], bound_ns[1]);
    for (int i = 0; i < x->n; i++)
        is_end[i] = x->pin[i] != MO_FREE;
    /* Random placements, then single changes of the cheapest. */
    for (int trial = 0; trial < 30; trial++) {
        int64_t cost_ns = 0;
        int changed = mo_random_below(&random, x->n);

        for (int i = 0; i < x->n; i++) {
            if (is_end[i])
                continue;
            x->pin[i] = trial < 6 || i == changed ? mo_random_below(&random, 3)
                                                  : best[i];
            cost_ns += price_ns[i * 3 + x->pin[i]];
        }
        cost_ns += exhaustive_optimum(x, &regime);
        ck_assert_msg(bound_ns[1] <= cost_ns, "seed %d: %lld above %lld of\n%s",
                      _i, (long long) bound_ns[1], (long long) cost_ns,
                      t.graph);
        if (cost_ns >= least_ns)
            continue;
        least_ns = cost_ns;
        memcpy(best, x->pin, (size_t) x->n * sizeof *best);
    }
    for (int i = 0; i < x->n; i++)
        if (!is_end[i])
            x->pin[i] = MO_FREE;
    ck_assert_msg(!is_refuted(x, &regime, a, b, price_ns, least_ns + 1),
                  "seed %d: %lld refuted of\n%s", _i, (long long) least_ns,
                  t.graph);
    tiny_clear(&t);
}
END_TEST

/* Four branches of 4 us, each for 3 us on A or 0 on B: two on either. */
START_TEST(prices_move_the_optimum)
{
    const mo_regime regime = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                               MO_MEMORY_STATIC };
    int64_t price_ns[6 * 2] = { 0 }, bound_ns;
    double used_bytes[2];
    problem p = { 0 };

    problem_make(&p,
                 "* t.A=4 t.B=4 memory_bytes=10; *>* c.A.B=0 c.B.A=0; u; a; b;"
                 "c; d; v; u>a; u>b; u>c; u>d; a>v; b>v; c>v; d>v",
                 "A; B; A-B gbps=8", NULL);
    for (int i = 1; i < 5; i++)
        price_ns[i * 2] = 3000;
    bound_ns = priced_bound_of(p.x, &regime, 0, 0, price_ns, 0, used_bytes);
    ck_assert_int_le(bound_ns, 14000);
    ck_assert_int_ge(bound_ns, 13980);
    ck_assert_double_eq_tol(used_bytes[0], 20, 0.5);
    ck_assert_double_eq_tol(used_bytes[1], 20, 0.5);
    ck_assert(is_refuted(p.x, &regime, 0, 0, price_ns, 13950));
    ck_assert(!is_refuted(p.x, &regime, 0, 0, price_ns, 14001));
    /* Wide intervals suffice: sums of price and load hold for all times. */
    ck_assert_int_le(refute(p.x, &regime, 0, 0, price_ns, 13950), 2);
    problem_clear(&p);
}
END_TEST

/* Three branches of 4 us on two equal devices: two are on one of them. */
START_TEST(cases_count_whole_branches)
{
    const mo_regime regime = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                               MO_MEMORY_STATIC };
    double used_bytes[2];
    problem p = { 0 };

    problem_make(&p,
                 "* t.A=4 t.B=4; *>* c.A.B=0 c.B.A=0; u; a; b; c; v; u>a; u>b;"
                 "u>c; a>v; b>v; c>v",
                 "A; B; A-B gbps=8", NULL);
    ck_assert_int_le(
        priced_bound_of(p.x, &regime, 0, 0, no_prices, 0, used_bytes), 6000);
    ck_assert_int_ge(
        priced_bound_of(p.x, &regime, 0, 0, no_prices, 10, used_bytes), 7990);
    ck_assert(is_refuted(p.x, &regime, 0, 0, no_prices, 7990));
    ck_assert(!is_refuted(p.x, &regime, 0, 0, no_prices, 8001));
    problem_clear(&p);
}
END_TEST

SUITE(load_bound)
{
    EACH(small_cases_are_tight, COUNT(exact));
    SOME(never_above_the_optimum, at_length(1000, 30), 4);
    SOME(with_prices_never_above_a_placement, at_length(400, 80), 4);
    TEST(prices_move_the_optimum);
    TEST(cases_count_whole_branches);
}
