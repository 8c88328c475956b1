/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of models/frame/frame.h: small problems by hand. */
#include "models/frame/frame.h"

#include "models/sink/scale.h"
#include "tests/models/frame_case.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

enum { A, B, C };

static const mo_regime port = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                MO_MEMORY_STATIC };

/* b can start on A at 1, or on B after the shorter of two paths: produced on A
 * and sent, or produced there. */
START_TEST(heads_and_tails_take_the_quickest_way)
{
    problem p = { 0 };
    mo_frame *f;

    problem_make(&p, "a t.A=1 t.B=5; b t.A=6 t.B=5; a>b c.A.B=3 c.B.A=7",
                 "A; B", NULL);
    f = frame_of(&p, &port);
    ck_assert_int_eq(f->upper_ns, 7000);
    ck_assert_int_eq(frame_head(f, 0, A), 0);
    ck_assert_int_eq(frame_head(f, 1, A), 1000);
    ck_assert_int_eq(frame_tail(f, 0, A), 6000);
    ck_assert(mo_frame_allowed(f, 1, A));
    ck_assert(!mo_frame_allowed(f, 0, B)); /* 5 and 5 are more than 7 */
    ck_assert(!mo_frame_allowed(f, 1, B)); /* 1, 3 and 5, too */
    ck_assert_int_eq(f->est_ns[1], 1000);
    ck_assert_int_eq(f->lct_ns[0], f->horizon_ns - 6000);
    mo_frame_free(f);
    problem_clear(&p);
}
END_TEST

/* A minute is written in steps of 10 ns.  Rounded one by one, 30 s and 4 ns
 * would be as long as 30 s, and twice that longer than twice 30 s. */
START_TEST(times_are_rounded_before_they_are_added)
{
    problem p = { 0 };
    mo_frame *f;
    int64_t step_ns;

    problem_make(&p,
                 "a t.A=30000000.004; b t.A=30000000.004; c t.A=0.006;"
                 "a>b bytes=8; b>c bytes=8",
                 "A", NULL);
    f = frame_of(&p, &port);
    step_ns = mo_scale_step_ns(f->unit_ns);
    ck_assert_int_eq(step_ns, 10);
    ck_assert_int_eq(mo_instance_p_ns(f->x, 0, A), INT64_C(30000000000));
    ck_assert_int_eq(mo_instance_p_ns(f->x, 2, A), 10);
    ck_assert_int_eq(frame_head(f, 2, A), INT64_C(60000000000));
    ck_assert_int_eq(f->start->start_ns[2], INT64_C(60000000000));
    ck_assert_int_eq(f->start->makespan_ns, INT64_C(60000000010));
    ck_assert_int_eq(f->upper_ns, f->start->makespan_ns);
    ck_assert_int_eq(mo_instance_p_ns(p.x, 0, A), INT64_C(30000000004));
    mo_frame_free(f);
    problem_clear(&p);
}
END_TEST

/* To three readers on B a tensor goes once, in the time of the longest. */
START_TEST(a_tensor_sent_once_takes_its_longest_time)
{
    static const char graph[] =
        "a t.A=1 t.B=9 pin=A; b t.A=9 t.B=1 pin=B; c t.A=9 t.B=1 pin=B;"
        "a>b c.A.B=2 c.B.A=2; a>c c.A.B=4 c.B.A=4";
    const mo_regime once = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                             MO_MEMORY_STATIC };
    problem p = { 0 };
    mo_frame *f;

    problem_make(&p, graph, "A; B", NULL);
    f = frame_of(&p, &port);
    ck_assert_int_eq(frame_head(f, problem_op(&p, "b"), B), 3000);
    mo_frame_free(f);
    f = frame_of(&p, &once);
    ck_assert_int_eq(frame_head(f, problem_op(&p, "b"), B), 5000);
    mo_frame_free(f);
    problem_clear(&p);
}
END_TEST

/* Three ops of 2 between two cuts, on two devices with transfers of no
 * time. */
START_TEST(a_cut_waits_for_the_load_before_it)
{
    problem p = { 0 };
    mo_frame *f;

    problem_make(&p,
                 "* t.A=2 t.B=2; *>* c.A.B=0 c.B.A=0; a; b; c; d; e;"
                 "a>b; a>c; a>d; b>e; c>e; d>e",
                 "A; B", NULL);
    f = frame_of(&p, &port);
    ck_assert_int_eq(frame_head(f, problem_op(&p, "e"), B), 2000 + 3000);
    ck_assert_int_eq(frame_tail(f, problem_op(&p, "a"), A), 3000 + 2000);
    ck_assert_int_eq(frame_head(f, problem_op(&p, "d"), A), 2000);
    mo_frame_free(f);
    problem_clear(&p);
}
END_TEST

/* An op without a device keeps those of its pin: the model will be
 * infeasible. */
START_TEST(a_group_that_fits_nowhere_keeps_its_devices)
{
    problem p = { 0 };
    mo_frame *f;

    problem_make(&p,
                 "* t.A=1 t.B=1; a memory_bytes=6 colocate=g; "
                 "b memory_bytes=6 colocate=g; c memory_bytes=6;"
                 "d memory_bytes=11",
                 "A memory_bytes=10; B memory_bytes=11", NULL);
    f = frame_of(&p, &port);
    ck_assert_ptr_null(f->start);
    for (int i = 0; i < f->x->n; i++)
        ck_assert_int_eq(mo_frame_allowed(f, i, A), i != problem_op(&p, "d"));
    for (int i = 0; i < f->x->n; i++)
        ck_assert(mo_frame_allowed(f, i, B));
    mo_frame_free(f);
    problem_clear(&p);
}
END_TEST

SUITE(frame)
{
    TEST(heads_and_tails_take_the_quickest_way);
    TEST(times_are_rounded_before_they_are_added);
    TEST(a_tensor_sent_once_takes_its_longest_time);
    TEST(a_cut_waits_for_the_load_before_it);
    TEST(a_group_that_fits_nowhere_keeps_its_devices);
}
