/* Claims of the methods that learn, by the table of methods. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/random.h"
#include "schedule/single.h"
#include "solvers/search/exact.h"
#include "solvers/search/learn/hrl.h"
#include "solvers/search/learn/score.h"
#include "solvers/search/method.h"
#include "tests/crowd.h"
#include "tests/judged.h"
#include "tests/problem.h"
#include "tests/scratch.h"
#include "tests/suite.h"
#include "tests/text.h"

static const mo_method *const learners[] = { &mo_method_placeto,
                                             &mo_method_hrl };

static const mo_regime ports = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                 MO_MEMORY_NONE };
static const mo_regime ports_live = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                      MO_MEMORY_LIVE };
static const mo_regime ports_memory = { MO_CONGESTION_PORT, MO_TENSORS_PER_EDGE,
                                        MO_MEMORY_STATIC };

static mo_placed placed_by(const mo_method *method, const mo_task *task)
{
    mo_placed placed = { 0 };

    MUST(method->place(task, &placed, &err));
    ck_assert_ptr_nonnull(placed.schedule);
    return placed;
}

/* ------------------------------------------------------------ small problems
 */

/* Ten to twelve ops on three devices of which each has its own strengths: some
 * ops are faster on a slower one.  Transfers cost about what ops do. */
static void small_problem(problem *p, uint64_t seed)
{
    mo_random random = { mo_random_seed(77, seed) };
    mo_out *out = text_new();
    int n = 10 + mo_random_below(&random, 3);
    char *text;

    for (int i = 0; i < n; i++) {
        int us = 4 + mo_random_below(&random, 30);

        mo_out_printf(out, "o%d t.A=%d t.B=%d t.C=%d;", i, us,
                      us * (8 + mo_random_below(&random, 16)) / 10,
                      us * (6 + mo_random_below(&random, 30)) / 10);
    }
    for (int i = 1; i < n; i++)
        for (int tries = 1 + mo_random_below(&random, 2), from = -1; tries > 0;
             tries--) {
            int next = mo_random_below(&random, i);

            if (next != from)
                mo_out_printf(out, "o%d>o%d bytes=%d;", next, i,
                              1000 * (1 + mo_random_below(&random, 20)));
            from = next;
        }
    text = text_end(out);
    problem_make(p, text, "A; B; C; A-B gbps=16; A-C gbps=8; B-C gbps=8", NULL);
    free(text);
}

enum { MOST_OPS = 12 };

static int64_t optimum_ns(const mo_instance *x)
{
    const mo_exact_options options = { .below_ns = INT64_MAX };
    mo_exact_result result = { 0 };
    int64_t ns;

    MUST(mo_exact(x, &ports, &options, &result, &err));
    ck_assert(result.finished && result.best);
    ns = result.best->makespan_ns;
    mo_schedule_free(result.best);
    return ns;
}

/* The best of some placements that nobody thought about, its order improved as
 * that of an episode is. */
static int64_t draw_by_chance(mo_score *score, const mo_units *units,
                              int n_devices, mo_random *random, int draws)
{
    mo_scored best = { .makespan_ns = INT64_MAX };
    int device[MOST_OPS], best_device[MOST_OPS], rank[MOST_OPS];

    for (int i = 0; i < draws; i++) {
        mo_scored scored;

        for (int u = 0; u < units->n; u++)
            device[u] = mo_random_below(random, n_devices);
        MUST(mo_score_of(score, device, &scored, &err));
        if (scored.makespan_ns < best.makespan_ns) {
            best = scored;
            memcpy(best_device, device, sizeof device);
        }
    }
    MUST(mo_score_improve(score, best_device, rank, &best, &err));
    return best.makespan_ns;
}

/* What chance comes to in so many simulations. */
static int64_t chance_ns(const mo_task *task, int draws, int64_t simulations)
{
    mo_random random = { task->seed };
    mo_units *units = NULL;
    mo_score *score = NULL;
    int64_t best_ns = INT64_MAX;

    MUST(mo_units_make(task->x, &task->regime, &units, &err));
    MUST(mo_score_new(task, units, &score, &err));
    while (mo_score_simulations(score) < simulations) {
        int64_t ns =
            draw_by_chance(score, units, task->x->n_devices, &random, draws);

        best_ns = ns < best_ns ? ns : best_ns;
    }
    mo_score_free(score);
    mo_units_free(units);
    return best_ns;
}

/* How probable it is that of so many coins no fewer show heads. */
static double sign_test(int wins, int losses)
{
    int n = wins + losses;
    double tail = 0, log_half = n * log(0.5);

    for (int k = wins; k <= n; k++)
        tail +=
            exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + log_half);
    return tail;
}

/*
 * Batches of eight episodes: those after which chance is given as many
 * simulations, and those in which a learner must be within 5 % of the best
 * schedule there is.
 */
enum { GRAPHS = 50, ROUNDS = 60, ROUNDS_MOST = 6000, EPISODES = 8 };

static const double near_enough = 1.05;

/* Ends it as soon as it is near enough. */
typedef struct goal {
    double ns;
    mo_stop stop;
} goal;

static void look_at_news(void *context, const mo_news *news)
{
    goal *g = context;

    if ((double) news->makespan_ns <= g->ns)
        mo_stop_say(&g->stop);
}

/* Goes on beyond the first rounds until it is near enough. */
static void go_on(const mo_method *method, const mo_task *begun, double goal_ns,
                  mo_placed *placed)
{
    goal g = { .ns = goal_ns };
    mo_task task = *begun;

    mo_placed_clear(placed);
    mo_stop_after(&g.stop, 600);
    task.rounds = ROUNDS_MOST;
    task.stop = &g.stop;
    task.tell = look_at_news;
    task.context = &g;
    *placed = placed_by(method, &task);
}

/* What came of all graphs. */
typedef struct tally {
    int graphs, wins, ties, losses;
    double first, last, worst;    /* of the optimum: after ROUNDS, in the end */
    double simulations, episodes; /* of ROUNDS; until it was near enough */
    int episodes_most;
} tally;

static void count_chance(tally *t, int64_t learned_ns, int64_t by_chance_ns)
{
    t->wins += learned_ns < by_chance_ns;
    t->ties += learned_ns == by_chance_ns;
    t->losses += learned_ns > by_chance_ns;
}

static void place_small(const mo_method *method, int seed, tally *t)
{
    mo_task task = {
        .regime = ports, .seed = 1, .threads = 1, .rounds = ROUNDS
    };
    problem p = { 0 };
    mo_placed placed;
    double best_ns, ratio;
    int draws;

    small_problem(&p, (uint64_t) seed);
    task.x = p.x;
    draws = method == &mo_method_placeto ? p.x->n + 1 : MO_HRL_DRAWN;
    best_ns = (double) optimum_ns(p.x);
    placed = placed_by(method, &task);
    count_chance(t, placed.schedule->makespan_ns,
                 chance_ns(&task, draws, placed.simulations));
    t->first += (double) placed.schedule->makespan_ns / best_ns;
    t->simulations += (double) placed.simulations;
    if ((double) placed.schedule->makespan_ns > near_enough * best_ns)
        go_on(method, &task, near_enough * best_ns, &placed);
    ratio = (double) placed.schedule->makespan_ns / best_ns;
    ck_assert_msg(ratio <= near_enough,
                  "%s, graph %d: %.2f %% above the optimum after %d episodes",
                  method->name, seed, 100 * (ratio - 1),
                  EPISODES * placed.rounds);
    t->graphs++;
    t->last += ratio;
    t->worst = fmax(t->worst, ratio);
    t->episodes += EPISODES * placed.rounds;
    if (EPISODES * placed.rounds > t->episodes_most)
        t->episodes_most = EPISODES * placed.rounds;
    mo_placed_clear(&placed);
    problem_clear(&p);
}

START_TEST(small_graphs_are_placed_well_and_not_by_chance)
{
    const mo_method *method = learners[_i];
    tally t = { 0 };
    double p;

    for (int seed = 0; seed < how_many(GRAPHS, 1); seed++)
        place_small(method, seed, &t);
    p = sign_test(t.wins, t.losses);
    printf("# %s: %d episodes, %.0f simulations: %.2f %% above the optimum; "
           "against chance with as many simulations %d better, %d equal, %d "
           "worse (sign test: p = %.1e)\n",
           method->name, EPISODES * ROUNDS, t.simulations / t.graphs,
           100 * (t.first / t.graphs - 1), t.wins, t.ties, t.losses, p);
    printf(
        "# %s: all %d graphs within 5 %% of the optimum (%.2f %% on average, "
        "%.2f %% at worst) in at most %d episodes, %.0f on average, of %d\n",
        method->name, t.graphs, 100 * (t.last / t.graphs - 1),
        100 * (t.worst - 1), t.episodes_most, t.episodes / t.graphs,
        EPISODES * ROUNDS_MOST);
    ck_assert(is_watched() || p < 0.05);
}
END_TEST

/* ------------------------------------------------------------ what they keep
 */

static void check_same(const mo_schedule *a, const mo_schedule *b, int n,
                       const char *name)
{
    ck_assert_int_eq(a->makespan_ns, b->makespan_ns);
    for (int i = 0; i < n; i++)
        ck_assert_msg(a->device[i] == b->device[i] &&
                          a->start_ns[i] == b->start_ns[i],
                      "%s: op %d", name, i);
}

START_TEST(any_number_of_threads_learns_the_same)
{
    static const int threads[] = { 2, 5 };
    problem p = { 0 };
    mo_task task = { .regime = ports, .seed = 3, .threads = 1, .rounds = 3 };
    mo_placed alone;

    crowd_make(&p, 4);
    task.x = p.x;
    alone = placed_by(learners[_i], &task);
    for (int i = 0; i < COUNT(threads); i++) {
        mo_placed placed;

        task.threads = threads[i];
        placed = placed_by(learners[_i], &task);
        check_same(alone.schedule, placed.schedule, p.x->n, learners[_i]->name);
        mo_placed_clear(&placed);
    }
    mo_placed_clear(&alone);
    problem_clear(&p);
}
END_TEST

/* Pins, groups and memory are in a crowd; what overflows is said to.  Where all
 * may be on one device and has room there, nothing else is better. */
START_TEST(rules_are_kept_and_one_device_is_no_better)
{
    static const mo_regime *const regimes[] = { &ports, &ports_memory,
                                                &ports_live };
    int seed = _i / COUNT(learners);
    const mo_method *method = learners[_i % COUNT(learners)];
    mo_task task = { .regime = *regimes[seed % COUNT(regimes)],
                     .seed = (uint64_t) seed,
                     .threads = 1,
                     .rounds = 1 };
    problem p = { 0 };
    mo_placed placed;
    int64_t single_ns = 0;
    int single = MO_FREE;

    crowd_make(&p, (unsigned) seed);
    task.x = p.x;
    placed = placed_by(method, &task);
    check_judged(p.x, &placed, method->name, seed);
    MUST(mo_single_best(p.x, &task.regime, &single, &single_ns, &err));
    ck_assert_msg(
        single == MO_FREE ||
            (placed.fits && placed.schedule->makespan_ns <= single_ns),
        "%s, seed %d: worse than device %d", method->name, seed, single);
    mo_placed_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* Memory is full at one moment only; what is given back before is free then. */
START_TEST(what_lives_at_once_has_room)
{
    const mo_method *method = learners[_i % COUNT(learners)];
    mo_random random = { (uint64_t) _i };
    mo_task task = {
        .regime = ports_live, .seed = 1, .threads = 1, .rounds = 4
    };
    mo_out *out = text_new();
    problem p = { 0 };
    mo_placed placed;
    char *text;

    for (int i = 0; i < 8; i++)
        mo_out_printf(out, "o%d t.A=9 t.B=%d workspace_bytes=%d;", i,
                      8 + mo_random_below(&random, 20),
                      100 + mo_random_below(&random, 400));
    for (int i = 1; i < 8; i++)
        mo_out_printf(out, "o%d>o%d bytes=%d;", mo_random_below(&random, i), i,
                      100 + mo_random_below(&random, 900));
    text = text_end(out);
    problem_make(&p, text,
                 "A memory_bytes=1500; B memory_bytes=100000; A-B gbps=8",
                 NULL);
    task.x = p.x;
    placed = placed_by(method, &task);
    check_judged(p.x, &placed, method->name, _i);
    ck_assert_msg(placed.fits, "%s, %d: all fits on B", method->name, _i);
    mo_placed_clear(&placed);
    problem_clear(&p);
    free(text);
}
END_TEST

START_TEST(nothing_is_placed_at_once)
{
    problem p = { 0 };
    mo_task task = { .regime = ports, .threads = 1, .rounds = 2 };
    mo_placed placed;

    problem_make(&p, "", "A; B; A-B gbps=8", NULL);
    task.x = p.x;
    placed = placed_by(learners[_i], &task);
    ck_assert_int_eq(placed.schedule->makespan_ns, 0);
    mo_placed_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* With no limit but the time it ends there, with what it has. */
START_TEST(a_stop_ends_it)
{
    problem p = { 0 };
    mo_stop stop;
    mo_task task = { .regime = ports, .seed = 1, .threads = 2, .stop = &stop };
    int64_t begun_ns = mo_stop_clock_ns();
    mo_placed placed;

    crowd_make(&p, 4);
    task.x = p.x;
    mo_stop_after(&stop, 0.2);
    placed = placed_by(learners[_i], &task);
    ck_assert_int_lt(mo_stop_clock_ns() - begun_ns, 20 * INT64_C(1000000000));
    ck_assert_int_ge(placed.rounds, 1);
    check_judged(p.x, &placed, learners[_i]->name, 4);
    mo_placed_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* It has what it begins with, and no episode. */
START_TEST(a_stop_that_came_before_ends_it_at_once)
{
    problem p = { 0 };
    mo_stop stop;
    mo_task task = {
        .regime = ports, .threads = 1, .stop = &stop, .curve = "a.csv"
    };
    mo_placed placed;

    crowd_make(&p, 4);
    task.x = p.x;
    mo_stop_after(&stop, 600);
    mo_stop_say(&stop);
    placed = placed_by(learners[_i], &task);
    check_judged(p.x, &placed, learners[_i]->name, 4);
    ck_assert_ptr_null(strstr(scratch_read("a.csv"), "\n8,"));
    mo_placed_clear(&placed);
    problem_clear(&p);
}
END_TEST

/* ----------------------------------------------------------------- policies */

static void train(const mo_method *method, uint64_t graph, int rounds)
{
    problem p = { 0 };
    mo_task task = { .regime = ports,
                     .seed = graph + 1,
                     .threads = 1,
                     .rounds = rounds,
                     .policy = "a.policy" };
    mo_placed placed;

    small_problem(&p, graph);
    task.x = p.x;
    placed = placed_by(method, &task);
    mo_placed_clear(&placed);
    problem_clear(&p);
}

/* What placements come to that the policy in a file draws, on average. */
static double drawn_mean(const mo_method *method, uint64_t graph,
                         const char *policy)
{
    problem p = { 0 };
    mo_task task = { .regime = ports,
                     .seed = 5,
                     .threads = 1,
                     .rounds = 3,
                     .policy = policy,
                     .curve = "a.csv",
                     .no_learning = true };
    mo_placed placed;
    const char *line;
    double sum = 0, mean;
    int n = 0;

    small_problem(&p, graph);
    task.x = p.x;
    placed = placed_by(method, &task);
    mo_placed_clear(&placed);
    problem_clear(&p);
    line = scratch_read("a.csv");
    while ((line = strchr(line, '\n')) && sscanf(++line, "%*d,%lf", &mean) == 1)
        sum += mean, n++;
    ck_assert_int_eq(n, task.rounds);
    return sum / n;
}

/* Trained on some graphs, used on others of the family. */
START_TEST(what_is_learned_helps_elsewhere)
{
    const mo_method *method = learners[_i];
    int wins = 0, many = how_many(10, 1);

    unlink("a.policy");
    for (int graph = 0; graph < how_many(6, 1); graph++)
        train(method, 1000 + (uint64_t) graph, how_many(30, 1));
    for (int graph = 0; graph < many; graph++) {
        uint64_t other = 2000 + (uint64_t) graph;

        wins += drawn_mean(method, other, "a.policy") <
                drawn_mean(method, other, NULL);
    }
    printf("# %s: a policy is better on %d of %d graphs it has not seen "
           "(p = %.1e)\n",
           method->name, wins, many, sign_test(wins, many - wins));
    ck_assert(is_watched() || sign_test(wins, many - wins) < 0.05);
}
END_TEST

static void check_refused(const mo_method *method, const mo_instance *x)
{
    mo_task task = { .x = x,
                     .regime = ports,
                     .threads = 1,
                     .rounds = 1,
                     .policy = "bad.policy" };
    mo_placed placed = { 0 };
    mo_error err = { 0 };

    ck_assert_int_ne(method->place(&task, &placed, &err), MO_OK);
    ck_assert_ptr_nonnull(strstr(err.file, "bad.policy"));
    ck_assert_ptr_null(strchr(err.text, '\n'));
    ck_assert_ptr_null(placed.schedule);
    mo_placed_clear(&placed);
}

/* One that was cut off anywhere, another method's, one for other devices. */
START_TEST(other_policies_are_refused)
{
    const mo_method *method = learners[_i];
    problem p = { 0 }, two = { 0 };
    char *whole;
    size_t length;

    unlink("a.policy");
    train(method, 1, 1);
    whole = strdup(scratch_read("a.policy"));
    ck_assert_ptr_nonnull(whole);
    small_problem(&p, 1);
    problem_make(&two, "a t.A=1 t.B=2", "A; B; A-B gbps=8", NULL);
    scratch_write("bad.policy", whole);
    check_refused(learners[!_i], p.x);
    check_refused(method, two.x);
    length = strlen(whole);
    for (int part = 0; part < 8; part++) {
        whole[length * (size_t) (8 - part) / 8 - 2] = '\0';
        scratch_write("bad.policy", whole);
        check_refused(method, p.x);
    }
    free(whole);
    problem_clear(&two);
    problem_clear(&p);
}
END_TEST

/* A policy of which every number is this one. */
static void write_policy_of(const char *whole, const char *number)
{
    mo_out *out = text_new();
    char *text;

    while (*whole) {
        size_t word = strcspn(whole, " \n"), line = strcspn(whole, "\n");

        if (strchr("-.0123456789", *whole)) {
            mo_out_text(out, number);
        } else {
            word = line;
            mo_out_printf(out, "%.*s", (int) word, whole);
        }
        whole += word;
        if (*whole)
            mo_out_char(out, *whole++);
    }
    text = text_end(out);
    scratch_write("bad.policy", text);
    free(text);
}

/* Too large to be read; and so large that nothing can be computed with them,
 * which moves nothing that is pinned and never gets into a file. */
START_TEST(policies_beyond_numbers_do_no_harm)
{
    const mo_method *method = learners[_i];
    problem p = { 0 };
    mo_task task = {
        .regime = ports, .threads = 1, .rounds = 2, .policy = "bad.policy"
    };
    mo_placed placed = { 0 };
    mo_error err = { 0 };
    char *whole;

    unlink("a.policy");
    train(method, 1, 1);
    whole = strdup(scratch_read("a.policy"));
    ck_assert_ptr_nonnull(whole);
    problem_make(
        &p,
        "* t.A=1 t.B=2 t.C=3; a; b pin=B; c pin=C; a>b bytes=8; a>c bytes=8",
        "A; B; C; A-B gbps=8; A-C gbps=8; B-C gbps=8", NULL);
    task.x = p.x;
    write_policy_of(whole, "1e300");
    check_refused(method, p.x);
    write_policy_of(whole, "1e30");
    if (method->place(&task, &placed, &err) != MO_OK)
        ck_assert_ptr_nonnull(strstr(err.text, "is not written"));
    ck_assert_ptr_nonnull(placed.schedule);
    check_judged(p.x, &placed, method->name, 0);
    ck_assert_ptr_null(strstr(scratch_read("bad.policy"), "nan"));
    mo_placed_clear(&placed);
    problem_clear(&p);
    free(whole);
}
END_TEST

/* Where there is no room for what was learned there is an answer all the same.
 */
START_TEST(an_answer_outlives_its_policy)
{
    problem p = { 0 };
    mo_task task = { .regime = ports,
                     .threads = 1,
                     .rounds = 1,
                     .policy = "no-such-folder/a.policy" };
    mo_placed placed = { 0 };
    mo_error err = { 0 };

    crowd_make(&p, 4);
    task.x = p.x;
    ck_assert_int_ne(learners[_i]->place(&task, &placed, &err), MO_OK);
    ck_assert_ptr_nonnull(placed.schedule);
    mo_placed_clear(&placed);
    problem_clear(&p);
}
END_TEST

SUITE(learners)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    tcase_set_timeout(tests, 600);
    EACH(any_number_of_threads_learns_the_same, COUNT(learners));
    SOME(rules_are_kept_and_one_device_is_no_better, 24, 6);
    SOME(what_lives_at_once_has_room, 20, 2);
    EACH(nothing_is_placed_at_once, COUNT(learners));
    EACH(a_stop_ends_it, COUNT(learners));
    EACH(a_stop_that_came_before_ends_it_at_once, COUNT(learners));
    EACH(what_is_learned_helps_elsewhere, COUNT(learners));
    EACH(other_policies_are_refused, COUNT(learners));
    EACH(policies_beyond_numbers_do_no_harm, COUNT(learners));
    EACH(an_answer_outlives_its_policy, COUNT(learners));
    EACH(small_graphs_are_placed_well_and_not_by_chance, COUNT(learners));
}
