/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cost/route_case.h"

#include <stdio.h>

#include "tests/support/suite.h"

route_plan *route_plan_new(int n)
{
    route_plan *p = calloc(1, sizeof *p);

    ck_assert_ptr_nonnull(p);
    ck_assert_int_le(n, ROUTE_DEVICES);
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

void route_plan_link(route_plan *p, int from, int to, double gbps,
                     int64_t latency_ns)
{
    ck_assert_int_lt(p->cluster.n_links, ROUTE_LINKS);
    p->links[p->cluster.n_links++] = (mo_link){ from, to, gbps, latency_ns, 0 };
}

const mo_route *route_at(const mo_routes *routes, int from, int to)
{
    return &routes->routes[from * routes->n + to];
}
