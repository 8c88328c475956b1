/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/schedule.h, except for the left-shift. */
#include "schedule/schedule.h"

#include "schedule/heuristic/heft.h"
#include "tests/support/dense_problem.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"

/* a has two outputs: one is read by b, c and d, the other by d alone. */
static const char fan[] =
    "* t.A=1; * t.B=1; * t.C=1; * workspace_bytes=0;"
    "a weight_bytes=10; b weight_bytes=20; c weight_bytes=30;"
    "d weight_bytes=40;"
    "a>b tensor=u bytes=1000; a>c tensor=u bytes=1000;"
    "a>d tensor=u bytes=1000; a>d tensor=v bytes=3000";
static const char three[] = "A; B; C; A-B gbps=8; B-C gbps=8; A-C gbps=4";

enum { A, B, C };

static mo_schedule *schedule_of(const problem *p, mo_tensors tensors,
                                const int *device)
{
    mo_regime regime = { MO_CONGESTION_PORT, tensors, MO_MEMORY_STATIC };
    mo_schedule *s = NULL;

    MUST(mo_schedule_new(p->x, &regime, device, &s, &err));
    return s;
}

START_TEST(per_edge_every_reader_elsewhere_is_sent_its_copy)
{
    const int device[] = { A, B, B, C };
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p, fan, three, NULL);
    s = schedule_of(&p, MO_TENSORS_PER_EDGE, device);
    ck_assert_int_eq(s->n_transfers, 4);
    for (int q = 0; q < 4; q++) {
        const mo_transfer *t =
            mo_schedule_transfer(s, q, device[p.x->flows[q].to]);

        ck_assert_ptr_nonnull(t);
        ck_assert_int_eq(t->item, q);
        ck_assert_int_eq(t->from, A);
        ck_assert_int_eq(t->start_ns, 0);
    }
    ck_assert_ptr_null(mo_schedule_transfer(s, 0, C));
    ck_assert_ptr_null(mo_schedule_transfer(s, 0, A));
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

START_TEST(once_every_device_is_sent_a_tensor_once)
{
    const int device[] = { B, C, A, A };
    problem p = { 0 };
    mo_schedule *s;
    int u, v;

    problem_make(&p, fan, three, NULL);
    u = p.x->flows[problem_flow(&p, "a", "b")].tensor;
    v = 1 - u;
    s = schedule_of(&p, MO_TENSORS_ONCE, device);
    ck_assert_int_eq(s->n_transfers, 3);
    ck_assert_ptr_nonnull(mo_schedule_transfer(s, u, A));
    ck_assert_ptr_nonnull(mo_schedule_transfer(s, u, C));
    ck_assert_ptr_nonnull(mo_schedule_transfer(s, v, A));
    ck_assert_ptr_null(mo_schedule_transfer(s, v, C));
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

START_TEST(an_item_takes_what_the_instance_says)
{
    const mo_regime edges = { MO_CONGESTION_NONE, MO_TENSORS_PER_EDGE,
                              MO_MEMORY_NONE };
    const mo_regime once = { MO_CONGESTION_NONE, MO_TENSORS_ONCE,
                             MO_MEMORY_NONE };
    problem p = { 0 };

    problem_make(&p,
                 "* t.A=1; * t.B=1; a; b; c;"
                 "a>b tensor=u bytes=1000; a>c tensor=u c.A.B=9 c.B.A=2",
                 "A; B; A-B gbps=8", NULL);
    ck_assert_int_eq(mo_schedule_item_ns(p.x, &edges, 0, A, B), 1000);
    ck_assert_int_eq(mo_schedule_item_ns(p.x, &edges, 1, A, B), 9000);
    ck_assert_int_eq(mo_schedule_item_ns(p.x, &once, 0, A, B), 9000);
    ck_assert_int_eq(mo_schedule_item_ns(p.x, &once, 0, B, B), 0);
    problem_clear(&p);
}
END_TEST

START_TEST(static_memory_is_a_sum)
{
    const int device[] = { A, B, B, C };
    int64_t peak[3];
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p, fan, three, NULL);
    for (int i = 0; i < 4; i++)
        p.x->memory_bytes[i] = 10 * (i + 1);
    s = schedule_of(&p, MO_TENSORS_ONCE, device);
    MUST(mo_schedule_peak_memory(p.x, s, peak, &err));
    ck_assert_int_eq(peak[A], 10);
    ck_assert_int_eq(peak[B], 50);
    ck_assert_int_eq(peak[C], 40);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

/* a, b and c one after the other: while b runs, the outputs of a and b are
 * alive; then that of a is freed. */
START_TEST(live_memory_is_what_is_alive_at_once)
{
    const int device[] = { A, A, A };
    const mo_regime live = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                             MO_MEMORY_LIVE };
    int64_t peak[2];
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p,
                 "* t.A=1; * t.B=1; * weight_bytes=1;"
                 "a workspace_bytes=0; b workspace_bytes=7;"
                 "c workspace_bytes=0;"
                 "a>b bytes=100; b>c bytes=200",
                 "A; B; A-B gbps=8", NULL);
    for (int i = 0; i < 3; i++) {
        p.x->weight_bytes[i] = 1;
        p.x->memory_bytes[i] = i == 1 ? 8 : 1;
    }
    MUST(mo_schedule_new(p.x, &live, device, &s, &err));
    MUST(mo_schedule_left_shift(p.x, s, &err));
    MUST(mo_schedule_peak_memory(p.x, s, peak, &err));
    ck_assert_int_eq(peak[A], 3 + 7 + 100 + 200);
    ck_assert_int_eq(peak[B], 0);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

START_TEST(live_memory_beyond_all_numbers_is_refused)
{
    const int device[] = { A, A, A };
    const mo_regime live = { MO_CONGESTION_PORT, MO_TENSORS_ONCE,
                             MO_MEMORY_LIVE };
    int64_t peak[1];
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p, "* t.A=1; a; b; c; a>b bytes=1; b>c bytes=1", "A", NULL);
    p.x->tensor_bytes[0] = p.x->tensor_bytes[1] = INT64_MAX;
    MUST(mo_schedule_new(p.x, &live, device, &s, &err));
    ck_assert_int_eq(mo_schedule_peak_memory(p.x, s, peak, NULL), MO_E_INPUT);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

START_TEST(peaks_are_those_of_the_definition)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = 0; number < N_REGIMES; number++) {
        mo_regime regime = regime_of(number), roomy = regime;
        int64_t peak[8], expected[8];
        mo_schedule *s = NULL;
        bool fits, expected_fits = true;

        roomy.memory = MO_MEMORY_NONE;
        MUST(mo_heft(p.x, &roomy, NULL, &s, &err));
        s->regime = regime;
        MUST(mo_schedule_peak_memory(p.x, s, peak, &err));
        MUST(mo_schedule_fits_memory(p.x, s, &fits, &err));
        peak_by_definition(p.x, s, expected);
        for (int k = 0; k < p.x->n_devices; k++) {
            ck_assert_int_eq(peak[k], expected[k]);
            expected_fits =
                expected_fits && (regime.memory == MO_MEMORY_NONE ||
                                  expected[k] <= p.x->capacity_bytes[k]);
        }
        ck_assert(fits == expected_fits);
        mo_schedule_free(s);
    }
    problem_clear(&p);
}
END_TEST

SUITE(schedule)
{
    TEST(per_edge_every_reader_elsewhere_is_sent_its_copy);
    TEST(once_every_device_is_sent_a_tensor_once);
    TEST(an_item_takes_what_the_instance_says);
    TEST(static_memory_is_a_sum);
    TEST(live_memory_is_what_is_alive_at_once);
    TEST(live_memory_beyond_all_numbers_is_refused);
    SOME(peaks_are_those_of_the_definition, 60, 6);
}
