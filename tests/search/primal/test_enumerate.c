/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of primal/enumerate.h. */
#include "solvers/search/primal/enumerate.h"

#include <stdlib.h>

#include "tests/support/problem.h"
#include "tests/support/suite.h"

static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                                   MO_MEMORY_STATIC };

/* Two ops between u and v, on three devices. */
#define ROW                                                                    \
    "* t.A=1; * t.B=2; * t.C=3; *>* bytes=1000; u; a; b; v; u>a; a>b; b>v"
#define DEVICES "A; B; C; A-B gbps=8; A-C gbps=8; B-C gbps=8"

/* Returns the number of schedules with u on one device and v on another; no
 * placement comes twice. */
static size_t enumerate_row(int u_device, int v_device)
{
    problem p = { 0 };
    mo_schedule **schedules = NULL;
    size_t n = 0, room = 0;

    problem_make(&p, ROW, DEVICES, NULL);
    ck_assert(mo_primal_enumerate_pays(p.x, 0, 3));
    p.x->pin[0] = u_device;
    p.x->pin[3] = v_device;
    MUST(mo_primal_enumerate(
        p.x, &by_port, &(mo_primal_enumerate_ends){ u_device, v_device, NULL },
        &schedules, &n, &room, &err));
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(schedules[i]->device[0], u_device);
        ck_assert_int_eq(schedules[i]->device[3], v_device);
        for (size_t j = 0; j < i; j++)
            ck_assert(schedules[i]->device[1] != schedules[j]->device[1] ||
                      schedules[i]->device[2] != schedules[j]->device[2]);
    }
    for (size_t i = 0; i < n; i++)
        mo_schedule_free(schedules[i]);
    free(schedules);
    problem_clear(&p);
    return n;
}

START_TEST(each_placement_comes_once)
{
    /* On A alone, with B, with C; never on B and C. */
    ck_assert_uint_eq(enumerate_row(0, 0), 1 + 3 + 3);
    /* All of the nine. */
    ck_assert_uint_eq(enumerate_row(0, 1), 4 + 5);
}
END_TEST

START_TEST(many_ops_are_not_enumerated)
{
    problem p = { 0 };

    problem_make(&p,
                 "* t.A=1; * t.B=2; *>* bytes=0; a; b; c; d; e; f; g; h; i;"
                 "a>b; b>c; c>d; d>e; e>f; f>g; g>h; h>i",
                 "A; B; A-B gbps=8", NULL);
    ck_assert(!mo_primal_enumerate_pays(p.x, 0, 8));
    problem_clear(&p);
}
END_TEST

SUITE(enumerate)
{
    TEST(each_placement_comes_once);
    TEST(many_ops_are_not_enumerated);
}
