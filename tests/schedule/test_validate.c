/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/validate/validate.h: each constraint by hand. */
#include "schedule/validate/validate.h"

#include <limits.h>
#include <string.h>

#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"
#include "tests/schedule/validate_case.h"

enum { A, B, C };

static const mo_regime live = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                MO_MEMORY_LIVE };

START_TEST(a_valid_schedule_is_described)
{
    const int device[] = { A, A, B, C };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, fork_of_three, three, &edges_by_port, device);
    mo_verdict *v;

    v = verdict_on(&p, s);
    print_all(v);
    ck_assert_int_eq(v->n, 0);
    ck_assert_int_eq(v->busy_ns[A], 4000);
    ck_assert_int_eq(v->busy_ns[C], 2000);
    ck_assert_int_eq(v->peak_bytes[A], 20);
    ck_assert_int_eq(v->n_transfers, 2);
    ck_assert_int_eq(v->sent_ns, 5000);
    mo_verdict_free(v);
    clear_scheduled(&p, s);
}
END_TEST

START_TEST(devices_that_do_not_exist_are_named)
{
    const int device[] = { A, A, A, A };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, fork_of_three, three, &edges_by_port, device);

    s->device[3] = 3;
    s->makespan_ns = s->start_ns[3];
    check_only(&p, s, MO_VIOLATION_ASSIGNMENT, 0,
               "(1c) op \"d\" is on device number 3 of 3");
    s->device[3] = -1;
    check_only(&p, s, MO_VIOLATION_ASSIGNMENT, 0,
               "(1c) op \"d\" is on device number -1 of 3");
    clear_scheduled(&p, s);
}
END_TEST

START_TEST(pins_and_groups_are_kept)
{
    const int device[] = { A, B, A };
    problem p = { 0 };
    mo_schedule *s = scheduled(&p, "* t.A=1 t.B=1; a pin=B; b; c", "A; B",
                               &edges_by_port, device);

    check_only(&p, s, MO_VIOLATION_PIN, 0,
               "pin: op \"a\" is pinned to B and is on A");
    clear_scheduled(&p, s);

    problem_make(&p, "* t.A=1 t.B=1; a colocate=g; b; c colocate=g", "A; B",
                 NULL);
    s = schedule_made(&p, &edges_by_port, device);
    check_valid(p.x, s);
    mo_schedule_free(s);
    s = schedule_made(&p, &edges_by_port, (const int[]){ A, A, B });
    check_only(&p, s, MO_VIOLATION_GROUP, 0,
               "group: ops \"a\" and \"c\" belong on one device and are on A "
               "and B");
    clear_scheduled(&p, s);
}
END_TEST

START_TEST(ops_that_overlap_are_told_by_how_much)
{
    const int device[] = { A, A };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, "a t.A=3; b t.A=5", "A", &edges_by_port, device);

    s->start_ns[1] = 1250;
    s->makespan_ns = 6250;
    check_only(&p, s, MO_VIOLATION_OVERLAP, 1750,
               "(1e) ops \"a\" and \"b\" overlap on A by 1.75 us");
    clear_scheduled(&p, s);
}
END_TEST

/* z takes no time: it may lie at the ends of a, not inside. */
START_TEST(what_takes_no_time_lies_at_the_ends_of_others)
{
    static const int64_t starts[] = { 0, 1, 2999, 3000, 5000 };
    const int device[] = { A, A };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, "a t.A=3; z t.A=0", "A", &edges_by_port, device);

    for (int i = 0; i < COUNT(starts); i++) {
        s->start_ns[1] = starts[i];
        s->makespan_ns = starts[i] > 3000 ? starts[i] : 3000;
        if (starts[i] == 1 || starts[i] == 2999)
            check_only(&p, s, MO_VIOLATION_OVERLAP, 1,
                       "(1e) op \"z\" takes no time and lies inside op \"a\" "
                       "on A, by 0.001 us");
        else
            check_valid(p.x, s);
    }
    clear_scheduled(&p, s);
}
END_TEST

/* The long interval that began first is tracked beyond the short one. */
START_TEST(what_lies_inside_is_found_behind_others)
{
    const int device[] = { A, A, A, A };
    problem p = { 0 };
    mo_schedule *s = scheduled(&p, "a t.A=9; b t.A=1; c t.A=0; d t.A=2", "A",
                               &edges_by_port, device);
    mo_verdict *v;

    memcpy(s->start_ns, (const int64_t[]){ 0, 1000, 4000, 8000 },
           4 * sizeof *s->start_ns);
    s->makespan_ns = 10000;
    v = verdict_on(&p, s);
    ck_assert_int_eq(v->n, 3);
    ck_assert_str_eq(v->violations[2].text,
                     "(1e) ops \"a\" and \"d\" overlap on A by 1 us");
    ck_assert_int_eq(v->violations[1].amount, 4000);
    mo_verdict_free(v);
    clear_scheduled(&p, s);
}
END_TEST

START_TEST(nothing_starts_before_all_begins)
{
    const int device[] = { A };
    problem p = { 0 };
    mo_schedule *s = scheduled(&p, "a t.A=3", "A", &edges_by_port, device);

    s->start_ns[0] = -1000;
    s->makespan_ns = 2000;
    check_only(&p, s, MO_VIOLATION_PRECEDENCE, 1000,
               "(1a) op \"a\" starts at -1 us, before time 0");
    clear_scheduled(&p, s);
}
END_TEST

START_TEST(memory_that_lacks_is_told_in_bytes)
{
    const int device[] = { A, A, A, B };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, fork_of_three,
                  "A memory_bytes=25; B memory_bytes=100; C memory_bytes=100;"
                  "A-B gbps=8; A-C gbps=8; B-C gbps=8",
                  &edges_by_port, device);

    check_only(&p, s, MO_VIOLATION_MEMORY, 5,
               "(1d) device A needs 30 bytes and has 25, 5 too few");
    s->regime.memory = MO_MEMORY_NONE;
    check_valid(p.x, s);
    clear_scheduled(&p, s);
}
END_TEST

/* While b runs the outputs of a and b are alive, beside both weights. */
START_TEST(live_memory_is_told_with_its_moment)
{
    const int device[] = { A, A, A };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p,
                  "* t.A=1; * weight_bytes=1; * workspace_bytes=0; a; b; c;"
                  "a>b bytes=100; b>c bytes=200",
                  "A memory_bytes=302", &live, device);

    check_only(&p, s, MO_VIOLATION_MEMORY, 1,
               "(1d) device A needs 303 bytes at 1 us and has 302, 1 too few");
    clear_scheduled(&p, s);
}
END_TEST

/* b takes no time and holds the output of a beside its workspace. */
START_TEST(an_op_of_no_time_has_its_inputs_beside_its_workspace)
{
    const int device[] = { A, A };
    problem p = { 0 };
    mo_schedule *s = scheduled(&p,
                               "* weight_bytes=0; a t.A=1 workspace_bytes=0;"
                               "b t.A=0 workspace_bytes=100; a>b bytes=100",
                               "A memory_bytes=150", &live, device);

    check_only(&p, s, MO_VIOLATION_MEMORY, 50,
               "(1d) device A needs 200 bytes at 1 us and has 150, 50 too few");
    clear_scheduled(&p, s);
}
END_TEST

START_TEST(a_wrong_makespan_is_corrected)
{
    const int device[] = { A };
    problem p = { 0 };
    mo_schedule *s = scheduled(&p, "a t.A=3", "A", &edges_by_port, device);

    s->makespan_ns = 2500;
    check_only(&p, s, MO_VIOLATION_OBJECTIVE, 500,
               "(1) the makespan is 3 us and not 2.5 us, 0.5 us more");
    clear_scheduled(&p, s);
}
END_TEST

START_TEST(names_cannot_command_a_terminal)
{
    const int device[] = { A };
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p, "a t.A=3", "A", NULL);
    p.x->op_names[0] = "a\n\x1b[2J";
    s = schedule_made(&p, &edges_by_port, device);
    s->start_ns[0] = -1000;
    s->makespan_ns = 2000;
    check_only(&p, s, MO_VIOLATION_PRECEDENCE, 1000,
               "(1a) op \"a\\n\\x1b[2J\" starts at -1 us, before time 0");
    clear_scheduled(&p, s);
}
END_TEST

START_TEST(only_so_many_are_listed)
{
    const int device[] = { A, A, A, A };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, fork_of_three, three, &edges_by_port, device);
    mo_verdict *v = NULL;

    memset(s->start_ns, 0, 4 * sizeof *s->start_ns);
    MUST(mo_validate(p.x, s, 2, &v, &err));
    ck_assert_int_eq(v->n, 2);
    ck_assert(v->more);
    mo_verdict_free(v);
    clear_scheduled(&p, s);
}
END_TEST

/* For arbitrary claims: no overflow, no access out of bounds. */
START_TEST(wild_numbers_are_judged)
{
    static const int64_t wild[] = { INT64_MIN, INT64_MIN + 1, -1,
                                    0,         INT64_MAX - 1, INT64_MAX };
    static const int numbers[] = { INT_MIN, -2, -1, 0, 2, 3, 99, INT_MAX };
    test_random random = { (uint64_t) _i + 1 };
    const int device[] = { A, A, B, C };
    problem p = { 0 };
    mo_schedule *s =
        scheduled(&p, fork_of_three, three, &edges_by_port, device);
    mo_verdict *v;

    s->regime = regime_of(_i % N_REGIMES);
    s->start_ns[random_below(&random, 4)] =
        wild[random_below(&random, COUNT(wild))];
    s->transfers[0].start_ns = wild[random_below(&random, COUNT(wild))];
    s->transfers[1].end_ns = wild[random_below(&random, COUNT(wild))];
    s->transfers[0].item = numbers[random_below(&random, COUNT(numbers))];
    s->transfers[1].from = numbers[random_below(&random, COUNT(numbers))];
    s->transfers[1].to = numbers[random_below(&random, COUNT(numbers))];
    s->device[random_below(&random, 4)] =
        numbers[random_below(&random, COUNT(numbers))];
    s->makespan_ns = wild[random_below(&random, COUNT(wild))];
    v = verdict_on(&p, s);
    ck_assert_int_gt(v->n, 0);
    mo_verdict_free(v);
    clear_scheduled(&p, s);
}
END_TEST

SUITE(validate)
{
    TEST(a_valid_schedule_is_described);
    TEST(devices_that_do_not_exist_are_named);
    TEST(pins_and_groups_are_kept);
    TEST(ops_that_overlap_are_told_by_how_much);
    TEST(what_takes_no_time_lies_at_the_ends_of_others);
    TEST(what_lies_inside_is_found_behind_others);
    TEST(nothing_starts_before_all_begins);
    TEST(memory_that_lacks_is_told_in_bytes);
    TEST(live_memory_is_told_with_its_moment);
    TEST(an_op_of_no_time_has_its_inputs_beside_its_workspace);
    TEST(a_wrong_makespan_is_corrected);
    TEST(names_cannot_command_a_terminal);
    TEST(only_so_many_are_listed);
    SOME(wild_numbers_are_judged, 500, 50);
}
