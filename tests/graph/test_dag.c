/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of graph/dag.h: a view shows what its owner holds. */
#include "graph/dag.h"

#include "cost/instance.h"
#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/random_problem.h"
#include "tests/support/suite.h"

/* Edge e goes from one node to another, and is counted at both. */
static void check_edge(const mo_dag *dag, int e, int from, int to)
{
    ck_assert_int_eq(mo_dag_to(dag, e), to);
    ck_assert(dag->out_start[from] <= e && e < dag->out_start[from + 1]);
    ck_assert_int_gt(mo_dag_in_degree(dag, to), 0);
}

/* All edges are counted once, where they leave and where they come in. */
static void check_sums(const mo_dag *dag)
{
    int out = 0, in = 0;

    for (int i = 0; i < dag->n; i++) {
        out += mo_dag_out_degree(dag, i);
        in += mo_dag_in_degree(dag, i);
    }
    ck_assert_int_eq(out, dag->n_edges);
    ck_assert_int_eq(in, dag->n_edges);
}

START_TEST(of_a_graph)
{
    mo_graph *g = random_graph((unsigned) _i, _i % 20);
    mo_dag dag = mo_graph_dag(g);

    ck_assert_int_eq(dag.n, g->n_ops);
    ck_assert_int_eq(dag.n_edges, g->n_edges);
    for (int e = 0; e < g->n_edges; e++)
        check_edge(&dag, e, g->edges[e].from, g->edges[e].to);
    check_sums(&dag);
    mo_graph_free(g);
}
END_TEST

START_TEST(of_an_instance)
{
    problem p = { 0 };
    random_problem r;
    mo_dag dag;

    random_problem_make(&r, (unsigned) _i);
    problem_make(&p, r.graph, r.cluster, NULL);
    dag = mo_instance_dag(p.x);
    ck_assert_int_eq(dag.n, p.x->n);
    ck_assert_int_eq(dag.n_edges, p.x->n_flows);
    for (int q = 0; q < p.x->n_flows; q++)
        check_edge(&dag, q, p.x->flows[q].from, p.x->flows[q].to);
    check_sums(&dag);
    problem_clear(&p);
    random_problem_clear(&r);
}
END_TEST

SUITE(dag)
{
    SOME(of_a_graph, 200, 10);
    SOME(of_an_instance, 100, 5);
}
