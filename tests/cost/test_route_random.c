/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/cluster/route.h, held against an enumeration of all paths. */
#include "cost/cluster/route.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tests/cost/route_case.h"
#include "tests/support/suite.h"

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
static route_plan *random_plan(int seed, int n, int percent)
{
    uint64_t state = 0x9e3779b97f4a7c15u * ((uint64_t) seed + 1);
    int n_widths = 1 + random_below(&state, 5);
    int n_latencies = 1 + random_below(&state, 4);
    route_plan *p = route_plan_new(n);

    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            if (a != b && random_below(&state, 100) < percent)
                route_plan_link(p, a, b,
                                10 * (1 + random_below(&state, n_widths)),
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
static void enumerate(const route_plan *p, int at, int to, unsigned visited,
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

static trail best_trail(const route_plan *p, int from, int to)
{
    trail nowhere = { .gbps = 1e9 }, best = { .gbps = 0 };

    for (int l = 0; l < p->cluster.n_links; l++)
        if (p->links[l].from == from && p->links[l].to == to)
            return (
                trail){ p->links[l].gbps, p->links[l].latency_ns, 1, { to } };
    enumerate(p, from, to, 1u << from, &nowhere, &best);
    return best;
}

static void check_pair(const route_plan *p, const mo_routes *routes, int from,
                       int to, int seed)
{
    trail best = best_trail(p, from, to);
    const mo_route *r = route_at(routes, from, to);

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
    route_plan *p = random_plan(seed, n, 15 + seed % 70);
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
static void find_widths(const route_plan *p, int n, double widths[MANY][MANY])
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
static int64_t least_latency(const route_plan *p, int from, int to, double gbps)
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

static bool is_direct(const mo_routes *routes, const route_plan *p, int a,
                      int b)
{
    const mo_route *r = route_at(routes, a, b);

    return r->hops == 1 && p->links[routes->path[r->first_link]].to == b;
}

START_TEST(routes_of_larger_clusters_are_as_wide_and_quick_as_can_be)
{
    static double widths[MANY][MANY];
    route_plan *p = random_plan(_i, MANY, 2 + _i);
    mo_routes *routes;

    MUST(mo_routes_make(&p->cluster, &routes, &err));
    find_widths(p, MANY, widths);
    for (int a = 0; a < MANY; a++)
        for (int b = 0; b < MANY; b++) {
            const mo_route *r = route_at(routes, a, b);

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

SUITE(route_random)
{
    SOME(routes_are_the_best_of_all_paths, 50, 5);
    EACH(routes_of_larger_clusters_are_as_wide_and_quick_as_can_be, 12);
}
