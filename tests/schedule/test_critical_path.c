/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/critical_path.h, and of memory over time. */
#include <stdlib.h>

#include "schedule/critical_path.h"
#include "schedule/heuristic/heft.h"
#include "schedule/live_memory.h"
#include "schedule/schedule.h"
#include "tests/support/dense_problem.h"
#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

enum { A, B };

static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                   MO_MEMORY_NONE };

static mo_schedule *shifted(const problem *p, const mo_regime *regime,
                            const int *device)
{
    mo_schedule *s;

    MUST(mo_schedule_new(p->x, regime, device, &s, &err));
    for (int i = 0; i < s->n; i++)
        s->start_ns[i] = 1000000 * (i + 1);
    for (int i = 0; i < s->n_transfers; i++)
        s->transfers[i].start_ns = 1000000 * (i + 1);
    MUST(mo_schedule_left_shift(p->x, s, &err));
    return s;
}

static int64_t start_of(const mo_schedule *s, const mo_path_item *item)
{
    return item->is_transfer ? s->transfers[item->id].start_ns
                             : s->start_ns[item->id];
}

static int64_t end_of(const mo_instance *x, const mo_schedule *s,
                      const mo_path_item *item)
{
    return item->is_transfer
               ? s->transfers[item->id].end_ns
               : s->start_ns[item->id] +
                     mo_instance_p_ns(x, item->id, s->device[item->id]);
}

/* From 0 to the makespan without gaps. */
static void is_tight(const mo_instance *x, const mo_schedule *s,
                     const mo_critical_path *path)
{
    int64_t at_ns = 0;

    for (int i = 0; i < path->n; i++) {
        ck_assert_int_eq(path->items[i].gap_ns, 0);
        ck_assert_int_eq(start_of(s, &path->items[i]), at_ns);
        ck_assert_int_eq(path->items[i].reason == MO_PATH_FIRST, i == 0);
        at_ns = end_of(x, s, &path->items[i]);
    }
    ck_assert_int_eq(at_ns, s->makespan_ns);
}

START_TEST(inputs_and_transfers_are_on_the_path)
{
    const int device[] = { A, B, A };
    mo_critical_path path = { 0 };
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p,
                 "* t.A=1; * t.B=1; a; b; c;"
                 "a>b bytes=2000; b>c bytes=3000; a>c",
                 "A; B; A-B gbps=8", NULL);
    s = shifted(&p, &by_port, device);
    MUST(mo_critical_path_find(p.x, s, &path, &err));
    ck_assert_int_eq(path.n, 5);
    is_tight(p.x, s, &path);
    for (int i = 0; i < path.n; i++)
        ck_assert_int_eq(path.items[i].is_transfer, i % 2);
    ck_assert_int_eq(path.items[4].reason, MO_PATH_INPUT);
    mo_critical_path_clear(&path);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

START_TEST(a_busy_device_and_a_busy_port_are_named)
{
    const int device[] = { A, A, B, B };
    mo_critical_path path = { 0 };
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p,
                 "* t.A=1; * t.B=1; a; b; c; d;"
                 "a>c bytes=9000; b>d bytes=9000",
                 "A; B; A-B gbps=8", NULL);
    s = shifted(&p, &by_port, device);
    MUST(mo_critical_path_find(p.x, s, &path, &err));
    is_tight(p.x, s, &path);
    ck_assert_int_eq(path.n, 4);
    ck_assert_int_eq(path.items[2].reason, MO_PATH_TRAFFIC);
    mo_critical_path_clear(&path);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

/* Random problems, also with ops that take no time. */
START_TEST(the_path_of_a_random_schedule_is_tight)
{
    mo_regime regime = { (mo_congestion) (_i % 4), (mo_tensors) (_i / 4 % 2),
                         MO_MEMORY_NONE };
    mo_critical_path path = { 0 };
    problem p = { 0 };
    mo_schedule *s = NULL;

    crowd_make(&p, (unsigned) _i);
    MUST(mo_heft(p.x, &regime, NULL, &s, &err));
    if (s) {
        MUST(mo_schedule_left_shift(p.x, s, &err));
        MUST(mo_critical_path_find(p.x, s, &path, &err));
        is_tight(p.x, s, &path);
    }
    mo_critical_path_clear(&path);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

/* The largest point of a device is its peak. */
START_TEST(memory_over_time_has_the_peak)
{
    mo_regime regime = { MO_CONGESTION_PORT, (mo_tensors) (_i % 2),
                         MO_MEMORY_NONE };
    mo_memory_profile profile = { 0 };
    int64_t peak[16] = { 0 }, most[16] = { 0 }, at_ns = 0;
    problem p = { 0 };
    mo_schedule *s = NULL;

    crowd_make(&p, (unsigned) _i);
    MUST(mo_heft(p.x, &regime, NULL, &s, &err));
    if (s) {
        s->regime.memory = MO_MEMORY_LIVE;
        MUST(mo_live_memory_peak(p.x, s, peak, &err));
        MUST(mo_live_memory_profile(p.x, s, &profile, &err));
    }
    for (size_t i = 0; i < profile.n; i++) {
        const mo_memory_point *point = &profile.points[i];

        if (i == 0 || point->device != profile.points[i - 1].device)
            at_ns = 0;
        ck_assert_int_ge(point->at_ns, at_ns);
        at_ns = point->at_ns;
        if (point->bytes > most[point->device])
            most[point->device] = point->bytes;
    }
    for (int k = 0; k < p.x->n_devices; k++)
        ck_assert_int_eq(most[k], peak[k]);
    free(profile.points);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

SUITE(critical_path)
{
    TEST(inputs_and_transfers_are_on_the_path);
    TEST(a_busy_device_and_a_busy_port_are_named);
    SOME(the_path_of_a_random_schedule_is_tight, 80, 8);
    SOME(memory_over_time_has_the_peak, 40, 4);
}
