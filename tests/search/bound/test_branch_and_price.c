/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of solvers/search/bound/colgen/branch_and_price.h: hand-made cases,
 * then random fork-joins: no feasible time is refuted, most infeasible times
 * are. */
#include "solvers/search/bound/colgen/branch_and_price.h"

#include <stdio.h>

#include "base/random.h"
#include "schedule/schedule.h"
#include "solvers/search/exact/exact.h"
#include "tests/search/bound/fork_join_case.h"
#include "tests/support/suite.h"
#include "tests/support/tiny_problem.h"

enum { ROOM = 1 << 14, MAX_OPS = 9, MAX_DEVICES = 4 };

static int device_of(const fork_join_case *f, int op)
{
    return op == MO_FREE ? MO_FREE : f->problem.x->pin[op];
}

static bool refute(const fork_join_case *f, int64_t time_ns,
                   const mo_cg_options *options)
{
    bool refuted;

    const mo_forkjoin_case at = { f->fork, device_of(f, f->segment.u),
                                  device_of(f, f->segment.v) };

    MUST(mo_cg_refute(&at, time_ns, options, &refuted, &err));
    return refuted;
}

static bool is_refuted(const fork_join_case *f, int64_t time_ns)
{
    return refute(f, time_ns, &(mo_cg_options){ .effort = 1 });
}

/* u and v take no time in all cases here: the optimum is that of the
 * fork-join. */
static int64_t optimum_of(const fork_join_case *f)
{
    mo_exact_options options = { .below_ns = INT64_MAX };
    mo_exact_result result = { 0 };

    MUST(mo_exact_solve(f->problem.x, &f->places.regime, &options, &result,
                        &err));
    ck_assert(result.finished);
    mo_schedule_free(result.best);
    return result.lower_ns;
}

#define FOUR                                                                   \
    "u pin=A t.A=0 t.B=0; a; b; c; d; v pin=A t.A=0 t.B=0;"                    \
    "u>a; u>b; u>c; u>d; a>v; b>v; c>v; d>v"

/* Optima given by loads, ports and transfers alone. */
static const struct {
    const char *graph;
    mo_regime regime;
    int64_t optimum_ns;
} plain[] = {
    /* two on either device */
    { "* t.A=4 t.B=4; *>* c.A.B=0 c.B.A=0;" FOUR,
      { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE, MO_MEMORY_NONE },
      8000 },
    /* all must go to B, through one port there or back */
    { "* t.A=90000 t.B=1; *>* c.A.B=4 c.B.A=1;" FOUR,
      { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE, MO_MEMORY_NONE },
      18000 },
    { "* t.A=90000 t.B=1; *>* c.A.B=1 c.B.A=4;" FOUR,
      { MO_CONGESTION_CHANNEL, MO_TENSORS_PER_EDGE, MO_MEMORY_NONE },
      18000 },
    { "* t.A=90000 t.B=1; *>* c.A.B=1 c.B.A=4;" FOUR,
      { MO_CONGESTION_LINK, MO_TENSORS_PER_EDGE, MO_MEMORY_NONE },
      18000 },
    /* the broadcast tensor arrives once for all; then the load of B */
    { "* t.A=90000 t.B=3; *>* c.A.B=4 c.B.A=1 tensor=y;" FOUR,
      { MO_CONGESTION_PORT, MO_TENSORS_ONCE, MO_MEMORY_NONE },
      17000 },
    /* one stays, as the tensor is late on B: 9 and 9, not 4 and 12 */
    { "* t.A=9 t.B=3; *>* c.A.B=0 c.B.A=0 tensor=y;" FOUR,
      { MO_CONGESTION_PORT, MO_TENSORS_ONCE, MO_MEMORY_NONE },
      9000 },
};

START_TEST(small_cases_are_refuted_below_the_optimum)
{
    fork_join_case f;
    int64_t optimum_ns = plain[_i].optimum_ns;

    fork_join_case_make(&f, plain[_i].graph, "A; B; A-B gbps=8",
                        &plain[_i].regime);
    ck_assert_int_eq(optimum_of(&f), optimum_ns);
    ck_assert(!is_refuted(&f, optimum_ns));
    ck_assert(is_refuted(&f, optimum_ns - optimum_ns / 100));
    fork_join_case_clear(&f);
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

#define PUT(w, ...)                                                            \
    do {                                                                       \
        (w)->at += (size_t) snprintf((w)->text + (w)->at, ROOM - (w)->at,      \
                                     __VA_ARGS__);                             \
        ck_assert_uint_lt((w)->at, ROOM);                                      \
    } while (0)

/* The shape of all branches of a class. */
typedef struct shape {
    int n, reader[4], p[4][MAX_DEVICES], bytes[4], reads[4];
} shape;

static shape random_shape(writer *w, int most)
{
    shape f = { .n = 1 + below(w, most) };

    for (int j = 0; j < f.n; j++) {
        f.reader[j] = j + 1 < f.n ? j + 1 + below(w, f.n - j - 1) : -1;
        f.bytes[j] = 500 * below(w, 16);
        f.reads[j] = j == 0 ? 1 : below(w, 5); /* 1, 2: tensors of u */
        for (int k = 0; k < MAX_DEVICES; k++)
            f.p[j][k] = below(w, 10);
    }
    return f;
}

static void put_branch(writer *w, const shape *f, int branch, bool u, bool v)
{
    static const char *const tensors[] = { "", "bytes=4000 tensor=y",
                                           "bytes=2000 tensor=z", "", "" };

    for (int j = 0; j < f->n; j++)
        PUT(w, ";b%d_%d t.A=%d t.B=%d t.C=%d t.D=%d", branch, j, f->p[j][0],
            f->p[j][1], f->p[j][2], f->p[j][3]);
    for (int j = 0; j < f->n; j++) {
        if (f->reader[j] >= 0)
            PUT(w, ";b%d_%d>b%d_%d bytes=%d", branch, j, branch, f->reader[j],
                f->bytes[j]);
        else if (v)
            PUT(w, ";b%d_%d>v bytes=%d", branch, j, f->bytes[j]);
        if (u && *tensors[f->reads[j]])
            PUT(w, ";u>b%d_%d %s", branch, j, tensors[f->reads[j]]);
    }
}

/* Branches of one shape, and of another now and then. */
static void write_fork(writer *w, int n_devices)
{
    bool u = below(w, 8) > 0, v = below(w, 8) > 0;
    shape like = random_shape(w, 4);

    PUT(w, "* t.A=0 t.B=0 t.C=0 t.D=0");
    if (u)
        PUT(w, ";u pin=%c", 'A' + below(w, n_devices));
    if (v)
        PUT(w, ";v pin=%c", 'A' + below(w, n_devices));
    for (int branch = 0, left = MAX_OPS; left >= like.n; branch++) {
        put_branch(w, &like, branch, u, v);
        left -= like.n;
        if (below(w, 4) == 0 && left > 0)
            like = random_shape(w, left > 4 ? 4 : left);
    }
}

static const struct {
    int n_devices;
    const char *text;
} clusters[] = {
    { 2, "A; B; A-B gbps=8" },
    { 3, "A; B; C; A-B gbps=8; B-C gbps=4; A-C gbps=2" },
    { 3, "A; B; C; A-B gbps=8; B-C gbps=8" },
    { 4, "A; B; C; D; A-B gbps=8; B-C gbps=8; C-D gbps=4; D-A gbps=8" },
};

static void random_fork(fork_join_case *f, writer *w, int seed)
{
    mo_regime regime = { (mo_congestion) (seed % 4),
                         (mo_tensors) (seed / 4 % 2), MO_MEMORY_NONE };
    int at = seed / 8 % COUNT(clusters);

    *w = (writer){ { (uint64_t) seed }, "", 0 };
    write_fork(w, clusters[at].n_devices);
    fork_join_case_make(f, w->text, clusters[at].text, &regime);
}

START_TEST(feasible_times_are_not_refuted)
{
    writer w;
    fork_join_case f;
    int64_t optimum_ns;

    random_fork(&f, &w, _i);
    optimum_ns = optimum_of(&f);
    ck_assert_msg(!is_refuted(&f, optimum_ns), "seed %d: %lld ns of\n%s", _i,
                  (long long) optimum_ns, w.text);
    ck_assert_msg(!is_refuted(&f, optimum_ns + optimum_ns / 50),
                  "seed %d: beyond %lld ns of\n%s", _i, (long long) optimum_ns,
                  w.text);
    fork_join_case_clear(&f);
}
END_TEST

START_TEST(most_infeasible_times_are_refuted)
{
    int refuted = 0, n = is_watched() ? 12 : 160;

    for (int seed = 0; seed < n; seed++) {
        writer w;
        fork_join_case f;
        int64_t optimum_ns;

        random_fork(&f, &w, seed);
        optimum_ns = optimum_of(&f);
        refuted += is_refuted(&f, optimum_ns - optimum_ns / 20 - 1);
        fork_join_case_clear(&f);
    }
    ck_assert_msg(refuted >= n * 3 / 5, "only %d of %d", refuted, n);
}
END_TEST

static int64_t refuted_ns(const mo_instance *x, const mo_regime *regime,
                          int64_t optimum_ns)
{
    fork_join_case f;
    int64_t bound_ns = 0;

    fork_join_case_find(&f, x, regime);
    f.problem.x = (mo_instance *) (uintptr_t) x;
    if (is_refuted(&f, optimum_ns))
        bound_ns = optimum_ns + 1;
    else if (is_refuted(&f, optimum_ns - optimum_ns / 20 - 1))
        bound_ns = optimum_ns;
    f.problem.x = NULL;
    fork_join_case_clear(&f);
    return bound_ns;
}

static const tiny_bound bounds[] = {
    { "all", refuted_ns, NULL,
      1 << TINY_CHAIN | 1 << TINY_DEVICE | 1 << TINY_EQUAL },
    { "without arrivals", refuted_ns, "colgen_arrival_branching", 0 },
    { "without release rows", refuted_ns, "colgen_release_rows", 0 },
    { "without separation", refuted_ns, "colgen_separation", 0 },
    { "without smoothing", refuted_ns, "colgen_smoothing", 0 },
    { "nothing", refuted_ns, "colgen_refutation", 0 },
};

START_TEST(no_part_of_it_refutes_the_optimum)
{
    tiny_check(bounds, COUNT(bounds), (unsigned) _i);
}
END_TEST

START_TEST(unrefuted_times_come_with_a_placement)
{
    writer w;
    fork_join_case f;
    bool suggested;
    int device[MAX_OPS + 2];
    int64_t start_ns[MAX_OPS + 2], time_ns;
    mo_cg_options options = { .effort = 1,
                              .device = device,
                              .start_ns = start_ns,
                              .suggested = &suggested };

    random_fork(&f, &w, _i);
    time_ns = optimum_of(&f);
    refute(&f, time_ns, &options);
    ck_assert_msg(suggested == (time_ns > 0), "seed %d", _i);
    for (int i = 0; i < f.segment.n && suggested; i++) {
        ck_assert(mo_allowed_devices_has(&f.places, f.ops[i], device[i]));
        ck_assert_int_ge(start_ns[i], 0);
        ck_assert_int_le(start_ns[i], time_ns);
    }
    fork_join_case_clear(&f);
}
END_TEST

START_TEST(the_search_is_deterministic)
{
    writer w;
    fork_join_case f;
    int64_t time_ns;

    random_fork(&f, &w, _i);
    time_ns = optimum_of(&f) * 49 / 50;
    ck_assert(is_refuted(&f, time_ns) == is_refuted(&f, time_ns));
    fork_join_case_clear(&f);
}
END_TEST

SUITE(branch_and_price)
{
    EACH(small_cases_are_refuted_below_the_optimum, COUNT(plain));
    SOME(feasible_times_are_not_refuted, at_length(480, 160), 6);
    SOME(no_part_of_it_refutes_the_optimum, at_length(400, 10), 1);
    TEST(most_infeasible_times_are_refuted);
    SOME(unrefuted_times_come_with_a_placement, 64, 4);
    SOME(the_search_is_deterministic, 16, 2);
}
