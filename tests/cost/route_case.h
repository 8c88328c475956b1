/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route_case.h - clusters of devices and links, for routes between them.
 */
#ifndef MO_TESTS_COST_ROUTE_CASE_H
#define MO_TESTS_COST_ROUTE_CASE_H

#include "cost/cluster/route.h"

#include <stdint.h>

enum { ROUTE_DEVICES = 256, ROUTE_LINKS = 4096 };

/* Devices are called A, B, ... */
typedef struct route_plan {
    mo_cluster cluster;
    mo_device devices[ROUTE_DEVICES];
    char ids[ROUTE_DEVICES][8];
    mo_link links[ROUTE_LINKS];
} route_plan;

/* n devices without links; free() it. */
route_plan *route_plan_new(int n);

/* Links must come sorted, as in any cluster. */
void route_plan_link(route_plan *p, int from, int to, double gbps,
                     int64_t latency_ns);

const mo_route *route_at(const mo_routes *routes, int from, int to);

#endif
