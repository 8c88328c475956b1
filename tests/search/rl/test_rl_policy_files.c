/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind */
/* Tests of policy files: transfer to other graphs, and rejected files. */
#include <config.h>

#include <stdio.h>
#include <unistd.h>

#include "tests/support/dense_problem.h"
#include "tests/support/validated_placement.h"
#include "tests/search/rl/rl_methods_case.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"

static void train(const mo_method *method, uint64_t graph, int rounds)
{
    problem p = { 0 };
    mo_method_task task = { .regime = learners_ports,
                            .seed = graph + 1,
                            .threads = 1,
                            .rounds = rounds,
                            .policy = "a.policy" };
    mo_method_result placed;

    learners_small_problem(&p, graph);
    task.x = p.x;
    placed = learners_place(method, &task);
    mo_method_result_clear(&placed);
    problem_clear(&p);
}

/* The mean score of placements sampled from the policy in a file. */
static double drawn_mean(const mo_method *method, uint64_t graph,
                         const char *policy)
{
    problem p = { 0 };
    mo_method_task task = { .regime = learners_ports,
                            .seed = 5,
                            .threads = 1,
                            .rounds = 3,
                            .policy = policy,
                            .curve = "a.csv",
                            .no_learning = true };
    mo_method_result placed;
    const char *line;
    double sum = 0, mean;
    int n = 0;

    learners_small_problem(&p, graph);
    task.x = p.x;
    placed = learners_place(method, &task);
    mo_method_result_clear(&placed);
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
    mo_method_task task = { .x = x,
                            .regime = learners_ports,
                            .threads = 1,
                            .rounds = 1,
                            .policy = "bad.policy" };
    mo_method_result placed = { 0 };
    mo_error err = { 0 };

    ck_assert_int_ne(method->place(&task, &placed, &err), MO_OK);
    ck_assert_ptr_nonnull(strstr(err.file, "bad.policy"));
    ck_assert_ptr_null(strchr(err.text, '\n'));
    ck_assert_ptr_null(placed.schedule);
    mo_method_result_clear(&placed);
}

/* A truncated one, another method's, one for other devices. */
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
    learners_small_problem(&p, 1);
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

/* A policy with all numbers equal to this one. */
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

/* Too large to be read; and so large that the network overflows, which moves
 * nothing that is pinned and is never written to a file. */
START_TEST(policies_beyond_numbers_do_no_harm)
{
    const mo_method *method = learners[_i];
    problem p = { 0 };
    mo_method_task task = { .regime = learners_ports,
                            .threads = 1,
                            .rounds = 2,
                            .policy = "bad.policy" };
    mo_method_result placed = { 0 };
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
    mo_method_result_clear(&placed);
    problem_clear(&p);
    free(whole);
}
END_TEST

/* Where the policy cannot be written the result is returned all the same. */
START_TEST(an_answer_outlives_its_policy)
{
    problem p = { 0 };
    mo_method_task task = { .regime = learners_ports,
                            .threads = 1,
                            .rounds = 1,
                            .policy = "no-such-folder/a.policy" };
    mo_method_result placed = { 0 };
    mo_error err = { 0 };

    crowd_make(&p, 4);
    task.x = p.x;
    ck_assert_int_ne(learners[_i]->place(&task, &placed, &err), MO_OK);
    ck_assert_ptr_nonnull(placed.schedule);
    mo_method_result_clear(&placed);
    problem_clear(&p);
}
END_TEST

SUITE(rl_policy_files)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    tcase_set_timeout(tests, 600);
    EACH(what_is_learned_helps_elsewhere, N_LEARNERS);
    EACH(other_policies_are_refused, N_LEARNERS);
    EACH(policies_beyond_numbers_do_no_harm, N_LEARNERS);
    EACH(an_answer_outlives_its_policy, N_LEARNERS);
}
