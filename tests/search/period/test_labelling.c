/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of period/labelling.h against enumeration. */
#include "solvers/search/period/labelling.h"

#include "tests/support/graphs.h"
#include "tests/support/suite.h"

enum { VARS = 7, LABELS = 3, FACTORS = 12, ENTRIES = 27 };

typedef struct model {
    int n_factors;
    mo_labelling_factor factors[FACTORS];
    int vars[FACTORS][3];
    int64_t cost[FACTORS][ENTRIES], unary[VARS * LABELS];
} model;

static void make_model(model *m, unsigned seed)
{
    test_random random = { seed };

    *m = (model){ .n_factors = 3 + random_below(&random, FACTORS - 3) };
    for (int i = 0; i < VARS * LABELS; i++)
        m->unary[i] = random_below(&random, 100);
    m->unary[random_below(&random, VARS) * LABELS] = MO_LABELLING_EXCLUDED;
    for (int f = 0; f < m->n_factors; f++) {
        int first = random_below(&random, VARS - 2);

        m->vars[f][0] = first + random_below(&random, 2);
        m->vars[f][1] = VARS - 1 - random_below(&random, VARS - first - 2);
        m->vars[f][2] = m->vars[f][0] > 0 ? m->vars[f][0] - 1 : 0;
        m->factors[f] =
            (mo_labelling_factor){ m->vars[f][0] > 0 && f % 2 ? 3 : 2,
                                   m->vars[f], m->cost[f] };
        for (int i = 0; i < ENTRIES; i++)
            m->cost[f][i] = random_below(&random, 60);
    }
}

static int64_t cost_of(const model *m, const int *label)
{
    int64_t sum = 0;

    for (int v = 0; v < VARS; v++)
        sum += m->unary[v * LABELS + label[v]];
    for (int f = 0; f < m->n_factors; f++) {
        int at = 0;

        for (int i = 0; i < m->factors[f].n; i++)
            at = at * LABELS + label[m->vars[f][i]];
        sum += m->cost[f][at];
    }
    return sum;
}

static int64_t least_cost(const model *m)
{
    int label[VARS] = { 0 }, at;
    int64_t best = INT64_MAX;

    do {
        int64_t sum = cost_of(m, label);

        best = sum < best ? sum : best;
        for (at = 0; at < VARS && ++label[at] == LABELS; at++)
            label[at] = 0;
    } while (at < VARS);
    return best;
}

START_TEST(elimination_finds_the_minimum)
{
    model m;
    mo_labelling *l = NULL;
    int label[VARS];

    make_model(&m, (unsigned) _i);
    MUST(mo_labelling_new(VARS, LABELS, m.n_factors, m.factors, 1e7, &l, &err));
    ck_assert(mo_labelling_is_exact(l));
    ck_assert_int_eq(mo_labelling_minimize(l, m.unary, label), least_cost(&m));
    ck_assert_int_eq(cost_of(&m, label), least_cost(&m));
    mo_labelling_free(l);
}
END_TEST

START_TEST(split_buckets_bound_the_minimum)
{
    model m;
    mo_labelling *l = NULL;
    int label[VARS];

    make_model(&m, (unsigned) _i);
    MUST(mo_labelling_new(VARS, LABELS, m.n_factors, m.factors, 1, &l, &err));
    ck_assert_int_le(mo_labelling_minimize(l, m.unary, label), least_cost(&m));
    ck_assert_int_ge(cost_of(&m, label), least_cost(&m));
    mo_labelling_free(l);
}
END_TEST

SUITE(labelling)
{
    SOME(elimination_finds_the_minimum, 200, 10);
    SOME(split_buckets_bound_the_minimum, 200, 10);
}
