/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "exec/discover/discover_internal.h"

/* A topology of several hosts tells GPUs by ranks, one of a single host by
 * their numbers. */
static bool has_hosts(const mo_cluster *topology)
{
    for (int k = 0; k < topology->n_devices; k++)
        if (topology->devices[k].host)
            return true;
    return false;
}

int mo_discover_topology_match(const mo_cluster *topology,
                               const mo_discover_device *find)
{
    bool by_rank = has_hosts(topology);

    for (int k = 0; find->gpu && k < topology->n_devices; k++) {
        const mo_device *d = &topology->devices[k];

        if (!d->is_cpu &&
            (by_rank ? d->rank == find->rank : d->gpu == find->gpu->ordinal))
            return k;
    }
    return -1;
}

/* Latencies of a topology are those of network cards, if any. */
void mo_discover_topology_link(const mo_cluster *topology, int from, int to,
                               mo_discover_link *way)
{
    int l = -1;

    if (from >= 0 && to >= 0)
        l = mo_cluster_find_link(topology, from, to);
    if (l < 0)
        return;
    way->gbps = topology->links[l].gbps;
    if (topology->links[l].latency_ns > 0)
        way->latency_ns = topology->links[l].latency_ns;
    snprintf(way->note, sizeof way->note, "NCCL's topology");
}
