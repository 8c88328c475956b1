/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of an NCCL topology dump to a cluster: devices, then links. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost/cluster/nccl/nccl_topology.h"

/*
 * Links between GPUs: NVLink or an NVSwitch where both are attached to it,
 * else PCI and the sockets' links within a host, else the network cards
 * between hosts. GPUs that reach each other over the NVLinks of other GPUs get
 * no PCI link: being direct, it would be used, although it is the narrower
 * path.
 */
enum { MAX_CARDS = 4096 };

_Static_assert(MO_MAX_LINKS / MO_MAX_DEVICES >= MO_MAX_DEVICES - 1,
               "every two GPUs may be linked");

typedef struct wiring {
    mo_nccl_topology *t;
    mo_cluster_builder *builder;
    int n;          /* GPUs */
    int *ids;       /* by GPU: its id's number in the builder */
    double *nvlink; /* n * n, in Gbit/s; 0: none */
    int *island;    /* by GPU: the first GPU of its NVLink component */
    mo_nccl_topology_net *cards; /* by GPU: the card it uses; 0 Gbit/s: none */
} wiring;

/* NCCL numbers the GPUs of a host by dev, all participating ones by rank; only
 * the latter distinguishes those of several hosts, or parts of one GPU. */
static bool is_told_by_rank(const mo_nccl_topology *t)
{
    for (size_t i = 0; i < t->n_gpus; i++)
        if (t->gpus[i].is_part)
            return true;
    return t->n_hosts > 1;
}

static const char *host_name(const wiring *w, int gpu)
{
    for (size_t h = 0; w->t->n_hosts > 1 && h < w->t->n_hosts; h++)
        if (w->t->host_nodes[h] ==
            mo_nccl_topology_ancestor(w->t, w->t->gpus[gpu].node, 0))
            return mo_intern_text(w->t->hosts, (int) h);
    return NULL;
}

static mo_status add_device(wiring *w, int i, bool by_rank, mo_error *err)
{
    const mo_nccl_topology_gpu *gpu = &w->t->gpus[i];
    mo_device device = {
        MO_DEVICE_NO_FIGURES,
        .model = gpu->model,
        .host = host_name(w, i),
        .line = gpu->line,
    };
    char id[32];
    int length =
        snprintf(id, sizeof id, "gpu%d", by_rank ? gpu->rank : gpu->dev);
    mo_status status;

    if (by_rank && gpu->rank < 0)
        return mo_fail_at(err, MO_E_INPUT, NULL, gpu->line,
                          "a <gpu> without rank; where dev does not tell GPUs "
                          "apart, each needs one");
    device.id = mo_arena_text(mo_cluster_builder_arena(w->builder), id,
                              (size_t) length);
    if (!device.id)
        return mo_fail_memory(err);
    device.rank = gpu->rank;
    device.gpu = gpu->dev;
    mo_device_complete(&device);
    status = mo_cluster_builder_device(w->builder, &device, err);
    if (status == MO_OK)
        status = mo_cluster_builder_id(w->builder, id, (size_t) length,
                                       &w->ids[i], err);
    return status;
}

static double *nvlink_between(const wiring *w, int a, int b)
{
    return &w->nvlink[(size_t) a * (size_t) w->n + (size_t) b];
}

/* Sums up the links between each pair of GPUs. */
static mo_status add_nvlinks(wiring *w, mo_error *err)
{
    int n_buses = mo_intern_count(w->t->buses);
    int *gpu_of = malloc(((size_t) n_buses + 1) * sizeof *gpu_of);

    if (!gpu_of)
        return mo_fail_memory(err);
    for (int bus = 0; bus < n_buses; bus++)
        gpu_of[bus] = MO_NCCL_TOPOLOGY_NONE;
    for (int i = 0; i < w->n; i++)
        if (w->t->gpus[i].bus != MO_NCCL_TOPOLOGY_NONE)
            gpu_of[w->t->gpus[i].bus] = i;
    for (size_t l = 0; l < w->t->n_nvlinks; l++) {
        const mo_nccl_topology_nvlink *link = &w->t->nvlinks[l];
        int to = gpu_of[link->target];

        if (to != MO_NCCL_TOPOLOGY_NONE && to != link->gpu)
            *nvlink_between(w, link->gpu, to) += link->gbps;
    }
    free(gpu_of);
    return MO_OK;
}

static void mark_island(wiring *w, int first, int *stack)
{
    int n_stack = 0;

    w->island[first] = first;
    stack[n_stack++] = first;
    while (n_stack > 0) {
        int a = stack[--n_stack];

        for (int b = 0; b < w->n; b++)
            if (w->island[b] == MO_NCCL_TOPOLOGY_NONE &&
                *nvlink_between(w, a, b) > 0) {
                w->island[b] = first;
                stack[n_stack++] = b;
            }
    }
}

static mo_status find_islands(wiring *w, mo_error *err)
{
    int *stack = malloc((size_t) w->n * sizeof *stack);

    if (!stack)
        return mo_fail_memory(err);
    for (int i = 0; i < w->n; i++)
        w->island[i] = MO_NCCL_TOPOLOGY_NONE;
    for (int i = 0; i < w->n; i++)
        if (w->island[i] == MO_NCCL_TOPOLOGY_NONE)
            mark_island(w, i, stack);
    free(stack);
    return MO_OK;
}

/* Returns the network card with the widest path from a GPU out of its host. */
static mo_nccl_topology_net best_card(const wiring *w,
                                      const mo_nccl_topology_gpu *gpu)
{
    mo_nccl_topology_net best = { .node = MO_NCCL_TOPOLOGY_NONE };

    for (size_t c = 0; c < w->t->n_nets; c++) {
        mo_nccl_topology_net net = w->t->nets[c];

        net.gbps =
            fmin(net.gbps,
                 mo_nccl_topology_bottleneck_gbps(w->t, gpu->node, net.node));
        if (net.gbps > best.gbps ||
            (net.gbps == best.gbps && net.latency_ns < best.latency_ns))
            best = net;
    }
    return best;
}

/* Returns the link between two GPUs; 0 Gbit/s when there is none. */
static mo_link link_between(const wiring *w, int a, int b)
{
    mo_link link = { .from = w->ids[a],
                     .to = w->ids[b],
                     .gbps = *nvlink_between(w, a, b),
                     .line = w->t->gpus[a].line };

    if (link.gbps > 0 || w->island[a] == w->island[b])
        return link;
    link.gbps = mo_nccl_topology_bottleneck_gbps(w->t, w->t->gpus[a].node,
                                                 w->t->gpus[b].node);
    if (link.gbps > 0)
        return link;
    link.gbps = fmin(w->cards[a].gbps, w->cards[b].gbps);
    link.latency_ns = w->cards[a].latency_ns + w->cards[b].latency_ns;
    return link;
}

static mo_status add_links(wiring *w, mo_error *err)
{
    mo_status status = MO_OK;

    for (int a = 0; a < w->n; a++)
        for (int b = 0; b < w->n && status == MO_OK; b++) {
            mo_link link;

            if (a == b)
                continue;
            link = link_between(w, a, b);
            if (link.gbps > 0)
                status = mo_cluster_builder_link(w->builder, &link, err);
        }
    return status;
}

static mo_status wire(wiring *w, mo_error *err)
{
    bool by_rank = is_told_by_rank(w->t);
    mo_status status = MO_OK;

    for (int i = 0; i < w->n && status == MO_OK; i++)
        status = add_device(w, i, by_rank, err);
    if (status == MO_OK)
        status = add_nvlinks(w, err);
    if (status != MO_OK)
        return status;
    /* All switches count as one: they are wired so that any GPU reaches any
     * other with all its links. A link between two GPUs is listed by both. */
    for (int a = 0; a < w->n; a++)
        for (int b = 0; b < a; b++) {
            double *there = nvlink_between(w, a, b);
            double *back = nvlink_between(w, b, a);
            double over_switch =
                fmin(w->t->gpus[a].switch_gbps, w->t->gpus[b].switch_gbps);

            *there = *back = fmax(fmax(*there, *back), over_switch);
        }
    status = find_islands(w, err);
    for (int i = 0; i < w->n && status == MO_OK; i++) {
        mo_nccl_topology_gpu *gpu = &w->t->gpus[i];
        int cpu = mo_nccl_topology_ancestor(w->t, gpu->node,
                                            MO_NCCL_TOPOLOGY_CPU_DEPTH);

        /* Moves a GPU with a wider path to its CPU than PCI there. */
        if (gpu->cpu_gbps >
            mo_nccl_topology_bottleneck_gbps(w->t, gpu->node, cpu))
            status = mo_nccl_topology_add_node(w->t, cpu, gpu->cpu_gbps,
                                               &gpu->node, err);
    }
    if (status != MO_OK)
        return status;
    for (int i = 0; i < w->n && w->t->n_hosts > 1; i++)
        w->cards[i] = best_card(w, &w->t->gpus[i]);
    return add_links(w, err);
}

static mo_status check_size(const mo_nccl_topology *t, mo_error *err)
{
    if (t->n_gpus == 0)
        return mo_fail(err, MO_E_INPUT,
                       "a topology without a <gpu>; dump it from a program "
                       "that uses NCCL on the GPUs");
    if (t->n_gpus > MO_MAX_DEVICES || t->n_nets > MAX_CARDS)
        return mo_fail(err, MO_E_LIMIT,
                       "a topology of more than %d GPUs or %d network cards; "
                       "describe the cluster in a file of its own",
                       MO_MAX_DEVICES, MAX_CARDS);
    return MO_OK;
}

mo_status mo_nccl_topology_build_cluster(mo_nccl_topology *t,
                                         mo_cluster_builder *builder,
                                         mo_error *err)
{
    wiring w = { .t = t, .builder = builder, .n = (int) t->n_gpus };
    size_t n = t->n_gpus;
    mo_status status = check_size(t, err);

    if (status != MO_OK)
        return status;
    w.ids = calloc(n, sizeof *w.ids);
    w.nvlink = calloc(n * n, sizeof *w.nvlink);
    w.island = calloc(n, sizeof *w.island);
    w.cards = calloc(n, sizeof *w.cards);
    if (w.ids && w.nvlink && w.island && w.cards)
        status = wire(&w, err);
    else
        status = mo_fail_memory(err);
    free(w.cards);
    free(w.island);
    free(w.nvlink);
    free(w.ids);
    return status;
}
