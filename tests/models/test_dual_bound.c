/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of models/relax: the integer linear program, and the safe bound from
 * dual values, whatever these are.
 */
#include "models/relax/integer_lp.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>

#include "solvers/root_bound.h"
#include "tests/support/exhaustive.h"
#include "tests/support/exhaustive_live.h"
#include "tests/support/graphs.h"
#include "tests/support/random_problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"

static void add_column(mo_integer_lp *lp, int64_t lower, int64_t upper)
{
    MUST(mo_integer_lp_add_column(
        lp, &(mo_integer_lp_column){ .lower = lower, .upper = upper }, &err));
}

/* w >= 3 x, w >= 10 - 2 x, 0 <= x <= 4: least w is 6 at x = 2, with duals 2/5
 * and 3/5. */
static void make_two_rows(mo_integer_lp *lp)
{
    static const int columns[] = { 0, 1 };
    static const int64_t first[] = { 1, -3 }, second[] = { 1, 2 };

    *lp = (mo_integer_lp){ 0 };
    add_column(lp, 0, 100);
    add_column(lp, 0, 4);
    MUST(mo_integer_lp_add_row(lp, 2, columns, first, MO_GE, 0, &err));
    MUST(mo_integer_lp_add_row(lp, 2, columns, second, MO_GE, 10, &err));
}

static mo_dual_bound bound_of(const mo_integer_lp *lp, const double *duals,
                              size_t n)
{
    mo_dual_bound bound;

    MUST(mo_dual_bound_compute(lp, duals, n, &bound, &err));
    return bound;
}

static const struct {
    double duals[2];
    int64_t bound;
} two_rows[] = {
    { { 0.4, 0.6 }, 6 },     { { 0, 0 }, 0 },
    { { 1, 0 }, -12 },   /* w - y (w - 3 x) = 3 x ... : -(-3) x over 0..4 */
    { { 0, 1 }, 2 },     /* 10 - 2 x at x = 4 */
    { { 0.5, 0.5 }, 5 }, /* 5 + x / 2 at x = 0 */
    { { 2, 0 }, -76 },   /* -w + 6 x */
    { { -1, -1 }, 0 },   /* the wrong sign counts as 0 */
    { { NAN, 0.6 }, 2 },     { { INFINITY, -INFINITY }, 0 },
    { { 1e300, 1e300 }, 0 }, { { 5e-324, -0.0 }, 0 },
};

/* The definition, in doubles, for numbers of this size exact. */
static double dual_objective(const double *y)
{
    double w = 1 - y[0] - y[1], x = 3 * y[0] - 2 * y[1];

    return 10 * y[1] + fmin(0, 100 * w) + fmin(0, 4 * x);
}

START_TEST(bound_is_the_dual_objective)
{
    mo_integer_lp lp;
    mo_dual_bound bound;
    double used[2];

    make_two_rows(&lp);
    bound = bound_of(&lp, two_rows[_i].duals, 2);
    ck_assert(bound.found);
    for (int i = 0; i < 2; i++) {
        double y = two_rows[_i].duals[i];

        used[i] = isfinite(y) && y > 0 && y < 1e18 ? y : 0;
    }
    /* 0.4 and 0.6 are no doubles: rounding up hides that. */
    ck_assert_int_eq(bound.value, (int64_t) ceil(dual_objective(used) - 1e-9));
    ck_assert_int_le(bound.value, 6);
    mo_integer_lp_clear(&lp);
}
END_TEST

START_TEST(missing_duals_count_as_zero)
{
    static const double duals[] = { 0, 1, 77, NAN };
    mo_integer_lp lp;

    make_two_rows(&lp);
    ck_assert_int_eq(bound_of(&lp, NULL, 0).value, 0);
    ck_assert_int_eq(bound_of(&lp, duals, 1).value, 0);
    ck_assert_int_eq(bound_of(&lp, duals, 2).value, 2);
    ck_assert_int_eq(bound_of(&lp, duals, 4).value, 2);
    mo_integer_lp_clear(&lp);
}
END_TEST

START_TEST(column_without_a_bound_gives_none_where_it_is_needed)
{
    static const double good[] = { 0, 1 }, bad[] = { 1, 0 };
    mo_integer_lp lp;

    make_two_rows(&lp);
    lp.columns[1].lower = MO_INTEGER_LP_NO_LOWER;
    ck_assert(!bound_of(&lp, bad, 2).found);
    ck_assert(bound_of(&lp, good, 2).found);
    lp.columns[1].upper = MO_INTEGER_LP_NO_UPPER;
    ck_assert(!bound_of(&lp, good, 2).found);
    mo_integer_lp_clear(&lp);
}
END_TEST

/* 2^62 * 2^59 * 2^48 does not fit into 127 bits. */
START_TEST(overflow_gives_no_bound)
{
    static const int column = 1;
    static const int64_t large = INT64_C(1) << 62, least = INT64_MIN;
    static const double dual = 4e17;
    mo_integer_lp lp;

    make_two_rows(&lp);
    MUST(mo_integer_lp_add_row(&lp, 1, &column, &large, MO_GE, 0, &err));
    ck_assert(!bound_of(&lp, (const double[]){ 0, 0, dual }, 3).found);
    ck_assert(bound_of(&lp, (const double[]){ 0, 0, 0x1p-20 }, 3).found);
    MUST(
        mo_integer_lp_add_row(&lp, 1, &column, &least, MO_EQ, INT64_MIN, &err));
    ck_assert(!bound_of(&lp, (const double[]){ 0, 0, 0, dual }, 4).found);
    mo_integer_lp_clear(&lp);
}
END_TEST

/* Rows of a sink that hold numbers other than small integers are dropped. */
START_TEST(sink_keeps_exact_rows_only)
{
    static const double coefs[] = { 1, 0.5, 9007199254740992.0, -3 };
    static const bool is_kept[] = { true, false, false, true };
    mo_integer_lp lp = { 0 };
    mo_sink *sink;
    size_t kept = 0;

    MUST(mo_integer_lp_sink_new(&lp, NULL, 100, &sink, &err));
    mo_sink_begin(sink, 0);
    mo_sink_column(sink, &(mo_variable){ .role = MO_VARIABLE_ROLE_MAKESPAN,
                                         .lower = 0.5,
                                         .upper = INFINITY });
    mo_sink_columns_end(sink);
    mo_sink_family(sink, "row");
    for (int i = 0; i < COUNT(coefs); i++) {
        mo_sink_term(sink, 0, coefs[i]);
        mo_sink_row(sink, MO_GE, 1);
        kept += is_kept[i];
        ck_assert_uint_eq(lp.n_rows, kept);
    }
    mo_sink_term(sink, 0, 1);
    mo_sink_row(sink, MO_GE, 0.25);
    ck_assert_uint_eq(lp.n_rows, kept);
    MUST(mo_sink_end(sink, &err));
    mo_sink_free(sink);
    ck_assert_int_eq(lp.columns[0].lower, 0);
    ck_assert(lp.columns[0].upper == MO_INTEGER_LP_NO_UPPER);
    mo_integer_lp_clear(&lp);
}
END_TEST

START_TEST(sink_stops_at_its_limit)
{
    mo_integer_lp lp = { 0 };
    mo_error why = { 0 };
    mo_sink *sink;

    MUST(mo_integer_lp_sink_new(&lp, NULL, 2, &sink, &err));
    mo_sink_begin(sink, 0);
    mo_sink_column(sink, &(mo_variable){ .role = MO_VARIABLE_ROLE_MAKESPAN });
    mo_sink_columns_end(sink);
    mo_sink_family(sink, "row");
    for (int i = 0; i < 3; i++) {
        mo_sink_term(sink, 0, 1);
        mo_sink_row(sink, MO_GE, 1);
    }
    ck_assert_int_eq(mo_sink_end(sink, &why), MO_E_LIMIT);
    ck_assert_uint_eq(lp.n_rows, 2);
    mo_sink_free(sink);
    mo_integer_lp_clear(&lp);
}
END_TEST

START_TEST(unused_columns_are_dropped)
{
    static const int column = 2;
    static const int64_t coef = 5;
    mo_integer_lp lp = { 0 };

    for (int j = 0; j < 4; j++)
        add_column(&lp, j, 10 + j);
    MUST(mo_integer_lp_add_row(&lp, 1, &column, &coef, MO_LE, 7, &err));
    MUST(mo_integer_lp_drop_unused(&lp, &err));
    ck_assert_uint_eq(lp.n_columns, 2);
    ck_assert_int_eq(lp.columns[1].lower, 2);
    ck_assert_int_eq(lp.index[0], 1);
    mo_integer_lp_clear(&lp);
}
END_TEST

/* Dual values of several kinds, most of them nonsense. */
static double garbage(test_random *random, int kind)
{
    static const double odd[] = { NAN,    INFINITY, -INFINITY, 1e300, -1e300,
                                  5e-324, -0.0,     1e17,      1 };

    switch (kind) {
    case 0:
        return random_below(random, 1000) / 1000.0;
    case 1:
        return random_below(random, 2001) - 1000;
    case 2:
        return ldexp(random_below(random, 1000) - 500,
                     random_below(random, 60) - 30);
    default:
        return odd[random_below(random, COUNT(odd))];
    }
}

enum { TRIES = 40 };

static void check_garbage(const problem *p, int number, unsigned seed)
{
    const mo_regime regime = regime_of(number);
    int64_t optimum = regime.memory == MO_MEMORY_LIVE
                          ? exhaustive_live_optimum(p->x, &regime)
                          : exhaustive_optimum(p->x, &regime);
    test_random random = { seed + (unsigned) number };
    mo_integer_lp lp = { 0 };
    double *duals;

    if (optimum < 0)
        return;
    MUST(mo_root_relaxation_make(p->x, &regime, NULL, optimum, 100000, &lp,
                                 &err));
    duals = calloc(lp.n_rows + 1, sizeof *duals);
    ck_assert_ptr_nonnull(duals);
    for (int try = 0; try < TRIES; try++) {
        mo_dual_bound bound;

        for (size_t i = 0; i < lp.n_rows; i++)
            duals[i] = garbage(&random, try % 4) *
                       (lp.sense[i] == MO_LE && try % 8 < 4 ? -1 : 1);
        bound = bound_of(&lp, duals, lp.n_rows);
        if (bound.found && bound.value > optimum)
            ck_abort_msg("seed %u, regime %d, try %d: bound %lld above the "
                         "optimum %lld",
                         seed, number, try, (long long) bound.value,
                         (long long) optimum);
    }
    free(duals);
    mo_integer_lp_clear(&lp);
}

START_TEST(no_garbage_gives_a_bound_above_the_optimum)
{
    random_problem_check_small((unsigned) _i, check_garbage);
}
END_TEST

SUITE(dual_bound)
{
    EACH(bound_is_the_dual_objective, COUNT(two_rows));
    TEST(missing_duals_count_as_zero);
    TEST(column_without_a_bound_gives_none_where_it_is_needed);
    TEST(overflow_gives_no_bound);
    TEST(sink_keeps_exact_rows_only);
    TEST(sink_stops_at_its_limit);
    TEST(unused_columns_are_dropped);
    SOME(no_garbage_gives_a_bound_above_the_optimum, at_length(1000, 60), 5);
}
