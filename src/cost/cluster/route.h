/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - routing: widest-shortest paths between all pairs of devices.
 *
 * A direct link is always used. Otherwise the path with the widest bottleneck;
 * among those of that width the quickest (least total latency), then the
 * fewest hops, then the lexicographically smallest device numbers.
 * Widest-then-quickest has no optimal substructure: the width of a pair comes
 * first, and the quickest path second, over the links that are at least that
 * wide.
 */
#ifndef MO_COST_CLUSTER_ROUTE_H
#define MO_COST_CLUSTER_ROUTE_H

#include <stdint.h>

#include "base/error.h"
#include "cost/cluster.h"

enum { MO_MAX_ROUTE_LINKS = 1 << 28 }; /* on all paths together */

typedef struct mo_route {
    double gbps;        /* of the bottleneck; 0 when there is no path */
    int64_t latency_ns; /* sum over its links */
    int hops;           /* links on it */
    int first_link;     /* its links: mo_routes.path[first_link ..) */
} mo_route;

typedef struct mo_routes {
    int n;            /* devices */
    mo_route *routes; /* n * n, from * n + to; the diagonal is empty */
    int *path;        /* link numbers of the cluster, in order of travel */
    size_t n_path;
} mo_routes;

/* The caller frees *routes with mo_routes_free(), which accepts NULL. */
mo_status mo_routes_make(const mo_cluster *cluster, mo_routes **routes,
                         mo_error *err);
void mo_routes_free(mo_routes *routes);

/* Returns MO_OK when every device reaches every other, else MO_E_INPUT with a
 * message that names two parts of the cluster, the first of which cannot reach
 * the second. */
mo_status mo_routes_connected(const mo_cluster *cluster,
                              const mo_routes *routes, mo_error *err);

#endif
