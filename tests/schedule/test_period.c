/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/period: loads, modulo schedules and the steady state by
 * definition, on random placements in all regimes. */
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "schedule/heuristic/heft.h"
#include "schedule/period/loads.h"
#include "schedule/period/modulo_schedule.h"
#include "schedule/period/steady_state.h"
#include "schedule/resource.h"
#include "tests/support/dense_problem.h"
#include "tests/support/exhaustive_period.h"
#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/reference_validate.h"
#include "tests/support/suite.h"

/* Whether [a, a + m) and [b, b + n) overlap in some two requests. */
static bool overlap_modulo(int64_t a, int64_t m, int64_t b, int64_t n,
                           int64_t period_ns, bool same)
{
    int64_t later_ns = ((b - a) % period_ns + period_ns) % period_ns;

    if (same)
        return m > period_ns;
    return m > 0 && n > 0 && (later_ns < m || period_ns - later_ns < n);
}

/* With one request in flight no op runs within another, even in no time. */
static void check_sequence(const mo_instance *x, const mo_schedule *s)
{
    for (int i = 0; i < x->n; i++)
        for (int j = 0; j < x->n; j++)
            ck_assert(s->device[i] != s->device[j] ||
                      s->start_ns[j] <= s->start_ns[i] ||
                      s->start_ns[j] >=
                          s->start_ns[i] +
                              mo_instance_p_ns(x, i, s->device[i]));
}

/* An op with the overheads before and after it. */
static void check_devices(const mo_instance *x, const mo_modulo_schedule *m)
{
    const mo_schedule *s = m->request;
    int64_t *before_ns = calloc((size_t) x->n + 1, sizeof *before_ns);
    int64_t *ns = calloc((size_t) x->n + 1, sizeof *ns);

    ck_assert_ptr_nonnull(before_ns);
    ck_assert_ptr_nonnull(ns);
    mo_period_add_overheads(x, s, before_ns, ns);
    for (int i = 0; i < x->n; i++) {
        ns[i] += before_ns[i] + mo_instance_p_ns(x, i, s->device[i]);
        ck_assert_int_ge(s->start_ns[i], before_ns[i]);
    }

    for (int i = 0; i < x->n; i++)
        for (int j = 0; j <= i; j++) {
            int k = s->device[i];

            ck_assert(s->device[j] != k ||
                      !overlap_modulo(s->start_ns[i] - before_ns[i], ns[i],
                                      s->start_ns[j] - before_ns[j], ns[j],
                                      m->period_ns, i == j));
        }
    free(before_ns);
    free(ns);
}

static bool share_resource(const mo_instance *x, mo_congestion congestion,
                           const mo_transfer *s, const mo_transfer *t)
{
    int first[2], second[2];
    const int *a, *b;
    int m = mo_resource_list(x, congestion, s->from, s->to, first, &a);
    int n = mo_resource_list(x, congestion, t->from, t->to, second, &b);

    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            if (a[i] == b[j])
                return true;
    return false;
}

static void check_transfers(const mo_instance *x, const mo_modulo_schedule *m)
{
    const mo_schedule *s = m->request;

    for (int i = 0; i < s->n_transfers; i++)
        for (int j = 0; j <= i; j++) {
            const mo_transfer *a = &s->transfers[i], *b = &s->transfers[j];

            ck_assert(!share_resource(x, s->regime.congestion, a, b) ||
                      !overlap_modulo(a->start_ns, a->end_ns - a->start_ns,
                                      b->start_ns, b->end_ns - b->start_ns,
                                      m->period_ns, i == j));
        }
}

/* Every reader starts after its input was made or has arrived. */
static void check_precedence(const mo_instance *x, const mo_schedule *s)
{
    bool once = s->regime.tensors == MO_TENSORS_ONCE;

    for (int q = 0; q < x->n_flows; q++) {
        const mo_flow *f = &x->flows[q];
        int a = s->device[f->from], b = s->device[f->to];
        int64_t made_ns =
            s->start_ns[f->from] + mo_instance_p_ns(x, f->from, a);
        const mo_transfer *t;

        if (a == b) {
            ck_assert_int_ge(s->start_ns[f->to], made_ns);
            continue;
        }
        t = mo_schedule_transfer(s, once ? f->tensor : q, b);
        ck_assert_ptr_nonnull(t);
        ck_assert_int_ge(t->start_ns, made_ns);
        ck_assert_int_eq(t->end_ns - t->start_ns,
                         mo_schedule_item_ns(x, &s->regime, t->item, a, b));
        ck_assert_int_ge(s->start_ns[f->to], t->end_ns);
    }
}

/* Repetitions of [from, to) that hold the moment. */
static int64_t copies_at(int64_t at_ns, int64_t from_ns, int64_t to_ns,
                         int64_t period_ns)
{
    int64_t n = 0;

    /* The first repetition that ends after the moment, and on. */
    at_ns += (from_ns / period_ns + 1) * period_ns;
    for (; at_ns >= from_ns; at_ns -= period_ns)
        ;
    for (at_ns += period_ns; at_ns < to_ns; at_ns += period_ns)
        n++;
    return n;
}

static int64_t end_of(const mo_instance *x, const mo_schedule *s, int op)
{
    return s->start_ns[op] + mo_instance_p_ns(x, op, s->device[op]);
}

/* Bytes of a tensor on a device at a moment, of all requests. */
static int64_t tensor_bytes_at(const mo_instance *x,
                               const mo_modulo_schedule *m, int tensor,
                               int device, int64_t at_ns)
{
    const mo_schedule *s = m->request;
    bool once = s->regime.tensors == MO_TENSORS_ONCE;
    int from = x->tensor_from[tensor];
    int64_t home_end_ns = end_of(x, s, from), copies = 0;
    int64_t copy_end_ns = 0, copy_start_ns = 0;

    for (int q = x->tensor_start[tensor]; q < x->tensor_start[tensor + 1];
         q++) {
        int to = x->flows[q].to;
        const mo_transfer *t =
            mo_schedule_transfer(s, once ? tensor : q, s->device[to]);

        home_end_ns = mo_max_i64(home_end_ns, t ? t->end_ns : end_of(x, s, to));
        if (!t || t->to != device)
            continue;
        copy_start_ns = t->start_ns;
        copy_end_ns =
            once ? mo_max_i64(copy_end_ns, end_of(x, s, to)) : end_of(x, s, to);
        if (!once)
            copies +=
                copies_at(at_ns, copy_start_ns, copy_end_ns, m->period_ns);
    }
    if (once)
        copies += copies_at(at_ns, copy_start_ns, copy_end_ns, m->period_ns);
    if (s->device[from] == device)
        copies +=
            copies_at(at_ns, s->start_ns[from], home_end_ns, m->period_ns);
    return copies * mo_max_i64(x->tensor_bytes[tensor], 0);
}

static int64_t live_bytes_at(const mo_instance *x, const mo_modulo_schedule *m,
                             int device, int64_t at_ns)
{
    const mo_schedule *s = m->request;
    int64_t bytes = 0;

    for (int i = 0; i < x->n; i++)
        if (s->device[i] == device)
            bytes += x->weight_bytes[i] +
                     copies_at(at_ns, s->start_ns[i], end_of(x, s, i),
                               m->period_ns) *
                         (x->memory_bytes[i] - x->weight_bytes[i]);
    for (int t = 0; t < x->n_tensors; t++)
        bytes += tensor_bytes_at(x, m, t, device, at_ns);
    return bytes;
}

/* The peaks of live memory are those at some start, by definition; ops that
 * take no time have rules of their own. */
static void check_live(const mo_instance *x, const mo_modulo_schedule *m)
{
    const mo_schedule *s = m->request;
    bool fits = true;

    for (int i = 0; i < x->n; i++)
        if (mo_instance_p_ns(x, i, s->device[i]) == 0)
            return;
    for (int k = 0; k < x->n_devices; k++) {
        int64_t most = live_bytes_at(x, m, k, 0);

        for (int i = 0; i < x->n; i++)
            most = mo_max_i64(most, live_bytes_at(x, m, k, s->start_ns[i]));
        for (int i = 0; i < s->n_transfers; i++)
            most = mo_max_i64(most,
                              live_bytes_at(x, m, k, s->transfers[i].start_ns));
        ck_assert_int_eq(most, m->peak_bytes[k]);
        fits = fits && most <= x->capacity_bytes[k];
    }
    ck_assert(fits == m->fits);
}

/* Returns the period. */
static int64_t check_schedule(const mo_instance *x, const mo_regime *regime,
                              const int *device, int in_flight, int64_t load_ns)
{
    mo_modulo_schedule m;
    int64_t measured_ns, period_ns;

    MUST(mo_modulo_schedule_make(x, regime, device, in_flight, NULL, &m, &err));
    period_ns = m.period_ns;
    ck_assert_int_ge(m.period_ns, load_ns);
    if (in_flight > 0)
        ck_assert_int_le(m.in_flight, in_flight);
    else if (regime->memory != MO_MEMORY_LIVE &&
             (regime->congestion == MO_CONGESTION_CHANNEL ||
              regime->congestion == MO_CONGESTION_NONE))
        ck_assert_int_eq(m.period_ns, mo_max_i64(load_ns, 1));
    ck_assert_int_le(m.request->makespan_ns, m.in_flight * m.period_ns);
    ck_assert_int_le(m.least_in_flight, m.in_flight);
    if (in_flight == 1 && !x->load.overhead_ns)
        check_sequence(x, m.request);
    check_precedence(x, m.request);
    check_devices(x, &m);
    check_transfers(x, &m);
    if (regime->memory == MO_MEMORY_LIVE)
        check_live(x, &m);
    MUST(mo_steady_state_simulate(x, &m, MO_STEADY_STATE_REQUESTS, &measured_ns,
                                  &err));
    ck_assert_int_le(measured_ns, m.period_ns);
    ck_assert_int_ge(measured_ns, load_ns);
    mo_modulo_schedule_clear(&m);
    return period_ns;
}

static void check_placement(const problem *p, const mo_regime *regime,
                            const int *device)
{
    mo_period_loads loads;
    int64_t load_ns, before_ns;

    MUST(mo_period_loads_compute(p->x, regime, device, &loads, &err));
    load_ns = loads.period_ns;
    ck_assert_int_eq(load_ns, period_by_definition(p->x, regime, device));
    ck_assert_int_eq(load_ns, loads.load_ns[loads.bottleneck]);
    mo_period_loads_clear(&loads);
    /* The more in flight, the shorter, or equal. */
    before_ns = check_schedule(p->x, regime, device, 0, load_ns);
    for (int in_flight = 5; in_flight > 0; in_flight--) {
        int64_t ns = check_schedule(p->x, regime, device, in_flight, load_ns);

        if (regime->memory != MO_MEMORY_LIVE && p->x->n <= 100 && in_flight < 5)
            ck_assert_int_ge(ns, before_ns);
        before_ns = ns;
    }
}

static void check_regime(const problem *p, int number, unsigned seed)
{
    test_random random = { seed + 1 };
    mo_regime regime = regime_of(number);
    int *device = calloc((size_t) p->x->n + 1, sizeof *device);

    ck_assert_ptr_nonnull(device);
    for (int again = 0; again < 3; again++) {
        for (int i = 0; i < p->x->n; i++)
            device[i] = random_below(&random, p->x->n_devices);
        check_placement(p, &regime, device);
    }
    free(device);
}

START_TEST(every_placement_reaches_its_period)
{
    random_problem_check((unsigned) _i, check_regime);
}
END_TEST

/* Every fifth regime, the first of them with ports. */
enum { CROWD_REGIMES = (N_REGIMES + 4) / 5 };

START_TEST(crowded_ports_keep_a_period_above_their_load)
{
    const unsigned seed = (unsigned) (_i / CROWD_REGIMES);
    problem p = { 0 };

    crowd_make(&p, seed);
    check_regime(&p, _i % CROWD_REGIMES * 5, seed);
    problem_clear(&p);
}
END_TEST

START_TEST(stages_are_requests_in_flight)
{
    const mo_regime port = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                             MO_MEMORY_STATIC };
    const int device[] = { 0, 1 };
    problem p = { 0 };
    mo_modulo_schedule m;
    mo_period_loads loads;
    char name[64];

    problem_make(&p, "a t.A=10 t.B=10; b t.A=10 t.B=10; a>b c.A.B=2 c.B.A=2",
                 "A; B; A-B gbps=8", NULL);
    MUST(mo_period_loads_compute(p.x, &port, device, &loads, &err));
    ck_assert_int_eq(loads.period_ns, 10000);
    ck_assert_int_eq(loads.load_ns[2], 2000);
    ck_assert_str_eq(
        mo_period_resource_name(p.x, port.congestion, 5, name, sizeof name),
        "in port of B");
    mo_period_loads_clear(&loads);
    MUST(mo_modulo_schedule_make(p.x, &port, device, 0, NULL, &m, &err));
    ck_assert_int_eq(m.period_ns, 10000);
    ck_assert_int_eq(m.in_flight, 3);
    ck_assert_int_eq(m.request->makespan_ns, 22000);
    mo_modulo_schedule_clear(&m);
    MUST(mo_modulo_schedule_make(p.x, &port, device, 2, NULL, &m, &err));
    ck_assert_int_le(m.in_flight, 2);
    ck_assert_int_lt(m.period_ns, 12000);
    mo_modulo_schedule_clear(&m);
    MUST(mo_modulo_schedule_make(p.x, &port, device, 1, NULL, &m, &err));
    ck_assert_int_eq(m.period_ns, 22000);
    mo_modulo_schedule_clear(&m);
    problem_clear(&p);
}
END_TEST

/* Weights of 100 bytes on A; the tensor of a lives on A from 0 to 12 us, and
 * its copy on B from 10 to 22: of a period of 10 us each has two copies for a
 * while. */
START_TEST(live_memory_has_a_copy_for_each_request)
{
    const mo_regime live = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                             MO_MEMORY_LIVE };
    const int device[] = { 0, 1 };
    problem p = { 0 };
    mo_modulo_schedule m;

    problem_make(
        &p,
        "a t.A=10 t.B=10 weight_bytes=100 workspace_bytes=0; "
        "b t.A=10 t.B=10 workspace_bytes=5; a>b bytes=30 c.A.B=2 c.B.A=2",
        "A memory_bytes=160; B memory_bytes=65; A-B gbps=8", NULL);
    MUST(mo_modulo_schedule_make(p.x, &live, device, 0, NULL, &m, &err));
    ck_assert(m.fits);
    ck_assert_int_eq(m.period_ns, 10000);
    ck_assert_int_eq(m.peak_bytes[0], 160);
    ck_assert_int_eq(m.peak_bytes[1], 65);
    mo_modulo_schedule_clear(&m);
    p.x->capacity_bytes[1] = 64;
    MUST(mo_modulo_schedule_make(p.x, &live, device, 0, NULL, &m, &err));
    ck_assert(m.fits);
    ck_assert_int_gt(m.period_ns, 10000);
    ck_assert_int_le(m.peak_bytes[1], 64);
    mo_modulo_schedule_clear(&m);
    p.x->capacity_bytes[0] = 120;
    MUST(mo_modulo_schedule_make(p.x, &live, device, 0, NULL, &m, &err));
    ck_assert(!m.fits);
    mo_modulo_schedule_clear(&m);
    problem_clear(&p);
}
END_TEST

/* Three transfers, of which each two share a link, and every link has the load
 * of two: they exclude each other. */
START_TEST(routes_that_share_links_exceed_the_load)
{
    const mo_regime link = { MO_CONGESTION_LINK, MO_TENSORS_PER_EDGE,
                             MO_MEMORY_NONE };
    const int device[] = { 0, 1, 2, 2, 0, 1 };
    problem p = { 0 };
    mo_modulo_schedule m;
    mo_period_loads loads;

    problem_make(&p,
                 "* t.A=1 t.B=1 t.C=1; *>* bytes=9000; a; b; c; d; e; f; "
                 "a>d; b>e; c>f",
                 "A; B; C; A>B gbps=8; B>C gbps=8; C>A gbps=8", NULL);
    MUST(mo_period_loads_compute(p.x, &link, device, &loads, &err));
    MUST(mo_modulo_schedule_make(p.x, &link, device, 0, NULL, &m, &err));
    ck_assert_int_eq(loads.period_ns % 2, 0);
    ck_assert_int_eq(m.period_ns, loads.period_ns / 2 * 3);
    mo_modulo_schedule_clear(&m);
    mo_period_loads_clear(&loads);
    problem_clear(&p);
}
END_TEST

SUITE(period)
{
    TEST(live_memory_has_a_copy_for_each_request);
    TEST(routes_that_share_links_exceed_the_load);
    TEST(stages_are_requests_in_flight);
    SOME(every_placement_reaches_its_period, 40, 3);
    SOME(crowded_ports_keep_a_period_above_their_load,
         at_length(8, in_ci(2, 1)) * CROWD_REGIMES, 1);
}
