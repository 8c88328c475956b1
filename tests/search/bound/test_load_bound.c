/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/search/bound/load/load_bound.h: hand-made cases, then never
 * above the optimum of random fork-joins. */
#include "solvers/search/bound/load/load_bound.h"

#include <stdio.h>

#include "base/random.h"
#include "solvers/search/bound/colgen/priced_refutation.h"
#include "tests/support/exhaustive.h"
#include "tests/search/bound/fork_join_case.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

enum { ROOM = 1 << 13 };

static int64_t bound_of(const mo_instance *x, const mo_regime *regime, int a,
                        int b)
{
    fork_join_case f;
    int64_t bound_ns = -1;

    fork_join_case_find(&f, x, regime);
    MUST(mo_load_bound(f.fork, regime, f.segment.u == MO_FREE ? MO_FREE : a,
                       f.segment.v == MO_FREE ? MO_FREE : b, &bound_ns, &err));
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

typedef struct writer {
    mo_random random;
    char text[ROOM];
    size_t at;
} writer;

static int below(writer *w, int bound)
{
    return mo_random_below(&w->random, bound);
}

static void put(writer *w, const char *text)
{
    w->at += (size_t) snprintf(w->text + w->at, ROOM - w->at, "%s", text);
    ck_assert_uint_lt(w->at, ROOM);
}

/* A shape of up to n ops, common to all branches of a class. */
typedef struct shape {
    int n, reader[4], p[4][3], bytes[4], reads_u[4];
} shape;

static shape random_shape(writer *w, int most)
{
    shape f = { .n = 1 + below(w, most) };

    for (int j = 0; j < f.n; j++) {
        f.reader[j] = j + 1 < f.n ? j + 1 + below(w, f.n - j - 1) : -1;
        f.bytes[j] = 500 * below(w, 12);
        f.reads_u[j] = !below(w, 3);
        for (int k = 0; k < 3; k++)
            f.p[j][k] = below(w, 10);
    }
    f.reads_u[0] = true;
    return f;
}

static void put_branch(writer *w, const shape *f, int branch, int y_bytes,
                       bool u, bool v)
{
    char name[64], text[128];

    for (int j = 0; j < f->n; j++) {
        snprintf(name, sizeof name, "b%d_%d", branch, j);
        snprintf(text, sizeof text, ";%s t.A=%d t.B=%d t.C=%d", name,
                 f->p[j][0], f->p[j][1], f->p[j][2]);
        put(w, text);
    }
    for (int j = 0; j < f->n; j++) {
        snprintf(name, sizeof name, "b%d_%d", branch, j);
        if (f->reader[j] >= 0)
            snprintf(text, sizeof text, ";%s>b%d_%d bytes=%d", name, branch,
                     f->reader[j], f->bytes[j]);
        else
            snprintf(text, sizeof text, ";%s>v bytes=%d", name, f->bytes[j]);
        if (v || f->reader[j] >= 0)
            put(w, text);
        snprintf(text, sizeof text, ";u>%s bytes=%d tensor=y", name, y_bytes);
        if (u && f->reads_u[j])
            put(w, text);
    }
}

/* Flows outside the fork-join: between branches, and of another tensor of u. */
static void put_others(writer *w, int n_branches, bool u)
{
    char text[64];

    for (int i = 0; i + 1 < n_branches; i++) {
        snprintf(text, sizeof text, ";b%d_0>b%d_0 bytes=%d", i, i + 1,
                 1000 * below(w, 5));
        if (!below(w, 3))
            put(w, text);
    }
    for (int i = 0; i < n_branches; i++) {
        snprintf(text, sizeof text, ";u>b%d_0 bytes=4000 tensor=z", i);
        if (u && !below(w, 2))
            put(w, text);
    }
}

/* A fork-join of at most five ops, with some equal branches. */
static void write_fork(writer *w, int a, int b, bool u, bool v)
{
    char text[64];
    int y_bytes = 1000 * below(w, 16), n_branches = 0;
    shape like = random_shape(w, 3);

    put(w, "* t.A=0 t.B=0 t.C=0");
    if (u) {
        snprintf(text, sizeof text, ";u pin=%c", 'A' + a);
        put(w, text);
    }
    if (v) {
        snprintf(text, sizeof text, ";v pin=%c", 'A' + b);
        put(w, text);
    }
    for (int left = 5; left >= like.n; n_branches++) {
        put_branch(w, &like, n_branches, y_bytes, u, v);
        left -= like.n;
        if (!below(w, 3))
            like = random_shape(w, left > 3 ? 3 : left > 0 ? left : 1);
    }
    if (!below(w, 3))
        put_others(w, n_branches, u);
}

static const char *const clusters[] = {
    "A; B; C; A-B gbps=8; B-C gbps=4; A-C gbps=2",
    "A; B; C; A-B gbps=8; B-C gbps=8",
};

enum { MAX_CASES = 60 };

/* The bound with prices by op and device. */
static int64_t priced_bound_of(const mo_instance *x, const mo_regime *regime,
                               int a, int b, const int64_t *price_ns,
                               int max_cases, double *used_bytes)
{
    fork_join_case f;
    int64_t bound_ns = -1;

    fork_join_case_find(&f, x, regime);
    MUST(mo_load_bound_priced(f.fork, regime,
                              f.segment.u == MO_FREE ? MO_FREE : a,
                              f.segment.v == MO_FREE ? MO_FREE : b, price_ns,
                              max_cases, &bound_ns, used_bytes, &err));
    fork_join_case_clear(&f);
    return bound_ns;
}

/* Whether branch and price refutes that time and prices are less; returns the
 * number of searches, 0: it does not. */
static int refute(const mo_instance *x, const mo_regime *regime, int a, int b,
                  const int64_t *price_ns, int64_t target_ns)
{
    fork_join_case f;
    mo_cg_priced_task task = { .regime = regime, .price_ns = price_ns };
    bool refuted = false;
    int n_calls = 0;

    fork_join_case_find(&f, x, regime);
    task.fork = f.fork;
    task.a = f.segment.u == MO_FREE ? MO_FREE : a;
    task.b = f.segment.v == MO_FREE ? MO_FREE : b;
    MUST(mo_cg_priced_refute(&task, target_ns, &refuted, &n_calls, &err));
    fork_join_case_clear(&f);
    return refuted ? n_calls : 0;
}

static bool is_refuted(const mo_instance *x, const mo_regime *regime, int a,
                       int b, const int64_t *price_ns, int64_t target_ns)
{
    return refute(x, regime, a, b, price_ns, target_ns) > 0;
}

/* u and v take no time: the optimum is that of the fork-join. */
START_TEST(never_above_the_optimum)
{
    writer w = { { (uint64_t) _i }, "", 0 };
    int a = below(&w, 3), b = below(&w, 3);
    bool u = below(&w, 6) > 0, v = below(&w, 6) > 0;
    mo_regime regime = { (mo_congestion) (_i % 4), (mo_tensors) (_i / 4 % 2),
                         MO_MEMORY_NONE };
    const int64_t no_prices[64 * 3] = { 0 };
    double used_bytes[3];
    problem p = { 0 };
    int64_t bound_ns, cases_ns, optimum_ns;

    write_fork(&w, a, b, u, v);
    problem_make(&p, w.text, clusters[below(&w, COUNT(clusters))], NULL);
    ck_assert_int_le(p.x->n, 64);
    bound_ns = bound_of(p.x, &regime, a, b);
    cases_ns =
        priced_bound_of(p.x, &regime, a, b, no_prices, MAX_CASES, used_bytes);
    optimum_ns = exhaustive_optimum(p.x, &regime);
    ck_assert_msg(cases_ns <= optimum_ns,
                  "seed %d: bound by cases %lld above %lld of\n%s", _i,
                  (long long) cases_ns, (long long) optimum_ns, w.text);
    ck_assert_msg(bound_ns <= optimum_ns,
                  "seed %d: bound %lld above %lld of\n%s", _i,
                  (long long) bound_ns, (long long) optimum_ns, w.text);
    problem_clear(&p);
}
END_TEST

/* Of every placement its optimum and its price. */
START_TEST(with_prices_never_above_a_placement)
{
    writer w = { { (uint64_t) _i + 1000 }, "", 0 };
    int a = below(&w, 3), b = below(&w, 3);
    bool u = below(&w, 6) > 0, v = below(&w, 6) > 0;
    mo_regime regime = { (mo_congestion) (_i % 4), (mo_tensors) (_i / 4 % 2),
                         MO_MEMORY_NONE };
    int64_t price_ns[16 * 3], bound_ns[2], least_ns = INT64_MAX;
    int best[16] = { 0 };
    double used_bytes[3];
    problem p = { 0 };

    write_fork(&w, a, b, u, v);
    problem_make(&p, w.text, clusters[below(&w, COUNT(clusters))], NULL);
    ck_assert_int_le(p.x->n, 16);
    /* By device alone in every other case: equal branches stay equal. */
    for (int i = 0; i < p.x->n * 3; i++)
        price_ns[i] = _i % 2 && i >= 3 ? price_ns[i - 3] : 500 * below(&w, 20);
    for (int i = 0; i < 2; i++)
        bound_ns[i] = priced_bound_of(p.x, &regime, a, b, price_ns,
                                      i * MAX_CASES, used_bytes);
    ck_assert_int_le(bound_ns[0], bound_ns[1]);
    /* Random placements, then single changes of the cheapest. */
    for (int trial = 0; trial < 30; trial++) {
        int64_t cost_ns = 0;
        int changed = below(&w, p.x->n);

        for (int i = 0; i < p.x->n; i++) {
            bool is_end = strcmp(p.x->op_names[i], "u") == 0 ||
                          strcmp(p.x->op_names[i], "v") == 0;

            if (is_end)
                continue;
            p.x->pin[i] = trial < 6 || i == changed ? below(&w, 3) : best[i];
            cost_ns += price_ns[i * 3 + p.x->pin[i]];
        }
        cost_ns += exhaustive_optimum(p.x, &regime);
        ck_assert_msg(bound_ns[1] <= cost_ns, "seed %d: %lld above %lld of\n%s",
                      _i, (long long) bound_ns[1], (long long) cost_ns, w.text);
        if (cost_ns >= least_ns)
            continue;
        least_ns = cost_ns;
        memcpy(best, p.x->pin, (size_t) p.x->n * sizeof *best);
    }
    for (int i = 0; i < p.x->n; i++)
        if (strcmp(p.x->op_names[i], "u") != 0 &&
            strcmp(p.x->op_names[i], "v") != 0)
            p.x->pin[i] = MO_FREE;
    ck_assert_msg(!is_refuted(p.x, &regime, a, b, price_ns, least_ns + 1),
                  "seed %d: %lld refuted of\n%s", _i, (long long) least_ns,
                  w.text);
    problem_clear(&p);
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
    const int64_t no_prices[5 * 2] = { 0 };
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
    SOME(never_above_the_optimum, 400, 16);
    SOME(with_prices_never_above_a_placement, at_length(400, 80), 4);
    TEST(prices_move_the_optimum);
    TEST(cases_count_whole_branches);
}
