/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of driver/ledger.h. */
#include "solvers/search/driver/ledger.h"

#include "tests/support/suite.h"

enum { N = 3 };

static int64_t sum_of_credits(const mo_search_ledger *m)
{
    int64_t sum = 0;

    for (int i = 0; i < m->n; i++)
        sum += mo_search_ledger_credit(m, i);
    return sum;
}

START_TEST(untried_jobs_share_equally)
{
    mo_search_ledger m;

    MUST(mo_search_ledger_init(&m, N, &err));
    mo_search_ledger_begin_round(&m, 0.5, INT64_MAX, 0);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(mo_search_ledger_credit(&m, i),
                         MO_SEARCH_FIRST_WORK / N);
    mo_search_ledger_clear(&m);
}
END_TEST

/* Of two jobs with equal work the one that gains gets more, and one that never
 * gains still gets some. */
START_TEST(gain_per_work_decides)
{
    mo_search_ledger m;

    MUST(mo_search_ledger_init(&m, N, &err));
    for (int round = 0; round < 20; round++) {
        mo_search_ledger_begin_round(&m, 0.5, INT64_MAX, 0);
        for (int i = 0; i < N; i++) {
            int64_t work = mo_search_ledger_credit(&m, i);

            ck_assert_int_gt(work, 0);
            mo_search_ledger_charge(&m, i, work, 1e-12 * (double) (i * work));
        }
    }
    mo_search_ledger_begin_round(&m, 0.5, INT64_MAX, 0);
    ck_assert_int_gt(mo_search_ledger_credit(&m, 2),
                     mo_search_ledger_credit(&m, 1));
    ck_assert_int_gt(mo_search_ledger_credit(&m, 1),
                     mo_search_ledger_credit(&m, 0));
    mo_search_ledger_clear(&m);
}
END_TEST

START_TEST(credit_is_saved_up_to_a_limit)
{
    mo_search_ledger m;
    int64_t first;

    MUST(mo_search_ledger_init(&m, N, &err));
    mo_search_ledger_begin_round(&m, 0.5, INT64_MAX, 0);
    first = mo_search_ledger_credit(&m, 0);
    mo_search_ledger_begin_round(&m, 0.5, INT64_MAX, 0);
    ck_assert_int_gt(mo_search_ledger_credit(&m, 0), first);
    for (int round = 0; round < 100; round++)
        mo_search_ledger_begin_round(&m, 0.5, INT64_MAX, 0);
    ck_assert_int_le(mo_search_ledger_credit(&m, 0), 2 * MO_SEARCH_FIRST_WORK);
    mo_search_ledger_clear(&m);
}
END_TEST

START_TEST(a_limit_of_work_is_kept)
{
    mo_search_ledger m;

    MUST(mo_search_ledger_init(&m, N, &err));
    mo_search_ledger_begin_round(&m, 0.5, 3000, 4);
    ck_assert_int_le(sum_of_credits(&m), 3000);
    ck_assert_int_ge(sum_of_credits(&m), 3000 - N);
    mo_search_ledger_clear(&m);
}
END_TEST

SUITE(ledger)
{
    TEST(untried_jobs_share_equally);
    TEST(gain_per_work_decides);
    TEST(credit_is_saved_up_to_a_limit);
    TEST(a_limit_of_work_is_kept);
}
