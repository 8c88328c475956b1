/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/cluster/nccl/nccl_topology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

mo_status mo_nccl_topology_init(mo_nccl_topology *t, mo_arena *arena,
                                mo_error *err)
{
    memset(t, 0, sizeof *t);
    t->hosts = mo_intern_new(arena);
    t->buses = mo_intern_new(arena);
    return t->hosts && t->buses ? MO_OK : mo_fail_memory(err);
}

void mo_nccl_topology_clear(mo_nccl_topology *t)
{
    mo_intern_free(t->buses);
    free(t->host_nodes);
    mo_intern_free(t->hosts);
    free(t->nets);
    free(t->nvlinks);
    free(t->gpus);
    free(t->nodes);
}

mo_status mo_nccl_topology_add_node(mo_nccl_topology *t, int parent,
                                    double up_gbps, int *node, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(t->nodes, t->n_nodes, t->nodes_room, err);

    if (status != MO_OK)
        return status;
    *node = (int) t->n_nodes;
    t->nodes[t->n_nodes++] = (mo_nccl_topology_node){
        .parent = parent,
        .depth =
            parent == MO_NCCL_TOPOLOGY_NONE ? 0 : t->nodes[parent].depth + 1,
        .up_gbps = up_gbps,
        .bus = MO_NCCL_TOPOLOGY_NONE,
    };
    return MO_OK;
}

mo_status mo_nccl_topology_find_host(mo_nccl_topology *t, const char *text,
                                     int *node, mo_error *err)
{
    int number;
    mo_status status =
        mo_intern_put(t->hosts, text, strlen(text), &number, err);

    if (status == MO_OK && (size_t) number == t->n_hosts) {
        status = MO_ARRAY_GROW(t->host_nodes, t->n_hosts, t->hosts_room, err);
        if (status == MO_OK)
            status = mo_nccl_topology_add_node(t, MO_NCCL_TOPOLOGY_NONE, 0,
                                               &t->host_nodes[t->n_hosts], err);
        if (status == MO_OK)
            t->n_hosts++;
    }
    if (status == MO_OK)
        *node = t->host_nodes[number];
    return status;
}

/* Bus ids are unique only within a host. */
mo_status mo_nccl_topology_find_bus(mo_nccl_topology *t, int node,
                                    const char *bus_id, int *number,
                                    mo_error *err)
{
    char key[MO_NCCL_TOPOLOGY_TEXT_SIZE + 16];
    int length = snprintf(key, sizeof key, "%d/%.*s",
                          mo_nccl_topology_ancestor(t, node, 0),
                          MO_NCCL_TOPOLOGY_TEXT_SIZE, bus_id);

    return mo_intern_put(t->buses, key, (size_t) length, number, err);
}

int mo_nccl_topology_ancestor(const mo_nccl_topology *t, int node, int depth)
{
    while (t->nodes[node].depth > depth)
        node = t->nodes[node].parent;
    return node;
}

/* Moves *node up to depth; *gbps becomes the narrowest link on the way. */
static void ascend_to(const mo_nccl_topology *t, int *node, int depth,
                      double *gbps)
{
    while (t->nodes[*node].depth > depth) {
        *gbps = fmin(*gbps, t->nodes[*node].up_gbps);
        *node = t->nodes[*node].parent;
    }
}

double mo_nccl_topology_bottleneck_gbps(const mo_nccl_topology *t, int a, int b)
{
    double gbps = INFINITY;

    if (a == b)
        return t->nodes[a].up_gbps;
    ascend_to(t, &a, t->nodes[b].depth, &gbps);
    ascend_to(t, &b, t->nodes[a].depth, &gbps);
    while (a != b && t->nodes[a].depth > 0) {
        ascend_to(t, &a, t->nodes[a].depth - 1, &gbps);
        ascend_to(t, &b, t->nodes[a].depth, &gbps);
    }
    return a == b ? gbps : 0;
}
