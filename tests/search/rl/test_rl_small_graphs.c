/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of the reinforcement-learning methods: near-optimal on small graphs,
 * and better than random search. */
#include <config.h>

#include <math.h>
#include <stdio.h>

#include "base/random.h"
#include "solvers/search/exact/exact.h"
#include "solvers/search/rl/hrl.h"
#include "solvers/search/rl/evaluator.h"
#include "tests/search/rl/rl_methods_case.h"
#include "tests/support/suite.h"

enum { MOST_OPS = 12 };

static int64_t optimum_ns(const mo_instance *x)
{
    const mo_exact_options options = { .below_ns = INT64_MAX };
    mo_exact_result result = { 0 };
    int64_t ns;

    MUST(mo_exact_solve(x, &learners_ports, &options, &result, &err));
    ck_assert(result.finished && result.best);
    ns = result.best->makespan_ns;
    mo_schedule_free(result.best);
    return ns;
}

/* The best of some random placements, with its order improved like that of an
 * episode. */
static int64_t draw_by_chance(mo_rl_evaluator *score,
                              const mo_placement_units *units, int n_devices,
                              mo_random *random, int draws)
{
    mo_rl_evaluation best = { .makespan_ns = INT64_MAX };
    int device[MOST_OPS], best_device[MOST_OPS], rank[MOST_OPS];

    for (int i = 0; i < draws; i++) {
        mo_rl_evaluation scored;

        for (int u = 0; u < units->n; u++)
            device[u] = mo_random_below(random, n_devices);
        MUST(mo_rl_evaluator_evaluate(score, device, &scored, &err));
        if (scored.makespan_ns < best.makespan_ns) {
            best = scored;
            memcpy(best_device, device, sizeof device);
        }
    }
    MUST(mo_rl_evaluator_improve_order(score, best_device, rank, &best, &err));
    return best.makespan_ns;
}

/* The result of random search in that many simulations. */
static int64_t chance_ns(const mo_method_task *task, int draws,
                         int64_t simulations)
{
    mo_random random = { task->seed };
    mo_placement_units *units = NULL;
    mo_rl_evaluator *score = NULL;
    int64_t best_ns = INT64_MAX;

    MUST(mo_placement_units_make(task->x, &task->regime, &units, &err));
    MUST(mo_rl_evaluator_new(task, units, &score, &err));
    while (mo_rl_evaluator_simulations(score) < simulations) {
        int64_t ns =
            draw_by_chance(score, units, task->x->n_devices, &random, draws);

        best_ns = ns < best_ns ? ns : best_ns;
    }
    mo_rl_evaluator_free(score);
    mo_placement_units_free(units);
    return best_ns;
}

/* Batches of eight episodes after which random search has as many
 * simulations. */
enum { EPISODES = 8, ROUNDS = 40 };

/* Results of all graphs against random search. */
typedef struct tally {
    int graphs, wins, ties, losses;
    double ratio, simulations; /* of the optimum; sums */
} tally;

static void compare_with_chance(const mo_method *method, int seed, tally *t)
{
    mo_method_task task = {
        .regime = learners_ports, .seed = 1, .threads = 1, .rounds = ROUNDS
    };
    problem p = { 0 };
    mo_method_result placed;
    int64_t ns, by_chance_ns;
    int draws;

    learners_small_problem(&p, (uint64_t) seed);
    task.x = p.x;
    draws = method == &mo_method_placeto ? p.x->n + 1 : MO_RL_HRL_SAMPLES;
    placed = learners_place(method, &task);
    ns = placed.schedule->makespan_ns;
    by_chance_ns = chance_ns(&task, draws, placed.simulations);
    t->graphs++;
    t->wins += ns < by_chance_ns;
    t->ties += ns == by_chance_ns;
    t->losses += ns > by_chance_ns;
    t->ratio += (double) ns / (double) optimum_ns(p.x);
    t->simulations += (double) placed.simulations;
    mo_method_result_clear(&placed);
    problem_clear(&p);
}

START_TEST(small_graphs_are_not_placed_by_chance)
{
    const mo_method *method = learners[_i];
    /* Half as many would not suffice for the sign test. */
    const int graphs = is_set("MOIRAI_LONG") ? 50 : 20;
    tally t = { 0 };
    double p;

    for (int seed = 0; seed < how_many(graphs, 1); seed++)
        compare_with_chance(method, seed, &t);
    p = sign_test(t.wins, t.losses);
    printf("# %s: %d episodes, %.0f simulations: %.2f %% above the optimum; "
           "against chance with as many simulations %d better, %d equal, %d "
           "worse (sign test: p = %.1e)\n",
           method->name, EPISODES * ROUNDS, t.simulations / t.graphs,
           100 * (t.ratio / t.graphs - 1), t.wins, t.ties, t.losses, p);
    ck_assert(is_watched() || p < 0.05);
}
END_TEST

/* Batches in which a method must be within 5 % of the optimum. */
enum { ROUNDS_MOST = 6000 };
static const double near_enough = 1.05;

/* Stops as soon as it is near enough. */
typedef struct goal {
    double ns;
    mo_stop stop;
} goal;

static void look_at_news(void *context, const mo_method_progress *news)
{
    goal *g = context;

    if ((double) news->makespan_ns <= g->ns)
        mo_stop_request(&g->stop);
}

/* Final results of all graphs. */
typedef struct ends {
    int graphs, episodes_most;
    double ratio, worst, episodes; /* ratio, episodes: sums */
} ends;

static void come_near(const mo_method *method, int seed, ends *e)
{
    goal g = { 0 };
    mo_method_task task = { .regime = learners_ports,
                            .seed = 1,
                            .threads = 1,
                            .rounds = ROUNDS_MOST,
                            .stop = &g.stop,
                            .on_progress = look_at_news,
                            .context = &g };
    problem p = { 0 };
    mo_method_result placed;
    double best_ns, ratio;
    int episodes;

    learners_small_problem(&p, (uint64_t) seed);
    task.x = p.x;
    best_ns = (double) optimum_ns(p.x);
    g.ns = near_enough * best_ns;
    mo_stop_after(&g.stop, 600);
    placed = learners_place(method, &task);
    ratio = (double) placed.schedule->makespan_ns / best_ns;
    episodes = EPISODES * placed.rounds;
    ck_assert_msg(ratio <= near_enough,
                  "%s, graph %d: %.2f %% above the optimum after %d episodes",
                  method->name, seed, 100 * (ratio - 1), episodes);
    e->graphs++;
    e->ratio += ratio;
    e->worst = fmax(e->worst, ratio);
    e->episodes += episodes;
    e->episodes_most =
        episodes > e->episodes_most ? episodes : e->episodes_most;
    mo_method_result_clear(&placed);
    problem_clear(&p);
}

START_TEST(small_graphs_are_placed_well)
{
    const mo_method *method = learners[_i];
    ends e = { 0 };

    for (int seed = 0; seed < how_many(at_length(50, in_ci(2, 1)), 1); seed++)
        come_near(method, seed, &e);
    printf(
        "# %s: all %d graphs within 5 %% of the optimum (%.2f %% on average, "
        "%.2f %% at worst) in at most %d episodes, %.0f on average, of %d\n",
        method->name, e.graphs, 100 * (e.ratio / e.graphs - 1),
        100 * (e.worst - 1), e.episodes_most, e.episodes / e.graphs,
        EPISODES * ROUNDS_MOST);
}
END_TEST

SUITE(rl_small_graphs)
{
    tcase_set_timeout(tests, 600);
    EACH(small_graphs_are_not_placed_by_chance, in_ci(N_LEARNERS, 1));
    SOME(small_graphs_are_placed_well, N_LEARNERS, 0);
}
