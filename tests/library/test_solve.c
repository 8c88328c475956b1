/* SPDX-License-Identifier: Apache-2.0 */
/* tags: no-valgrind no-sanitizers */
/* Tests of moirai_solve(): solvers in child processes. */
#include <config.h>

#include "moirai.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

#define OK(call) ck_assert_msg((call) == MOIRAI_OK, "%s", why.text)

static moirai_error why;

/* The example with its cluster. */
static moirai_instance *make_instance(void)
{
    const char *top = getenv("top_srcdir");
    char path[4096];
    moirai_graph *g = NULL;
    moirai_cluster *c = NULL;
    moirai_instance *x = NULL;

    snprintf(path, sizeof path, "%s/examples/inception.graphml",
             top ? top : ".");
    OK(moirai_graph_read(path, NULL, &g, &why));
    snprintf(path, sizeof path, "%s/examples/inception.cluster.xml",
             top ? top : ".");
    OK(moirai_cluster_read(path, &c, &why));
    OK(moirai_instance_new(g, c, NULL, NULL, &x, &why));
    moirai_graph_free(g);
    moirai_cluster_free(c);
    return x;
}

START_TEST(a_solver_finds_what_the_search_does)
{
    moirai_instance *x = make_instance();
    moirai_options *o = NULL;
    moirai_placement *p = NULL;

    OK(moirai_options_new(&o, &why));
    OK(moirai_options_set(o, "time", "60", &why));
    OK(moirai_options_set(o, "solver", _i == 0 ? "cbc" : "highs", &why));
    OK(moirai_solve(x, o, &p, &why));
    ck_assert_int_eq(moirai_placement_makespan_ns(p), 63700);
    ck_assert_int_eq(moirai_placement_n_violations(p), 0);
    ck_assert_str_eq(moirai_placement_method(p), _i == 0 ? "CBC" : "HiGHS");
    moirai_placement_free(p);
    moirai_options_free(o);
    moirai_instance_free(x);
}
END_TEST

START_TEST(patterns_are_as_good_as_the_search)
{
    moirai_instance *x = make_instance();
    moirai_options *o = NULL;
    moirai_placement *p = NULL;

    OK(moirai_options_new(&o, &why));
    OK(moirai_options_set(o, "time", "60", &why));
    OK(moirai_options_set(o, "solver", "cbc", &why));
    OK(moirai_options_set(o, "formulation", "patterns", &why));
    OK(moirai_solve(x, o, &p, &why));
    ck_assert_int_eq(moirai_placement_makespan_ns(p), 63700);
    ck_assert_int_eq(moirai_placement_n_violations(p), 0);
    /* The optimum of patterns proves nothing; the search does. */
    ck_assert_int_eq(moirai_placement_bound_ns(p), 63700);
    ck_assert_ptr_nonnull(moirai_placement_proof(p));
    moirai_placement_free(p);
    p = NULL;
    OK(moirai_options_set(o, "formulation", "patterns-lower", &why));
    ck_assert_int_eq(moirai_solve(x, o, &p, &why), MOIRAI_E_USAGE);
    moirai_options_free(o);
    moirai_instance_free(x);
}
END_TEST

START_TEST(a_command_can_be_the_solver)
{
    moirai_instance *x = make_instance();
    moirai_options *o = NULL;
    moirai_placement *p = NULL;

    OK(moirai_options_new(&o, &why));
    OK(moirai_options_set(o, "command", ": {model} >{solution}", &why));
    ck_assert_int_eq(moirai_solve(x, o, &p, &why), MOIRAI_E_NO_SOLUTION);
    ck_assert_ptr_null(p);
    OK(moirai_options_set(o, "solver", "nonesuch", &why));
    OK(moirai_options_set(o, "command", NULL, &why));
    ck_assert_int_eq(moirai_solve(x, o, &p, &why), MOIRAI_E_USAGE);
    moirai_options_free(o);
    moirai_instance_free(x);
}
END_TEST

START_TEST(a_cancelled_solver_stops)
{
    moirai_instance *x = make_instance();
    moirai_options *o = NULL;
    moirai_placement *p = NULL;

    OK(moirai_options_new(&o, &why));
    OK(moirai_options_set(o, "command", "sleep 100 # {model} {solution}",
                          &why));
    moirai_options_cancel(o, 1);
    ck_assert_int_eq(moirai_solve(x, o, &p, &why), MOIRAI_E_CANCELLED);
    moirai_options_free(o);
    moirai_instance_free(x);
}
END_TEST

SUITE(solve)
{
    EACH(a_solver_finds_what_the_search_does, 2);
    TEST(patterns_are_as_good_as_the_search);
    TEST(a_command_can_be_the_solver);
    TEST(a_cancelled_solver_stops);
}
