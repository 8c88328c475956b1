/* Claims of the methods that learn, by the table of methods. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/random.h"
#include "schedule/single.h"
#include "solvers/search/exact.h"
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

/* The best of so many placements that nobody thought about. */
static int64_t random_ns(const mo_task *task, int simulations)
{
    mo_random random = { task->seed };
    mo_units *units = NULL;
    mo_score *score = NULL;
    int64_t best_ns = INT64_MAX;

    MUST(mo_units_make(task->x, &task->regime, &units, &err));
    MUST(mo_score_new(task, units, &score, &err));
    for (int i = 0; i < simulations; i++) {
        int device[16];
        mo_scored scored;

        for (int u = 0; u < units->n; u++)
            device[u] = mo_random_below(&random, task->x->n_devices);
        MUST(mo_score_of(score, device, &scored, &err));
        if (scored.makespan_ns < best_ns)
            best_ns = scored.makespan_ns;
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

/* Batches; Placeto simulates once before each episode and after each op. */
enum { ROUNDS = 60 };

enum { GRAPHS = 50, EPISODES = 8 };

START_TEST(small_graphs_are_placed_well_and_not_by_chance)
{
    int wins = 0, losses = 0, many = how_many(GRAPHS, 2), far = 0;
    double sum = 0, worst = 0;

    for (int seed = 0; seed < many; seed++) {
        mo_task task = { .regime = ports, .seed = 1, .threads = 1 };
        problem p = { 0 };
        mo_placed placed;
        int64_t best_ns, chance_ns;
        double ratio;

        small_problem(&p, (uint64_t) seed);
        task.x = p.x;
        task.rounds = ROUNDS;
        placed = placed_by(&mo_method_placeto, &task);
        best_ns = optimum_ns(p.x);
        chance_ns = random_ns(&task, ROUNDS * EPISODES * (p.x->n + 1));
        ratio = (double) placed.schedule->makespan_ns / (double) best_ns;
        sum += ratio / many;
        worst = fmax(worst, ratio);
        far += ratio > 1.05;
        wins += placed.schedule->makespan_ns < chance_ns;
        losses += placed.schedule->makespan_ns > chance_ns;
        mo_placed_clear(&placed);
        problem_clear(&p);
    }
    printf("# placeto: %.2f %% above the optimum, at worst %.2f %%, %d of %d "
           "above "
           "5 %%; chance is beaten %d to %d (p = %.1e)\n",
           100 * (sum - 1), 100 * (worst - 1), far, many, wins, losses,
           sign_test(wins, losses));
    ck_assert(is_watched() || sum <= 1.05);
    ck_assert(is_watched() || sign_test(wins, losses) < 0.05);
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
 * may be on one device and has room there, that is where they begin. */
START_TEST(rules_are_kept_and_one_device_is_no_better)
{
    int seed = _i / COUNT(learners);
    const mo_method *method = learners[_i % COUNT(learners)];
    mo_task task = { .regime = seed % 2 ? ports : ports_memory,
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
    ck_assert_msg(single == MO_FREE || !placed.fits ||
                      placed.schedule->makespan_ns <= single_ns,
                  "%s, seed %d: worse than device %d", method->name, seed,
                  single);
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
        train(method, 1000 + (uint64_t) graph, how_many(10, 1));
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

SUITE(learners)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    EACH(any_number_of_threads_learns_the_same, COUNT(learners));
    SOME(rules_are_kept_and_one_device_is_no_better, 16, 2);
    EACH(a_stop_ends_it, COUNT(learners));
    EACH(what_is_learned_helps_elsewhere, COUNT(learners));
    EACH(other_policies_are_refused, COUNT(learners));
    TEST(small_graphs_are_placed_well_and_not_by_chance);
}
