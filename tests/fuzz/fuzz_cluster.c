/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of cost/cluster.h: any bytes give a valid cluster with routes, or an
 * error. */
#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "cost/cluster.h"
#include "cost/cluster/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_devices(const mo_cluster *cluster)
{
    assert(cluster->n_devices >= 1 && cluster->n_devices <= MO_MAX_DEVICES);
    for (int k = 0; k < cluster->n_devices; k++) {
        const mo_device *device = &cluster->devices[k];

        assert(device->id[0] != '\0');
        assert(mo_cluster_find(cluster, device->id) == k);
        assert(device->memory_bytes >= 0 && device->sms >= 0);
        for (int m = 0; m < MO_MATHS; m++)
            assert(isfinite(device->gflops[m]) && device->gflops[m] >= 0);
        assert(isfinite(device->bandwidth_gbs) && device->bandwidth_gbs >= 0);
        assert(isfinite(device->clock_mhz) && device->clock_mhz >= 0);
        assert(isfinite(device->launch_us) && device->launch_us >= 0);
    }
}

static void check_links(const mo_cluster *cluster)
{
    for (int l = 0; l < cluster->n_links; l++) {
        const mo_link *link = &cluster->links[l];

        assert(link->from >= 0 && link->from < cluster->n_devices);
        assert(link->to >= 0 && link->to < cluster->n_devices);
        assert(link->from != link->to);
        assert(isfinite(link->gbps) && link->gbps > 0);
        assert(link->latency_ns >= 0 && link->latency_ns <= MO_MAX_LATENCY_NS);
        assert(l == 0 || link[-1].from < link->from ||
               (link[-1].from == link->from && link[-1].to < link->to));
    }
}

static void check_route(const mo_cluster *cluster, const mo_routes *routes,
                        int from, int to)
{
    const mo_route *route = &routes->routes[from * routes->n + to];
    int64_t latency_ns = 0;
    double gbps = route->gbps;
    int at = from;

    for (int h = 0; h < route->hops; h++) {
        const mo_link *link =
            &cluster->links[routes->path[route->first_link + h]];

        assert(link->from == at && link->gbps >= gbps);
        latency_ns += link->latency_ns;
        at = link->to;
    }
    assert(latency_ns == route->latency_ns);
    assert(route->hops > 0 ? at == to && gbps > 0 : gbps == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mo_cluster *cluster = NULL;
    mo_routes *routes = NULL;
    mo_error err = { 0 };
    uint64_t digest;
    mo_status status = mo_cluster_read_memory("fuzz.xml", (const char *) data,
                                              size, &cluster, &err);

    assert(status == MO_OK ? cluster != NULL : !cluster && err.text[0] != '\0');
    if (!cluster)
        return 0;
    check_devices(cluster);
    check_links(cluster);
    assert(mo_cluster_digest(cluster, &digest, &err) == MO_OK);
    assert(mo_routes_make(cluster, &routes, &err) == MO_OK);
    for (int from = 0; from < routes->n; from++)
        for (int to = 0; to < routes->n; to++)
            check_route(cluster, routes, from, to);
    mo_routes_connected(cluster, routes, &err);
    mo_routes_free(routes);
    mo_cluster_free(cluster);
    return 0;
}
