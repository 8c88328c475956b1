/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the bound by sets of units against enumeration: the sets that
 * devices can have, and the bound itself, in all regimes. */
#include <stdio.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/random.h"
#include "solvers/search/period/subset_bound.h"
#include "solvers/search/period/subset_pricing.h"
#include "tests/support/exhaustive_period.h"
#include "tests/support/random_problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"

#define WORK 1e8

/* What the set, bits by unit, uses of a device; false where a unit may not be
 * there. */
static bool sum_use(const mo_subset_units *s, int c, unsigned set,
                    mo_subset_use *use)
{
    *use = (mo_subset_use){ { 0 } };
    for (int u = 0; u < s->n; u++) {
        int64_t ns = s->p_ns[u * s->n_classes + c];

        if (!(set >> u & 1))
            continue;
        if (ns < 0)
            return false;
        use->of[MO_SUBSET_LOAD] += ns;
        use->of[MO_SUBSET_BYTES] += s->bytes[u];
    }
    for (int i = 0; i < s->n_items; i++) {
        const mo_subset_item *item = &s->items[i];
        bool from = set >> item->from & 1, differs = false;

        for (int j = 0; j < item->n; j++)
            differs |= (set >> item->to[j] & 1) != from;
        use->of[MO_SUBSET_LOAD] += differs ? item->busy_ns[c] : 0;
        use->of[from ? MO_SUBSET_OUT : MO_SUBSET_IN] +=
            !differs ? 0 : (from ? item->out_ns[c] : item->in_ns[c]);
    }
    return true;
}

static bool is_within(const mo_subset_units *s, int c, unsigned set)
{
    mo_subset_use use;

    if (!sum_use(s, c, set, &use))
        return false;
    for (int l = 0; l < MO_SUBSET_LIMITS; l++)
        if (use.of[l] > s->capacity[c * MO_SUBSET_LIMITS + l])
            return false;
    return true;
}

static int64_t sum_set(const mo_subset_units *s, const int64_t *value,
                       unsigned set)
{
    int64_t sum = 0;

    for (int u = 0; u < s->n; u++)
        sum += set >> u & 1 ? value[u] : 0;
    return sum;
}

/* No set is worth more than pricing claims, and the set it chooses is one; with
 * room for all nodes and labels it is the best but for the tolerance. */
static void check_prices(const mo_subset_units *s, unsigned seed, int max_nodes,
                         int max_labels)
{
    mo_random random = { seed };
    mo_subset_graph g;
    int64_t value[32];

    ck_assert_int_lt(s->n, 20);
    MUST(mo_subset_graph_init(&g, s, max_nodes, &err));
    for (int c = 0; c < s->n_classes; c++) {
        mo_subset_pricing p;

        MUST(mo_subset_pricing_init(&p, &g, c, &err));
        for (int i = 0; i < 6; i++) {
            int64_t best = 0, most, chosen = 0;
            unsigned set = 0;

            for (int u = 0; u < s->n; u++)
                value[u] = (mo_random_below(&random, 1000) - 200) *
                           (MO_SUBSET_TOTAL / 32000);
            for (unsigned at = 0; at < 1U << s->n; at++)
                if (is_within(s, c, at))
                    best = mo_max_i64(best, sum_set(s, value, at));
            MUST(
                mo_subset_price(&p, value, INT64_MAX, max_labels, &most, &err));
            for (int u = 0; u < s->n; u++)
                set |= p.chosen[u] ? 1U << u : 0;
            chosen = sum_set(s, value, set);
            ck_assert_int_ge(most, best);
            ck_assert_int_eq(chosen, p.chosen_value);
            if (max_nodes > 1000) {
                ck_assert(is_within(s, c, set));
                ck_assert_int_le(chosen, best);
            }
            if (max_nodes > 1000 && max_labels > 1000) {
                ck_assert_int_le(most, best + best / 1000);
                ck_assert_int_ge(chosen, best - best / 1000);
            }
        }
        mo_subset_pricing_clear(&p);
    }
    mo_subset_graph_clear(&g);
}

static void check_sets(const mo_period_problem *p, int64_t period_ns,
                       unsigned seed)
{
    int *joined = calloc((size_t) p->units->n + 1, sizeof *joined);
    mo_subset_units s;

    ck_assert_ptr_nonnull(joined);
    for (int u = 0; u < p->units->n; u++)
        joined[u] = u;
    MUST(mo_subset_units_init(&s, p, period_ns, joined, &err));
    check_prices(&s, seed, 40000, 4096);
    check_prices(&s, seed, 40000, 32);
    check_prices(&s, seed, 1, 4096);
    mo_subset_units_clear(&s);
    free(joined);
}

/* Returns whether the period before the least is proven too short. */
static bool check_bound(const mo_period_problem *p, int64_t least_ns)
{
    mo_subset_bound b;
    int64_t lower_ns = 0;
    bool is_short;

    MUST(mo_subset_bound_init(&b, p, &err));
    for (int64_t ns = least_ns; ns <= 2 * least_ns + 1;
         ns += least_ns / 3 + 1) {
        MUST(mo_subset_bound_test(&b, ns, WORK, NULL, &is_short, &err));
        ck_assert(!is_short);
    }
    MUST(mo_subset_bound_raise(&b, 2 * least_ns + 1, WORK, NULL, &lower_ns,
                               &err));
    ck_assert_int_le(lower_ns, least_ns);
    MUST(mo_subset_bound_test(&b, least_ns - 1, WORK, NULL, &is_short, &err));
    mo_subset_bound_clear(&b);
    return is_short;
}

static void check_problem(const mo_instance *x, const mo_regime *regime,
                          unsigned seed)
{
    int64_t least_ns = exhaustive_period(x, regime);
    mo_period_problem p;

    if (least_ns == EXHAUSTIVE_PERIOD_NONE)
        return;
    MUST(mo_period_problem_init(&p, x, regime, &err));
    check_bound(&p, least_ns);
    check_sets(&p, least_ns, seed);
    mo_period_problem_clear(&p);
}

static void check_regime(const problem *p, int number, unsigned seed)
{
    mo_regime regime = regime_of(number);

    if (regime.memory != MO_MEMORY_LIVE)
        check_problem(p->x, &regime, seed);
}

START_TEST(no_bound_is_above_the_least_period)
{
    random_problem_check((unsigned) _i, check_regime);
}
END_TEST

/* Equal devices, tensors of several readers, units with transfers to and fro,
 * and transfers of up to twice the time of an op. */
START_TEST(transfers_are_expensive)
{
    static const char names[] = "abcdefgh";
    mo_random random = { (uint64_t) _i + 1 };
    int n = 5 + mo_random_below(&random, 4);
    int one_in = 2 + mo_random_below(&random, 3);
    char text[4096];
    size_t at = 0;
    problem p = { 0 };

    for (int i = 0; i < n; i++) {
        int group = mo_random_below(&random, 6);

        at += (size_t) snprintf(
            text + at, sizeof text - at, "%c t.M=%d.%d weight_bytes=%d%s;",
            names[i], 1 + mo_random_below(&random, 9),
            mo_random_below(&random, 10), 1 + mo_random_below(&random, 9),
            group == 0   ? " colocate=g"
            : group == 1 ? " colocate=h"
                         : "");
    }
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (j == i + 1 || mo_random_below(&random, 2 * one_in) == 0)
                at += (size_t) snprintf(
                    text + at, sizeof text - at, "%s%c>%c tensor=%c bytes=%d",
                    text[at - 1] == ';' ? "" : ";", names[i], names[j],
                    names[i], 1000 * (1 + (int) (names[i] * 7 % 16)));
    problem_make(&p, text,
                 "A model=M memory_bytes=30; B model=M memory_bytes=30;"
                 "C model=M memory_bytes=30;"
                 "A-B gbps=8; B-C gbps=8; A-C gbps=8",
                 NULL);
    for (int number = _i % 3; number < N_REGIMES; number += 3)
        if (regime_of(number).memory != MO_MEMORY_LIVE) {
            mo_regime regime = regime_of(number);

            check_problem(p.x, &regime, (unsigned) _i);
        }
    problem_clear(&p);
}
END_TEST

/* Three chains of two ops, whose transfers take longer than all: two chains are
 * on one of two devices. */
START_TEST(chains_stay_whole)
{
    static const mo_regime regime = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                      MO_MEMORY_NONE };
    mo_period_problem p;
    problem q = { 0 };

    problem_make(&q,
                 "* t.M=10; *>* bytes=50000; a; b; c; d; e; f; a>b; c>d; e>f",
                 "A model=M; B model=M; A-B gbps=8", NULL);
    MUST(mo_period_problem_init(&p, q.x, &regime, &err));
    ck_assert_int_eq(exhaustive_period(q.x, &regime), 40000);
    ck_assert(check_bound(&p, 40000));
    mo_period_problem_clear(&p);
    problem_clear(&q);
}
END_TEST

SUITE(subset_bound)
{
    SOME(no_bound_is_above_the_least_period, at_length(500, 16), 2);
    SOME(transfers_are_expensive, at_length(500, 8), 1);
    TEST(chains_stay_whole);
}
