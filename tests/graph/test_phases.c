/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of graph/phases.h, on graphs in the one-line form. */
#include "graph/phases.h"

#include "graph/cut.h"
#include "tests/support/graphs.h"
#include "tests/support/suite.h"

static mo_graph *compose(const char *first, const char *second)
{
    mo_phase phases[] = {
        { .name = "p", .weight = 1, .graph = graph_of(first) },
        { .name = "q", .weight = 5, .graph = graph_of(second) },
    };
    mo_graph *g = NULL;

    MUST(mo_phases_compose("w", phases, 2, &g, &err));
    return g;
}

static const struct {
    const char *first, *second, *ops; /* of the composed graph, in order */
} cases[] = {
    { "a", "b", "a >q b" },
    { "a -> b; a -> c", "a", "a b c >q a@q" },
    /* Cut behind a: its gates come when both have ended. */
    { "a -> b", "a -> b", "a >q a@q a>p b a>q b@q" },
    { "a -> b; a -> c; b -> d; c -> d; d -> e", "a -> d -> f",
      "a >q a@q a>p b c d a>q d@q d>p e d>q f" },
    /* In another order b is a cut of both, but behind a in one of them only. */
    { "a -> b -> c -> z", "b -> a -> c -> z",
      "a >q b@q a@q a>p b c a>q c@q c>p z c>q z@q" },
    { "a; b", "a; b", "a b >q a@q b@q" },
};

START_TEST(pieces_between_common_cuts_stand_together)
{
    mo_graph *g = compose(cases[_i].first, cases[_i].second);
    char names[400] = "";

    for (int i = 0; i < g->n_ops; i++) {
        strcat(names, i > 0 ? " " : "");
        strcat(names, g->ops[i].name);
        ck_assert(i == 0 || g->phases->piece[i] >= g->phases->piece[i - 1]);
    }
    ck_assert_str_eq(names, cases[_i].ops);
    mo_graph_free(g);
}
END_TEST

static const char *group(const mo_graph *g, const char *name)
{
    return g->ops[id_of(g, name)].colocate;
}

START_TEST(copies_and_gates_share_a_device)
{
    mo_graph *g = compose("a -> b", "a -> b; a -> c");

    ck_assert_str_eq(group(g, "a"), "a");
    ck_assert_str_eq(group(g, "a@q"), "a");
    ck_assert_str_eq(group(g, "a>p"), "a");
    ck_assert_str_eq(group(g, "a>q"), "a");
    ck_assert_str_eq(group(g, "b@q"), "b");
    ck_assert_ptr_null(group(g, "c"));
    mo_graph_free(g);
}
END_TEST

/* A group of one phase ties ops of all, and so does an op that fusion made. */
START_TEST(groups_are_those_of_all_phases)
{
    mo_graph *first = graph_of("a -> b; c"), *second = graph_of("b -> c -> d");
    mo_phase phases[] = { { .name = "p", .weight = 1, .graph = first },
                          { .name = "q", .weight = 1, .graph = second } };
    mo_graph *g = NULL;

    first->ops[id_of(first, "a")].colocate = "x";
    first->ops[id_of(first, "b")].colocate = "x";
    second->ops[id_of(second, "d")].colocate = "x";
    second->ops[id_of(second, "c")].members = "[\"c\",\"b\"]";
    MUST(mo_phases_compose(NULL, phases, 2, &g, &err));
    for (int i = 0; i < g->n_ops; i++)
        ck_assert_str_eq(g->ops[i].colocate, "a");
    mo_graph_free(g);
}
END_TEST

START_TEST(memory_counts_once)
{
    mo_graph *first = graph_of("a -> b"), *second = graph_of("a -> b -> c");
    mo_phase phases[] = { { .name = "p", .weight = 1, .graph = first },
                          { .name = "q", .weight = 1, .graph = second } };
    const int64_t sizes[] = { 10, 5, 10, 20, 7 };
    mo_graph *g = NULL;

    first->ops[0].memory_bytes = sizes[0];
    first->ops[1].memory_bytes = sizes[1];
    for (int i = 0; i < 3; i++)
        second->ops[i].memory_bytes = sizes[2 + i];
    MUST(mo_phases_compose(NULL, phases, 2, &g, &err));
    ck_assert_int_eq(g->ops[id_of(g, "a")].memory_bytes, 10);
    ck_assert_int_eq(g->ops[id_of(g, "a@q")].memory_bytes, 0);
    ck_assert_int_eq(g->ops[id_of(g, "b")].memory_bytes, 20);
    ck_assert_int_eq(g->ops[id_of(g, "b@q")].memory_bytes, 0);
    ck_assert_int_eq(g->ops[id_of(g, "c")].memory_bytes, 7);
    mo_graph_free(g);
}
END_TEST

/* Every edge of every phase is there, with its weight; all others are free. */
START_TEST(transfers_have_the_weight_of_their_phase)
{
    mo_graph *g = compose("a -> b -> c; a -> c", "a -> b; x -> b");
    int64_t weights = 0;

    for (int e = 0; e < g->n_edges; e++)
        weights += mo_phases_transfer_weight(g->phases, g->edges[e].from,
                                             g->edges[e].to);
    ck_assert_int_eq(weights, 3 * 1 + 2 * 5);
    mo_graph_free(g);
}
END_TEST

/* No op of a piece runs beside one of another. */
START_TEST(pieces_are_in_order)
{
    mo_graph *g;
    bool *paths;
    const int *piece;
    mo_phase phases[3];

    for (int p = 0; p < 3; p++)
        phases[p] = (mo_phase){ .name = (const char *[]){ "p", "q", "r" }[p],
                                .weight = 1 + p,
                                .graph = random_graph((unsigned) (_i + p / 2),
                                                      1 + _i % 12) };
    MUST(mo_phases_compose("w", phases, 3, &g, &err));
    piece = g->phases->piece;
    paths = paths_of(g);
    for (int i = 0; i < g->n_ops; i++)
        for (int j = 0; j < g->n_ops; j++)
            ck_assert(piece[i] >= piece[j] || paths[i * g->n_ops + j]);
    free(paths);
    mo_graph_free(g);
}
END_TEST

START_TEST(a_name_that_is_taken_is_rejected)
{
    mo_phase phases[] = {
        { .name = "p", .weight = 1, .graph = graph_of("a") },
        { .name = "q", .weight = 1, .graph = graph_of("a@q -> a") },
    };
    mo_graph *g = NULL;
    mo_error err = { 0 };

    ck_assert_int_eq(mo_phases_compose("w", phases, 2, &g, &err), MO_E_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "a@q"));
    mo_graph_free(phases[0].graph);
    mo_graph_free(phases[1].graph);
}
END_TEST

SUITE(phases)
{
    EACH(pieces_between_common_cuts_stand_together, COUNT(cases));
    TEST(copies_and_gates_share_a_device);
    TEST(groups_are_those_of_all_phases);
    TEST(memory_counts_once);
    TEST(transfers_have_the_weight_of_their_phase);
    SOME(pieces_are_in_order, 100, 20);
    TEST(a_name_that_is_taken_is_rejected);
}
