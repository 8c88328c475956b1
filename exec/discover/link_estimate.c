/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimated bandwidth and latency of the link between two devices.
 *
 * Rates are nominal where known. Unknown ones are assumed and marked as such;
 * so are latencies, which are those of a copy on an idle link.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "cost/cluster/nccl/nccl_rate.h"
#include "exec/discover/discover_internal.h"

enum { NVLINK_NS = 5000, PCI_NS = 10000, NETWORK_NS = 30000, MEMORY_NS = 2000 };

static const double memory_gbps = 80, plain_network_gbps = 10;

bool mo_discover_same_host(const mo_discover_device *a,
                           const mo_discover_device *b)
{
    return a->inventory == b->inventory ||
           strcmp(a->inventory->machine, b->inventory->machine) == 0;
}

/* The number of NVLinks of a GPU whose other end has this address; 0: at
 * switches. */
static int count_nvlinks(const mo_discover_gpu *gpu, uint64_t bus)
{
    int count = 0;

    for (int i = 0; i < gpu->n_nvlinks; i++)
        count += gpu->nvlinks[i] == bus;
    return count;
}

/* Direct links are reported by each of the two GPUs. Switches connect any two
 * GPUs with all their links; the GPU with fewer decides. */
static bool estimate_nvlink(const mo_discover_gpu *a, const mo_discover_gpu *b,
                            mo_discover_link *way)
{
    double each = fmin(mo_nccl_topology_nvlink_gbps(a->arch),
                       mo_nccl_topology_nvlink_gbps(b->arch));
    int there = b->bus ? count_nvlinks(a, b->bus) : 0;
    int back = a->bus ? count_nvlinks(b, a->bus) : 0;
    int direct = mo_max_int(there, back);
    int at_a = count_nvlinks(a, 0), at_b = count_nvlinks(b, 0);
    int switched = mo_min_int(at_a, at_b);
    int n = direct > 0 ? direct : switched;

    if (n == 0)
        return false;
    way->gbps = n * each;
    way->latency_ns = NVLINK_NS;
    snprintf(way->note, sizeof way->note, "%d NVLink%s%s", n, n > 1 ? "s" : "",
             direct > 0 ? "" : " over switches");
    return true;
}

static double pci_gbps(const mo_discover_gpu *gpu, bool *assumed)
{
    *assumed |= gpu->pci_gbps == 0;
    return gpu->pci_gbps > 0 ? gpu->pci_gbps : mo_nccl_topology_pci_gbps("", 0);
}

/* Peer access is known only to a process that sees both. */
static bool lacks_peer_access(const mo_discover_device *a,
                              const mo_discover_device *b)
{
    const mo_discover_gpu *gpus = a->inventory->gpus;

    if (a->inventory != b->inventory)
        return false;
    return !(a->gpu->peers >> (b->gpu - gpus) & 1) ||
           !(b->gpu->peers >> (a->gpu - gpus) & 1);
}

mo_discover_link mo_discover_estimate_link(const mo_discover_device *a,
                                           const mo_discover_device *b)
{
    mo_discover_link way = { 0 };

    if (!mo_discover_same_host(a, b)) {
        double x = a->inventory->network_gbps, y = b->inventory->network_gbps;

        /* The slower card decides, where both are known. */
        way.latency_ns = NETWORK_NS;
        if (x > 0 && y > 0) {
            way.gbps = fmin(x, y);
            snprintf(way.note, sizeof way.note, "network, by its cards");
        } else {
            way.gbps = plain_network_gbps;
            snprintf(way.note, sizeof way.note, "network, assumed");
        }
    } else if (!a->gpu && !b->gpu) {
        way.gbps = memory_gbps;
        way.latency_ns = MEMORY_NS;
        snprintf(way.note, sizeof way.note, "the host's memory, assumed");
    } else if (!a->gpu || !b->gpu) {
        bool assumed = false;

        way.gbps = pci_gbps((a->gpu ? a : b)->gpu, &assumed);
        way.latency_ns = PCI_NS;
        snprintf(way.note, sizeof way.note, "PCI Express%s",
                 assumed ? ", assumed to be 3.0 x16" : "");
    } else if (!estimate_nvlink(a->gpu, b->gpu, &way)) {
        bool assumed = false, far = a->gpu->socket >= 0 &&
                                    b->gpu->socket >= 0 &&
                                    a->gpu->socket != b->gpu->socket;

        way.gbps = fmin(pci_gbps(a->gpu, &assumed), pci_gbps(b->gpu, &assumed));
        if (far && a->inventory->socket_gbps > 0)
            way.gbps = fmin(way.gbps, a->inventory->socket_gbps);
        way.latency_ns = PCI_NS;
        snprintf(way.note, sizeof way.note, "PCI Express%s%s%s",
                 assumed ? ", assumed to be 3.0 x16" : "",
                 far ? " from socket to socket" : "",
                 lacks_peer_access(a, b) ? ", through the host's memory" : "");
    }
    return way;
}
