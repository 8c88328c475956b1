/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of graph/reach.h, with both indexes. */
#include "graph/reach.h"

#include "tests/support/graphs.h"
#include "tests/support/suite.h"

/* No room for the closure; room for any closure of a test. */
static const size_t rooms[] = { 0, MO_DAG_REACH_DEFAULT_BYTES };

static mo_dag_reach *reach_of(const mo_graph *g, size_t max_bytes)
{
    mo_dag dag = mo_graph_dag(g);
    mo_dag_reach *reach = NULL;

    MUST(mo_dag_reach_new(&dag, max_bytes, &reach, &err));
    return reach;
}

START_TEST(a_path_is_found_and_only_forward)
{
    mo_graph *g = graph_of("a -> b -> c; a -> d; x -> d");
    mo_dag_reach *reach = reach_of(g, rooms[_i]);
    int a = id_of(g, "a"), b = id_of(g, "b"), c = id_of(g, "c");
    int d = id_of(g, "d"), x = id_of(g, "x");

    ck_assert(mo_dag_reach_path(reach, a, c));
    ck_assert(mo_dag_reach_path(reach, b, b));
    ck_assert(!mo_dag_reach_path(reach, c, a));
    ck_assert(!mo_dag_reach_path(reach, b, d));
    ck_assert(!mo_dag_reach_path(reach, x, c));
    ck_assert(mo_dag_reach_incomparable(reach, c, d));
    ck_assert(mo_dag_reach_incomparable(reach, x, a));
    ck_assert(!mo_dag_reach_incomparable(reach, d, a));
    ck_assert(!mo_dag_reach_incomparable(reach, a, a));
    mo_dag_reach_free(reach);
    mo_graph_free(g);
}
END_TEST

START_TEST(an_empty_graph_is_fine)
{
    mo_graph *g = graph_of("");

    mo_dag_reach_free(reach_of(g, rooms[_i]));
    mo_graph_free(g);
    mo_dag_reach_free(NULL);
}
END_TEST

/* Around the sizes where a row of bits takes another word, too. */
static const int sizes[] = { 1, 2, 5, 9, 20, 63, 64, 65, 127, 129 };

/* Returns the first pair a * n + b with a wrong result, or n * n. */
static int first_wrong(const mo_graph *g, const bool *paths, size_t max_bytes)
{
    mo_dag_reach *reach = reach_of(g, max_bytes);
    int n = g->n_ops, pair = 0;

    for (; pair < n * n; pair++) {
        int a = pair / n, b = pair % n;
        bool to = paths[a * n + b], back = paths[b * n + a];
        if (mo_dag_reach_path(reach, a, b) != to ||
            mo_dag_reach_incomparable(reach, a, b) != (!to && !back))
            break;
    }
    mo_dag_reach_free(reach);
    return pair;
}

START_TEST(all_answers_agree_with_the_definition)
{
    mo_graph *g = random_graph((unsigned) _i, sizes[_i % COUNT(sizes)]);
    bool *paths = paths_of(g);
    int n = g->n_ops;

    for (int i = 0; i < COUNT(rooms); i++) {
        int wrong = first_wrong(g, paths, rooms[i]);
        ck_assert_msg(wrong == n * n, "seed %d, room %zu, ops %d and %d", _i,
                      rooms[i], wrong / n, wrong % n);
    }
    free(paths);
    mo_graph_free(g);
}
END_TEST

/* Both ways on graphs that are too large for the definition. */
START_TEST(both_ways_agree_on_large_graphs)
{
    mo_graph *g = random_graph((unsigned) _i, 5000);
    mo_dag_reach *closure = reach_of(g, MO_DAG_REACH_DEFAULT_BYTES);
    mo_dag_reach *labels = reach_of(g, 0);
    test_random random = { (uint64_t) _i };

    for (int i = 0; i < 20000; i++) {
        int a = random_below(&random, g->n_ops);
        int b = random_below(&random, g->n_ops);
        if (mo_dag_reach_path(closure, a, b) != mo_dag_reach_path(labels, a, b))
            ck_abort_msg("seed %d, %d to %d", _i, a, b);
    }
    mo_dag_reach_free(labels);
    mo_dag_reach_free(closure);
    mo_graph_free(g);
}
END_TEST

START_TEST(the_closure_is_made_only_where_it_fits)
{
    mo_graph *g = random_graph(1, 3000);
    size_t closure_bytes = 47 * 48 / 2 * 64 * 8; /* 47 words in a row */
    mo_dag_reach *fits = reach_of(g, closure_bytes);
    mo_dag_reach *too_large = reach_of(g, closure_bytes - 1);

    ck_assert_uint_ge(mo_dag_reach_bytes(fits), closure_bytes);
    ck_assert_uint_lt(mo_dag_reach_bytes(fits), closure_bytes + 4096);
    ck_assert_uint_lt(mo_dag_reach_bytes(too_large), 3000 * 60);
    mo_dag_reach_free(too_large);
    mo_dag_reach_free(fits);
    mo_graph_free(g);
}
END_TEST

START_TEST(the_papers_largest_graph_fits_the_default)
{
    mo_graph *g = random_graph(3, 50560);
    mo_dag_reach *reach = reach_of(g, MO_DAG_REACH_DEFAULT_BYTES);

    ck_assert_uint_gt(mo_dag_reach_bytes(reach), 100 * 1000 * 1000);
    ck_assert_uint_le(mo_dag_reach_bytes(reach), 200 * 1000 * 1000);
    ck_assert(mo_dag_reach_path(reach, 0, 0));
    mo_dag_reach_free(reach);
    mo_graph_free(g);
}
END_TEST

SUITE(reach)
{
    EACH(a_path_is_found_and_only_forward, COUNT(rooms));
    EACH(an_empty_graph_is_fine, COUNT(rooms));
    SOME(all_answers_agree_with_the_definition, 600, 20);
    SOME(both_ways_agree_on_large_graphs, 12, 1);
    TEST(the_closure_is_made_only_where_it_fits);
    SOME(the_papers_largest_graph_fits_the_default, 1, 0);
}
