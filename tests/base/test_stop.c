/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of base/stop.h: nested stop conditions. */
/* Tests of base/stop.h. */
#include <config.h>

#include "base/stop.h"

#include <math.h>
#include <stdint.h>

#include "tests/support/suite.h"

/* Three nested stop conditions; none of them has a reason to stop yet. */
typedef struct chain {
    mo_stop inner, middle, outer;
} chain;

static bool signal_has_come(void)
{
    return true;
}

static bool no_signal_has_come(void)
{
    return false;
}

static void make_chain(chain *c)
{
    mo_stop_after(&c->inner, 0);
    mo_stop_after(&c->middle, 0);
    mo_stop_after(&c->outer, 0);
    c->inner.outer = &c->middle;
    c->middle.outer = &c->outer;
    c->middle.signaled = no_signal_has_come;
}

static mo_stop *link_of(chain *c, int number)
{
    mo_stop *const links[] = { &c->inner, &c->middle, &c->outer };

    return links[number];
}

START_TEST(nothing_stops_without_a_reason)
{
    chain c;

    make_chain(&c);
    ck_assert(!mo_stop_reached(NULL) && !mo_stop_is_requested(NULL));
    ck_assert(!mo_stop_reached(&c.inner) && !mo_stop_is_requested(&c.inner));
    ck_assert(isinf(mo_stop_remaining_s(NULL)) &&
              mo_stop_remaining_s(NULL) > 0);
    ck_assert(isinf(mo_stop_remaining_s(&c.inner)));
}
END_TEST

START_TEST(a_request_stops_what_is_within)
{
    chain c;

    make_chain(&c);
    mo_stop_request(link_of(&c, _i));
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(mo_stop_reached(link_of(&c, i)), i <= _i);
        ck_assert_int_eq(mo_stop_is_requested(link_of(&c, i)), i <= _i);
    }
    ck_assert(isinf(mo_stop_remaining_s(&c.inner)));
}
END_TEST

START_TEST(a_signal_stops_what_is_within)
{
    chain c;

    make_chain(&c);
    link_of(&c, _i)->signaled = signal_has_come;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(mo_stop_reached(link_of(&c, i)), i <= _i);
        ck_assert_int_eq(mo_stop_is_requested(link_of(&c, i)), i <= _i);
    }
}
END_TEST

/* A moment that is past, so that nothing depends on how quick this is. */
START_TEST(a_deadline_stops_and_is_no_request)
{
    chain c;

    make_chain(&c);
    link_of(&c, _i)->deadline_ns = mo_stop_clock_ns() - 1;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(mo_stop_reached(link_of(&c, i)), i <= _i);
        ck_assert(!mo_stop_is_requested(link_of(&c, i)));
        ck_assert_int_eq(mo_stop_remaining_s(link_of(&c, i)) < 0, i <= _i);
    }
}
END_TEST

START_TEST(the_first_deadline_counts)
{
    chain c;

    make_chain(&c);
    for (int i = 0; i < 3; i++)
        link_of(&c, i)->deadline_ns =
            mo_stop_clock_ns() + (i == _i ? 1 : 3) * INT64_C(3600000000000);
    ck_assert(!mo_stop_reached(&c.inner));
    ck_assert_double_le(mo_stop_remaining_s(&c.inner), 3600);
    ck_assert_double_gt(mo_stop_remaining_s(&c.inner), 0);
}
END_TEST

SUITE(stop)
{
    TEST(nothing_stops_without_a_reason);
    EACH(a_request_stops_what_is_within, 3);
    EACH(a_signal_stops_what_is_within, 3);
    EACH(a_deadline_stops_and_is_no_request, 3);
    EACH(the_first_deadline_counts, 3);
}
