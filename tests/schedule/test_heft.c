/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/heuristic/heft.h: list scheduling with insertion. */
#include "schedule/heuristic/heft.h"

#include "tests/support/dense_problem.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"
#include "tests/support/ten_task_graphs.h"
#include "tests/support/reference_validate.h"

enum { A, B, C };

static const mo_regime plain = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                                 MO_MEMORY_NONE };
static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                   MO_MEMORY_STATIC };

static mo_schedule *heft(const problem *p, const mo_regime *regime)
{
    mo_schedule *s = NULL;

    MUST(mo_heft(p->x, regime, NULL, &s, &err));
    return s;
}

START_TEST(the_ten_tasks_of_the_literature_take_80)
{
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p, topcuoglu_tasks, TEN_TASKS_CLUSTER, NULL);
    s = heft(&p, &plain);
    ck_assert_int_eq(s->makespan_ns, 80000);
    ck_assert_int_eq(s->device[problem_op(&p, "n1")], C);
    ck_assert_int_eq(s->device[problem_op(&p, "n10")], B);
    check_valid(p.x, s);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

START_TEST(of_equal_devices_the_first_is_taken)
{
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p, "a t.A=5 t.B=5", "A; B; A-B gbps=8", NULL);
    s = heft(&p, &plain);
    ck_assert_int_eq(s->device[0], A);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

/* c, the shorter one, has the lowest rank, and fits in before b. */
START_TEST(gaps_are_filled)
{
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p,
                 "a t.A=9 t.B=9 pin=A; b t.A=9 t.B=9 pin=B;"
                 "c t.A=2 t.B=2 pin=B; a>b bytes=1000",
                 "A; B; A-B gbps=8", NULL);
    s = heft(&p, &by_port);
    ck_assert_int_eq(s->start_ns[problem_op(&p, "b")], 10000);
    ck_assert_int_eq(s->start_ns[problem_op(&p, "c")], 0);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

static const char two_readers[] =
    "* t.A=1; * t.B=1; a pin=A; b pin=B; c pin=B;"
    "a>b tensor=u bytes=5000; a>c tensor=u bytes=5000";

static const struct {
    mo_congestion congestion;
    mo_tensors tensors;
    int n_transfers;
    int64_t makespan_ns;
} sendings[] = {
    { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE, 2, 12000 },
    { MO_CONGESTION_CHANNEL, MO_TENSORS_PER_EDGE, 2, 12000 },
    { MO_CONGESTION_LINK, MO_TENSORS_PER_EDGE, 2, 12000 },
    { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE, 2, 8000 },
    { MO_CONGESTION_PORT, MO_TENSORS_ONCE, 1, 8000 },
};

START_TEST(two_readers_are_sent_two_copies_or_one)
{
    mo_regime regime = { sendings[_i].congestion, sendings[_i].tensors,
                         MO_MEMORY_NONE };
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p, two_readers, "A; B; A-B gbps=8", NULL);
    s = heft(&p, &regime);
    ck_assert_int_eq(s->n_transfers, sendings[_i].n_transfers);
    ck_assert_int_eq(s->makespan_ns, sendings[_i].makespan_ns);
    check_valid(p.x, s);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

/* The route from a to c uses B's link to C, as that from b to c does. */
START_TEST(routes_that_share_a_link_wait_for_each_other)
{
    static const struct {
        mo_congestion congestion;
        int64_t makespan_ns;
    } cases[] = {
        { MO_CONGESTION_LINK, 12000 },
        { MO_CONGESTION_CHANNEL, 7000 },
        { MO_CONGESTION_PORT, 12000 },
    };
    problem p = { 0 };

    problem_make(&p,
                 "* t.A=1; * t.B=1; * t.C=1; a pin=A; b pin=B; c pin=C;"
                 "a>c bytes=5000; b>c bytes=5000",
                 "A; B; C; A-B gbps=8; B-C gbps=8", NULL);
    for (int i = 0; i < COUNT(cases); i++) {
        mo_regime regime = { cases[i].congestion, MO_TENSORS_PER_EDGE,
                             MO_MEMORY_NONE };
        mo_schedule *s = heft(&p, &regime);

        ck_assert_int_eq(s->makespan_ns, cases[i].makespan_ns);
        mo_schedule_free(s);
    }
    problem_clear(&p);
}
END_TEST

/* a would be fastest on A; but then b, of its group, would not fit there. */
START_TEST(a_group_goes_where_all_of_it_fits)
{
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p,
                 "* t.A=1; * t.B=5; a colocate=g weight_bytes=6;"
                 "b colocate=g weight_bytes=6; a>b bytes=8",
                 "A memory_bytes=10; B memory_bytes=20; A-B gbps=8", NULL);
    s = heft(&p, &by_port);
    ck_assert_int_eq(s->device[0], B);
    ck_assert_int_eq(s->device[1], B);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

/* b is pinned to A, so a may not fill it up. */
START_TEST(what_is_pinned_has_its_room_kept)
{
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p,
                 "* t.A=1; * t.B=5; a weight_bytes=6;"
                 "b weight_bytes=6 pin=A; a>b bytes=8",
                 "A memory_bytes=10; B memory_bytes=10; A-B gbps=8", NULL);
    s = heft(&p, &by_port);
    ck_assert_int_eq(s->device[problem_op(&p, "a")], B);
    check_valid(p.x, s);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

START_TEST(a_placement_against_pins_or_groups_is_no_schedule)
{
    static const int placements[][3] = { { B, B, B }, { A, A, B } };
    problem p = { 0 };

    problem_make(&p,
                 "* t.A=1; * t.B=1; a pin=A; b colocate=g; c colocate=g;"
                 "a>b bytes=8; b>c bytes=8",
                 "A; B; A-B gbps=8", NULL);
    for (int i = 0; i < COUNT(placements); i++) {
        mo_schedule *s;

        MUST(mo_heft(p.x, &by_port, placements[i], &s, &err));
        ck_assert_ptr_null(s);
    }
    problem_clear(&p);
}
END_TEST

START_TEST(no_room_is_no_schedule)
{
    problem p = { 0 };

    problem_make(&p, "* t.A=1; a weight_bytes=6; b weight_bytes=6",
                 "A memory_bytes=10", NULL);
    ck_assert_ptr_null(heft(&p, &by_port));
    problem_clear(&p);
}
END_TEST

/* Weights fit; together with the tensors they do not. */
START_TEST(what_is_alive_at_once_must_fit)
{
    const mo_regime live = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                             MO_MEMORY_LIVE };
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p, "* t.A=1; a weight_bytes=4; b weight_bytes=4; a>b bytes=2",
                 "A memory_bytes=10", NULL);
    s = heft(&p, &live);
    ck_assert_ptr_nonnull(s);
    mo_schedule_free(s);
    p.x->capacity_bytes[A] = 9;
    ck_assert_ptr_null(heft(&p, &live));
    problem_clear(&p);
}
END_TEST

START_TEST(an_empty_graph_takes_no_time)
{
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p, "", "A; B; A-B gbps=8", NULL);
    s = heft(&p, &by_port);
    ck_assert_int_eq(s->makespan_ns, 0);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

START_TEST(sums_beyond_all_numbers_are_refused)
{
    const mo_regime once = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                             MO_MEMORY_NONE };
    problem p = { 0 };
    mo_schedule *s = NULL;
    mo_error err = { 0 };

    problem_make(&p, two_readers, "A; B; C; A-B gbps=8; B-C gbps=8", NULL);
    for (int c = 0; c < p.x->comm.n_rows * p.x->comm.n_kinds; c++)
        p.x->comm.ns[c] = INT64_MAX / 3;
    ck_assert_int_eq(mo_heft(p.x, &once, NULL, &s, &err), MO_E_INPUT);
    ck_assert_ptr_null(s);
    problem_clear(&p);
}
END_TEST

static void check_same_times(const mo_schedule *s, const mo_schedule *t)
{
    for (int i = 0; i < s->n; i++)
        ck_assert_int_eq(s->start_ns[i], t->start_ns[i]);
    for (int i = 0; i < s->n_transfers; i++)
        ck_assert_int_eq(s->transfers[i].start_ns, t->transfers[i].start_ns);
}

/* An op inserted into the first gap cannot start earlier in that order. */
START_TEST(schedules_are_valid_and_cannot_be_shifted)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);
        mo_schedule *s = heft(&p, &regime), *again = heft(&p, &regime);

        if (!s) {
            ck_assert_int_ne(regime.memory, MO_MEMORY_NONE);
            ck_assert_ptr_null(again);
            continue;
        }
        check_valid(p.x, s);
        MUST(mo_schedule_left_shift(p.x, again, &err));
        check_same_times(s, again);
        mo_schedule_free(again);
        mo_schedule_free(s);
    }
    problem_clear(&p);
}
END_TEST

START_TEST(a_placement_is_kept)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number);
        mo_schedule *s = heft(&p, &regime), *again = NULL;

        if (!s)
            continue;
        MUST(mo_heft(p.x, &regime, s->device, &again, &err));
        if (again) {
            check_valid(p.x, again);
            for (int i = 0; i < s->n; i++)
                ck_assert_int_eq(again->device[i], s->device[i]);
        } else {
            ck_assert_int_eq(regime.memory, MO_MEMORY_LIVE);
        }
        mo_schedule_free(again);
        mo_schedule_free(s);
    }
    problem_clear(&p);
}
END_TEST

SUITE(heft)
{
    TEST(the_ten_tasks_of_the_literature_take_80);
    TEST(of_equal_devices_the_first_is_taken);
    TEST(gaps_are_filled);
    EACH(two_readers_are_sent_two_copies_or_one, COUNT(sendings));
    TEST(routes_that_share_a_link_wait_for_each_other);
    TEST(a_group_goes_where_all_of_it_fits);
    TEST(what_is_pinned_has_its_room_kept);
    TEST(a_placement_against_pins_or_groups_is_no_schedule);
    TEST(no_room_is_no_schedule);
    TEST(what_is_alive_at_once_must_fit);
    TEST(an_empty_graph_takes_no_time);
    TEST(sums_beyond_all_numbers_are_refused);
    SOME(schedules_are_valid_and_cannot_be_shifted, 100, 10);
    SOME(a_placement_is_kept, 50, 5);
}
