/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/search/rl/hrl.h.  Built with doubles, so that gradient
 * checks are precise. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "solvers/search/rl/hrl.h"
#include "tests/search/rl/gradient_check.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"
#include "tests/support/ten_task_graphs.h"

/* A network on some problem. */
typedef struct policy {
    problem p;
    mo_method_task task;
    mo_placement_units *units;
    mo_rl_hrl hrl;
    mo_rl_policy pupil;
    int *choices, *device;
    double scores[MO_RL_HRL_SAMPLES + 1];
    mo_rl_tape *drawing;
} policy;

/* Two are pinned, three are one. */
static const char bound_tasks[] =
    "a t.A=3 t.B=5 t.C=4 pin=B; b t.A=2 t.B=5 t.C=6 colocate=g;"
    "c t.A=4 t.B=2 t.C=7 colocate=g; d t.A=9 t.B=8 t.C=3;"
    "e t.A=6 t.B=5 t.C=9 colocate=g; f t.A=1 t.B=2 t.C=2 pin=C;"
    "h t.A=7 t.B=2 t.C=3;"
    "a>b bytes=3000; a>d bytes=5000; b>c bytes=1000; d>e bytes=2000;"
    "c>f bytes=4000; e>f bytes=1000; d>h bytes=7000";

static void policy_make(policy *y, const char *tasks)
{
    problem_make(&y->p, tasks, TEN_TASKS_CLUSTER, NULL);
    y->task =
        (mo_method_task){ .x = y->p.x,
                          .regime = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                      MO_MEMORY_STATIC },
                          .seed = 5 };
    MUST(mo_placement_units_make(y->p.x, &y->task.regime, &y->units, &err));
    MUST(mo_rl_hrl_init(&y->task, y->units, &y->hrl, &err));
    y->pupil = mo_rl_hrl_policy(&y->hrl);
    y->choices = calloc((size_t) y->pupil.n_choices + 1, sizeof *y->choices);
    y->device = calloc((size_t) y->units->n + 1, sizeof *y->device);
    y->drawing = mo_rl_tape_new(&y->hrl.weights, NULL);
}

static void policy_clear(policy *y)
{
    free(y->choices);
    free(y->device);
    mo_rl_tape_free(y->drawing);
    mo_rl_hrl_clear(&y->hrl);
    mo_placement_units_free(y->units);
    problem_clear(&y->p);
}

static mo_rl_evaluation policy_draw(policy *y, uint64_t seed, bool likeliest)
{
    mo_rl_episode_result drawn = { .best = { .score = INFINITY } };
    mo_random random = { seed };
    mo_rl_evaluator *score = NULL;

    MUST(mo_rl_evaluator_new(&y->task, y->units, &score, &err));
    MUST(y->pupil.sample(&y->pupil,
                         &(mo_rl_sampling){ y->drawing, score, &random,
                                            likeliest, y->choices, y->device,
                                            y->scores, &drawn },
                         &err));
    mo_rl_evaluator_free(score);
    return drawn.best;
}

static const double advantage[MO_RL_HRL_SAMPLES] = { 0.7, -1.3, 0.4, 2.1 };
static const double entropy = 0.3;

static double uneven_row(const mo_rl_real *logs, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += exp((double) logs[i]) * (double) logs[i];
    return sum;
}

static double value_of_grouping(const policy *y, mo_rl_tape *t)
{
    const mo_rl_hrl *h = &y->hrl;
    const mo_rl_real *logs =
        mo_rl_tape_values(t, mo_rl_hrl_group_log_probs(h, t));
    double mean = 0, value = 0;

    for (int i = 0; i < MO_RL_HRL_SAMPLES; i++)
        mean += advantage[i] / MO_RL_HRL_SAMPLES;
    for (int u = 0; u < h->n; u++, logs += h->n_groups) {
        if (y->units->pin[u] == MO_FREE)
            value -= mean * (double) logs[y->choices[u]];
        value += entropy * uneven_row(logs, h->n_groups);
    }
    return value;
}

/* One placement after the other, separately, as in sampling. */
static double value_of_devices(const policy *y, mo_rl_tape *t, int i)
{
    const mo_rl_hrl *h = &y->hrl;
    int alone[MO_RL_HRL_MAX_GROUPS];
    mo_rl_hrl_groups groups = { 0 };
    mo_rl_hrl_placer placer;
    double value = 0;

    MUST(mo_rl_hrl_groups_init(h, y->choices, &groups, &err));
    placer = mo_rl_hrl_placer_init(h, t, &groups, 1);
    for (int g = 0; g < groups.n; g++) {
        mo_rl_var known = mo_rl_hrl_placer_step(&placer, g, alone);
        mo_rl_var is = mo_rl_hrl_placer_log_probs(&placer, known, &g);
        const mo_rl_real *logs = mo_rl_tape_values(t, is);

        alone[g] = y->choices[h->n + g * MO_RL_HRL_SAMPLES + i];
        value -= advantage[i] * (double) logs[alone[g]];
        value += entropy * uneven_row(logs, h->n_devices);
    }
    mo_rl_hrl_groups_clear(&groups);
    return value / MO_RL_HRL_SAMPLES;
}

static double value_of_policy(void *context)
{
    const policy *y = context;
    mo_rl_tape *t = y->drawing;
    double value;

    mo_rl_tape_reset(t);
    value = value_of_grouping(y, t);

    for (int i = 0; i < MO_RL_HRL_SAMPLES; i++)
        value += value_of_devices(y, t, i);
    ck_assert(!mo_rl_tape_failed(t));
    return value;
}

static const char *const problems[] = { bound_tasks, topcuoglu_tasks };

START_TEST(derivatives_of_the_policy_are_those_of_small_differences)
{
    policy y = { .choices = NULL };
    mo_rl_real *gradient;
    mo_rl_tape *t;

    policy_make(&y, problems[_i]);
    policy_draw(&y, 11, false);
    gradient = calloc(y.hrl.weights.n_values, sizeof *gradient);
    t = mo_rl_tape_new(&y.hrl.weights, gradient);
    MUST(y.pupil.learn(&y.pupil, t, y.choices, advantage, entropy, &err));
    gradient_check(&y.hrl.weights, gradient, value_of_policy, &y,
                   how_many(10, 3));
    mo_rl_tape_free(t);
    free(gradient);
    policy_clear(&y);
}
END_TEST

START_TEST(pins_stay_and_groups_go_together)
{
    policy y = { .choices = NULL };
    const int *of;

    policy_make(&y, bound_tasks);
    policy_draw(&y, (uint64_t) _i, _i % 2);
    of = y.units->of_op;
    ck_assert_int_eq(of[problem_op(&y.p, "b")], of[problem_op(&y.p, "e")]);
    ck_assert_int_eq(y.device[of[problem_op(&y.p, "a")]], 1);
    ck_assert_int_eq(y.device[of[problem_op(&y.p, "f")]], 2);
    for (int u = 0; u < y.units->n; u++)
        for (int v = 0; v < y.units->n; v++)
            if (y.units->pin[u] == MO_FREE && y.units->pin[v] == MO_FREE &&
                y.choices[u] == y.choices[v])
                ck_assert_int_eq(y.device[u], y.device[v]);
    for (int i = 0; i < MO_RL_HRL_SAMPLES; i++)
        ck_assert(y.scores[i] < 0);
    policy_clear(&y);
}
END_TEST

/* The score of an episode is that of its best sample. */
START_TEST(an_episode_ends_with_its_best)
{
    policy y = { .choices = NULL };
    double best = -INFINITY;
    mo_rl_evaluation last;

    policy_make(&y, topcuoglu_tasks);
    last = policy_draw(&y, (uint64_t) _i, false);
    for (int i = 0; i < MO_RL_HRL_SAMPLES; i++)
        best = fmax(best, y.scores[i]);
    ck_assert_double_eq_tol(best, -sqrt(last.score), 1e-12);
    policy_clear(&y);
}
END_TEST

static const char *const nothing_to_choose[] = {
    "a t.A=1 t.B=1 t.C=1 pin=A; b t.A=1 t.B=1 t.C=1 pin=C; a>b bytes=8",
    "",
};

START_TEST(where_nothing_can_be_chosen_nothing_is_learned)
{
    policy y = { .choices = NULL };
    mo_rl_real *gradient;
    mo_rl_tape *t;

    policy_make(&y, nothing_to_choose[_i]);
    policy_draw(&y, 1, false);
    gradient = calloc(y.hrl.weights.n_values, sizeof *gradient);
    t = mo_rl_tape_new(&y.hrl.weights, gradient);
    MUST(y.pupil.learn(&y.pupil, t, y.choices, advantage, entropy, &err));
    for (size_t i = 0; i < y.hrl.weights.n_values; i++)
        ck_assert(gradient[i] == 0);
    mo_rl_tape_free(t);
    free(gradient);
    policy_clear(&y);
}
END_TEST

/* Groups 4 and 1 of eight are used; the units of 4 come first in the graph. */
START_TEST(groups_are_read_in_the_order_of_the_graph)
{
    policy y = { .choices = NULL };
    mo_rl_hrl_groups groups = { 0 };
    double times[2] = { 0 };

    policy_make(&y, topcuoglu_tasks);
    for (int u = 0; u < y.hrl.n; u++) {
        y.choices[u] = u < 3 ? 4 : 1;
        times[u >= 3] += (double) mo_instance_p_ns(y.p.x, u, 1);
    }
    MUST(mo_rl_hrl_groups_init(&y.hrl, y.choices, &groups, &err));
    ck_assert_int_eq(groups.n, 2);
    for (int u = 0; u < y.hrl.n; u++)
        ck_assert_int_eq(groups.of_unit[u], u >= 3);
    for (int g = 0; g < 2; g++) {
        double mean = y.hrl.mean_ns * y.hrl.n / 3;
        const mo_rl_real *told = groups.features + g * y.hrl.n_group_features;

        ck_assert_double_eq_tol((double) told[1], log1p(times[g] / mean),
                                1e-12);
    }
    mo_rl_hrl_groups_clear(&groups);
    policy_clear(&y);
}
END_TEST

static int64_t train(policy *y, int threads, int rounds)
{
    mo_method_result placed = { 0 };
    int64_t makespan_ns;

    y->task.threads = threads;
    y->task.rounds = rounds;
    MUST(mo_rl_train(&y->task, y->units, &y->pupil, &placed, &err));
    makespan_ns = placed.schedule->makespan_ns;
    mo_schedule_free(placed.schedule);
    return makespan_ns;
}

START_TEST(threads_change_nothing)
{
    static const int threads[] = { 2, 5 };
    policy one = { .choices = NULL }, other = { .choices = NULL };
    size_t bytes;

    policy_make(&one, bound_tasks);
    policy_make(&other, bound_tasks);
    bytes = one.hrl.weights.n_values * sizeof(mo_rl_real);
    ck_assert_int_eq(train(&one, 1, 4), train(&other, threads[_i], 4));
    ck_assert_mem_eq(one.hrl.weights.values, other.hrl.weights.values, bytes);
    policy_clear(&one);
    policy_clear(&other);
}
END_TEST

static double mean_score(policy *y)
{
    double sum = 0;

    for (uint64_t seed = 0; seed < 50; seed++)
        sum += policy_draw(y, seed, false).score / 50;
    return sum;
}

START_TEST(what_is_drawn_gets_better)
{
    policy y = { .choices = NULL };
    double before, after;

    policy_make(&y, topcuoglu_tasks);
    before = mean_score(&y);
    train(&y, 1, 200);
    after = mean_score(&y);
    ck_assert_msg(after < 0.9 * before, "%g before, %g after", before, after);
    policy_clear(&y);
}
END_TEST

SUITE(hrl)
{
    SOME(derivatives_of_the_policy_are_those_of_small_differences,
         COUNT(problems), 1);
    EACH(pins_stay_and_groups_go_together, 10);
    EACH(an_episode_ends_with_its_best, 10);
    EACH(where_nothing_can_be_chosen_nothing_is_learned,
         COUNT(nothing_to_choose));
    TEST(groups_are_read_in_the_order_of_the_graph);
    SOME(threads_change_nothing, 2, 1);
    SOME(what_is_drawn_gets_better, in_ci(1, 0), 0);
}
