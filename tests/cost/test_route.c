/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/cluster/route.h, by hand. */
#include "cost/cluster/route.h"

#include <stdio.h>
#include <string.h>

#include "tests/cost/route_case.h"
#include "tests/support/suite.h"

/* "A B D": the devices on the path. */
static const char *way(const route_plan *p, const mo_routes *routes, int from,
                       int to)
{
    static char text[1024];
    const mo_route *r = route_at(routes, from, to);
    size_t n = (size_t) snprintf(text, sizeof text, "%s", p->ids[from]);

    for (int h = 0; h < r->hops; h++) {
        const mo_link *link = &p->links[routes->path[r->first_link + h]];

        ck_assert_int_eq(link->from, from);
        from = link->to;
        n += (size_t) snprintf(text + n, sizeof text - n, " %s", p->ids[from]);
    }
    ck_assert(r->hops == 0 || from == to);
    return text;
}

enum { A, B, C, D, E };

/* The paper: A-B 10 MB/s, B-D 5 MB/s; 100 MB from A to D take 20 s. */
START_TEST(a_path_is_as_wide_as_its_narrowest_link)
{
    route_plan *p = route_plan_new(4);
    mo_routes *routes;
    const mo_route *r;

    route_plan_link(p, A, B, 0.08, 3000);
    route_plan_link(p, B, A, 0.08, 3000);
    route_plan_link(p, B, D, 0.04, 4000);
    route_plan_link(p, D, B, 0.04, 4000);
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    r = route_at(routes, A, D);
    ck_assert_double_eq(r->gbps, 0.04);
    ck_assert_double_eq_tol(100e6 * 8 / r->gbps, 20e9, 1); /* ns */
    ck_assert_int_eq(r->latency_ns, 7000);
    ck_assert_int_eq(r->hops, 2);
    ck_assert_str_eq(way(p, routes, A, D), "A B D");
    mo_routes_free(routes);
    free(p);
}
END_TEST

START_TEST(a_direct_link_is_taken_though_a_detour_is_wider)
{
    route_plan *p = route_plan_new(3);
    mo_routes *routes;

    route_plan_link(p, A, B, 100, 0);
    route_plan_link(p, A, C, 1, 9000);
    route_plan_link(p, B, C, 100, 0);
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    ck_assert_double_eq(route_at(routes, A, C)->gbps, 1);
    ck_assert_int_eq(route_at(routes, A, C)->latency_ns, 9000);
    ck_assert_str_eq(way(p, routes, A, C), "A C");
    mo_routes_free(routes);
    free(p);
}
END_TEST

/*
 *      A --100, 9 us--> B --40, 1 us--> D      A to D is 40 wide either way, so
 *       `-40, 1 us-> C -40, 1 us-^             it takes the quick way to B,
 * which (A to C to B)                       is not the route from A to B.
 */
START_TEST(a_route_is_not_made_of_routes)
{
    route_plan *p = route_plan_new(5);
    mo_routes *routes;

    route_plan_link(p, A, C, 40, 1000);
    route_plan_link(p, A, E, 100, 5000);
    route_plan_link(p, B, D, 40, 1000);
    route_plan_link(p, C, B, 40, 1000);
    route_plan_link(p, E, B, 100, 4000);
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    ck_assert_str_eq(way(p, routes, A, B), "A E B");
    ck_assert_double_eq(route_at(routes, A, B)->gbps, 100);
    ck_assert_str_eq(way(p, routes, A, D), "A C B D");
    ck_assert_double_eq(route_at(routes, A, D)->gbps, 40);
    ck_assert_int_eq(route_at(routes, A, D)->latency_ns, 3000);
    mo_routes_free(routes);
    free(p);
}
END_TEST

static const struct {
    const char *tie;
    mo_link links[6];
    int n;
    const char *way;
} ties[] = {
    { "latency decides between equal widths",
      { { A, B, 10, 9, 0 },
        { A, C, 10, 1, 0 },
        { A, D, 10, 4, 0 },
        { B, E, 10, 1, 0 },
        { C, D, 10, 1, 0 },
        { D, E, 10, 1, 0 } },
      6,
      "A C D E" },
    { "hops decide between equal latencies",
      { { A, B, 10, 1, 0 },
        { A, D, 10, 2, 0 },
        { B, C, 10, 1, 0 },
        { C, E, 10, 1, 0 },
        { D, E, 10, 1, 0 } },
      5,
      "A D E" },
    { "numbers decide between equal hops",
      { { A, C, 10, 1, 0 },
        { A, D, 10, 1, 0 },
        { C, E, 10, 1, 0 },
        { D, E, 10, 1, 0 } },
      4,
      "A C E" },
    { "links without latency make no circles",
      { { A, B, 10, 0, 0 },
        { B, A, 10, 0, 0 },
        { B, C, 10, 0, 0 },
        { C, A, 10, 0, 0 },
        { C, E, 10, 0, 0 } },
      5,
      "A B C E" },
};

START_TEST(ties_are_broken_in_order)
{
    route_plan *p = route_plan_new(5);
    mo_routes *routes;

    memcpy(p->links, ties[_i].links, sizeof ties[_i].links);
    p->cluster.n_links = ties[_i].n;
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    ck_assert_msg(strcmp(way(p, routes, A, E), ties[_i].way) == 0, "%s: %s",
                  ties[_i].tie, way(p, routes, A, E));
    mo_routes_free(routes);
    free(p);
}
END_TEST

START_TEST(directions_are_apart)
{
    route_plan *p = route_plan_new(3);
    mo_routes *routes;

    route_plan_link(p, A, B, 10, 1000);
    route_plan_link(p, B, A, 30, 2000);
    route_plan_link(p, B, C, 50, 1000);
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    ck_assert_double_eq(route_at(routes, A, B)->gbps, 10);
    ck_assert_double_eq(route_at(routes, B, A)->gbps, 30);
    ck_assert_double_eq(route_at(routes, A, C)->gbps, 10);
    ck_assert_double_eq(route_at(routes, C, A)->gbps, 0);
    ck_assert_int_eq(route_at(routes, C, A)->hops, 0);
    mo_routes_free(routes);
    free(p);
}
END_TEST

START_TEST(a_device_has_no_route_to_itself)
{
    route_plan *p = route_plan_new(2);
    mo_routes *routes;

    route_plan_link(p, A, B, 10, 1000);
    route_plan_link(p, B, A, 10, 1000);
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    ck_assert_int_eq(route_at(routes, A, A)->hops, 0);
    ck_assert_double_eq(route_at(routes, B, B)->gbps, 0);
    mo_routes_free(routes);
    free(p);
}
END_TEST

START_TEST(the_longest_latencies_add_up)
{
    route_plan *p = route_plan_new(ROUTE_DEVICES);
    mo_routes *routes;
    const mo_route *r;

    for (int k = 0; k + 1 < ROUTE_DEVICES; k++)
        route_plan_link(p, k, k + 1, 1 + k, MO_MAX_LATENCY_NS);
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    r = route_at(routes, 0, ROUTE_DEVICES - 1);
    ck_assert_double_eq(r->gbps, 1);
    ck_assert_int_eq(r->hops, ROUTE_DEVICES - 1);
    ck_assert_int_eq(r->latency_ns, (ROUTE_DEVICES - 1) * MO_MAX_LATENCY_NS);
    mo_routes_free(routes);
    free(p);
}
END_TEST

static const struct {
    int n, n_links;
    mo_link links[6];
    const char *message;
} parts[] = {
    { 1, 0, { { 0 } }, "" },
    { 2, 2, { { A, B, 1, 0, 0 }, { B, A, 1, 0, 0 } }, "" },
    { 3, 3, { { A, B, 1, 0, 0 }, { B, C, 1, 0, 0 }, { C, A, 1, 0, 0 } }, "" },
    { 2, 0, { { 0 } }, "A cannot reach B" },
    { 2, 1, { { B, A, 1, 0, 0 } }, "A cannot reach B" },
    { 4,
      4,
      { { A, B, 1, 0, 0 },
        { B, A, 1, 0, 0 },
        { C, D, 1, 0, 0 },
        { D, C, 1, 0, 0 } },
      "A, B cannot reach C, D" },
    { 3,
      3,
      { { A, C, 1, 0, 0 }, { B, A, 1, 0, 0 }, { C, A, 1, 0, 0 } },
      "A, C cannot reach B" },
    { 14, 0, { { 0 } }, "A cannot reach B, C, D, E, F, G, H, I and 5 more" },
};

START_TEST(a_cluster_in_two_parts_is_named_so)
{
    route_plan *p = route_plan_new(parts[_i].n);
    mo_routes *routes;
    mo_error found = { 0 };
    char message[256];

    memcpy(p->links, parts[_i].links, sizeof parts[_i].links);
    p->cluster.n_links = parts[_i].n_links;
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    if (parts[_i].message[0] == '\0') {
        ck_assert_int_eq(mo_routes_connected(&p->cluster, routes, &found),
                         MO_OK);
    } else {
        snprintf(message, sizeof message,
                 "cluster is not connected: %s; add a link from one part to "
                 "the other",
                 parts[_i].message);
        ck_assert_int_eq(mo_routes_connected(&p->cluster, routes, &found),
                         MO_E_INPUT);
        ck_assert_str_eq(found.text, message);
        ck_assert_str_eq(found.file, "plan");
    }
    mo_routes_free(routes);
    free(p);
}
END_TEST

SUITE(route)
{
    TEST(a_path_is_as_wide_as_its_narrowest_link);
    TEST(a_direct_link_is_taken_though_a_detour_is_wider);
    TEST(a_route_is_not_made_of_routes);
    EACH(ties_are_broken_in_order, COUNT(ties));
    TEST(directions_are_apart);
    TEST(a_device_has_no_route_to_itself);
    TEST(the_longest_latencies_add_up);
    EACH(a_cluster_in_two_parts_is_named_so, COUNT(parts));
}
