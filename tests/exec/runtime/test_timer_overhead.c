/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/runtime/joint/step_times.c: timer overhead. */
#include <config.h>

#include "base/random.h"
#include "exec/runtime/joint/joint_internal.h"
#include "tests/support/suite.h"

enum { MOST = 50 };

static int64_t sum_of(const int64_t *ns, int n)
{
    int64_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += ns[i];
    return sum;
}

/* Times that are not all small beside the overhead are restored. */
START_TEST(what_was_added_is_removed)
{
    mo_random random = { (uint64_t) _i };
    int64_t truth[MOST], ns[MOST], cost = 1 + mo_random_below(&random, 9000);
    int n = 1 + mo_random_below(&random, MOST);

    for (int i = 0; i < n; i++) {
        truth[i] = 5000 + mo_random_below(&random, 10000);
        ns[i] = truth[i] + cost;
    }
    mo_joint_remove_timer_overhead(ns, n, sum_of(truth, n));
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(ns[i], truth[i]);
}
END_TEST

/* None vanishes, the order stays, and the sum is right where it can be. */
START_TEST(no_time_vanishes)
{
    mo_random random = { (uint64_t) _i };
    int64_t before[MOST], ns[MOST], whole;
    int n = 2 + mo_random_below(&random, MOST - 2);

    for (int i = 0; i < n; i++)
        before[i] = ns[i] = 100 + mo_random_below(&random, 100000);
    whole = 1 + mo_random_below(&random, (int) sum_of(ns, n));
    mo_joint_remove_timer_overhead(ns, n, whole);
    ck_assert_int_le(sum_of(ns, n), whole);
    ck_assert_int_ge(sum_of(ns, n), whole - n - whole / 4);
    for (int i = 0; i < n; i++) {
        ck_assert_int_le(ns[i], before[i]);
        if (before[i] > whole / n / 4)
            ck_assert_int_ge(ns[i], whole / n / 4);
        for (int k = 0; k < n; k++)
            ck_assert(before[i] > before[k] || ns[i] <= ns[k]);
    }
}
END_TEST

START_TEST(what_is_right_stays)
{
    int64_t ns[] = { 1, 200, 30 };

    mo_joint_remove_timer_overhead(ns, 3, 231);
    mo_joint_remove_timer_overhead(ns, 3, 5000);
    mo_joint_remove_timer_overhead(ns, 0, 0);
    ck_assert_int_eq(ns[0], 1);
    ck_assert_int_eq(ns[1], 200);
    ck_assert_int_eq(ns[2], 30);
}
END_TEST

SUITE(timer_overhead)
{
    EACH(what_was_added_is_removed, 200);
    EACH(no_time_vanishes, 200);
    TEST(what_is_right_stays);
}
