/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of schedule/sim/inserted_idle.h, and of its use in
 * schedule/sim/incremental_sim.h. */
#include "schedule/sim/inserted_idle.h"

#include <stdlib.h>

#include "base/random.h"
#include "schedule/sim/sim.h"
#include "schedule/sim/incremental_sim.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"
#include "tests/support/reference_validate.h"

enum { A, B };

static const mo_regime by_port = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                   MO_MEMORY_NONE };

/* The input of c takes 9 us and is ready first, but delaying it for d, and e
 * behind it, is better: then the makespan is 22 us, and not 27. */
static const char early_and_late[] =
    "* t.A=1 t.B=1; a; b; c; d; e t.A=9 t.B=9;"
    "a>c bytes=9000; b>d bytes=1000; d>e bytes=1";

enum { C_READS, D_READS };

static mo_schedule *schedule_of(const mo_instance *x, int64_t *send_release_ns)
{
    int device[] = { A, A, B, B, B }, rank[] = { 0, 1, 4, 2, 3 };
    mo_sim_plan plan = { .device = device,
                         .rank = rank,
                         .send_release_ns = send_release_ns };
    mo_schedule *s = NULL;
    mo_sim *sim = NULL;

    MUST(mo_sim_new(x, &by_port, &sim, &err));
    MUST(mo_sim_schedule(sim, &plan, &s, &err));
    mo_sim_free(sim);
    return s;
}

START_TEST(what_is_held_back_is_found_and_nothing_else)
{
    int64_t send_release_ns[] = { 0, 0, 0 }, release_ns[5], found_ns[3];
    problem p = { 0 };
    mo_schedule *s;
    mo_inserted_idle *waits = NULL;

    problem_make(&p, early_and_late, "A; B; A-B gbps=8", NULL);
    MUST(mo_inserted_idle_new(p.x, &waits, &err));
    for (int held = 0; held < 2; held++) {
        send_release_ns[C_READS] = held * 3000;
        s = schedule_of(p.x, send_release_ns);
        mo_inserted_idle_find(waits, s, release_ns, found_ns);
        ck_assert_int_eq(found_ns[C_READS], held * 3000);
        ck_assert_int_eq(found_ns[D_READS], 0);
        for (int i = 0; i < p.x->n; i++)
            ck_assert_int_eq(release_ns[i], 0);
        mo_schedule_free(s);
    }
    mo_inserted_idle_free(waits);
    problem_clear(&p);
}
END_TEST

START_TEST(a_trial_begins_with_what_is_held_back)
{
    int64_t send_release_ns[] = { 3000, 0, 0 };
    problem p = { 0 };
    mo_schedule *s, *at_once;
    mo_incremental_sim *trial = NULL;

    problem_make(&p, early_and_late, "A; B; A-B gbps=8", NULL);
    s = schedule_of(p.x, send_release_ns);
    at_once = schedule_of(p.x, NULL);
    ck_assert_int_lt(s->makespan_ns, at_once->makespan_ns);
    MUST(mo_incremental_sim_new(p.x, &by_port, &trial, &err));
    mo_incremental_sim_begin(trial, s);
    ck_assert_int_eq(mo_incremental_sim_current(trial)->makespan_ns,
                     s->makespan_ns);
    mo_incremental_sim_free(trial);
    mo_schedule_free(s);
    mo_schedule_free(at_once);
    problem_clear(&p);
}
END_TEST

static mo_schedule *some_schedule(const mo_instance *x, const mo_regime *regime,
                                  mo_random *random)
{
    size_t n = (size_t) x->n + 1, n_flows = (size_t) x->n_flows + 1;
    mo_sim_plan plan = { .device = calloc(n, sizeof *plan.device),
                         .rank = calloc(n, sizeof *plan.rank),
                         .release_ns = calloc(n, sizeof *plan.release_ns),
                         .send_release_ns =
                             calloc(n_flows, sizeof *plan.send_release_ns) };
    mo_schedule *s = NULL;
    mo_sim *sim = NULL;

    ck_assert(plan.device && plan.rank && plan.release_ns &&
              plan.send_release_ns);
    for (int i = 0; i < x->n; i++) {
        int at = mo_random_below(random, i + 1);

        plan.rank[i] = plan.rank[at];
        plan.rank[at] = i;
        plan.device[i] = mo_random_below(random, x->n_devices);
        plan.release_ns[i] = 1000 * mo_random_below(random, 30);
    }
    for (int q = 0; q < x->n_flows; q++)
        plan.send_release_ns[q] = 1000 * mo_random_below(random, 60);
    MUST(mo_sim_new(x, regime, &sim, &err));
    MUST(mo_sim_schedule(sim, &plan, &s, &err));
    mo_sim_free(sim);
    free(plan.device);
    free(plan.rank);
    free(plan.release_ns);
    free(plan.send_release_ns);
    return s;
}

/* Counts the regimes in which it takes longer, as ties are broken
 * otherwise. */
static int count_longer(const mo_instance *x, mo_random *random)
{
    int n = 0;

    for (int i = 0; i < N_REGIMES; i++) {
        mo_regime regime = regime_of(i);
        mo_schedule *s = some_schedule(x, &regime, random);
        mo_incremental_sim *trial = NULL;

        MUST(mo_incremental_sim_new(x, &regime, &trial, &err));
        mo_incremental_sim_begin(trial, s);
        n += mo_incremental_sim_current(trial)->makespan_ns > s->makespan_ns;
        mo_incremental_sim_free(trial);
        mo_schedule_free(s);
    }
    return n;
}

START_TEST(a_trial_seldom_takes_longer_than_what_it_begins_with)
{
    int n = 0, longer = 0;

    for (unsigned seed = 0; seed < 100; seed++) {
        mo_random random = { seed };
        random_problem r;
        problem p = { 0 };

        random_problem_make(&r, seed);
        if (problem_try(&p, r.graph, r.cluster, NULL) == MO_OK) {
            longer += count_longer(p.x, &random);
            n += N_REGIMES;
        }
        random_problem_clear(&r);
        problem_clear(&p);
    }
    ck_assert_int_gt(n, 0);
    ck_assert_int_le(100 * longer, n);
}
END_TEST

SUITE(inserted_idle)
{
    TEST(what_is_held_back_is_found_and_nothing_else);
    TEST(a_trial_begins_with_what_is_held_back);
    TEST(a_trial_seldom_takes_longer_than_what_it_begins_with);
}
