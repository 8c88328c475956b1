/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of solvers/search/rl/{placeto,ancestors}.h and nn/categorical.h.
 * Built with doubles, so that gradient checks are precise. */
#include <math.h>

#include "base/random.h"
#include "solvers/search/rl/nn/categorical.h"
#include "solvers/search/rl/placeto.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

/* A pin, a group, and ops that are ancestors, descendants and incomparable. */
static const char graph[] =
    "a t.A=1 t.B=2 t.C=4; b t.A=3 t.B=1 t.C=2 pin=B; c t.A=5 t.B=9 t.C=2 "
    "colocate=g; d t.A=2 t.B=2 t.C=1 colocate=g; e t.A=4 t.B=1 t.C=7; "
    "f t.A=2 t.B=8 t.C=3; a>b bytes=2000; a>c bytes=4000; b>d bytes=1000; "
    "b>f bytes=3000; c>e bytes=3000; d>e bytes=0";
static const char cluster[] = "A; B; C; A-B gbps=8; A-C gbps=16; B-C gbps=4";

typedef struct lesson {
    problem p;
    mo_method_task task;
    mo_placement_units *units;
    mo_rl_placeto placeto;
    mo_rl_policy pupil;
    mo_rl_tape *tape;
    mo_rl_real *gradient;
    int choices[16]; /* and the placement that it starts from */
    double advantage[8];
} lesson;

enum { PARTS = 8 };

static const double evenness = 0.3;

/* Initially biases are 0, and many activations are at the kink of ReLU, which
 * has no derivative. */
static void lesson_begin(lesson *l, uint64_t seed)
{
    mo_random random = { seed };
    mo_rl_params *weights = &l->placeto.weights;

    *l = (lesson){ .task = { .seed = seed } };
    problem_make(&l->p, graph, cluster, NULL);
    l->task.x = l->p.x;
    MUST(mo_placement_units_make(l->p.x, &l->task.regime, &l->units, &err));
    MUST(mo_rl_placeto_init(&l->task, l->units, &l->placeto, &err));
    l->pupil = mo_rl_placeto_policy(&l->placeto);
    ck_assert_int_eq(l->placeto.n_parts, l->units->n);
    ck_assert_int_le(l->units->n, PARTS);
    for (size_t i = 0; i < weights->n_values; i++)
        weights->values[i] = mo_random_unit(&random) - 0.4;
    for (int u = 0; u < l->units->n; u++) {
        int pin = l->units->pin[u];

        l->choices[u] = pin == MO_FREE ? mo_random_below(&random, 3) : pin;
        l->choices[l->units->n + u] =
            pin == MO_FREE ? mo_random_below(&random, 3) : pin;
        l->advantage[u] = 2 * mo_random_unit(&random) - 1;
    }
    l->gradient = calloc(weights->n_values, sizeof *l->gradient);
    l->tape = mo_rl_tape_new(weights, l->gradient);
    ck_assert(l->gradient && l->tape);
}

static void lesson_end(lesson *l)
{
    mo_rl_tape_free(l->tape);
    free(l->gradient);
    mo_rl_placeto_clear(&l->placeto);
    mo_placement_units_free(l->units);
    problem_clear(&l->p);
}

/* The loss of one part, by the definition in reinforce.h. */
static double part_loss(lesson *l, const int *device, int c)
{
    const mo_rl_placeto *p = &l->placeto;
    mo_rl_real features[PARTS * 16];
    int64_t starts[PARTS];
    const mo_rl_real *logs;
    double loss;

    ck_assert_int_le(p->n_features, 16);
    mo_rl_tape_reset(l->tape);
    mo_rl_placeto_features(p, device, c, starts, features);
    logs = mo_rl_tape_values(
        l->tape, mo_rl_placeto_log_probs(p, l->tape, features, c, 1));
    loss = -l->advantage[c] * logs[l->choices[c]];
    for (int k = 0; k < p->n_devices; k++)
        if (exp(logs[k]) > 0)
            loss += evenness * exp(logs[k]) * logs[k];
    return loss;
}

static double loss(lesson *l)
{
    int device[PARTS];
    double sum = 0;

    memcpy(device, l->choices + l->units->n,
           (size_t) l->units->n * sizeof *device);
    for (int c = 0; c < l->placeto.n_parts; c++) {
        sum += part_loss(l, device, c);
        device[c] = l->choices[c];
    }
    return sum;
}

static double slope(lesson *l, size_t weight, double step)
{
    mo_rl_real *value = &l->placeto.weights.values[weight];
    mo_rl_real kept = *value;
    double above, below;

    *value = kept + step;
    above = loss(l);
    *value = kept - step;
    below = loss(l);
    *value = kept;
    return (above - below) / (2 * step);
}

/* Within a step an activation may cross the kink; within ever smaller steps it
 * hardly does. */
static bool has_slope(lesson *l, size_t weight)
{
    static const double steps[] = { 1e-6, 1e-7, 3e-8 };
    double is = l->gradient[weight];

    for (int i = 0; i < COUNT(steps); i++)
        if (fabs(slope(l, weight, steps[i]) - is) <= 1e-6 * fmax(1, fabs(is)))
            return true;
    return false;
}

enum { LESSONS = 8 };

START_TEST(the_policy_s_derivatives_are_its_slopes)
{
    lesson l;
    const mo_rl_params *weights = &l.placeto.weights;
    double length = 0;

    lesson_begin(&l, (uint64_t) _i + 1);
    MUST(l.pupil.learn(&l.pupil, l.tape, l.choices, l.advantage, evenness,
                       &err));
    for (size_t i = 0; i < weights->n_values; i++)
        length += fabs(l.gradient[i]);
    ck_assert_double_gt(length, 1);
    for (size_t i = (size_t) _i; i < weights->n_values; i += LESSONS)
        ck_assert_msg(has_slope(&l, i), "seed %d, number %zu: %g, not %g", _i,
                      i, l.gradient[i], slope(&l, i, 1e-7));
    lesson_end(&l);
}
END_TEST

START_TEST(what_is_pinned_is_not_moved)
{
    lesson l;
    mo_rl_evaluator *score = NULL;
    mo_random random = { (uint64_t) _i };
    int device[PARTS];
    double scores[PARTS + 1];

    lesson_begin(&l, (uint64_t) _i + 100);
    MUST(mo_rl_evaluator_new(&l.task, l.units, &score, &err));
    for (int episode = 0; episode < 50; episode++) {
        mo_rl_episode_result drawn = { .best = { .score = INFINITY } };

        memcpy(device, l.placeto.begin, (size_t) l.units->n * sizeof *device);

        MUST(l.pupil.sample(&l.pupil,
                            &(mo_rl_sampling){ l.tape, score, &random, false,
                                               l.choices, device, scores,
                                               &drawn },
                            &err));
        for (int u = 0; u < l.units->n; u++)
            ck_assert(l.units->pin[u] == MO_FREE ||
                      (l.choices[u] == l.units->pin[u] &&
                       device[u] == l.units->pin[u]));
        ck_assert_double_le(drawn.best.score, drawn.mean);
        ck_assert_double_eq(drawn.mean, scores[l.placeto.n_parts]);
    }
    mo_rl_evaluator_free(score);
    lesson_end(&l);
}
END_TEST

enum { MOST = 40 };

typedef struct web {
    int n;
    bool edge[MOST][MOST], before[MOST][MOST];
    int start[MOST + 1], list[MOST * MOST];
} web;

/* A few edges go backward, as between groups of ops; they are ignored. */
static void web_make(web *w, mo_random *random)
{
    int n_list = 0, one_in = 2 + mo_random_below(random, 12);

    *w = (web){ .n = 1 + mo_random_below(random, MOST) };
    for (int v = 0; v < w->n; v++) {
        for (int u = 0; u < w->n; u++) {
            bool is = u != v && mo_random_below(random, one_in) == 0;

            w->edge[u][v] = w->before[u][v] = is && u < v;
            if (is && (u < v || mo_random_below(random, 8) == 0))
                w->list[n_list++] = u;
        }
        w->start[v + 1] = n_list;
    }
    for (int m = 0; m < w->n; m++)
        for (int u = 0; u < w->n; u++)
            for (int v = 0; v < w->n; v++)
                w->before[u][v] |= w->before[u][m] && w->before[m][v];
}

static void check_list(const mo_rl_adjacency *lists, int v, const bool *wanted,
                       int n, int seed)
{
    int at = lists->start[v];

    for (int u = 0; u < n; u++)
        if (wanted[u]) {
            ck_assert_msg(at < lists->start[v + 1] && lists->list[at] == u,
                          "seed %d: %d lacks %d", seed, v, u);
            at++;
        }
    ck_assert_msg(at == lists->start[v + 1], "seed %d: %d has more", seed, v);
}

START_TEST(reach_is_what_all_paths_say)
{
    mo_random random = { mo_random_seed(11, (uint64_t) _i) };
    web w;
    mo_rl_adjacency parents = { w.start, w.list };
    mo_rl_ancestors reach = { 0 };
    int window;

    web_make(&w, &random);
    window = mo_random_below(&random, w.n + 1);
    MUST(mo_rl_ancestors_init(w.n, &parents, window, &reach, &err));
    for (int v = 0; v < w.n; v++) {
        bool before[MOST], after[MOST], beside[MOST];

        for (int u = 0; u < w.n; u++) {
            bool is_near = u != v && abs(u - v) <= window;

            before[u] = is_near && w.before[u][v];
            after[u] = is_near && w.before[v][u];
            beside[u] = is_near && !before[u] && !after[u];
        }
        check_list(&reach.before, v, before, w.n, _i);
        check_list(&reach.after, v, after, w.n, _i);
        check_list(&reach.incomparable, v, beside, w.n, _i);
    }
    mo_rl_ancestors_clear(&reach);
}
END_TEST

START_TEST(what_is_drawn_is_as_frequent_as_it_is_probable)
{
    static const double is[] = { 0.15, 0.5, 0, 0.3, 0.05 };
    enum { DRAWS = 40000 };
    mo_rl_real logs[COUNT(is)];
    int times[COUNT(is)] = { 0 };
    mo_random random = { (uint64_t) _i };

    for (int i = 0; i < COUNT(is); i++)
        logs[i] = is[i] > 0 ? log(is[i]) : -1e9;
    for (int i = 0; i < DRAWS; i++)
        times[mo_rl_categorical_sample(logs, COUNT(is), &random)]++;
    for (int i = 0; i < COUNT(is); i++) {
        double spread = sqrt(DRAWS * is[i] * (1 - is[i]));

        ck_assert_msg(fabs(times[i] - DRAWS * is[i]) <= 5 * spread,
                      "seed %d: %d is drawn %d times", _i, i, times[i]);
    }
    ck_assert_int_eq(mo_rl_categorical_argmax(logs, COUNT(is)), 1);
}
END_TEST

SUITE(placeto)
{
    SOME(the_policy_s_derivatives_are_its_slopes, LESSONS, 2);
    EACH(what_is_pinned_is_not_moved, 3);
    SOME(reach_is_what_all_paths_say, 500, 20);
    EACH(what_is_drawn_is_as_frequent_as_it_is_probable, 3);
}
