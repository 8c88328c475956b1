/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of graph/cut.h, on graphs in the one-line form. */
#include "graph/cut.h"

#include "tests/support/graphs.h"
#include "tests/support/suite.h"

static const struct {
    const char *graph, *cuts;
} cases[] = {
    { "", "" },
    { "a", "a" },
    { "a -> b -> c", "a b c" },
    { "a -> b -> d; a -> c -> d", "a d" }, /* two branches */
    { "a -> b -> c; a -> c", "a c" },      /* a residual edge */
    { "a -> b; a -> b -> c", "a b c" },    /* a parallel edge */
    { "a -> b -> c; b -> x", "a b" },      /* a second sink */
    { "a -> b -> c; x -> c", "c" },        /* a second source */
    { "a -> b; c -> d", "" },              /* two components */
    { "a; b", "" },
    { "a -> m -> c; b -> m -> d", "m" },           /* an hourglass */
    { "a -> b -> c -> d; a -> c; b -> d", "a d" }, /* edges that cross */
    { "$w -> b; a -> b -> c; $v -> c", "a b c" },  /* constants: no ops */
};

START_TEST(cuts_are_found_where_everything_meets)
{
    mo_graph *g = graph_of(cases[_i].graph);
    mo_dag dag = mo_graph_dag(g);
    int *cuts, n_cuts;

    MUST(mo_dag_clean_cuts(&dag, &cuts, &n_cuts, &err));
    ck_assert_str_eq(names_of(g, cuts, n_cuts), cases[_i].cuts);
    ck_assert_int_eq(cuts == NULL, n_cuts == 0);
    free(cuts);
    mo_graph_free(g);
}
END_TEST

/* The definition: comparable with every op, and no edge jumps over it. */
static bool is_cut(const mo_graph *g, const bool *paths, int op)
{
    int n = g->n_ops;

    for (int i = 0; i < n; i++)
        if (!paths[i * n + op] && !paths[op * n + i])
            return false;
    for (int e = 0; e < g->n_edges; e++) {
        int from = g->edges[e].from, to = g->edges[e].to;
        if (from != op && to != op && paths[from * n + op] &&
            paths[op * n + to])
            return false;
    }
    return true;
}

START_TEST(cuts_agree_with_their_definition)
{
    mo_graph *g = random_graph(/* seed */ (unsigned) _i, /* ops */ _i % 14);
    mo_dag dag = mo_graph_dag(g);
    bool *paths = paths_of(g);
    int *cuts, n_cuts, seen = 0;

    MUST(mo_dag_clean_cuts(&dag, &cuts, &n_cuts, &err));
    for (int op = 0; op < g->n_ops; op++) {
        bool found = seen < n_cuts && cuts[seen] == op;
        ck_assert_msg(found == is_cut(g, paths, op), "seed %d, op %s", _i,
                      g->ops[op].name);
        seen += found;
    }
    ck_assert_msg(seen == n_cuts, "seed %d", _i);
    free(cuts);
    free(paths);
    mo_graph_free(g);
}
END_TEST

SUITE(cut)
{
    EACH(cuts_are_found_where_everything_meets, COUNT(cases));
    SOME(cuts_agree_with_their_definition, 2000, 50);
}
