/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/tiny_problem.h"

#include "tests/support/exhaustive.h"
#include "tests/support/exhaustive_live.h"
#include "tests/support/graphs.h"
#include "tests/support/random_problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"

enum { MAX_OPS = 5, MAX_DEVICES = 3 };

static const char *const family_names[N_TINY_FAMILIES] = { "chain", "device",
                                                           "equal", "fork",
                                                           "random" };

static const char *const clusters[] = {
    "A; B; C; A-B gbps=8; B-C gbps=4; A-C gbps=2",
    "A; B; C; A-B gbps=8; B-C gbps=8", /* routes share links */
    "A; B; C; A-B gbps=2; B-C gbps=2; A-C gbps=2",
};

static void put_times(test_random *r, mo_out *out)
{
    for (int k = 0; k < MAX_DEVICES; k++)
        mo_out_printf(out, " t.%c=%d", 'A' + k, random_below(r, 10));
}

static void put_chain(test_random *r, mo_out *out)
{
    int n = 2 + random_below(r, MAX_OPS - 1);

    for (int i = 0; i < n; i++) {
        mo_out_printf(out, "%c", 'a' + i);
        put_times(r, out);
        if (random_below(r, 6) == 0)
            mo_out_printf(out, " pin=%c", 'A' + random_below(r, MAX_DEVICES));
        mo_out_char(out, ';');
    }
    for (int i = 1; i < n; i++)
        mo_out_printf(out, "%c>%c bytes=%d;", 'a' + i - 1, 'a' + i,
                      500 * random_below(r, 12));
}

static void put_device(test_random *r, mo_out *out)
{
    int n = 1 + random_below(r, MAX_OPS);

    for (int i = 0; i < n; i++)
        mo_out_printf(out, "%c t.A=%d;", 'a' + i, random_below(r, 10));
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (random_below(r, 3) == 0)
                mo_out_printf(out, "%c>%c bytes=1000;", 'a' + i, 'a' + j);
}

static void put_equal(test_random *r, mo_out *out)
{
    int n = MAX_DEVICES * (1 + random_below(r, 2)), us = 1 + random_below(r, 9);

    for (int i = 0; i < n; i++)
        mo_out_printf(out, "%c t.A=%d t.B=%d t.C=%d;", 'a' + i, us, us, us);
}

/* The shape of all branches of a class: an in-tree, inputs first. */
typedef struct branch_shape {
    int n, reader[MAX_OPS], us[MAX_OPS][MAX_DEVICES], bytes[MAX_OPS];
    int tensor[MAX_OPS]; /* of u that it reads; 0: none */
} branch_shape;

static branch_shape random_shape(test_random *r, int most)
{
    branch_shape f = { .n = 1 + random_below(r, most) };

    for (int j = 0; j < f.n; j++) {
        f.reader[j] = j + 1 < f.n ? j + 1 + random_below(r, f.n - j - 1) : -1;
        f.bytes[j] = 500 * random_below(r, 12);
        f.tensor[j] = j == 0 ? 1 : random_below(r, 5) % 3;
        for (int k = 0; k < MAX_DEVICES; k++)
            f.us[j][k] = random_below(r, 10);
    }
    return f;
}

static void put_branch(mo_out *out, const branch_shape *f, int branch, bool u,
                       bool v, int u_bytes)
{
    for (int j = 0; j < f->n; j++)
        mo_out_printf(out, ";b%d_%d t.A=%d t.B=%d t.C=%d", branch, j,
                      f->us[j][0], f->us[j][1], f->us[j][2]);
    for (int j = 0; j < f->n; j++) {
        if (f->reader[j] >= 0)
            mo_out_printf(out, ";b%d_%d>b%d_%d bytes=%d", branch, j, branch,
                          f->reader[j], f->bytes[j]);
        else if (v)
            mo_out_printf(out, ";b%d_%d>v bytes=%d", branch, j, f->bytes[j]);
        if (u && f->tensor[j] > 0)
            mo_out_printf(out, ";u>b%d_%d bytes=%d tensor=y%d", branch, j,
                          f->tensor[j] * u_bytes, f->tensor[j]);
    }
}

/* In one of three, flows between branches make it no fork-join. */
static void put_fork(test_random *r, mo_out *out)
{
    bool u = random_below(r, 6) > 0, v = random_below(r, 6) > 0;
    int u_bytes = 1000 * random_below(r, 16), n_branches = 0;
    branch_shape like = random_shape(r, 3);

    mo_out_printf(out, "* t.A=0 t.B=0 t.C=0");
    if (u)
        mo_out_printf(out, ";u pin=%c", 'A' + random_below(r, MAX_DEVICES));
    if (v)
        mo_out_printf(out, ";v pin=%c", 'A' + random_below(r, MAX_DEVICES));
    for (int left = MAX_OPS - 1; left >= like.n; n_branches++) {
        put_branch(out, &like, n_branches, u, v, u_bytes);
        left -= like.n;
        if (random_below(r, 3) == 0 && left > 0)
            like = random_shape(r, left > 3 ? 3 : left);
    }
    if (random_below(r, 3) == 0)
        for (int i = 0; i + 1 < n_branches; i++)
            mo_out_printf(out, ";b%d_0>b%d_0 bytes=%d", i, i + 1,
                          1000 * random_below(r, 5));
}

void tiny_make(tiny_problem *t, tiny_family family, unsigned seed)
{
    static void (*const put[])(test_random *,
                               mo_out *) = { put_chain, put_device, put_equal,
                                             put_fork };
    test_random r = { (seed * N_TINY_FAMILIES + family) *
                      UINT64_C(0x9e3779b97f4a7c15) };
    mo_out *out;

    *t = (tiny_problem){ .family = family, .seed = seed };
    if (family == TINY_RANDOM) {
        random_problem random;

        random_problem_sized(&random, seed, 3, 5);
        t->graph = random.graph;
        t->cluster = random.cluster;
    } else {
        out = text_new();
        put[family](&r, out);
        t->graph = text_end(out);
        out = text_new();
        mo_out_printf(out, "%s",
                      family == TINY_DEVICE
                          ? "A"
                          : clusters[random_below(&r, COUNT(clusters))]);
        t->cluster = text_end(out);
    }
    problem_make(&t->problem, t->graph, t->cluster, NULL);
}

void tiny_clear(tiny_problem *t)
{
    problem_clear(&t->problem);
    free(t->graph);
    free(t->cluster);
}

/* Returns EXHAUSTIVE_NONE where there is none, or its search takes too long. */
static int64_t optimum_of(const mo_instance *x, const mo_regime *regime)
{
    if (regime->memory != MO_MEMORY_LIVE)
        return exhaustive_optimum(x, regime);
    return x->n <= 4 && x->n_flows <= 4 ? exhaustive_live_optimum(x, regime)
                                        : EXHAUSTIVE_NONE;
}

static void check_bound(const tiny_bound *b, const tiny_problem *t, int number,
                        int64_t optimum_ns)
{
    const mo_regime regime = regime_of(number);
    int64_t bound_ns;

    if (b->ablate)
        setenv("MOIRAI_ABLATE", b->ablate, 1);
    bound_ns = b->bound_ns(t->problem.x, &regime, optimum_ns);
    unsetenv("MOIRAI_ABLATE");
    ck_assert_msg(bound_ns <= optimum_ns,
                  "%s of %s, seed %u, regime %d: %lld is above %lld of\n%s\n%s",
                  b->name, family_names[t->family], t->seed, number,
                  (long long) bound_ns, (long long) optimum_ns, t->graph,
                  t->cluster);
    ck_assert_msg(
        regime.memory != MO_MEMORY_NONE || !(b->reached >> t->family & 1) ||
            bound_ns >= optimum_ns - optimum_ns / 1000,
        "%s of %s, seed %u, regime %d: %lld, not %lld of\n%s\n%s", b->name,
        family_names[t->family], t->seed, number, (long long) bound_ns,
        (long long) optimum_ns, t->graph, t->cluster);
}

void tiny_check(const tiny_bound *bounds, int n, unsigned seed)
{
    int stride = at_length(1, 5);

    for (int family = 0; family < N_TINY_FAMILIES; family++) {
        tiny_problem t;

        tiny_make(&t, (tiny_family) family, seed);
        for (int number = (int) (seed % (unsigned) stride); number < N_REGIMES;
             number += stride) {
            const mo_regime regime = regime_of(number);
            int64_t optimum_ns = optimum_of(t.problem.x, &regime);

            for (int i = 0; i < n && optimum_ns != EXHAUSTIVE_NONE; i++)
                check_bound(&bounds[i], &t, number, optimum_ns);
        }
        tiny_clear(&t);
    }
}
