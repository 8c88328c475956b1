/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl_topology.h - NCCL topology dump in memory.
 *
 * A dump is a tree: CPUs (sockets or NUMA nodes), below them PCI bridges,
 * below those GPUs and network cards. Here every host is a root above its
 * CPUs, so that the path between two nodes always leads up from both to their
 * lowest common ancestor:
 *
 *             host                        up_gbps of a node is the width of
 *            /    \                       the link to its parent; of a CPU,
 *         cpu      cpu                    of what connects the sockets.
 *        /   \        \
 *     gpu0   bridge    gpu3
 *            /    \
 *         gpu1    gpu2
 *
 * NVLinks are additional edges across that tree.
 */
#ifndef MO_COST_CLUSTER_NCCL_NCCL_TOPOLOGY_H
#define MO_COST_CLUSTER_NCCL_NCCL_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/intern.h"
#include "cost/cluster/cluster_builder.h"

typedef struct mo_nccl_topology_node {
    int parent; /* MO_NCCL_TOPOLOGY_NONE for a host */
    int depth;  /* 0 for a host */
    double up_gbps;
    const char *model; /* of a PCI device that is a known GPU, or NULL */
    int bus;           /* of a PCI device: number of its bus id */
} mo_nccl_topology_node;

typedef struct mo_nccl_topology_gpu {
    int node;
    int dev, sm, rank;  /* rank: MO_NCCL_TOPOLOGY_NONE when there is none */
    bool is_part;       /* one of several in one PCI device */
    const char *model;  /* or NULL */
    int bus;            /* number of its bus id */
    double cpu_gbps;    /* of a way to its CPU beside PCI; 0: none */
    double switch_gbps; /* to the NVSwitches, all together */
    int line;
} mo_nccl_topology_gpu;

typedef struct mo_nccl_topology_nvlink {
    int gpu;    /* from */
    int target; /* number of another GPU's bus id */
    double gbps;
} mo_nccl_topology_nvlink;

typedef struct mo_nccl_topology_net {
    int node;
    double gbps;
    int64_t latency_ns;
} mo_nccl_topology_net;

enum {
    MO_NCCL_TOPOLOGY_NONE = -1,
    MO_NCCL_TOPOLOGY_CPU_DEPTH = 1,
    MO_NCCL_TOPOLOGY_TEXT_SIZE = 64 /* bytes of a bus id or of a host's key */
};

typedef struct mo_nccl_topology {
    mo_nccl_topology_node *nodes;
    size_t n_nodes, nodes_room;
    mo_nccl_topology_gpu *gpus;
    size_t n_gpus, gpus_room;
    mo_nccl_topology_nvlink *nvlinks;
    size_t n_nvlinks, nvlinks_room;
    mo_nccl_topology_net *nets;
    size_t n_nets, nets_room;
    mo_intern *hosts; /* by their key */
    int *host_nodes;  /* by number of host */
    size_t n_hosts, hosts_room;
    mo_intern *buses; /* bus ids, each with its host */
} mo_nccl_topology;

/* Initializes an empty topology; texts are allocated in arena. The caller
 * frees the rest with mo_nccl_topology_clear(). */
mo_status mo_nccl_topology_init(mo_nccl_topology *topology, mo_arena *arena,
                                mo_error *err);

/* Frees all that topology owns, whether or not init succeeded. */
void mo_nccl_topology_clear(mo_nccl_topology *topology);

/* Adds a node below parent, or a host below MO_NCCL_TOPOLOGY_NONE. */
mo_status mo_nccl_topology_add_node(mo_nccl_topology *topology, int parent,
                                    double up_gbps, int *node, mo_error *err);

/* Finds the host with this key, which is added when it is new. */
mo_status mo_nccl_topology_find_host(mo_nccl_topology *topology,
                                     const char *text, int *node,
                                     mo_error *err);

/* Sets *number to the number of a bus id on the host of node. */
mo_status mo_nccl_topology_find_bus(mo_nccl_topology *topology, int node,
                                    const char *bus_id, int *number,
                                    mo_error *err);

/* Returns the ancestor of node, or node itself, at depth or above. */
int mo_nccl_topology_ancestor(const mo_nccl_topology *topology, int node,
                              int depth);

/* Returns the rate of the narrowest link between two nodes; 0 when they are on
 * different hosts. */
double mo_nccl_topology_bottleneck_gbps(const mo_nccl_topology *topology, int a,
                                        int b);

/* Adds GPUs as devices, and the links between them, to the builder. */
mo_status mo_nccl_topology_build_cluster(mo_nccl_topology *topology,
                                         mo_cluster_builder *builder,
                                         mo_error *err);

#endif
