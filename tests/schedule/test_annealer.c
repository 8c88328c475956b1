/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/heuristic/annealer.h: temperatures, acceptance, steps. */
#include "schedule/heuristic/annealer.h"

#include <stdlib.h>

#include "tests/support/suite.h"

enum { STEPS = 640 };

/* A walk over the integers whose cost is the distance from 0. */
typedef struct walk {
    mo_random random;
    int at, to, best;
    int n_proposed, n_accepted, n_rejected, n_checks;
    int last_check; /* of the run; 0: none */
    double temperature[STEPS + 1];
    double worst; /* accepted increase, in temperatures */
} walk;

static mo_status propose(void *search, mo_annealer *a, bool *accepted,
                         mo_error *err)
{
    walk *w = search;
    int change;

    (void) err;
    w->n_proposed++;
    w->to = w->at + (mo_random_below(&w->random, 2) ? 1 : -1) *
                        (1 + mo_random_below(&w->random, 5));
    change = abs(w->to) - abs(w->at);
    *accepted = mo_annealer_accepts(a, change);
    if (*accepted && change / a->temperature > w->worst)
        w->worst = change / a->temperature;
    if (mo_random_below(&w->random, 4) == 0)
        a->work = 3;
    return MO_OK;
}

static void reject(void *search)
{
    ((walk *) search)->n_rejected++;
}

static mo_status accept(void *search, mo_error *err)
{
    walk *w = search;

    (void) err;
    w->n_accepted++;
    w->at = w->to;
    if (abs(w->at) < abs(w->best))
        w->best = w->at;
    return MO_OK;
}

static bool check(void *search, const mo_annealer *a)
{
    walk *w = search;

    w->temperature[w->n_checks++] = a->temperature;
    return w->last_check == 0 || w->n_checks < w->last_check;
}

static const mo_annealer_moves moves = { propose, reject, accept, check };

static const struct {
    mo_annealer_rule rule;
    mo_annealer_cooling cooling;
} cases[] = {
    { MO_ANNEALER_THRESHOLD, { 30, 1, 1, 0, true, 1 } },
    { MO_ANNEALER_TOLERANCE, { 30, 2, 3, 1024, true, 16 } },
    { MO_ANNEALER_TOLERANCE, { 30, 2, 4, 64, false, 0 } },
    { MO_ANNEALER_METROPOLIS, { 30, 0.5, 0, 0, false, 10 } },
};

static mo_annealer make(walk *w, int i)
{
    *w = (walk){ .random = { (uint64_t) i }, .at = 1000, .best = 1000 };
    return (mo_annealer){ .rule = cases[i].rule,
                          .cooling = cases[i].cooling,
                          .unit = 1,
                          .steps = STEPS,
                          .random = &w->random };
}

START_TEST(temperatures_fall_from_hot_to_cold)
{
    walk w;
    mo_annealer a = make(&w, _i);

    MUST(mo_annealer_run(&a, &moves, &w, &err));
    ck_assert_double_eq(w.temperature[0], cases[_i].cooling.hot);
    for (int i = 1; i < w.n_checks; i++) {
        ck_assert_double_le(w.temperature[i], w.temperature[i - 1]);
        ck_assert_double_ge(w.temperature[i], cases[_i].cooling.cold);
    }
}
END_TEST

START_TEST(all_steps_are_done_and_moves_count_their_work)
{
    walk w;
    mo_annealer a = make(&w, _i);

    MUST(mo_annealer_run(&a, &moves, &w, &err));
    ck_assert_int_ge(a.done, STEPS);
    ck_assert_int_lt(a.done, STEPS + 3);
    ck_assert_int_lt(w.n_proposed, STEPS);
    ck_assert_int_eq(w.n_proposed, w.n_accepted + w.n_rejected);
    ck_assert_int_lt(abs(w.best), 1000);
}
END_TEST

START_TEST(a_threshold_is_not_exceeded)
{
    walk w;
    mo_annealer a = make(&w, 0);

    a.cooling.hot = 4;
    MUST(mo_annealer_run(&a, &moves, &w, &err));
    ck_assert_double_le(w.worst, 1);
    ck_assert_int_gt(w.n_rejected, 0);
}
END_TEST

START_TEST(a_check_or_a_stop_ends_the_run)
{
    walk w;
    mo_annealer a = make(&w, 3);
    mo_stop stop = { .deadline_ns = INT64_MAX };

    w.last_check = 5;
    MUST(mo_annealer_run(&a, &moves, &w, &err));
    ck_assert_int_eq(w.n_checks, 5);
    ck_assert_int_lt(a.done, STEPS);
    a = make(&w, 3);
    a.stop = &stop;
    mo_stop_request(&stop);
    MUST(mo_annealer_run(&a, &moves, &w, &err));
    ck_assert_int_eq(w.n_proposed, 0);
}
END_TEST

SUITE(annealer)
{
    EACH(temperatures_fall_from_hot_to_cold, COUNT(cases));
    EACH(all_steps_are_done_and_moves_count_their_work, COUNT(cases));
    TEST(a_threshold_is_not_exceeded);
    TEST(a_check_or_a_stop_ends_the_run);
}
