/* Claims of cost/route.h; small clusters are held against an enumeration of all
 * their paths. */
#include "cost/route.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/suite.h"

enum { MAX_DEVICES = 256, MAX_LINKS = 4096 };

/* A cluster on the stack of the test: devices are called A, B, ... */
typedef struct plan {
    mo_cluster cluster;
    mo_device devices[MAX_DEVICES];
    char ids[MAX_DEVICES][8];
    mo_link links[MAX_LINKS];
} plan;

static plan *plan_new(int n)
{
    plan *p = calloc(1, sizeof *p);

    ck_assert_ptr_nonnull(p);
    ck_assert_int_le(n, MAX_DEVICES);
    for (int k = 0; k < n; k++) {
        snprintf(p->ids[k], sizeof p->ids[k], n <= 26 ? "%c" : "d%d",
                 n <= 26 ? 'A' + k : k);
        p->devices[k].id = p->ids[k];
    }
    p->cluster.file = "plan";
    p->cluster.devices = p->devices;
    p->cluster.n_devices = n;
    p->cluster.links = p->links;
    return p;
}

/* Links must come sorted, as in any cluster. */
static void plan_link(plan *p, int from, int to, double gbps,
                      int64_t latency_ns)
{
    ck_assert_int_lt(p->cluster.n_links, MAX_LINKS);
    p->links[p->cluster.n_links++] = (mo_link){ from, to, gbps, latency_ns, 0 };
}

static const mo_route *route(const mo_routes *routes, int from, int to)
{
    return &routes->routes[from * routes->n + to];
}

/* "A B D": the devices on the way. */
static const char *way(const plan *p, const mo_routes *routes, int from, int to)
{
    static char text[1024];
    const mo_route *r = route(routes, from, to);
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
    plan *p = plan_new(4);
    mo_routes *routes;
    const mo_route *r;

    plan_link(p, A, B, 0.08, 3000);
    plan_link(p, B, A, 0.08, 3000);
    plan_link(p, B, D, 0.04, 4000);
    plan_link(p, D, B, 0.04, 4000);
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    r = route(routes, A, D);
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
    plan *p = plan_new(3);
    mo_routes *routes;

    plan_link(p, A, B, 100, 0);
    plan_link(p, A, C, 1, 9000);
    plan_link(p, B, C, 100, 0);
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    ck_assert_double_eq(route(routes, A, C)->gbps, 1);
    ck_assert_int_eq(route(routes, A, C)->latency_ns, 9000);
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
    plan *p = plan_new(5);
    mo_routes *routes;

    plan_link(p, A, C, 40, 1000);
    plan_link(p, A, E, 100, 5000);
    plan_link(p, B, D, 40, 1000);
    plan_link(p, C, B, 40, 1000);
    plan_link(p, E, B, 100, 4000);
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    ck_assert_str_eq(way(p, routes, A, B), "A E B");
    ck_assert_double_eq(route(routes, A, B)->gbps, 100);
    ck_assert_str_eq(way(p, routes, A, D), "A C B D");
    ck_assert_double_eq(route(routes, A, D)->gbps, 40);
    ck_assert_int_eq(route(routes, A, D)->latency_ns, 3000);
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
    plan *p = plan_new(5);
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
    plan *p = plan_new(3);
    mo_routes *routes;

    plan_link(p, A, B, 10, 1000);
    plan_link(p, B, A, 30, 2000);
    plan_link(p, B, C, 50, 1000);
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    ck_assert_double_eq(route(routes, A, B)->gbps, 10);
    ck_assert_double_eq(route(routes, B, A)->gbps, 30);
    ck_assert_double_eq(route(routes, A, C)->gbps, 10);
    ck_assert_double_eq(route(routes, C, A)->gbps, 0);
    ck_assert_int_eq(route(routes, C, A)->hops, 0);
    mo_routes_free(routes);
    free(p);
}
END_TEST

START_TEST(a_device_has_no_route_to_itself)
{
    plan *p = plan_new(2);
    mo_routes *routes;

    plan_link(p, A, B, 10, 1000);
    plan_link(p, B, A, 10, 1000);
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    ck_assert_int_eq(route(routes, A, A)->hops, 0);
    ck_assert_double_eq(route(routes, B, B)->gbps, 0);
    mo_routes_free(routes);
    free(p);
}
END_TEST

START_TEST(the_longest_latencies_add_up)
{
    plan *p = plan_new(MAX_DEVICES);
    mo_routes *routes;
    const mo_route *r;

    for (int k = 0; k + 1 < MAX_DEVICES; k++)
        plan_link(p, k, k + 1, 1 + k, MO_MAX_LATENCY_NS);
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    r = route(routes, 0, MAX_DEVICES - 1);
    ck_assert_double_eq(r->gbps, 1);
    ck_assert_int_eq(r->hops, MAX_DEVICES - 1);
    ck_assert_int_eq(r->latency_ns, (MAX_DEVICES - 1) * MO_MAX_LATENCY_NS);
    mo_routes_free(routes);
    free(p);
}
END_TEST

/* xorshift; seeded by the number of the test, which a failure prints. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int random_below(uint64_t *state, int n)
{
    return (int) (next_random(state) % (uint64_t) n);
}

/* Few different widths and latencies make many ties. */
static plan *random_plan(int seed, int n, int percent)
{
    uint64_t state = 0x9e3779b97f4a7c15u * ((uint64_t) seed + 1);
    int n_widths = 1 + random_below(&state, 5);
    int n_latencies = 1 + random_below(&state, 4);
    plan *p = plan_new(n);

    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            if (a != b && random_below(&state, 100) < percent)
                plan_link(p, a, b, 10 * (1 + random_below(&state, n_widths)),
                          1000 * random_below(&state, n_latencies));
    return p;
}

typedef struct trail {
    double gbps;
    int64_t latency_ns;
    int hops, devices[16]; /* after the first */
} trail;

static bool is_better(const trail *a, const trail *b)
{
    if (a->gbps != b->gbps)
        return a->gbps > b->gbps;
    if (a->latency_ns != b->latency_ns)
        return a->latency_ns < b->latency_ns;
    if (a->hops != b->hops)
        return a->hops < b->hops;
    for (int h = 0; h < a->hops; h++)
        if (a->devices[h] != b->devices[h])
            return a->devices[h] < b->devices[h];
    return false;
}

/* Tries every path without a circle that goes on from trail. */
static void enumerate(const plan *p, int at, int to, unsigned visited,
                      const trail *so_far, trail *best)
{
    if (at == to) {
        if (is_better(so_far, best))
            *best = *so_far;
        return;
    }
    for (int l = 0; l < p->cluster.n_links; l++) {
        const mo_link *link = &p->links[l];
        trail longer = *so_far;

        if (link->from != at || visited & 1u << link->to)
            continue;
        if (link->gbps < longer.gbps)
            longer.gbps = link->gbps;
        longer.latency_ns += link->latency_ns;
        longer.devices[longer.hops++] = link->to;
        enumerate(p, link->to, to, visited | 1u << link->to, &longer, best);
    }
}

static trail best_trail(const plan *p, int from, int to)
{
    trail nowhere = { .gbps = 1e9 }, best = { .gbps = 0 };

    for (int l = 0; l < p->cluster.n_links; l++)
        if (p->links[l].from == from && p->links[l].to == to)
            return (
                trail){ p->links[l].gbps, p->links[l].latency_ns, 1, { to } };
    enumerate(p, from, to, 1u << from, &nowhere, &best);
    return best;
}

static void check_pair(const plan *p, const mo_routes *routes, int from, int to,
                       int seed)
{
    trail best = best_trail(p, from, to);
    const mo_route *r = route(routes, from, to);

    ck_assert_msg(r->gbps == best.gbps && r->latency_ns == best.latency_ns &&
                      r->hops == best.hops,
                  "seed %d, %d to %d: %g %lld %d, not %g %lld %d", seed, from,
                  to, r->gbps, (long long) r->latency_ns, r->hops, best.gbps,
                  (long long) best.latency_ns, best.hops);
    for (int h = 0; h < r->hops; h++)
        ck_assert_msg(p->links[routes->path[r->first_link + h]].to ==
                          best.devices[h],
                      "seed %d, %d to %d: hop %d", seed, from, to, h);
}

static void check_plan(int seed)
{
    int n = 1 + seed % 6;
    plan *p = random_plan(seed, n, 15 + seed % 70);
    mo_routes *routes;

    MUST(mo_routes_make(&p->cluster, &routes, &err));
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++)
            if (from != to)
                check_pair(p, routes, from, to, seed);
    mo_routes_free(routes);
    free(p);
}

enum { SEEDS_A_TEST = 100 };

START_TEST(routes_are_the_best_of_all_paths)
{
    for (int i = 0; i < SEEDS_A_TEST; i++)
        check_plan(_i * SEEDS_A_TEST + i);
}
END_TEST

enum { MANY = 48 };

/* Widths by the classical triple loop. */
static void find_widths(const plan *p, int n, double widths[MANY][MANY])
{
    memset(widths, 0, sizeof(double[MANY][MANY]));
    for (int l = 0; l < p->cluster.n_links; l++)
        widths[p->links[l].from][p->links[l].to] = p->links[l].gbps;
    for (int k = 0; k < n; k++)
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) {
                double through =
                    widths[a][k] < widths[k][b] ? widths[a][k] : widths[k][b];

                if (a != b && through > widths[a][b])
                    widths[a][b] = through;
            }
}

/* The least latency over links of at least that width, by trying each link
 * until nothing gets better. */
static int64_t least_latency(const plan *p, int from, int to, double gbps)
{
    int64_t best[MANY];
    bool better = true;

    for (int k = 0; k < MANY; k++)
        best[k] = k == from ? 0 : INT64_MAX / 2;
    while (better) {
        better = false;
        for (int l = 0; l < p->cluster.n_links; l++) {
            const mo_link *link = &p->links[l];
            int64_t through = best[link->from] + link->latency_ns;

            if (link->gbps >= gbps && through < best[link->to]) {
                best[link->to] = through;
                better = true;
            }
        }
    }
    return best[to];
}

static bool is_direct(const mo_routes *routes, const plan *p, int a, int b)
{
    const mo_route *r = route(routes, a, b);

    return r->hops == 1 && p->links[routes->path[r->first_link]].to == b;
}

START_TEST(routes_of_larger_clusters_are_as_wide_and_quick_as_can_be)
{
    static double widths[MANY][MANY];
    plan *p = random_plan(_i, MANY, 2 + _i);
    mo_routes *routes;

    MUST(mo_routes_make(&p->cluster, &routes, &err));
    find_widths(p, MANY, widths);
    for (int a = 0; a < MANY; a++)
        for (int b = 0; b < MANY; b++) {
            const mo_route *r = route(routes, a, b);

            if (a == b || is_direct(routes, p, a, b))
                continue;
            ck_assert_double_eq(r->gbps, widths[a][b]);
            if (r->hops > 0)
                ck_assert_int_eq(r->latency_ns,
                                 least_latency(p, a, b, r->gbps));
        }
    mo_routes_free(routes);
    free(p);
}
END_TEST

static const struct {
    int n, n_links;
    mo_link links[6];
    const char *said;
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
    plan *p = plan_new(parts[_i].n);
    mo_routes *routes;
    mo_error found = { 0 };
    char said[256];

    memcpy(p->links, parts[_i].links, sizeof parts[_i].links);
    p->cluster.n_links = parts[_i].n_links;
    MUST(mo_routes_make(&p->cluster, &routes, &err));
    if (parts[_i].said[0] == '\0') {
        ck_assert_int_eq(mo_routes_connected(&p->cluster, routes, &found),
                         MO_OK);
    } else {
        snprintf(said, sizeof said,
                 "cluster is not connected: %s; add a link from one part to "
                 "the other",
                 parts[_i].said);
        ck_assert_int_eq(mo_routes_connected(&p->cluster, routes, &found),
                         MO_E_INPUT);
        ck_assert_str_eq(found.text, said);
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
    SOME(routes_are_the_best_of_all_paths, 50, 5);
    EACH(routes_of_larger_clusters_are_as_wide_and_quick_as_can_be, 12);
    EACH(a_cluster_in_two_parts_is_named_so, COUNT(parts));
}
