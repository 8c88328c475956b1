/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/instance.h against the definition, on random graphs and
 * clusters. */
#include "cost/instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost/cluster/route.h"
#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"
#include "tests/support/text.h"

/* Devices d0, d1, ... in a ring, with links across it. */
static char *random_cluster(test_random *random, int n_devices, int n_speeds)
{
    mo_out *out = text_new();

    for (int k = 0; k < n_devices; k++)
        mo_out_printf(out, "d%d;", k);
    for (int k = 0; k < n_devices; k++)
        for (int step = 1; step < n_devices; step++)
            if (step == 1 || random_below(random, 4) == 0)
                mo_out_printf(out, "d%d>d%d gbps=%d latency_us=%d;", k,
                              (k + step) % n_devices,
                              1 + random_below(random, n_speeds),
                              random_below(random, n_speeds));
    return text_end(out);
}

/* Ops that take k us on device k.  Between two there may be several edges, of
 * one tensor or of two, some with a time of their own. */
static char *random_text(test_random *random, int n_ops, int n_devices)
{
    mo_out *out = text_new();

    for (int k = 0; k < n_devices; k++)
        mo_out_printf(out, "* t.d%d=%d;", k, k);
    for (int i = 0; i < n_ops; i++) {
        mo_out_printf(out, "n%d;", i);
        for (int e = random_below(random, 4); e > 0 && i > 0; e--) {
            mo_out_printf(
                out, "n%d>n%d bytes=%d src_port=%d", random_below(random, i), i,
                1000 * random_below(random, 5), random_below(random, 2));
            if (random_below(random, 4) == 0)
                mo_out_printf(out, " c.d0.d1=%d", random_below(random, 9));
            mo_out_char(out, ';');
        }
    }
    return text_end(out);
}

/* What edge takes from a to b, which is another device. */
static int64_t edge_ns(const problem *p, const mo_routes *routes, int edge,
                       int a, int b)
{
    const mo_route *route = &routes->routes[a * routes->n + b];
    double ns = NAN;

    if (a == 0 && b == 1 && p->g->n_comm_columns > 0)
        ns = 1000 * mo_graph_comm_us(p->g, edge, 0);
    if (isnan(ns))
        ns = (double) route->latency_ns +
             (double) p->g->edges[edge].bytes * 8 / route->gbps;
    return llround(ns);
}

/* The slowest edge of one tensor, to one reader or, with -1, to any. */
static int64_t slowest_ns(const problem *p, const mo_routes *routes, int tensor,
                          int reader, int a, int b)
{
    int64_t most = 0;

    for (int e = 0; e < p->g->n_edges && a != b; e++)
        if (p->g->edges[e].tensor == tensor &&
            (reader < 0 || p->g->edges[e].to == reader)) {
            int64_t ns = edge_ns(p, routes, e, a, b);

            most = ns > most ? ns : most;
        }
    return most;
}

static void check_transfers(const problem *p, const mo_routes *routes)
{
    const mo_instance *x = p->x;

    for (int a = 0; a < x->n_devices; a++)
        for (int b = 0; b < x->n_devices; b++) {
            for (int q = 0; q < x->n_flows; q++)
                ck_assert_int_eq(mo_instance_flow_ns(x, q, a, b),
                                 slowest_ns(p, routes, x->flows[q].tensor,
                                            x->flows[q].to, a, b));
            for (int t = 0; t < x->n_tensors; t++)
                ck_assert_int_eq(mo_instance_tensor_ns(x, t, a, b),
                                 slowest_ns(p, routes, t, -1, a, b));
        }
}

static bool is_before(const mo_flow *a, const mo_flow *b)
{
    if (a->from != b->from)
        return a->from < b->from;
    return a->tensor != b->tensor ? a->tensor < b->tensor : a->to < b->to;
}

static bool has_edge(const mo_graph *g, int tensor, int to)
{
    for (int e = 0; e < g->n_edges; e++)
        if (g->edges[e].tensor == tensor && g->edges[e].to == to)
            return true;
    return false;
}

/* Every edge has its flow, every flow an edge, none is twice, and all three
 * indexes lead to the same flows. */
static void check_flows(const problem *p)
{
    const mo_instance *x = p->x;
    int n_in = 0;

    for (int q = 1; q < x->n_flows; q++)
        ck_assert(is_before(&x->flows[q - 1], &x->flows[q]));
    for (int e = 0; e < p->g->n_edges; e++) {
        const mo_edge *edge = &p->g->edges[e];
        int found = 0;

        for (int q = x->tensor_start[edge->tensor];
             q < x->tensor_start[edge->tensor + 1]; q++)
            found += x->flows[q].to == edge->to;
        ck_assert_int_eq(found, 1);
    }
    for (int t = 0; t < x->n_tensors; t++)
        for (int q = x->tensor_start[t]; q < x->tensor_start[t + 1]; q++) {
            ck_assert_int_eq(x->flows[q].tensor, t);
            ck_assert_int_eq(x->flows[q].from, x->tensor_from[t]);
            ck_assert(has_edge(p->g, t, x->flows[q].to));
        }
    for (int i = 0; i < x->n; i++) {
        for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++)
            ck_assert_int_eq(x->flows[q].from, i);
        for (int j = x->in_start[i]; j < x->in_start[i + 1]; j++, n_in++)
            ck_assert_int_eq(x->flows[x->in_flows[j]].to, i);
    }
    ck_assert_int_eq(x->out_start[x->n], x->n_flows);
    ck_assert_int_eq(x->tensor_start[x->n_tensors], x->n_flows);
    ck_assert_int_eq(n_in, x->n_flows);
}

START_TEST(flows_and_transfers_are_as_defined)
{
    test_random random = { (uint64_t) _i };
    int n_devices = 1 + random_below(&random, 6);
    char *graph =
        random_text(&random, 1 + random_below(&random, 24), n_devices);
    char *cluster = random_cluster(&random, n_devices, 3);
    problem p = { 0 };
    mo_routes *routes;

    problem_make(&p, graph, cluster, NULL);
    MUST(mo_routes_make(p.cluster, &routes, &err));
    check_flows(&p);
    check_transfers(&p, routes);
    for (int i = 0; i < p.x->n; i++)
        for (int k = 0; k < n_devices; k++)
            ck_assert_int_eq(mo_instance_p_ns(p.x, i, k), 1000 * k);
    mo_routes_free(routes);
    problem_clear(&p);
    free(cluster);
    free(graph);
}
END_TEST

/* Servers of eight devices each: fast inside, slow between. */
static char *servers(int n_devices)
{
    mo_out *out = text_new();

    for (int k = 0; k < n_devices; k++)
        mo_out_printf(out, "d%d model=h100;", k);
    for (int a = 0; a < n_devices; a++)
        for (int b = 0; b < a; b++)
            mo_out_printf(out, "d%d-d%d gbps=%d;", a, b,
                          a / 8 == b / 8 ? 3200 : 400);
    return text_end(out);
}

/* A chain of ops that put out 400, 800, 1200, ... bytes. */
static char *chain(int n_ops)
{
    mo_out *out = text_new();

    mo_out_text(out, "* t.h100=1; n0;");
    for (int i = 1; i < n_ops; i++)
        mo_out_printf(out, "n%d; n%d>n%d bytes=%d;", i, i - 1, i, 400 * i);
    return text_end(out);
}

/* 500 sizes between 256 devices are 33 million times, but few differ. */
START_TEST(what_is_alike_is_kept_once)
{
    enum { N_OPS = 501, N_DEVICES = 256 };
    char *graph = chain(N_OPS), *cluster = servers(N_DEVICES);
    problem p = { 0 };

    problem_make(&p, graph, cluster, NULL);
    ck_assert_int_eq(p.x->comm.n_rows, N_OPS - 1);
    ck_assert_int_eq(p.x->comm.n_kinds, 3);
    ck_assert_uint_lt(mo_arena_bytes(p.x->arena), 4 << 20);
    for (int q = 0; q < p.x->n_flows; q++) {
        int64_t bytes = p.x->tensor_bytes[p.x->flows[q].tensor];

        ck_assert_int_eq(mo_instance_flow_ns(p.x, q, 0, 7), bytes / 400);
        ck_assert_int_eq(mo_instance_flow_ns(p.x, q, 7, 8), bytes / 50);
        ck_assert_int_eq(mo_instance_flow_ns(p.x, q, 255, 0), bytes / 50);
        ck_assert_int_eq(mo_instance_flow_ns(p.x, q, 9, 9), 0);
    }
    problem_clear(&p);
    free(cluster);
    free(graph);
}
END_TEST

/* Of 256 devices with links that all differ, every pair has its own time. */
START_TEST(what_differs_is_kept_apart)
{
    enum { N_DEVICES = 256 };
    test_random random = { 1 };
    char *graph = random_text(&random, 8, N_DEVICES);
    char *cluster = random_cluster(&random, N_DEVICES, 1000000);
    problem p = { 0 };
    mo_routes *routes;

    problem_make(&p, graph, cluster, NULL);
    MUST(mo_routes_make(p.cluster, &routes, &err));
    ck_assert_int_gt(p.x->comm.n_kinds, N_DEVICES);
    check_transfers(&p, routes);
    mo_routes_free(routes);
    problem_clear(&p);
    free(cluster);
    free(graph);
}
END_TEST

SUITE(instance_random)
{
    SOME(flows_and_transfers_are_as_defined, 200, 10);
    TEST(what_is_alike_is_kept_once);
    SOME(what_differs_is_kept_apart, 1, 0);
}
