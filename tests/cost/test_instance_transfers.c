/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/instance.h: the times of transfers and their sources. */
#include "cost/instance.h"

#include <stdio.h>

#include "tests/support/fp_emulated.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

enum { A, B, C };

static int64_t tensor_of(const problem *p, const char *from, const char *to,
                         int a, int b)
{
    int q = problem_flow(p, from, to);

    return mo_instance_tensor_ns(p->x, p->x->flows[q].tensor, a, b);
}

/* Every subset of the sources of a time, by decreasing priority. */
enum { BY_ID = 1, BY_MODEL = 2, BY_PROFILE = 4, BY_PREDICTION = 8 };

/* Ops that take no time, where only transfers matter. */
#define NO_TIME "* t.A=0 t.B=0 t.C=0;"

/* The paper: A-B 10 MB/s, B-D 5 MB/s; 100 MB from A to D take 20 s.  Latencies
 * add up on the way. */
START_TEST(a_transfer_takes_its_route)
{
    problem p = { 0 };

    problem_make(&p, NO_TIME "* t.D=0; a; b; a>b bytes=100000000",
                 "A; B; D;"
                 "A>B gbps=0.08 latency_us=3; B>D gbps=0.04 latency_us=4.5;"
                 "B>A gbps=800; D>B gbps=0.3 latency_us=1",
                 NULL);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", 0, 1), 10000003000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", 0, 2), 20000007500);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", 1, 0), 1000000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", 2, 0), 2666667667);
    for (int k = 0; k < 3; k++)
        ck_assert_int_eq(problem_flow_ns(&p, "a", "b", k, k), 0);
    problem_clear(&p);
}
END_TEST

/* Links are numbered as in the cluster: sorted by from, to. */
START_TEST(routes_name_the_links_on_the_way)
{
    static const struct {
        int from, to, n, links[2];
    } ways[] = {
        { A, B, 1, { 0 } }, { A, C, 2, { 0, 2 } }, { B, A, 1, { 1 } },
        { B, C, 1, { 2 } }, { C, B, 1, { 3 } },    { C, A, 2, { 3, 1 } },
        { B, B, 0, { 0 } },
    };
    problem p = { 0 };

    problem_make(&p, NO_TIME "a; b; a>b bytes=8",
                 "A; B; C; A-B gbps=8; B-C gbps=8", NULL);
    ck_assert_int_eq(p.x->routing.n_links, 4);
    for (int i = 0; i < COUNT(ways); i++) {
        int n;
        const int *links = mo_instance_route(p.x, ways[i].from, ways[i].to, &n);

        ck_assert_int_eq(n, ways[i].n);
        for (int h = 0; h < n; h++)
            ck_assert_int_eq(links[h], ways[i].links[h]);
    }
    problem_clear(&p);
}
END_TEST

static int64_t trusted_comm_ns(int places)
{
    if (places & BY_ID)
        return 1000;
    if (places & BY_MODEL)
        return 2000;
    return places & BY_PROFILE ? 4000 : 8000;
}

START_TEST(the_most_trusted_transfer_counts)
{
    const char *profile =
        "<profile><link from='A' to='B' gbps='8' latency_us='3'/></profile>";
    char graph[256];
    problem p = { 0 };

    snprintf(graph, sizeof graph, NO_TIME "a; b; a>b bytes=1000 %s %s",
             _i & BY_ID ? "c.A.B=1" : "", _i & BY_MODEL ? "c.t4.v100=2" : "");
    problem_make(&p, graph,
                 "A model=Tesla_T4; B model=v100; C model=T4;"
                 "A-B gbps=1; B-C gbps=1",
                 _i & BY_PROFILE ? profile : NULL);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", A, B), trusted_comm_ns(_i));
    /* The way back has no row; C is of the same model as A. */
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", B, A), 8000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", C, B),
                     trusted_comm_ns(_i & BY_MODEL));
    problem_clear(&p);
}
END_TEST

/* A message smaller than where the next row starts goes by the one before. */
START_TEST(links_are_piecewise_by_the_profile)
{
    static const char profile[] =
        "<profile>"
        "<link from='A' to='B' gbps='8' latency_us='1'/>"
        "<link from='A' to='B' gbps='80' latency_us='2' from_bytes='1000'/>"
        "<link from='B' to='A' gbps='8' latency_us='0'/>"
        "</profile>";
    problem p = { 0 };

    problem_make(&p,
                 NO_TIME "a; w; x; y; z; a>w bytes=0; w>x bytes=999;"
                         "x>y bytes=1000; y>z bytes=10000",
                 "A; B", profile);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "w", A, B), 1000);
    ck_assert_int_eq(problem_flow_ns(&p, "w", "x", A, B), 1999);
    ck_assert_int_eq(problem_flow_ns(&p, "x", "y", A, B), 2100);
    ck_assert_int_eq(problem_flow_ns(&p, "y", "z", A, B), 3000);
    ck_assert_int_eq(problem_flow_ns(&p, "y", "z", B, A), 10000);
    problem_clear(&p);
}
END_TEST

/* Half a nanosecond is rounded up, two quarters together are one half. */
START_TEST(a_modelled_transfer_is_rounded_once)
{
    problem p = { 0 };

    problem_make(&p, NO_TIME "a; b; a>b bytes=1", "A; B; A-B gbps=32",
                 "<profile><link from='A' to='B' gbps='32' "
                 "latency_us='0.00025'/></profile>");
    if (!is_miscalculated())
        ck_assert_int_eq(problem_flow_ns(&p, "a", "b", A, B), 1);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", B, A), 0);
    problem_clear(&p);
}
END_TEST

/* Edges of one tensor: each reader has its own time, all together the largest,
 * device by device. */
START_TEST(a_tensor_takes_the_longest_of_its_flows)
{
    problem p = { 0 };

    problem_make(&p,
                 NO_TIME "a; x; y; z; a>x c.A.B=5 c.B.A=1; a>y c.A.B=2 c.B.A=9;"
                         "a>z bytes=4000",
                 "A; B; A-B gbps=8", NULL);
    ck_assert_int_eq(p.x->n_tensors, 1);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "x", A, B), 5000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "x", B, A), 1000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "y", A, B), 2000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "y", B, A), 9000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "z", A, B), 4000);
    ck_assert_int_eq(tensor_of(&p, "a", "x", A, B), 5000);
    ck_assert_int_eq(tensor_of(&p, "a", "x", B, A), 9000);
    ck_assert_int_eq(p.x->tensor_bytes[0], 4000);
    problem_clear(&p);
}
END_TEST

/* The second output stays a tensor of its own. */
START_TEST(parallel_edges_of_one_tensor_are_one_flow)
{
    problem p = { 0 };
    int q;

    problem_make(&p,
                 NO_TIME "a; x; y; a>x src_port=0 dst_port=0 bytes=1000;"
                         "a>x src_port=0 dst_port=1 c.A.B=7;"
                         "a>x src_port=1 dst_port=2 bytes=500;"
                         "a>y src_port=0 bytes=1000",
                 "A; B; A-B gbps=8", NULL);
    ck_assert_int_eq(p.g->n_edges, 4);
    ck_assert_int_eq(p.x->n_flows, 3);
    ck_assert_int_eq(p.x->n_tensors, 2);
    q = problem_flow(&p, "a", "x");
    ck_assert_int_eq(mo_instance_flow_ns(p.x, q, A, B), 7000);
    ck_assert_int_eq(mo_instance_flow_ns(p.x, q, B, A), 1000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "y", A, B), 1000);
    ck_assert_int_eq(tensor_of(&p, "a", "y", A, B), 7000);
    ck_assert_int_eq(mo_instance_tensor_ns(p.x, 1, A, B), 500);
    problem_clear(&p);
}
END_TEST

/* The size on one edge holds for all readers of the tensor. */
START_TEST(a_tensor_has_one_size)
{
    problem p = { 0 };

    problem_make(&p, NO_TIME "a; x; y; a>x bytes=3000; a>y", "A; B; A-B gbps=8",
                 NULL);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "x", A, B), 3000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "y", A, B), 3000);
    problem_clear(&p);
}
END_TEST

START_TEST(a_cluster_in_parts_is_fine_where_edges_have_their_times)
{
    problem p = { 0 };

    problem_make(&p, NO_TIME "a; b; a>b bytes=8 c.A.B=5", "A; B; B>A gbps=8",
                 NULL);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", A, B), 5000);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", B, A), 8);
    ck_assert_int_eq(p.x->routing.routes[1].n, 0);
    problem_clear(&p);
}
END_TEST

/* Sizes do not matter where nothing is sent. */
START_TEST(one_device_needs_no_transfers)
{
    problem p = { 0 };

    problem_make(&p, NO_TIME "a; b; a>b", "A", NULL);
    ck_assert_int_eq(p.x->n_devices, 1);
    ck_assert_int_eq(p.x->n_flows, 1);
    ck_assert_int_eq(problem_flow_ns(&p, "a", "b", A, A), 0);
    ck_assert_int_eq(tensor_of(&p, "a", "b", A, A), 0);
    problem_clear(&p);
}
END_TEST

SUITE(instance_transfers)
{
    TEST(a_transfer_takes_its_route);
    TEST(routes_name_the_links_on_the_way);
    EACH(the_most_trusted_transfer_counts, 8);
    TEST(links_are_piecewise_by_the_profile);
    TEST(a_modelled_transfer_is_rounded_once);
    TEST(a_tensor_takes_the_longest_of_its_flows);
    TEST(parallel_edges_of_one_tensor_are_one_flow);
    TEST(a_tensor_has_one_size);
    TEST(a_cluster_in_parts_is_fine_where_edges_have_their_times);
    TEST(one_device_needs_no_transfers);
}
