/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of graph/augment.h against its definition. */
#include "graph/augment.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/graphs.h"
#include "tests/support/suite.h"

static int n_succ(const mo_augmented *a, int node)
{
    return a->succ_start[node + 1] - a->succ_start[node];
}

static int n_pred(const mo_augmented *a, int node)
{
    return a->pred_start[node + 1] - a->pred_start[node];
}

/* How often to is among the successors of from. */
static int count_succ(const mo_augmented *a, int from, int to)
{
    int count = 0;

    for (int j = a->succ_start[from]; j < a->succ_start[from + 1]; j++)
        count += a->succ[j] == to;
    return count;
}

static int count_pred(const mo_augmented *a, int from, int to)
{
    int count = 0;

    for (int j = a->pred_start[to]; j < a->pred_start[to + 1]; j++)
        count += a->pred[j] == from;
    return count;
}

/*  0 --0--> 1 --1--> 2        nodes 3, 4 and 5 are the flows
 *  0 -------2------> 2  */
START_TEST(every_flow_is_a_node_between_its_ops)
{
    static const int from[] = { 0, 1, 0 }, to[] = { 1, 2, 2 };
    static const int succ[] = { 3, 5, 4, 1, 2, 2 };
    static const int succ_start[] = { 0, 2, 3, 3, 4, 5, 6 };
    static const int pred[] = { 3, 4, 5, 0, 1, 0 };
    static const int pred_start[] = { 0, 0, 1, 3, 4, 5, 6 };
    mo_augmented *a;

    MUST(mo_augment(3, from, to, 3, &a, &err));
    ck_assert_int_eq(mo_augmented_nodes(a), 6);
    ck_assert_mem_eq(a->succ, succ, sizeof succ);
    ck_assert_mem_eq(a->succ_start, succ_start, sizeof succ_start);
    ck_assert_mem_eq(a->pred, pred, sizeof pred);
    ck_assert_mem_eq(a->pred_start, pred_start, sizeof pred_start);
    mo_augmented_free(a);
}
END_TEST

START_TEST(without_flows_it_is_the_ops)
{
    mo_augmented *a;

    MUST(mo_augment(_i, NULL, NULL, 0, &a, &err));
    ck_assert_int_eq(mo_augmented_nodes(a), _i);
    for (int v = 0; v < _i; v++) {
        ck_assert_int_eq(n_succ(a, v), 0);
        ck_assert_int_eq(n_pred(a, v), 0);
        ck_assert(!mo_augmented_is_flow(a, v));
    }
    mo_augmented_free(a);
}
END_TEST

/* A flow per edge of g: two ops may have several. */
static mo_augmented *augment(const mo_graph *g)
{
    size_t n = (size_t) g->n_edges + 1;
    int *from = malloc(n * sizeof *from), *to = malloc(n * sizeof *to);
    mo_augmented *a;

    ck_assert(from && to);
    for (int e = 0; e < g->n_edges; e++) {
        from[e] = g->edges[e].from;
        to[e] = g->edges[e].to;
    }
    MUST(mo_augment(g->n_ops, from, to, g->n_edges, &a, &err));
    free(from);
    free(to);
    return a;
}

static void check_flows(const mo_graph *g, const mo_augmented *a)
{
    for (int e = 0; e < g->n_edges; e++) {
        int node = mo_augmented_node_of_flow(a, e);

        ck_assert(mo_augmented_is_flow(a, node));
        ck_assert_int_eq(mo_augmented_flow_of_node(a, node), e);
        ck_assert_int_eq(n_succ(a, node), 1);
        ck_assert_int_eq(n_pred(a, node), 1);
        ck_assert_int_eq(count_succ(a, node, g->edges[e].to), 1);
        ck_assert_int_eq(count_pred(a, g->edges[e].from, node), 1);
        ck_assert_int_eq(count_succ(a, g->edges[e].from, node), 1);
        ck_assert_int_eq(count_pred(a, node, g->edges[e].to), 1);
    }
}

/* Nothing is between ops but flows, and those come in their order. */
static void check_ops(const mo_graph *g, const mo_augmented *a)
{
    for (int i = 0; i < g->n_ops; i++) {
        ck_assert(!mo_augmented_is_flow(a, i));
        ck_assert_int_eq(n_succ(a, i), mo_graph_out_degree(g, i));
        ck_assert_int_eq(n_pred(a, i), mo_graph_in_degree(g, i));
        for (int j = a->succ_start[i]; j < a->succ_start[i + 1]; j++)
            ck_assert_int_ge(a->succ[j],
                             j > a->succ_start[i] ? a->succ[j - 1] : g->n_ops);
        for (int j = a->pred_start[i]; j < a->pred_start[i + 1]; j++)
            ck_assert_int_ge(a->pred[j],
                             j > a->pred_start[i] ? a->pred[j - 1] : g->n_ops);
    }
}

START_TEST(it_is_as_defined)
{
    mo_graph *g = random_graph((unsigned) _i, 1 + _i % 40);
    mo_augmented *a = augment(g);

    ck_assert_int_eq(a->n_ops, g->n_ops);
    ck_assert_int_eq(a->n_flows, g->n_edges);
    ck_assert_int_eq(mo_augmented_nodes(a), g->n_ops + g->n_edges);
    ck_assert_int_eq(a->succ_start[mo_augmented_nodes(a)], 2 * g->n_edges);
    ck_assert_int_eq(a->pred_start[mo_augmented_nodes(a)], 2 * g->n_edges);
    check_flows(g, a);
    check_ops(g, a);
    mo_augmented_free(a);
    mo_graph_free(g);
}
END_TEST

/* Marks all nodes that node reaches, including itself. */
static void reach(const mo_augmented *a, int node, bool *seen)
{
    if (seen[node])
        return;
    seen[node] = true;
    for (int j = a->succ_start[node]; j < a->succ_start[node + 1]; j++)
        reach(a, a->succ[j], seen);
}

START_TEST(ops_reach_the_same_ops_as_before)
{
    mo_graph *g = random_graph((unsigned) _i, 20);
    mo_augmented *a = augment(g);
    bool *paths = paths_of(g);
    bool *seen = malloc((size_t) mo_augmented_nodes(a) * sizeof *seen);

    ck_assert_ptr_nonnull(seen);
    for (int i = 0; i < g->n_ops; i++) {
        memset(seen, 0, (size_t) mo_augmented_nodes(a) * sizeof *seen);
        reach(a, i, seen);
        for (int j = 0; j < g->n_ops; j++)
            ck_assert_int_eq(seen[j], paths[i * g->n_ops + j]);
    }
    free(seen);
    free(paths);
    mo_augmented_free(a);
    mo_graph_free(g);
}
END_TEST

START_TEST(freeing_nothing_is_fine)
{
    mo_augmented_free(NULL);
}
END_TEST

SUITE(augment)
{
    TEST(every_flow_is_a_node_between_its_ops);
    EACH(without_flows_it_is_the_ops, 3);
    SOME(it_is_as_defined, 200, 10);
    EACH(ops_reach_the_same_ops_as_before, 20);
    TEST(freeing_nothing_is_fine);
}
