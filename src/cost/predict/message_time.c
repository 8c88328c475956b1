/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/predict/message_time.h"

#include <math.h>

#include "graph/graph.h"

/* 1 Gbit/s is 1 bit/ns. */
static double route_ns(const mo_route *route, int64_t bytes)
{
    if (route->gbps == 0)
        return NAN;
    return (double) route->latency_ns + (double) bytes * 8 / route->gbps;
}

double mo_predict_message_ns(const mo_cluster *cluster, const mo_routes *routes,
                             const mo_profile *profile, int from, int to,
                             int64_t bytes)
{
    const mo_device *a = &cluster->devices[from], *b = &cluster->devices[to];
    double ns = NAN;

    if (bytes == MO_UNKNOWN)
        return NAN;
    if (profile)
        ns = mo_profile_link_ns(profile, a, b, bytes);
    if (!isnan(ns))
        return ns;
    return route_ns(
        &routes->routes[(size_t) from * (size_t) routes->n + (size_t) to],
        bytes);
}
