/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of timelines, schedule/heuristic/insertion.h: insertion and undo. */
#include "schedule/heuristic/insertion.h"

#include <stdbool.h>
#include <string.h>

#include "tests/support/graphs.h"
#include "tests/support/suite.h"

static void put(mo_timeline *t, int64_t start_ns, int64_t length_ns)
{
    mo_timeline_change change;

    MUST(mo_timeline_insert(t, start_ns, length_ns, &change, &err));
}

START_TEST(an_empty_one_is_free_at_once)
{
    mo_timeline t = { 0 };

    ck_assert_int_eq(mo_timeline_earliest(&t, 7, 0), 7);
    ck_assert_int_eq(mo_timeline_earliest(&t, 7, 5), 7);
}
END_TEST

START_TEST(the_first_gap_that_is_long_enough_is_found)
{
    mo_timeline t = { 0 };

    put(&t, 10, 10);
    put(&t, 25, 5);
    ck_assert_int_eq(mo_timeline_earliest(&t, 0, 10), 0);
    ck_assert_int_eq(mo_timeline_earliest(&t, 0, 11), 30);
    ck_assert_int_eq(mo_timeline_earliest(&t, 1, 10), 30);
    ck_assert_int_eq(mo_timeline_earliest(&t, 12, 5), 20);
    ck_assert_int_eq(mo_timeline_earliest(&t, 21, 4), 21);
    ck_assert_int_eq(mo_timeline_earliest(&t, 21, 5), 30);
    mo_timeline_clear(&t);
}
END_TEST

START_TEST(what_takes_no_time_lies_at_borders_and_not_within)
{
    mo_timeline t = { 0 };

    put(&t, 10, 10);
    put(&t, 20, 10);
    ck_assert_int_eq(mo_timeline_earliest(&t, 10, 0), 10);
    ck_assert_int_eq(mo_timeline_earliest(&t, 11, 0), 20);
    ck_assert_int_eq(mo_timeline_earliest(&t, 20, 0), 20);
    ck_assert_int_eq(mo_timeline_earliest(&t, 29, 0), 30);
    mo_timeline_clear(&t);
}
END_TEST

START_TEST(what_takes_no_time_is_not_covered)
{
    mo_timeline t = { 0 };

    put(&t, 10, 0);
    ck_assert_int_eq(mo_timeline_earliest(&t, 5, 5), 5);
    ck_assert_int_eq(mo_timeline_earliest(&t, 6, 5), 10);
    mo_timeline_clear(&t);
}
END_TEST

enum { MAX_SPANS = 60, HORIZON = 120 };

/* Returns whether the span overlaps none of those inserted before, by
 * definition. */
static bool is_free(const mo_timeline_span *spans, int n, int64_t start,
                    int64_t length)
{
    for (int i = 0; i < n; i++)
        if (start + length > spans[i].from_ns && start < spans[i].to_ns)
            return false;
    return true;
}

static int64_t first_by_definition(const mo_timeline_span *spans, int n,
                                   int64_t ready, int64_t length)
{
    while (!is_free(spans, n, ready, length))
        ready++;
    return ready;
}

START_TEST(gaps_are_those_of_the_definition)
{
    test_random random = { (uint64_t) _i };
    mo_timeline_span spans[MAX_SPANS];
    mo_timeline t = { 0 };

    for (int n = 0; n < MAX_SPANS; n++) {
        int64_t length = random_below(&random, 3) * random_below(&random, 6);
        int64_t ready = random_below(&random, HORIZON);
        int64_t first = mo_timeline_earliest(&t, ready, length);

        ck_assert_int_eq(first, first_by_definition(spans, n, ready, length));
        put(&t, first, length);
        spans[n] = (mo_timeline_span){ first, first + length };
    }
    mo_timeline_clear(&t);
}
END_TEST

/* The earliest starts for all queries. */
static void ask_all(const mo_timeline *t, int64_t answers[HORIZON][8])
{
    for (int ready = 0; ready < HORIZON; ready++)
        for (int length = 0; length < 8; length++)
            answers[ready][length] = mo_timeline_earliest(t, ready, length);
}

START_TEST(undone_puts_leave_no_trace)
{
    static int64_t before[HORIZON][8], after[HORIZON][8];
    test_random random = { (uint64_t) _i };
    mo_timeline_change changes[8];
    mo_timeline t = { 0 };

    for (int round = 0; round < 12; round++) {
        int64_t length, start;

        ask_all(&t, before);
        for (int i = 0; i < 8; i++) {
            length = random_below(&random, 6);
            start = mo_timeline_earliest(&t, random_below(&random, HORIZON),
                                         length);
            MUST(mo_timeline_insert(&t, start, length, &changes[i], &err));
        }
        for (int i = 7; i >= 0; i--)
            mo_timeline_undo(&t, &changes[i]);
        ask_all(&t, after);
        ck_assert(memcmp(before, after, sizeof before) == 0);
        length = random_below(&random, 6);
        put(&t,
            mo_timeline_earliest(&t, random_below(&random, HORIZON), length),
            length);
    }
    mo_timeline_clear(&t);
}
END_TEST

SUITE(timeline)
{
    TEST(an_empty_one_is_free_at_once);
    TEST(the_first_gap_that_is_long_enough_is_found);
    TEST(what_takes_no_time_lies_at_borders_and_not_within);
    TEST(what_takes_no_time_is_not_covered);
    SOME(gaps_are_those_of_the_definition, 200, 10);
    SOME(undone_puts_leave_no_trace, 50, 5);
}
