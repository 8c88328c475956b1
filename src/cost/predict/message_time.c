/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/predict/message_time.h"

#include <math.h>

#include "graph/graph.h"

double mo_predict_message_ns(const mo_cluster *cluster, const mo_routes *routes,
                             const mo_profile *profile, int from, int to,
                             int64_t bytes)
{
    const mo_device *a = &cluster->devices[from], *b = &cluster->devices[to];
    double ns = NAN;
    const mo_route *route;

    if (bytes == MO_UNKNOWN)
        return NAN;
    if (profile)
        ns = mo_profile_link_ns(profile, a, b, bytes);
    if (!isnan(ns))
        return ns;
    route = &routes->routes[(size_t) from * (size_t) routes->n + (size_t) to];
    if (route->gbps == 0)
        return NAN;
    return (double) route->latency_ns + (double) bytes * 8 / route->gbps;
}
