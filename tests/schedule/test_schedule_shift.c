/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of mo_schedule_left_shift (schedule/schedule.h). */
#include <stdlib.h>
#include <string.h>

#include "schedule/heuristic/heft.h"
#include "schedule/schedule.h"
#include "tests/support/dense_problem.h"
#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"

enum { A, B };

static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                   MO_MEMORY_NONE };

START_TEST(the_order_on_a_device_is_kept)
{
    const int device[] = { A, A };
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p, "a t.A=3; b t.A=5", "A", NULL);
    MUST(mo_schedule_new(p.x, &by_port, device, &s, &err));
    s->start_ns[0] = 9;
    s->start_ns[1] = 2;
    MUST(mo_schedule_left_shift(p.x, s, &err));
    ck_assert_int_eq(s->start_ns[1], 0);
    ck_assert_int_eq(s->start_ns[0], 5000);
    ck_assert_int_eq(s->makespan_ns, 8000);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

START_TEST(transfers_that_share_a_port_wait)
{
    const int device[] = { A, B, B };
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p,
                 "* t.A=1; * t.B=1; a; b; c;"
                 "a>b bytes=2000; a>c bytes=3000",
                 "A; B; A-B gbps=8", NULL);
    MUST(mo_schedule_new(p.x, &by_port, device, &s, &err));
    s->start_ns[1] = s->start_ns[2] = 9;
    s->transfers[0].start_ns = 2;
    s->transfers[1].start_ns = 1;
    MUST(mo_schedule_left_shift(p.x, s, &err));
    ck_assert_int_eq(s->transfers[1].start_ns, 1000);
    ck_assert_int_eq(s->transfers[0].start_ns, 4000);
    ck_assert_int_eq(s->transfers[0].end_ns, 6000);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

/* b may lie at the start of c; behind c, it would have to wait. */
START_TEST(what_takes_no_time_goes_first)
{
    const int device[] = { A, A };
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p, "a t.A=3; b t.A=0", "A", NULL);
    MUST(mo_schedule_new(p.x, &by_port, device, &s, &err));
    MUST(mo_schedule_left_shift(p.x, s, &err));
    ck_assert_int_eq(s->start_ns[0], 0);
    ck_assert_int_eq(s->start_ns[1], 0);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

START_TEST(what_takes_no_time_waits_for_a_busy_device)
{
    const int device[] = { A, A };
    problem p = { 0 };
    mo_schedule *s;

    problem_make(&p, "a t.A=3; b t.A=0", "A", NULL);
    MUST(mo_schedule_new(p.x, &by_port, device, &s, &err));
    s->start_ns[1] = 1;
    MUST(mo_schedule_left_shift(p.x, s, &err));
    ck_assert_int_eq(s->start_ns[1], 3000);
    mo_schedule_free(s);
    problem_clear(&p);
}
END_TEST

static mo_status shift_with(const problem *p, const int *device, int64_t a_ns,
                            int64_t sent_ns, int64_t b_ns, mo_error *why)
{
    mo_schedule *s = NULL;
    mo_status status;

    MUST(mo_schedule_new(p->x, &by_port, device, &s, &err));
    s->start_ns[0] = a_ns;
    s->start_ns[1] = b_ns;
    if (s->n_transfers > 0)
        s->transfers[0].start_ns = sent_ns;
    status = mo_schedule_left_shift(p->x, s, why);
    if (status != MO_OK) { /* nothing has changed */
        ck_assert_int_eq(s->start_ns[0], a_ns);
        ck_assert_int_eq(s->start_ns[1], b_ns);
        ck_assert_int_eq(s->makespan_ns, 0);
    }
    mo_schedule_free(s);
    return status;
}

START_TEST(an_order_against_the_graph_is_refused)
{
    static const int here[] = { A, A }, there[] = { A, B };
    problem p = { 0 };
    mo_error err = { 0 };

    problem_make(&p, "* t.A=1; * t.B=1; a; b; a>b bytes=8", "A; B; A-B gbps=8",
                 NULL);
    ck_assert_int_eq(shift_with(&p, here, 0, 0, 1, &err), MO_OK);
    ck_assert_int_eq(shift_with(&p, here, 0, 0, 0, &err), MO_OK);
    ck_assert_int_eq(shift_with(&p, here, 1, 0, 0, &err), MO_E_INPUT);
    ck_assert_str_eq(err.text, "op 'b' starts before op 'a', which it reads");
    ck_assert_int_eq(shift_with(&p, there, 0, 1, 2, &err), MO_OK);
    ck_assert_int_eq(shift_with(&p, there, 0, 2, 1, &err), MO_E_INPUT);
    ck_assert_str_eq(err.text, "op 'b' starts before the transfer from op "
                               "'a', which it reads");
    ck_assert_int_eq(shift_with(&p, there, 2, 1, 3, &err), MO_E_INPUT);
    ck_assert_str_eq(err.text, "the transfer from op 'a' to op 'b' starts "
                               "before op 'a' does");
    problem_clear(&p);
}
END_TEST

static mo_schedule *random_placement(const problem *p, mo_regime regime,
                                     test_random *random)
{
    int *device = calloc((size_t) p->x->n + 1, sizeof *device);
    int *of_group = calloc((size_t) p->x->n_groups + 1, sizeof *of_group);
    mo_schedule *s = NULL;

    ck_assert(device && of_group);
    for (int g = 0; g < p->x->n_groups; g++)
        of_group[g] = random_below(random, p->x->n_devices);
    for (int i = 0; i < p->x->n; i++) {
        int any = random_below(random, p->x->n_devices);

        device[i] = p->x->group[i] == MO_FREE ? any : of_group[p->x->group[i]];
        if (p->x->pin[i] != MO_FREE)
            device[i] = p->x->pin[i];
    }
    regime.memory = MO_MEMORY_NONE; /* not checked here */
    MUST(mo_schedule_new(p->x, &regime, device, &s, &err));
    free(of_group);
    free(device);
    return s;
}

static int64_t *claim_of_transfer(mo_schedule *s, const mo_instance *x, int q)
{
    mo_transfer *t = mo_schedule_transfer(
        s, s->regime.tensors == MO_TENSORS_ONCE ? x->flows[q].tensor : q,
        s->device[x->flows[q].to]);

    return t ? &t->start_ns : NULL;
}

/* Claims in an order the graph allows: each at least that of its predecessors,
 * and often equal. */
static void claim(const mo_instance *x, mo_schedule *s, test_random *random)
{
    for (int i = 0; i < x->n; i++) {
        int64_t at = 0;

        for (int j = x->in_start[i]; j < x->in_start[i + 1]; j++) {
            int q = x->in_flows[j];
            const int64_t *sent = claim_of_transfer(s, x, q);
            int64_t start = sent ? *sent : s->start_ns[x->flows[q].from];

            at = start > at ? start : at;
        }
        s->start_ns[i] = at + random_below(random, 3);
        for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++) {
            int64_t *sent = claim_of_transfer(s, x, q);

            if (sent)
                *sent = s->start_ns[i] + random_below(random, 3);
        }
    }
}

static mo_schedule *copy_of(const mo_instance *x, const mo_schedule *s)
{
    mo_schedule *copy = NULL;

    MUST(mo_schedule_new(x, &s->regime, s->device, &copy, &err));
    memcpy(copy->start_ns, s->start_ns, (size_t) s->n * sizeof *s->start_ns);
    if (s->n_transfers > 0)
        memcpy(copy->transfers, s->transfers,
               (size_t) s->n_transfers * sizeof *s->transfers);
    copy->makespan_ns = s->makespan_ns;
    return copy;
}

static void check_equal(const mo_schedule *s, const mo_schedule *t)
{
    ck_assert_int_eq(s->makespan_ns, t->makespan_ns);
    for (int i = 0; i < s->n; i++)
        ck_assert_int_eq(s->start_ns[i], t->start_ns[i]);
    for (int i = 0; i < s->n_transfers; i++) {
        ck_assert_int_eq(s->transfers[i].start_ns, t->transfers[i].start_ns);
        ck_assert_int_eq(s->transfers[i].end_ns, t->transfers[i].end_ns);
    }
}

START_TEST(any_order_of_the_graph_becomes_a_valid_schedule)
{
    test_random random = { (uint64_t) _i };
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = 0; number < N_REGIMES / 3; number++) {
        mo_schedule *s = random_placement(&p, regime_of(number), &random);
        mo_schedule *again;

        claim(p.x, s, &random);
        MUST(mo_schedule_left_shift(p.x, s, &err));
        check_valid(p.x, s);
        again = copy_of(p.x, s);
        MUST(mo_schedule_left_shift(p.x, again, &err));
        check_equal(s, again);
        mo_schedule_free(again);
        mo_schedule_free(s);
    }
    problem_clear(&p);
}
END_TEST

START_TEST(no_claims_at_all_are_the_order_of_the_graph)
{
    test_random random = { (uint64_t) _i };
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = 0; number < N_REGIMES / 3; number++) {
        mo_schedule *s = random_placement(&p, regime_of(number), &random);

        MUST(mo_schedule_left_shift(p.x, s, &err));
        check_valid(p.x, s);
        mo_schedule_free(s);
    }
    problem_clear(&p);
}
END_TEST

/* Claims delayed by a common factor are still a valid schedule. */
START_TEST(delays_are_taken_out_and_nothing_gets_later)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = 0; number < N_REGIMES / 3; number++) {
        mo_regime regime = regime_of(number);
        mo_schedule *s = NULL, *slow;

        regime.memory = MO_MEMORY_NONE;
        MUST(mo_heft(p.x, &regime, NULL, &s, &err));
        slow = copy_of(p.x, s);
        for (int i = 0; i < slow->n; i++)
            slow->start_ns[i] = 3 * slow->start_ns[i] + 5;
        for (int t = 0; t < slow->n_transfers; t++)
            slow->transfers[t].start_ns = 3 * slow->transfers[t].start_ns + 5;
        MUST(mo_schedule_left_shift(p.x, slow, &err));
        check_valid(p.x, slow);
        for (int i = 0; i < s->n; i++)
            ck_assert(slow->start_ns[i] <= s->start_ns[i]);
        mo_schedule_free(slow);
        mo_schedule_free(s);
    }
    problem_clear(&p);
}
END_TEST

START_TEST(a_reader_put_first_is_refused_wherever_it_is)
{
    test_random random = { (uint64_t) _i };
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    for (int number = 0; number < N_REGIMES / 3 && p.x->n_flows > 0; number++) {
        mo_schedule *s = random_placement(&p, regime_of(number), &random);
        int q = random_below(&random, p.x->n_flows);

        claim(p.x, s, &random);
        s->start_ns[p.x->flows[q].to] = s->start_ns[p.x->flows[q].from] - 1;
        ck_assert_int_eq(mo_schedule_left_shift(p.x, s, NULL), MO_E_INPUT);
        mo_schedule_free(s);
    }
    problem_clear(&p);
}
END_TEST

SUITE(schedule_shift)
{
    TEST(the_order_on_a_device_is_kept);
    TEST(transfers_that_share_a_port_wait);
    TEST(what_takes_no_time_goes_first);
    TEST(what_takes_no_time_waits_for_a_busy_device);
    TEST(an_order_against_the_graph_is_refused);
    SOME(any_order_of_the_graph_becomes_a_valid_schedule, 100, 10);
    SOME(no_claims_at_all_are_the_order_of_the_graph, 50, 5);
    SOME(delays_are_taken_out_and_nothing_gets_later, 100, 10);
    SOME(a_reader_put_first_is_refused_wherever_it_is, 50, 5);
}
