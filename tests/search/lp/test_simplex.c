/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of lp/simplex.h. An optimum is checked by duality: z is feasible, the
 * duals are feasible, and both have the same value. */
#include "solvers/search/lp/simplex.h"

#include <math.h>

#include "base/random.h"
#include "tests/support/suite.h"

enum { MAX_ROWS = 120, MAX_COLUMNS = 80 };

#define CLOSE 1e-6

typedef struct problem_lp {
    int n, m;
    double c[MAX_COLUMNS], a[MAX_ROWS][MAX_COLUMNS], b[MAX_ROWS];
} problem_lp;

static void check_columns(const problem_lp *p, const double *z,
                          const double *price)
{
    for (int j = 0; j < p->n; j++) {
        double worth = 0;

        for (int i = 0; i < p->m; i++)
            worth += price[i] * p->a[i][j];
        ck_assert_double_ge(z[j], 0);
        ck_assert_msg(worth >= p->c[j] - CLOSE, "column %d: %g < %g", j, worth,
                      p->c[j]);
    }
}

static void check_rows(const problem_lp *p, const double *z,
                       const double *price)
{
    for (int i = 0; i < p->m; i++) {
        double sum = 0;

        for (int j = 0; j < p->n; j++)
            sum += p->a[i][j] * z[j];
        ck_assert_double_ge(price[i], 0);
        ck_assert_msg(sum <= p->b[i] + CLOSE, "row %d: %g > %g", i, sum,
                      p->b[i]);
    }
}

static void check_optimal(const problem_lp *p, mo_lp_simplex *lp, int seed)
{
    const double *z, *price;
    double value = 0, dual = 0;

    ck_assert_msg(mo_lp_simplex_solve(lp), "seed %d", seed);
    z = mo_lp_simplex_primal(lp);
    price = mo_lp_simplex_duals(lp);
    check_columns(p, z, price);
    check_rows(p, z, price);
    for (int j = 0; j < p->n; j++)
        value += p->c[j] * z[j];
    for (int i = 0; i < p->m; i++)
        dual += p->b[i] * price[i];
    ck_assert_msg(fabs(value - dual) <= CLOSE * (1 + fabs(value)),
                  "seed %d: %g and %g", seed, value, dual);
    ck_assert_double_eq_tol(mo_lp_simplex_objective(lp), value, CLOSE);
}

/* Integers, so that there are ties; zeros, too. */
static double entry(mo_random *r, int least, int most)
{
    return mo_random_below(r, 3) == 0
               ? 0
               : least + mo_random_below(r, most - least + 1);
}

static mo_lp_simplex *begin(problem_lp *p, mo_random *r, int n)
{
    mo_lp_simplex *lp;

    p->n = n;
    p->m = 0;
    for (int j = 0; j < n; j++)
        p->c[j] = entry(r, -3, 9);
    MUST(mo_lp_simplex_new(n, p->c, &lp, &err));
    return lp;
}

/* A row that 1, 1, ... 1 satisfies: the problem stays feasible. */
static void add_row(problem_lp *p, mo_random *r, mo_lp_simplex *lp, int least)
{
    double sum = 0;

    for (int j = 0; j < p->n; j++)
        sum += p->a[p->m][j] = entry(r, least, 6);
    p->b[p->m] = sum + mo_random_below(r, 3);
    MUST(mo_lp_simplex_add_row(lp, p->a[p->m], p->b[p->m], &err));
    p->m++;
}

/* Bounds the sum of all columns. */
static void add_sum_bound(problem_lp *p, mo_lp_simplex *lp)
{
    for (int j = 0; j < p->n; j++)
        p->a[p->m][j] = 1;
    p->b[p->m] = 2 * MAX_COLUMNS;
    MUST(mo_lp_simplex_add_row(lp, p->a[p->m], p->b[p->m], &err));
    p->m++;
}

/* It stays feasible if the column has no entry in rows that are tight at 1. */
static void add_column(problem_lp *p, mo_random *r, mo_lp_simplex *lp)
{
    double entries[MAX_ROWS];

    p->c[p->n] = entry(r, -3, 9);
    for (int i = 0; i < p->m; i++)
        entries[i] = p->a[i][p->n] = i == 0 ? 1 : entry(r, -2, 0);
    MUST(mo_lp_simplex_add_column(lp, p->c[p->n], entries, &err));
    p->n++;
}

START_TEST(optima_satisfy_duality)
{
    mo_random r = { (uint64_t) _i };
    problem_lp p;
    mo_lp_simplex *lp = begin(&p, &r, 1 + mo_random_below(&r, 20));
    int m = mo_random_below(&r, 30);

    add_sum_bound(&p, lp);
    for (int i = 0; i < m; i++)
        add_row(&p, &r, lp, -3);
    check_optimal(&p, lp, _i);
    mo_lp_simplex_free(lp);
}
END_TEST

START_TEST(rows_and_columns_come_at_any_time)
{
    mo_random r = { (uint64_t) _i };
    problem_lp p;
    mo_lp_simplex *lp = begin(&p, &r, 1 + mo_random_below(&r, 8));

    add_sum_bound(&p, lp);
    for (int round = 0; round < 25; round++) {
        for (int more = mo_random_below(&r, 4); more > 0; more--)
            add_row(&p, &r, lp, -3);
        for (int more = mo_random_below(&r, 3); more > 0; more--)
            add_column(&p, &r, lp);
        check_optimal(&p, lp, _i);
    }
    mo_lp_simplex_free(lp);
}
END_TEST

/* Reduces the problem to the kept rows. */
static void keep_rows(problem_lp *p, const int *kept)
{
    int n = 0;

    for (int i = 0; i < p->m; i++)
        if (kept[i] >= 0) {
            ck_assert_int_eq(kept[i], n);
            memmove(p->a[n], p->a[i], sizeof p->a[n]);
            p->b[n++] = p->b[i];
        }
    p->m = n;
}

START_TEST(purged_rows_do_not_count)
{
    mo_random r = { (uint64_t) _i };
    problem_lp p;
    int kept[MAX_ROWS], most;
    mo_lp_simplex *lp = begin(&p, &r, 1 + mo_random_below(&r, 8));

    add_sum_bound(&p, lp);
    for (int round = 0; round < 30; round++) {
        double before;

        for (int more = mo_random_below(&r, 9); more > 0; more--)
            add_row(&p, &r, lp, -3);
        check_optimal(&p, lp, _i);
        before = mo_lp_simplex_objective(lp);
        most = p.n + mo_random_below(&r, 12);
        mo_lp_simplex_purge_slack_rows(lp, most, kept);
        keep_rows(&p, kept);
        ck_assert_int_le(p.m, most > p.n + 1 ? most : p.n + 1);
        check_optimal(&p, lp, _i);
        ck_assert_double_eq_tol(mo_lp_simplex_objective(lp), before, CLOSE);
    }
    mo_lp_simplex_free(lp);
}
END_TEST

/* max v, v <= what each of many patterns costs, prices sum up to 1. */
START_TEST(matrix_games_have_a_value)
{
    enum { PRICES = 24, PATTERNS = 60 };
    mo_random r = { (uint64_t) _i };
    problem_lp p = { .n = PRICES + 1, .m = 1 };
    mo_lp_simplex *lp;

    for (int j = 0; j <= PRICES; j++) {
        p.c[j] = j == PRICES;
        p.a[0][j] = j < PRICES;
    }
    p.b[0] = 1;
    MUST(mo_lp_simplex_new(p.n, p.c, &lp, &err));
    MUST(mo_lp_simplex_add_row(lp, p.a[0], p.b[0], &err));
    for (int i = 1; i <= PATTERNS; i++, p.m++) {
        for (int j = 0; j < PRICES; j++)
            p.a[i][j] = -mo_random_unit(&r);
        p.a[i][PRICES] = 1;
        p.b[i] = 0;
        MUST(mo_lp_simplex_add_row(lp, p.a[i], p.b[i], &err));
        p.m = i + 1;
        check_optimal(&p, lp, _i);
        p.m = i;
    }
    mo_lp_simplex_free(lp);
}
END_TEST

START_TEST(infeasible_is_not_solved)
{
    double c[] = { 1, 1 }, less[] = { 1, 1 }, more[] = { -1, -1 };
    mo_lp_simplex *lp;

    MUST(mo_lp_simplex_new(2, c, &lp, &err));
    MUST(mo_lp_simplex_add_row(lp, less, 1, &err));
    ck_assert(mo_lp_simplex_solve(lp));
    MUST(mo_lp_simplex_add_row(lp, more, -2, &err));
    ck_assert(!mo_lp_simplex_solve(lp));
    mo_lp_simplex_free(lp);
}
END_TEST

START_TEST(unbounded_is_not_solved)
{
    double c[] = { 1, 1 }, row[] = { 1, -1 };
    mo_lp_simplex *lp;

    MUST(mo_lp_simplex_new(2, c, &lp, &err));
    ck_assert(!mo_lp_simplex_solve(lp));
    MUST(mo_lp_simplex_add_row(lp, row, 1, &err));
    ck_assert(!mo_lp_simplex_solve(lp));
    mo_lp_simplex_free(lp);
}
END_TEST

/* Beale's problem cycles by the plain rules. */
START_TEST(cycling_is_avoided)
{
    problem_lp p = { .n = 4,
                     .m = 3,
                     .c = { 0.75, -150, 0.02, -6 },
                     .a = { { 0.25, -60, -0.04, 9 },
                            { 0.5, -90, -0.02, 3 },
                            { 0, 0, 1, 0 } },
                     .b = { 0, 0, 1 } };
    mo_lp_simplex *lp;

    MUST(mo_lp_simplex_new(p.n, p.c, &lp, &err));
    for (int i = 0; i < p.m; i++)
        MUST(mo_lp_simplex_add_row(lp, p.a[i], p.b[i], &err));
    check_optimal(&p, lp, 0);
    ck_assert_double_eq_tol(mo_lp_simplex_objective(lp), 0.05, CLOSE);
    mo_lp_simplex_free(lp);
}
END_TEST

SUITE(simplex)
{
    SOME(optima_satisfy_duality, 2000, 50);
    SOME(rows_and_columns_come_at_any_time, 500, 10);
    SOME(purged_rows_do_not_count, 300, 10);
    SOME(matrix_games_have_a_value, 50, 3);
    TEST(infeasible_is_not_solved);
    TEST(unbounded_is_not_solved);
    TEST(cycling_is_avoided);
}
