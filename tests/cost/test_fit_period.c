/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/calibrate/fit_period.h: periods computed with a slowdown and an
 * overhead, which the fit finds again. */
#include "cost/calibrate/fit_period.h"

#include "base/random.h"
#include "tests/support/suite.h"

enum { PARTS = 4, SPLITS = 4, RANDOM = 200 };

typedef struct splits {
    mo_fit_period_split split[SPLITS];
    double load_us[SPLITS][PARTS];
    int n_transfers[SPLITS][PARTS];
} splits;

/* Split i has more transfers than those before, and loads of about 100 us. */
static void make_splits(splits *s, uint64_t seed)
{
    mo_random random = { mo_random_seed(seed, 0) };

    for (int i = 0; i < SPLITS; i++) {
        for (int k = 0; k < PARTS; k++) {
            s->load_us[i][k] = 90 + (double) mo_random_below(&random, 20);
            s->n_transfers[i][k] = 2 * i + (int) mo_random_below(&random, 2);
        }
        s->split[i] = (mo_fit_period_split){ .load_us = s->load_us[i],
                                             .n_transfers = s->n_transfers[i],
                                             .n_parts = PARTS,
                                             .other_us = 50 };
    }
}

static void set_periods(splits *s, double slowdown, double overhead_us)
{
    for (int i = 0; i < SPLITS; i++)
        s->split[i].period_us =
            mo_fit_period_predict_us(&s->split[i], slowdown, overhead_us);
}

START_TEST(what_periods_were_computed_with_is_found)
{
    static const double slowdowns[] = { 1, 1.1, 1.3, 1.7 };
    static const double overheads[] = { 0, 0.5, 2, 3.5 };
    double slowdown, overhead_us;
    splits s;

    make_splits(&s, (uint64_t) _i);
    set_periods(&s, slowdowns[_i % 4], overheads[_i / 4 % 4]);
    mo_fit_period(s.split, SPLITS, &slowdown, &overhead_us);
    ck_assert_double_eq_tol(slowdown, slowdowns[_i % 4], 2e-3);
    ck_assert_double_eq_tol(overhead_us, overheads[_i / 4 % 4], 5e-2);
}
END_TEST

START_TEST(one_split_has_no_overhead)
{
    double slowdown, overhead_us;
    splits s;

    make_splits(&s, 1);
    set_periods(&s, 1.4, 0);
    mo_fit_period(s.split + 1, 1, &slowdown, &overhead_us);
    ck_assert_double_eq(overhead_us, 0);
    ck_assert_double_eq_tol(
        mo_fit_period_predict_us(&s.split[1], slowdown, overhead_us),
        s.split[1].period_us, 1e-2);
}
END_TEST

START_TEST(faster_than_predicted_is_no_slowdown)
{
    double slowdown, overhead_us;
    splits s;

    make_splits(&s, 2);
    set_periods(&s, 0.8, 0);
    mo_fit_period(s.split, SPLITS, &slowdown, &overhead_us);
    ck_assert_double_eq(slowdown, 1);
    ck_assert_double_eq(overhead_us, 0);
}
END_TEST

START_TEST(a_slow_split_is_only_predicted_to_be_slow)
{
    double slowdown, overhead_us;
    splits s;

    make_splits(&s, 3);
    set_periods(&s, 1.2, 1);
    s.split[SPLITS - 1].period_us *= 3;
    mo_fit_period(s.split, SPLITS, &slowdown, &overhead_us);
    for (int i = 0; i < SPLITS; i++) {
        double us =
            mo_fit_period_predict_us(&s.split[i], slowdown, overhead_us);

        if (i < SPLITS - 1)
            ck_assert_double_eq_tol(us / s.split[i].period_us, 1, 0.1);
        else
            ck_assert_double_gt(us, 1.1 * s.split[0].period_us);
    }
}
END_TEST

START_TEST(other_resources_limit_the_period)
{
    splits s;

    make_splits(&s, 4);
    s.split[0].other_us = 500;
    ck_assert_double_eq(mo_fit_period_predict_us(&s.split[0], 1.5, 2), 500);
}
END_TEST

SUITE(fit_period)
{
    SOME(what_periods_were_computed_with_is_found, RANDOM, 4);
    TEST(one_split_has_no_overhead);
    TEST(faster_than_predicted_is_no_slowdown);
    TEST(a_slow_split_is_only_predicted_to_be_slow);
    TEST(other_resources_limit_the_period);
}
