/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of schedule/bound/priced_chain.h: on random problems whose memory
 * binds no bound is above the optimum of exhaustive search, in every regime
 * and for any prices; and by hand where it is exact.
 *
 * MOIRAI_LONG runs 5,000 problems.
 */
#include "schedule/bound/priced_chain.h"

#include "schedule/bound/lower_bound.h"
#include "schedule/bound/op_chain.h"
#include "schedule/bound/segment_classes.h"
#include "tests/support/exhaustive.h"
#include "tests/support/exhaustive_live.h"
#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"

enum { MAX_OPS = 16, MAX_DEVICES = 4, N_PRICES = 20 };

/* A priced chain with all that it borrows. */
typedef struct chain_case {
    bool allowed[MAX_OPS * MAX_DEVICES];
    mo_allowed_devices domains;
    mo_bound_chain *chain;
    mo_bound_segment_classes *classes;
    mo_bound_segments *segments;
    int64_t values[MAX_OPS][MAX_DEVICES * MAX_DEVICES];
    const int64_t *table[MAX_OPS];
    mo_priced_chain_tables tables;
    mo_priced_chain *priced;
} chain_case;

static void open_case(chain_case *c, const mo_instance *x,
                      const mo_regime *regime)
{
    *c = (chain_case){ .domains = { x, *regime, NULL } };
    ck_assert(x->n < MAX_OPS && x->n_devices <= MAX_DEVICES);
    c->domains.allowed = c->allowed;
    MUST(mo_allowed_devices_find(&c->domains, &err));
    MUST(mo_bound_chain_find(&c->domains, &c->chain, &err));
    MUST(mo_bound_segment_classes_find(&c->domains, c->chain, &c->classes,
                                       &err));
    MUST(mo_bound_segments_new(&c->domains, &c->segments, &err));
    for (int i = 0; i < c->classes->n; i++) {
        mo_bound_segments_table(c->segments,
                                &c->chain->segments[c->classes->first[i]],
                                MO_MAX_TOTAL_NS, c->values[i]);
        c->table[i] = c->values[i];
    }
    c->tables = (mo_priced_chain_tables){ .segments = c->chain->segments,
                                          .n = c->chain->n,
                                          .cls = c->classes->of,
                                          .n_classes = c->classes->n,
                                          .first = c->classes->first,
                                          .table = c->table };
    MUST(mo_priced_chain_new(&c->domains, &c->tables, &c->priced, &err));
}

static void close_case(chain_case *c)
{
    mo_priced_chain_free(c->priced);
    mo_bound_segments_free(c->segments);
    mo_bound_segment_classes_free(c->classes);
    mo_bound_chain_free(c->chain);
}

static int64_t optimum_of(const mo_instance *x, const mo_regime *regime)
{
    return regime->memory == MO_MEMORY_LIVE ? exhaustive_live_optimum(x, regime)
                                            : exhaustive_optimum(x, regime);
}

static bool is_tight(const mo_instance *x)
{
    int64_t sum = 0;

    for (int i = 0; i < x->n; i++)
        sum += x->memory_bytes[i];
    for (int k = 0; k < x->n_devices; k++)
        if (x->capacity_bytes[k] < sum)
            return true;
    return false;
}

static void check_prices(const problem *p, const mo_regime *regime,
                         int64_t optimum, unsigned seed)
{
    test_random random = { seed * UINT64_C(0x9e3779b97f4a7c15) + 1 };
    chain_case c;

    open_case(&c, p->x, regime);
    for (int i = 0; i < N_PRICES && mo_priced_chain_pays(&c.domains); i++) {
        double prices[MAX_DEVICES];
        int64_t bound;

        for (int k = 0; k < MAX_DEVICES; k++)
            prices[k] = random_below(&random, 40) * 0.1 - 0.5;
        bound = mo_priced_chain_evaluate(c.priced, prices, NULL);
        ck_assert_msg(bound <= optimum, "seed %u: %lld is more than %lld", seed,
                      (long long) bound, (long long) optimum);
    }
    close_case(&c);
}

/* Of 64 seeds the first problem whose memory binds. */
static void make_tight(problem *p, unsigned seed)
{
    for (unsigned i = 0; i < 64; i++) {
        random_problem r;

        random_problem_sized(&r, 64 * seed + i, 3, 5);
        problem_make(p, r.graph, r.cluster, NULL);
        random_problem_clear(&r);
        if (is_tight(p->x))
            return;
        problem_clear(p);
    }
    ck_abort_msg("no problem is tight");
}

/* The second half of the ops become copies of the first, as in a workload: they
 * share devices, and the first have the memory. */
static void make_copies(mo_instance *x)
{
    int n = x->n / 2;

    x->n_groups = n;
    for (int i = 0; i < x->n; i++)
        x->pin[i] = x->group[i] = MO_FREE;
    for (int i = 0; i < n; i++) {
        x->group[i] = x->group[i + n] = i;
        x->memory_bytes[i] += x->memory_bytes[i + n];
        x->weight_bytes[i] += x->weight_bytes[i + n];
        x->memory_bytes[i + n] = x->weight_bytes[i + n] = 0;
    }
}

/* Each problem in every regime, or, as usual, in each fifth. */
START_TEST(no_schedule_beats_a_memory_bound)
{
    int stride = at_length(1, 5);
    problem p = { 0 };

    make_tight(&p, (unsigned) _i);
    if (_i % 2 == 1)
        make_copies(p.x);
    for (int number = _i % stride; number < N_REGIMES; number += stride) {
        mo_regime regime = regime_of(number);
        mo_lower_bound lower = { 0 };
        int64_t optimum;

        /* More with live memory take the oracle too long. */
        if (regime.memory == MO_MEMORY_NONE ||
            (regime.memory == MO_MEMORY_LIVE &&
             (p.x->n > 4 || p.x->n_flows > 4)))
            continue;
        optimum = optimum_of(p.x, &regime);
        if (optimum == EXHAUSTIVE_NONE)
            continue;
        MUST(mo_bound_lower(p.x, &regime, &lower, &err));
        ck_assert_msg(lower.bound_ns <= optimum,
                      "seed %d, regime %d: %lld (%s) is more than %lld", _i,
                      number, (long long) lower.bound_ns, lower.which,
                      (long long) optimum);
        check_prices(&p, &regime, optimum,
                     (unsigned) (_i * N_REGIMES + number));
    }
    problem_clear(&p);
}
END_TEST

/* On two devices, of which A is fast and full. */
static const struct {
    const char *graph, *cluster;
    int64_t least_ns, optimum_ns;
} priced[] = {
    /* Two of four ops fit on A.  The best mixture of 4 ops on A and 4 on B
     * takes 20. */
    { "* t.A=1 t.B=9 weight_bytes=5 workspace_bytes=0;"
      "*>* c.A.B=2 c.B.A=2; a; b; c; d; a>b; b>c; c>d",
      "A memory_bytes=10; B memory_bytes=20", 19990, 22000 },
    /* The last op leaves A, since the others take longer on B. */
    { "* t.A=1 t.B=9 weight_bytes=5 workspace_bytes=0;"
      "*>* c.A.B=1 c.B.A=1; a; b; c t.A=1 t.B=3; a>b; b>c",
      "A memory_bytes=10; B memory_bytes=20", 5990, 6000 },
    /* Two of four ops fit on A, with a copy of each: 2 x 2 + 2 x 18. */
    { "* t.A=1 t.B=9 weight_bytes=0 workspace_bytes=0; *>* c.A.B=2 c.B.A=2;"
      "a weight_bytes=500 colocate=p; b weight_bytes=500 colocate=q;"
      "c weight_bytes=500 colocate=r; d weight_bytes=500 colocate=s;"
      "e colocate=p; f colocate=q; g colocate=r; h colocate=s;"
      "a>b; b>c; c>d; d>e; e>f; f>g; g>h",
      "A memory_bytes=1000; B memory_bytes=2000", 39990, 46000 },
    /* A has room for one of two pairs side by side, which takes 9; the other
     * pair takes 18 on B. */
    { "* t.A=1 t.B=9 weight_bytes=0 workspace_bytes=0; *>* c.A.B=0 c.B.A=0;"
      "a; b weight_bytes=5; c weight_bytes=5; d; e weight_bytes=5;"
      "f weight_bytes=5; g; a>b; a>c; b>d; c>d; d>e; d>f; e>g; f>g",
      "A memory_bytes=5; B memory_bytes=20", 29990, 30000 },
};

START_TEST(prices_raise_the_bound)
{
    const mo_regime regimes[] = {
        { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE, MO_MEMORY_STATIC },
        { MO_CONGESTION_NONE, MO_TENSORS_ONCE, MO_MEMORY_LIVE },
    };

    for (int i = 0; i < COUNT(regimes); i++) {
        problem p = { 0 };
        chain_case c;
        int64_t bound_ns = 0;

        problem_make(&p, priced[_i].graph, priced[_i].cluster, NULL);
        open_case(&c, p.x, &regimes[i]);
        MUST(mo_priced_chain_raise(c.priced, 0, NULL, &bound_ns, &err));
        ck_assert_int_ge(bound_ns, priced[_i].least_ns);
        ck_assert_int_le(bound_ns, priced[_i].optimum_ns);
        close_case(&c);
        problem_clear(&p);
    }
}
END_TEST

SUITE(memory_oracle)
{
    SOME(no_schedule_beats_a_memory_bound, at_length(5000, 200), 2);
    EACH(prices_raise_the_bound, COUNT(priced));
}
