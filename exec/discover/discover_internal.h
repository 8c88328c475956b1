/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discover_internal.h - functions shared by the files of hardware discovery.
 */
#ifndef MO_EXEC_DISCOVER_DISCOVER_INTERNAL_H
#define MO_EXEC_DISCOVER_DISCOVER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "exec/discover/discover.h"

enum { MO_DISCOVER_INVENTORY_VERSION = 2 };

/* Lists all GPUs, or the reason why there is none. */
void mo_discover_cuda_gpus(mo_discover_inventory *inventory);

/* Fills in host name, processors and memory. */
mo_status mo_discover_host_cpu(mo_discover_inventory *inventory, mo_error *err);

/* Finds the network card with the highest nominal rate. */
void mo_discover_network(mo_discover_inventory *inventory);

/* Returns a PCI address as one number that is never 0. */
static inline uint64_t mo_discover_pci_address(unsigned domain, unsigned bus,
                                               unsigned device)
{
    return UINT64_C(1) << 63 | (uint64_t) domain << 16 |
           (uint64_t) (bus & 0xff) << 8 | (device & 0xff);
}

/* A device of the cluster. */
typedef struct mo_discover_device {
    const mo_discover_inventory *inventory;
    const mo_discover_gpu *gpu; /* NULL: processors */
    int rank;
} mo_discover_device;

enum { MO_DISCOVER_NOTE_SIZE = 160 };

/* A link between two devices, and the source of its numbers. */
typedef struct mo_discover_link {
    double gbps;
    int64_t latency_ns;
    char note[MO_DISCOVER_NOTE_SIZE];
} mo_discover_link;

/* Estimates the link between two devices; symmetric. */
mo_discover_link mo_discover_estimate_link(const mo_discover_device *a,
                                           const mo_discover_device *b);

/* Returns whether both are on one machine. */
bool mo_discover_same_host(const mo_discover_device *a,
                           const mo_discover_device *b);

/* Returns the index of the device in a topology, or -1; the second fills in
 * the link between two of its devices, where it has one. */
int mo_discover_topology_match(const mo_cluster *topology,
                               const mo_discover_device *find);
void mo_discover_topology_link(const mo_cluster *topology, int from, int to,
                               mo_discover_link *way);

/* Returns the peak rate in 10^9 operations per second in that precision; 0:
 * unknown. */
double mo_discover_peak_gflops(const mo_discover_gpu *gpu,
                               const char *precision);

/* Assigns each GPU to one of the ranks that see it; owned has
 * MO_DISCOVER_MAX_GPUS entries for every rank. */
void mo_discover_assign_gpus(const mo_discover_inventory *inventories,
                             int n_ranks, bool *owned);

#endif
