/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of exec/measure/host_load.h. */
#include <config.h>

#include "exec/measure/host_load.h"

#include <unistd.h>

#include "tests/support/scratch.h"
#include "tests/support/suite.h"

enum { SECOND = 1000000000 };

START_TEST(ticks_of_allowed_processors_are_summed)
{
    mo_thread_mask mask;
    mo_measure_load load;
    long tick = sysconf(_SC_CLK_TCK);
    char text[512];

    mo_thread_mask_save(&mask);
    if (mask.n == 0)
        return;
    snprintf(text, sizeof text,
             "cpu  9 9 9 9 9 9 9 9 0 0\n"
             "cpu%d %ld %ld %ld 50 60 %ld %ld %ld 0 0\n"
             "cpu999999 700 700 700 700 700 700 700 700 0 0\n"
             "intr 12 34\n",
             mask.numbers[0], tick, 2 * tick, 3 * tick, 4 * tick, 5 * tick,
             6 * tick);
    scratch_write("stat", text);
    mo_measure_load_read("stat", &load);
    ck_assert_int_eq(load.processors, 1);
    ck_assert_int_eq(load.busy_ns, 15 * (int64_t) SECOND);
    ck_assert_int_eq(load.steal_ns, 6 * (int64_t) SECOND);
    mo_measure_load_since("stat", &load);
    ck_assert_int_eq(load.busy_ns, 0);
    ck_assert_int_eq(load.steal_ns, 0);
}
END_TEST

START_TEST(an_unknown_load_is_quiet)
{
    mo_measure_load load;

    mo_measure_load_read("absent", &load);
    ck_assert_int_eq(load.processors, 0);
    ck_assert(mo_measure_load_quiet(&load));
}
END_TEST

typedef struct load_case {
    double seconds, busy, own, steal; /* of processors */
    int processors;
    bool quiet;
    const char *text;
} load_case;

static const load_case load_cases[] = {
    { 1, 2, 2, 0, 2, true, "other processes used 0.0 of 2 processors" },
    { 1, 1.9, 0.5, 0, 2, false, "other processes used 1.4 of 2 processors" },
    { 1, 1.5, 1.4, 0, 2, true, "other processes used 0.1 of 2 processors" },
    { 0.1, 2, 0, 0, 2, true, "other processes used 2.0 of 2 processors" },
    /* own time elsewhere is no negative load */
    { 1, 0.5, 3, 0, 1, true, "other processes used 0.0 of 1 processor" },
    { 1, 1, 1, 0.5, 4, false,
      "other processes used 0.0 of 4 processors, and other virtual machines "
      "0.50" },
};

static mo_measure_load load_of(const load_case *c)
{
    double ns = c->seconds * SECOND;

    return (mo_measure_load){ .processors = c->processors,
                              .wall_ns = (int64_t) ns,
                              .busy_ns = (int64_t) (c->busy * ns),
                              .own_ns = (int64_t) (c->own * ns),
                              .steal_ns = (int64_t) (c->steal * ns) };
}

START_TEST(work_of_others_is_noticed)
{
    const load_case *c = &load_cases[_i];
    mo_measure_load load = load_of(c);
    char text[MO_MEASURE_LOAD_SIZE];

    ck_assert_int_eq(mo_measure_load_quiet(&load), c->quiet);
    ck_assert_str_eq(mo_measure_load_format(&load, text), c->text);
}
END_TEST

/* Ranks are no others to each other: on the same processors, on others of one
 * machine, and on other machines. */
START_TEST(ranks_are_not_others)
{
    const load_case half = { 1, 1.9, 0.95, 0, 2, false, NULL };
    mo_measure_load loads[] = { load_of(&half), load_of(&half),
                                load_of(&half) };
    mo_measure_load all = mo_measure_load_combine(loads, 2);

    ck_assert(!mo_measure_load_quiet(&loads[0]));
    ck_assert(mo_measure_load_quiet(&all));
    ck_assert_int_eq(all.processors, 2);

    loads[1].mask = 1;
    all = mo_measure_load_combine(loads, 2);
    ck_assert_int_eq(all.processors, 4);
    ck_assert_double_eq_tol(mo_measure_load_others(&all), 1.9, 1e-6);

    loads[1].mask = 0;
    loads[2].machine = 7;
    all = mo_measure_load_combine(loads, 3);
    ck_assert_uint_eq(all.machine, 7);
    ck_assert(!mo_measure_load_quiet(&all));
}
END_TEST

SUITE(host_load)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    TEST(ticks_of_allowed_processors_are_summed);
    TEST(an_unknown_load_is_quiet);
    EACH(work_of_others_is_noticed, COUNT(load_cases));
    TEST(ranks_are_not_others);
}
