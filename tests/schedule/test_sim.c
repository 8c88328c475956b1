/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/sim/sim.h against the reference simulation. */
#include <stdlib.h>

#include "base/out.h"
#include "base/random.h"
#include "schedule/sim/sim.h"
#include "schedule/validate/validate.h"
#include "tests/support/dense_problem.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/schedule/reference_sim.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"
#include "tests/support/reference_validate.h"

enum { A, B };

static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                   MO_MEMORY_NONE };

/* A plan with its arrays; some of them are optional. */
typedef struct made_plan {
    mo_sim_plan plan;
    int *device, *rank, *send_rank;
    int64_t *release_ns, *send_release_ns;
    mo_sim_time_lag *after;
} made_plan;

static void reserve_plan(made_plan *m, const mo_instance *x)
{
    size_t n = (size_t) x->n + 1, n_items = (size_t) x->n_flows + 1;

    m->device = calloc(n, sizeof *m->device);
    m->rank = calloc(n, sizeof *m->rank);
    m->send_rank = calloc(n_items, sizeof *m->send_rank);
    m->release_ns = calloc(n, sizeof *m->release_ns);
    m->send_release_ns = calloc(n_items, sizeof *m->send_release_ns);
    m->after = calloc(n, sizeof *m->after);
    ck_assert(m->device && m->rank && m->send_rank && m->release_ns &&
              m->send_release_ns && m->after);
}

static void drop_plan(made_plan *m)
{
    free(m->after);
    free(m->send_release_ns);
    free(m->release_ns);
    free(m->send_rank);
    free(m->rank);
    free(m->device);
}

static void place_anyhow(made_plan *m, const mo_instance *x, mo_random *random)
{
    int *of_group = calloc((size_t) x->n_groups + 1, sizeof *of_group);

    ck_assert(of_group);
    for (int g = 0; g < x->n_groups; g++)
        of_group[g] = mo_random_below(random, x->n_devices);
    for (int i = 0; i < x->n; i++) {
        int any = mo_random_below(random, x->n_devices);

        m->device[i] = x->group[i] == MO_FREE ? any : of_group[x->group[i]];
        if (x->pin[i] != MO_FREE)
            m->device[i] = x->pin[i];
    }
    free(of_group);
}

/* Time lags for readers, or for transfers to them, after the op's end. */
static void delay_some(made_plan *m, const mo_instance *x, bool once,
                       mo_random *random)
{
    for (int i = 0; i < x->n; i++) {
        int n_out = x->out_start[i + 1] - x->out_start[i], q;
        mo_sim_time_lag *after = &m->after[m->plan.n_lags];

        if (n_out == 0 || mo_random_below(random, 3) > 0)
            continue;
        q = x->out_start[i] + mo_random_below(random, n_out);
        *after =
            (mo_sim_time_lag){ i, -1, -1, 1000 * mo_random_below(random, 20) };
        if (mo_random_below(random, 2))
            after->succ_op = x->flows[q].to;
        else
            after->succ_item = once ? x->flows[q].tensor : q;
        m->plan.n_lags++;
    }
    m->plan.lags = m->after;
}

static void make_plan(made_plan *m, const mo_instance *x, bool once,
                      mo_random *random)
{
    int kind = mo_random_below(random, 16);

    reserve_plan(m, x);
    place_anyhow(m, x, random);
    for (int i = 0; i < x->n; i++) {
        int at = mo_random_below(random, i + 1);

        m->rank[i] = m->rank[at];
        m->rank[at] = i;
        if (mo_random_below(random, 3) == 0)
            m->release_ns[i] = 1000 * mo_random_below(random, 50);
    }
    for (int q = 0; q < x->n_flows; q++) {
        m->send_rank[q] = mo_random_below(random, 8);
        if (mo_random_below(random, 3) == 0)
            m->send_release_ns[q] = 1000 * mo_random_below(random, 50);
    }
    m->plan = (mo_sim_plan){ .device = m->device,
                             .rank = m->rank,
                             .send_rank = kind & 1 ? m->send_rank : NULL,
                             .release_ns = kind & 2 ? m->release_ns : NULL,
                             .send_release_ns =
                                 kind & 4 ? m->send_release_ns : NULL };
    if (kind & 8)
        delay_some(m, x, once, random);
}

static void check_same(const mo_schedule *s, const mo_schedule *expected,
                       int number)
{
    ck_assert_int_eq(s->n_transfers, expected->n_transfers);
    for (int i = 0; i < s->n; i++)
        ck_assert_msg(s->start_ns[i] == expected->start_ns[i],
                      "case %d: op %d starts at %lld, not %lld", number, i,
                      (long long) s->start_ns[i],
                      (long long) expected->start_ns[i]);
    for (int i = 0; i < s->n_transfers; i++)
        ck_assert_msg(s->transfers[i].start_ns ==
                          expected->transfers[i].start_ns,
                      "case %d: transfer %d", number, i);
}

static void judge(const mo_instance *x, const mo_schedule *s, int number)
{
    mo_verdict *verdict = NULL;

    MUST(mo_validate(x, s, 1, &verdict, &err));
    ck_assert_msg(verdict->n == 0, "case %d: %s", number,
                  verdict->n > 0 ? verdict->violations[0].text : "");
    mo_verdict_free(verdict);
}

static void check_plan(const mo_instance *x, const mo_regime *regime,
                       mo_sim *sim, const mo_sim_plan *plan, int number)
{
    mo_schedule *expected = slow_sim(x, regime, plan), *s = NULL;
    int64_t end_ns = expected->makespan_ns;

    ck_assert_int_eq(mo_sim_run(sim, plan, INT64_MAX), end_ns);
    ck_assert_int_eq(mo_sim_run(sim, plan, end_ns), INT64_MAX);
    ck_assert_int_eq(mo_sim_run(sim, plan, end_ns + 1), end_ns);
    ck_assert_int_eq(mo_sim_run(sim, plan, end_ns / 2), INT64_MAX);
    MUST(mo_sim_schedule(sim, plan, &s, &err));
    ck_assert_int_le(s->makespan_ns, end_ns);
    MUST(mo_schedule_left_shift(x, expected, &err));
    check_same(s, expected, number);
    judge(x, s, number);
    mo_schedule_free(s);
    mo_schedule_free(expected);
}

static void check_plans(const mo_instance *x, int number, int n_plans)
{
    mo_random random = { (uint64_t) number };

    for (int r = 0; r < N_REGIMES; r++) {
        mo_regime regime = regime_of(r);
        mo_sim *sim = NULL;

        if (regime.memory != MO_MEMORY_NONE)
            continue; /* not checked here */
        MUST(mo_sim_new(x, &regime, &sim, &err));
        for (int i = 0; i < n_plans; i++) {
            made_plan m;

            make_plan(&m, x, regime.tensors == MO_TENSORS_ONCE, &random);
            check_plan(x, &regime, sim, &m.plan, number);
            drop_plan(&m);
        }
        mo_sim_free(sim);
    }
}

START_TEST(small_problems_come_out_as_the_rules_say)
{
    random_problem r;
    problem p = { 0 };

    random_problem_make(&r, (unsigned) _i);
    if (problem_try(&p, r.graph, r.cluster, NULL) == MO_OK)
        check_plans(p.x, _i, 4);
    random_problem_clear(&r);
    problem_clear(&p);
}
END_TEST

START_TEST(crowds_come_out_as_the_rules_say)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    if (p.x)
        check_plans(p.x, _i, 3);
    problem_clear(&p);
}
END_TEST

/* Ten devices in a ring: more channels and slots than a word has bits. */
static char *ring_cluster(void)
{
    mo_out *out;

    MUST(mo_out_memory(&out, &err));
    for (int k = 0; k < 10; k++)
        mo_out_printf(out, "d%d;", k);
    for (int k = 0; k < 10; k++)
        mo_out_printf(out, "d%d-d%d gbps=8;", k, (k + 1) % 10);
    return text_end(out);
}

static char *ring_graph(void)
{
    mo_out *out;

    MUST(mo_out_memory(&out, &err));
    for (int k = 0; k < 10; k++)
        mo_out_printf(out, "* t.d%d=%d;", k, 1 + k % 3);
    for (int i = 0; i < 20; i++) {
        mo_out_printf(out, "n%d;", i);
        for (int j = i - 1; j >= 0 && j >= i - 4; j -= 1 + i % 2)
            mo_out_printf(out, "n%d>n%d bytes=%d src_port=%d;", j, i,
                          1000 * ((i * 7 + j) % 5), i % 2);
    }
    return text_end(out);
}

static void make_ring(problem *p)
{
    char *graph = ring_graph(), *cluster = ring_cluster();

    problem_make(p, graph, cluster, NULL);
    free(cluster);
    free(graph);
}

START_TEST(many_devices_come_out_as_the_rules_say)
{
    problem p = { 0 };

    make_ring(&p);
    check_plans(p.x, _i, 2);
    problem_clear(&p);
}
END_TEST

START_TEST(an_op_waits_for_its_release)
{
    int device[] = { A }, rank[] = { 0 };
    int64_t release_ns[] = { 7000 };
    mo_sim_plan plan = { .device = device,
                         .rank = rank,
                         .release_ns = release_ns };
    problem p = { 0 };
    mo_sim *sim;

    problem_make(&p, "a t.A=3", "A", NULL);
    MUST(mo_sim_new(p.x, &by_port, &sim, &err));
    ck_assert_int_eq(mo_sim_run(sim, &plan, INT64_MAX), 10000);
    plan.release_ns = NULL;
    ck_assert_int_eq(mo_sim_run(sim, &plan, INT64_MAX), 3000);
    mo_sim_free(sim);
    problem_clear(&p);
}
END_TEST

/* c is urgent, so its input is sent first, unless the sends have ranks. */
START_TEST(transfers_go_as_their_readers_or_as_told)
{
    int device[] = { A, B, B }, rank[] = { 0, 2, 1 }, send_rank[] = { 0, 1 };
    mo_sim_plan plan = { .device = device, .rank = rank };
    problem p = { 0 };
    mo_sim *sim;

    problem_make(&p,
                 "* t.A=1; * t.B=1; a; b; c t.B=9;"
                 "a>b bytes=2000; a>c bytes=3000",
                 "A; B; A-B gbps=8", NULL);
    MUST(mo_sim_new(p.x, &by_port, &sim, &err));
    ck_assert_int_eq(mo_sim_run(sim, &plan, INT64_MAX), 14000);
    plan.send_rank = send_rank;
    ck_assert_int_eq(mo_sim_run(sim, &plan, INT64_MAX), 15000);
    mo_sim_free(sim);
    problem_clear(&p);
}
END_TEST

SUITE(sim)
{
    TEST(an_op_waits_for_its_release);
    TEST(transfers_go_as_their_readers_or_as_told);
    SOME(small_problems_come_out_as_the_rules_say, 400, 10);
    SOME(crowds_come_out_as_the_rules_say, 60, 4);
    SOME(many_devices_come_out_as_the_rules_say, 40, 4);
}
