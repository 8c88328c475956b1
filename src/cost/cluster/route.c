/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/cluster/route.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * Incremental all-pairs shortest paths. Links are added from the widest to the
 * narrowest, those of one width together. A pair that becomes connected at
 * some width has exactly that width, and its quickest path may use exactly the
 * links added so far:
 *
 *     A --100-- B --100-- C      with the 100s in: A-B, A-C, B-C
 *     |                          with the 40s, too: A-D, B-D, C-D, the quickest
 *     `---40--- D ---40-- C      over any of the links
 *
 * So one table of distances, updated while links are added, gives the result
 * of every pair at the moment the pair becomes connected. A new link u -> v
 * shortens s -> t only if it shortens both s -> v and u -> t, which leaves few
 * pairs to examine.
 *
 * Distance is latency, then hops, in one number. The table has a row for each
 * target, since paths are followed towards one.
 */
#define HOP        INT64_C(1)
#define NANOSECOND ((int64_t) MO_MAX_DEVICES) /* more than a path's hops */
#define FAR        (INT64_MAX / 4)            /* three of them can be added */

/* A path has fewer links than there are devices. */
_Static_assert(MO_MAX_LATENCY_NS < FAR / MO_MAX_DEVICES / MO_MAX_DEVICES,
               "no distance is as long as FAR");

typedef struct route_search {
    const mo_cluster *cluster;
    mo_routes *routes;
    size_t n;          /* devices */
    int *first;        /* links out of k: first[k] .. first[k + 1] */
    int *by_width;     /* links, the widest first */
    int64_t *distance; /* to * n + from, over the links added so far */
    int *sources;      /* scratch, one per device */
    int *fresh;        /* pairs, to * n + from, connected with this width */
    size_t n_fresh, fresh_room;
    size_t n_pending; /* pairs that have no route yet */
    size_t n_path, path_room;
} route_search;

static int64_t link_distance(const mo_link *link)
{
    return link->latency_ns * NANOSECOND + HOP;
}

static const int64_t *distances_to(const route_search *w, int to)
{
    return w->distance + (size_t) to * w->n;
}

static mo_route *route_of(const route_search *w, int from, int to)
{
    return &w->routes->routes[(size_t) from * w->n + (size_t) to];
}

static mo_status reserve_path(route_search *w, int n_more, mo_error *err)
{
    size_t need = w->n_path + (size_t) n_more;
    void *path = w->routes->path;
    mo_status status;

    if (need <= w->path_room)
        return MO_OK;
    if (need > MO_MAX_ROUTE_LINKS)
        return mo_fail_at(err, MO_E_LIMIT, w->cluster->file, 0,
                          "the routes between %zu devices have more than %d "
                          "hops; link them more directly",
                          w->n, MO_MAX_ROUTE_LINKS);
    status = mo_array_reserve(&path, &w->path_room, need,
                              sizeof *w->routes->path, err);
    w->routes->path = path;
    return status;
}

/* Records a pair that has just become connected, unless it has a link. */
static mo_status note_fresh(route_search *w, int from, int to, mo_error *err)
{
    mo_status status;

    if (route_of(w, from, to)->hops > 0)
        return MO_OK;
    status = MO_ARRAY_GROW(w->fresh, w->n_fresh, w->fresh_room, err);
    if (status == MO_OK)
        w->fresh[w->n_fresh++] = (int) ((size_t) to * w->n) + from;
    return status;
}

/* Finds the devices that the link from u brings closer to v. */
static int find_sources(route_search *w, int u, int v, int64_t step)
{
    const int64_t *to_u = distances_to(w, u), *to_v = distances_to(w, v);
    int n_sources = 0;

    for (int s = 0; s < (int) w->n; s++)
        if (to_u[s] + step < to_v[s])
            w->sources[n_sources++] = s;
    return n_sources;
}

/* Updates distances to t, at distance rest from u over the new link. */
static mo_status shorten_to(route_search *w, int t, int64_t rest, int u,
                            int n_sources, mo_error *err)
{
    int64_t *to_t = w->distance + (size_t) t * w->n;
    const int64_t *to_u = distances_to(w, u);
    mo_status status = MO_OK;

    for (int i = 0; i < n_sources && status == MO_OK; i++) {
        int s = w->sources[i];
        int64_t way = to_u[s] + rest;

        if (way >= to_t[s])
            continue;
        if (to_t[s] == FAR)
            status = note_fresh(w, s, t, err);
        to_t[s] = way;
    }
    return status;
}

static mo_status add_link(route_search *w, const mo_link *link, mo_error *err)
{
    int64_t step = link_distance(link);
    int n_sources;
    mo_status status = MO_OK;

    if (step >= distances_to(w, link->to)[link->from])
        return MO_OK;
    n_sources = find_sources(w, link->from, link->to, step);
    for (int t = 0; t < (int) w->n && status == MO_OK; t++) {
        const int64_t *to_t = distances_to(w, t);
        int64_t rest = step + to_t[link->to];

        if (rest < to_t[link->from])
            status = shorten_to(w, t, rest, link->from, n_sources, err);
    }
    return status;
}

/* Returns the first link of the best path from x to t: links are sorted by
 * their targets, so it is the first one on a shortest path. */
static int next_link(const route_search *w, int x, int t, double gbps)
{
    const int64_t *to_t = distances_to(w, t);

    for (int l = w->first[x]; l < w->first[x + 1]; l++) {
        const mo_link *link = &w->cluster->links[l];

        if (link->gbps >= gbps &&
            link_distance(link) + to_t[link->to] == to_t[x])
            return l;
    }
    assert(!"a distance without a path");
    return -1;
}

/* Returns whether the route from x to t was found over links at least this
 * wide; it is then the end of all routes through x. */
static bool is_walked(const route_search *w, int x, int t, double gbps)
{
    const mo_route *route = route_of(w, x, t);

    return route->hops > 1 && route->gbps == gbps;
}

/* Sets the route to t of every device on the path from x that has none yet:
 * its part of the path, which begins at index at. */
static void share_path(route_search *w, int x, int t, double gbps, int at)
{
    for (; x != t && !is_walked(w, x, t, gbps); at++) {
        mo_route *route = route_of(w, x, t);
        int64_t far = distances_to(w, t)[x];

        if (route->hops == 0)
            *route = (mo_route){ gbps, far / NANOSECOND,
                                 (int) (far % NANOSECOND), at };
        x = w->cluster->links[w->routes->path[at]].to;
    }
}

static mo_status set_routes_along(route_search *w, int from, int t, double gbps,
                                  mo_error *err)
{
    const mo_route *rest;
    int x = from, at = (int) w->n_path;
    int hops = (int) (distances_to(w, t)[from] % NANOSECOND);
    mo_status status = reserve_path(w, hops, err);
    int *path = w->routes->path;

    if (status != MO_OK)
        return status;
    for (; x != t && !is_walked(w, x, t, gbps); w->n_path++) {
        path[w->n_path] = next_link(w, x, t, gbps);
        x = w->cluster->links[path[w->n_path]].to;
    }
    rest = route_of(w, x, t);
    if (x != t) {
        memcpy(path + w->n_path, path + rest->first_link,
               (size_t) rest->hops * sizeof *path);
        w->n_path += (size_t) rest->hops;
    }
    share_path(w, from, t, gbps, at);
    return MO_OK;
}

static int hops_of(const route_search *w, int pair)
{
    return (int) (w->distance[pair] % NANOSECOND);
}

/* Sorts the fresh pairs by falling number of hops: the end of a path is that
 * of a pair that comes later, and is stored once. */
static mo_status sort_farthest_first(route_search *w, mo_error *err)
{
    size_t *place = calloc(w->n + 1, sizeof *place);
    int *sorted = malloc((w->n_fresh + 1) * sizeof *sorted);

    if (!place || !sorted) {
        free(sorted);
        free(place);
        return mo_fail_memory(err);
    }
    for (size_t i = 0; i < w->n_fresh; i++)
        place[hops_of(w, w->fresh[i]) - 1]++;
    for (size_t h = w->n; h-- > 0;)
        place[h] += place[h + 1];
    for (size_t i = 0; i < w->n_fresh; i++)
        sorted[place[hops_of(w, w->fresh[i])]++] = w->fresh[i];
    free(place);
    free(w->fresh);
    w->fresh = sorted;
    w->fresh_room = w->n_fresh + 1;
    return MO_OK;
}

/* Adds the links of one width, from index at on, and sets the routes of the
 * pairs that became connected. *next is where the narrower links begin. */
static mo_status add_width(route_search *w, int at, int *next, mo_error *err)
{
    const mo_link *links = w->cluster->links;
    double gbps = links[w->by_width[at]].gbps;
    mo_status status = MO_OK;

    w->n_fresh = 0;
    for (; at < w->cluster->n_links && links[w->by_width[at]].gbps == gbps &&
           status == MO_OK;
         at++)
        status = add_link(w, &links[w->by_width[at]], err);
    if (status == MO_OK)
        status = sort_farthest_first(w, err);
    for (size_t i = 0; i < w->n_fresh && status == MO_OK; i++) {
        int from = w->fresh[i] % (int) w->n, to = w->fresh[i] / (int) w->n;

        if (route_of(w, from, to)->hops == 0)
            status = set_routes_along(w, from, to, gbps, err);
    }
    w->n_pending -= w->n_fresh;
    *next = at;
    return status;
}

typedef struct wide {
    double gbps;
    int link;
} wide;

static int compare_wide(const void *a, const void *b)
{
    const wide *x = a, *y = b;

    if (x->gbps != y->gbps)
        return x->gbps > y->gbps ? -1 : 1;
    return (x->link > y->link) - (x->link < y->link);
}

static bool sort_by_width(route_search *w)
{
    size_t n_links = (size_t) w->cluster->n_links;
    wide *order = malloc(n_links * sizeof *order);

    if (!order)
        return false;
    for (size_t l = 0; l < n_links; l++)
        order[l] = (wide){ w->cluster->links[l].gbps, (int) l };
    qsort(order, n_links, sizeof *order, compare_wide);
    for (size_t l = 0; l < n_links; l++)
        w->by_width[l] = order[l].link;
    free(order);
    return true;
}

static mo_status find_paths(route_search *w, mo_error *err)
{
    int n_links = w->cluster->n_links;
    mo_status status = reserve_path(w, w->cluster->n_links, err);

    for (int l = 0; l < w->cluster->n_links && status == MO_OK; l++) {
        const mo_link *link = &w->cluster->links[l];

        w->routes->path[w->n_path++] = l;
        *route_of(w, link->from, link->to) =
            (mo_route){ link->gbps, link->latency_ns, 1, l };
    }
    w->n_pending = w->n * (w->n - 1) - (size_t) n_links;
    if (status != MO_OK || w->n_pending == 0 || n_links == 0)
        return status;
    w->first = calloc(w->n + 1, sizeof *w->first);
    w->by_width = calloc((size_t) w->cluster->n_links, sizeof *w->by_width);
    w->sources = calloc(w->n, sizeof *w->sources);
    w->distance = malloc(w->n * w->n * sizeof *w->distance);
    if (!w->first || !w->by_width || !w->sources || !w->distance ||
        !sort_by_width(w)) {
        status = mo_fail_memory(err);
    } else {
        for (int l = 0; l < w->cluster->n_links; l++)
            w->first[w->cluster->links[l].from + 1]++;
        for (size_t k = 0; k < w->n; k++)
            w->first[k + 1] += w->first[k];
        for (size_t i = 0; i < w->n * w->n; i++)
            w->distance[i] = FAR;
        for (size_t k = 0; k < w->n; k++)
            w->distance[k * w->n + k] = 0;
    }
    for (int at = 0; at < n_links && w->n_pending > 0 && status == MO_OK;)
        status = add_width(w, at, &at, err);
    return status;
}

mo_status mo_routes_make(const mo_cluster *cluster, mo_routes **routes,
                         mo_error *err)
{
    route_search w = { .cluster = cluster, .n = (size_t) cluster->n_devices };
    mo_status status;

    w.routes = calloc(1, sizeof *w.routes);
    if (!w.routes)
        return mo_fail_memory(err);
    w.routes->n = cluster->n_devices;
    w.routes->routes = calloc(w.n * w.n, sizeof *w.routes->routes);
    status = w.routes->routes ? find_paths(&w, err) : mo_fail_memory(err);
    free(w.fresh);
    free(w.distance);
    free(w.sources);
    free(w.by_width);
    free(w.first);
    w.routes->n_path = w.n_path;
    if (status == MO_OK)
        *routes = w.routes;
    else
        mo_routes_free(w.routes);
    return status;
}

void mo_routes_free(mo_routes *routes)
{
    if (!routes)
        return;
    free(routes->path);
    free(routes->routes);
    free(routes);
}

/* Names of each part that a message lists. */
enum { MAX_NAMES = 8, NAMES_SIZE = 384 };

static bool reaches(const mo_routes *routes, int from, int to)
{
    return from == to ||
           routes->routes[(size_t) from * (size_t) routes->n + (size_t) to]
                   .hops > 0;
}

/* Returns a device that does not reach all others, or -1. */
static int find_unreaching_device(const mo_routes *routes)
{
    for (int s = 0; s < routes->n; s++)
        for (int t = 0; t < routes->n; t++)
            if (!reaches(routes, s, t))
                return s;
    return -1;
}

/* Writes the names of the devices that s reaches, or of those it does not. */
static void name_part(const mo_cluster *cluster, const mo_routes *routes, int s,
                      bool reached, char *names)
{
    int n_left = 0;
    size_t link_distance = 0;

    names[0] = '\0';
    for (int t = 0, n = 0; t < routes->n; t++) {
        if (reaches(routes, s, t) != reached)
            continue;
        if (n++ < MAX_NAMES)
            link_distance += (size_t) snprintf(
                names + link_distance, NAMES_SIZE - link_distance, "%s%.32s",
                n > 1 ? ", " : "", cluster->devices[t].id);
        else
            n_left++;
    }
    if (n_left > 0)
        snprintf(names + link_distance, NAMES_SIZE - link_distance,
                 " and %d more", n_left);
}

/*
 * The devices that s reaches, taken together, reach no others: else s would
 * reach those, too.
 */
mo_status mo_routes_connected(const mo_cluster *cluster,
                              const mo_routes *routes, mo_error *err)
{
    char reached[NAMES_SIZE], unreached[NAMES_SIZE];
    int s = find_unreaching_device(routes);

    if (s < 0)
        return MO_OK;
    name_part(cluster, routes, s, true, reached);
    name_part(cluster, routes, s, false, unreached);
    return mo_fail_at(err, MO_E_INPUT, cluster->file, 0,
                      "cluster is not connected: %s cannot reach %s; add a "
                      "link from one part to the other",
                      reached, unreached);
}
