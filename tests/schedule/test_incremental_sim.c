/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/sim/incremental_sim.h: after any changes, commits and
 * rollbacks, a trial has the result of a full simulation of the plan; and of
 * schedule/sim/justification.h on the committed plan. */
#include <stdlib.h>

#include "base/random.h"
#include "schedule/sim/justification.h"
#include "schedule/resource.h"
#include "schedule/sim/incremental_sim.h"
#include "schedule/validate/validate.h"
#include "tests/support/dense_problem.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/schedule/reference_sim.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"

typedef struct ranked {
    int64_t key;
    int of;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *v = a, *w = b;

    if (v->key != w->key)
        return v->key < w->key ? -1 : 1;
    return (v->of > w->of) - (v->of < w->of);
}

/* Ranks by key. */
static void rank_keys(const int64_t *key, int n, int *rank)
{
    ranked *order = calloc((size_t) n + 1, sizeof *order);

    ck_assert(order);
    for (int i = 0; i < n; i++)
        order[i] = (ranked){ key[i], i };
    qsort(order, (size_t) n, sizeof *order, compare_ranked);
    for (int i = 0; i < n; i++)
        rank[order[i].of] = i;
    free(order);
}

typedef struct walk {
    const mo_instance *x;
    mo_regime regime;
    mo_incremental_sim *trial;
    const mo_incremental_sim_state *standing;
    mo_random random;
    int number; /* of the case */
    int *device, *rank, *send_rank;
    int64_t *release_ns, *send_release_ns;
} walk;

/* The result of the whole plan, with the changes, by the reference. */
static mo_schedule *by_the_rules(walk *w)
{
    const mo_instance *x = w->x;
    bool once = w->regime.tensors == MO_TENSORS_ONCE;
    mo_sim_plan plan = { .device = w->device,
                         .rank = w->rank,
                         .send_rank = w->send_rank,
                         .release_ns = w->release_ns,
                         .send_release_ns = w->send_release_ns };

    for (int i = 0; i < x->n; i++) {
        w->device[i] = w->standing->device[i];
        w->release_ns[i] = w->standing->release_ns[i];
    }
    rank_keys(w->standing->key, x->n, w->rank);
    for (int q = 0; q < x->n_flows; q++)
        w->send_rank[once ? x->flows[q].tensor : q] =
            (int) (w->standing->send_key[q] / 1000);
    for (int q = 0; q < x->n_flows; q++)
        w->send_release_ns[once ? x->flows[q].tensor : q] =
            w->standing->send_release_ns[q];
    return slow_sim(x, &w->regime, &plan);
}

static int64_t some_key(walk *w)
{
    return 1000 * mo_random_below(&w->random, 60);
}

/* All flows of a tensor get the key: plans rank sends by tensor. */
static void change_send(walk *w)
{
    const mo_instance *x = w->x;
    int q = x->n_flows > 0 ? mo_random_below(&w->random, x->n_flows) : 0;
    int tensor = x->n_flows > 0 ? x->flows[q].tensor : 0;
    int64_t key = some_key(w);

    for (int r = 0; r < x->n_flows; r++)
        if (x->flows[r].tensor == tensor)
            mo_incremental_sim_order_transfer(w->trial, r, key);
}

static void change_hold(walk *w)
{
    const mo_instance *x = w->x;
    int q = x->n_flows > 0 ? mo_random_below(&w->random, x->n_flows) : 0;
    int tensor = x->n_flows > 0 ? x->flows[q].tensor : 0;
    int64_t send_release_ns = mo_random_below(&w->random, 2) * some_key(w);

    for (int r = 0; r < x->n_flows; r++)
        if (x->flows[r].tensor == tensor)
            mo_incremental_sim_delay_transfer(w->trial, r, send_release_ns);
}

static void change(walk *w)
{
    int op = mo_random_below(&w->random, w->x->n);

    switch (mo_random_below(&w->random, 6)) {
    case 0:
        mo_incremental_sim_order_op(w->trial, op, some_key(w));
        break;
    case 1:
        mo_incremental_sim_delay_op(
            w->trial, op, mo_random_below(&w->random, 2) * some_key(w));
        break;
    case 2:
        change_send(w);
        break;
    case 3:
        change_hold(w);
        break;
    default:
        mo_incremental_sim_place_op(
            w->trial, op, mo_random_below(&w->random, w->x->n_devices));
    }
}

static void check_standing(const walk *w, const mo_schedule *expected)
{
    ck_assert_int_eq(w->standing->makespan_ns, expected->makespan_ns);
    for (int i = 0; i < w->x->n; i++)
        ck_assert_msg(w->standing->start_ns[i] == expected->start_ns[i],
                      "case %d: op %d", w->number, i);
}

static void step(walk *w)
{
    mo_schedule *expected;
    int64_t end_ns, cutoff_ns;

    for (int i = mo_random_below(&w->random, 4); i >= 0; i--)
        change(w);
    expected = by_the_rules(w);
    cutoff_ns = expected->makespan_ns + mo_random_below(&w->random, 3) - 1;
    if (mo_random_below(&w->random, 2))
        cutoff_ns = INT64_MAX;
    end_ns = mo_incremental_sim_run(w->trial, cutoff_ns);
    ck_assert_msg(
        end_ns == (expected->makespan_ns < cutoff_ns ? expected->makespan_ns
                                                     : INT64_MAX),
        "case %d: %lld for %lld, less than %lld", w->number, (long long) end_ns,
        (long long) expected->makespan_ns, (long long) cutoff_ns);
    if (end_ns < INT64_MAX && mo_random_below(&w->random, 2)) {
        mo_incremental_sim_commit(w->trial);
        check_standing(w, expected);
    } else {
        mo_incremental_sim_rollback(w->trial);
    }
    mo_schedule_free(expected);
}

/* All on one device, ignoring pins; in some order. */
static mo_schedule *any_schedule(const mo_instance *x, const mo_regime *regime)
{
    int *device = calloc((size_t) x->n + 1, sizeof *device);
    mo_schedule *s = NULL;

    ck_assert(device);
    MUST(mo_schedule_new(x, regime, device, &s, &err));
    for (int i = 0; i < x->n; i++)
        s->start_ns[i] = 1000 * (i % 7);
    free(device);
    return s;
}

static void open_walk(walk *w, const mo_instance *x, int number)
{
    size_t n = (size_t) x->n + 1, n_flows = (size_t) x->n_flows + 1;

    *w = (walk){ .x = x, .number = number };
    w->device = calloc(n, sizeof *w->device);
    w->rank = calloc(n, sizeof *w->rank);
    w->send_rank = calloc(n_flows, sizeof *w->send_rank);
    w->release_ns = calloc(n, sizeof *w->release_ns);
    w->send_release_ns = calloc(n_flows, sizeof *w->send_release_ns);
    ck_assert(w->device && w->rank && w->send_rank && w->release_ns &&
              w->send_release_ns);
}

static void close_walk(walk *w)
{
    free(w->send_release_ns);
    free(w->release_ns);
    free(w->send_rank);
    free(w->rank);
    free(w->device);
}

/* Sends of one tensor start with one key. */
static void level_sends(walk *w)
{
    for (int q = 0; q < w->x->n_flows; q++)
        mo_incremental_sim_order_transfer(w->trial, q, 0);
    for (int q = 0; q < w->x->n_flows; q++)
        mo_incremental_sim_delay_transfer(w->trial, q, 0);
    mo_incremental_sim_run(w->trial, INT64_MAX);
    mo_incremental_sim_commit(w->trial);
}

static void check_result(walk *w)
{
    mo_schedule *s = NULL;

    MUST(mo_incremental_sim_schedule(w->trial, w->standing->device,
                                     w->standing->start_ns, &s, &err));
    ck_assert_int_le(s->makespan_ns, w->standing->makespan_ns);
    mo_schedule_free(s);
}

static void judge(const walk *w, const mo_schedule *s)
{
    mo_verdict *verdict = NULL;

    MUST(mo_validate(w->x, s, w->x->n + 1, &verdict, &err));
    for (int i = 0; i < verdict->n; i++)
        ck_assert_msg(verdict->violations[i].rule == MO_VIOLATION_PIN ||
                          verdict->violations[i].rule == MO_VIOLATION_GROUP,
                      "case %d: %s", w->number, verdict->violations[i].text);
    mo_verdict_free(verdict);
}

/* Transfers without resources have no key: they start at their op's end. */
static int64_t sent_ns(const walk *w, const mo_schedule *s,
                       const mo_transfer *t, int flow, int64_t key)
{
    int pair[2], from = w->x->flows[flow].from;
    const int *ids;

    return mo_resource_list(w->x, w->regime.congestion, t->from, t->to, pair,
                            &ids) > 0
               ? key
               : s->start_ns[from] +
                     mo_instance_p_ns(w->x, from, s->device[from]);
}

static void fill_times(const walk *w, mo_schedule *s, const int64_t *key,
                       const int64_t *send_key)
{
    const mo_instance *x = w->x;
    bool once = w->regime.tensors == MO_TENSORS_ONCE;

    for (int i = 0; i < x->n; i++) {
        int64_t end_ns = key[i] + mo_instance_p_ns(x, i, s->device[i]);

        s->start_ns[i] = key[i];
        s->makespan_ns = end_ns > s->makespan_ns ? end_ns : s->makespan_ns;
    }
    for (int q = 0; q < x->n_flows; q++) {
        mo_transfer *t = mo_schedule_transfer(s, once ? x->flows[q].tensor : q,
                                              s->device[x->flows[q].to]);

        if (!t)
            continue;
        t->start_ns = sent_ns(w, s, t, q, send_key[q]);
        t->end_ns = t->start_ns +
                    mo_schedule_item_ns(x, &w->regime, t->item, t->from, t->to);
    }
}

/* The keys are themselves the times of a schedule: the backward one. */
static void check_back(walk *w)
{
    size_t n = (size_t) w->x->n + 1, n_flows = (size_t) w->x->n_flows + 1;
    int64_t *key = calloc(n, sizeof *key);
    int64_t *send_key = calloc(n_flows, sizeof *send_key);
    mo_schedule *s = NULL;
    mo_justification *back = NULL;

    ck_assert(key && send_key);
    MUST(mo_justification_new(w->x, &w->regime, &back, &err));
    MUST(mo_schedule_new(w->x, &w->regime, w->standing->device, &s, &err));
    mo_justification_keys(back, w->standing->device, w->standing->end_ns, key,
                          send_key);
    fill_times(w, s, key, send_key);
    judge(w, s);
    mo_schedule_free(s);
    mo_justification_free(back);
    free(send_key);
    free(key);
}

static void check_walks(const mo_instance *x, int number, int n_steps)
{
    walk w;

    open_walk(&w, x, number);
    for (int r = 0; r < N_REGIMES; r++) {
        mo_schedule *start;

        w.regime = regime_of(r);
        w.random.state = (uint64_t) (number * N_REGIMES + r);
        if (w.regime.memory != MO_MEMORY_NONE)
            continue;
        start = any_schedule(x, &w.regime);
        MUST(mo_incremental_sim_new(x, &w.regime, &w.trial, &err));
        mo_incremental_sim_begin(w.trial, start);
        w.standing = mo_incremental_sim_current(w.trial);
        level_sends(&w);
        for (int i = 0; i < n_steps; i++)
            step(&w);
        check_result(&w);
        check_back(&w);
        mo_incremental_sim_free(w.trial);
        mo_schedule_free(start);
    }
    close_walk(&w);
}

START_TEST(small_plans_come_out_as_the_whole_does)
{
    random_problem r;
    problem p = { 0 };

    random_problem_make(&r, (unsigned) _i);
    if (problem_try(&p, r.graph, r.cluster, NULL) == MO_OK)
        check_walks(p.x, _i, 20);
    random_problem_clear(&r);
    problem_clear(&p);
}
END_TEST

START_TEST(crowded_plans_come_out_as_the_whole_does)
{
    problem p = { 0 };

    crowd_make(&p, (unsigned) _i);
    check_walks(p.x, _i, 40);
    problem_clear(&p);
}
END_TEST

SUITE(incremental_sim)
{
    SOME(small_plans_come_out_as_the_whole_does, 200, 10);
    SOME(crowded_plans_come_out_as_the_whole_does, 40, 2);
}
