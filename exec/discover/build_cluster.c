/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Construction of a cluster from the inventories of all ranks: assignment of
 * GPUs to ranks, devices, links.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost/cluster/cluster_builder.h"
#include "exec/discover/discover_internal.h"
#include "exec/thread/affinity.h"

/* The index of this GPU in a rank's own list, or -1. Without a PCI address it
 * matches no other. */
static int find_gpu(const mo_discover_inventory *inventory,
                    const mo_discover_inventory *seen_by, int gpu)
{
    uint64_t bus = seen_by->gpus[gpu].bus;

    if (inventory == seen_by)
        return gpu;
    if (bus == 0 || strcmp(inventory->machine, seen_by->machine) != 0)
        return -1;
    for (int g = 0; g < inventory->n_gpus; g++)
        if (inventory->gpus[g].bus == bus)
            return g;
    return -1;
}

/* A GPU goes to the rank with the fewest GPUs so far, the first of these. */
void mo_discover_assign_gpus(const mo_discover_inventory *inventories,
                             int n_ranks, bool *owned)
{
    memset(owned, 0, (size_t) n_ranks * MO_DISCOVER_MAX_GPUS * sizeof *owned);
    for (int r = 0; r < n_ranks; r++)
        for (int g = 0; g < inventories[r].n_gpus; g++) {
            bool *best = NULL;
            int best_count = 0;

            for (int k = 0; k < n_ranks; k++) {
                int own = find_gpu(&inventories[k], &inventories[r], g);
                bool *of = owned + (size_t) k * MO_DISCOVER_MAX_GPUS;
                int count = 0;

                if (own >= 0 && k < r)
                    break; /* it was seen before */
                for (int i = 0; i < MO_DISCOVER_MAX_GPUS; i++)
                    count += of[i];
                if (own >= 0 && (!best || count < best_count)) {
                    best = &of[own];
                    best_count = count;
                }
            }
            if (best)
                *best = true;
        }
}

int mo_discover_topology_match(const mo_cluster *topology,
                               const mo_discover_device *find)
{
    bool by_rank = false;

    /* A topology of several hosts identifies GPUs by ranks, one of a single
     * host by ordinals. */
    for (int k = 0; k < topology->n_devices; k++)
        by_rank |= topology->devices[k].host != NULL;
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

/* Assumptions where the system reports nothing. */
static const double assumed_clock_mhz = 2500, core_gbs = 10, most_gbs = 200;
static const double cpu_launch_us = 1, gpu_launch_us = 5;

enum { NOTE_SIZE = 400, ID_SIZE = 48 };

typedef struct cluster_work {
    const mo_discover_inventory *inventories;
    int n_ranks;
    const mo_discover_options *o;
    mo_discover_device *devices; /* by device */
    int *numbers;                /* by device: of its id in the builder */
    int *topology_index; /* by device: its index in the topology, or -1 */
    int n;
    mo_cluster_builder *builder;
    mo_arena *arena;
    const char **device_notes, **link_notes;
    int n_links;
} cluster_work;

static char *copy_text(cluster_work *w, const char *text)
{
    return mo_arena_text(w->arena, text, strlen(text));
}

/* All GPUs of a rank, then its processors. */
static mo_status list_devices(cluster_work *w, mo_error *err)
{
    size_t n_ranks = (size_t) w->n_ranks;
    size_t each = MO_DISCOVER_MAX_GPUS + (size_t) w->o->cpus;
    bool *owned = calloc(n_ranks * MO_DISCOVER_MAX_GPUS, sizeof *owned);

    w->devices = calloc(n_ranks * each, sizeof *w->devices);
    if (!owned || !w->devices) {
        free(owned);
        return mo_fail_memory(err);
    }
    mo_discover_assign_gpus(w->inventories, w->n_ranks, owned);
    for (int r = 0; r < w->n_ranks; r++) {
        const mo_discover_inventory *s = &w->inventories[r];

        for (int g = 0; g < s->n_gpus; g++)
            if (owned[(size_t) r * MO_DISCOVER_MAX_GPUS + (size_t) g])
                w->devices[w->n++] = (mo_discover_device){ s, &s->gpus[g], r };
        for (int c = 0; c < w->o->cpus; c++)
            w->devices[w->n++] = (mo_discover_device){ s, NULL, r };
    }
    free(owned);
    return MO_OK;
}

/* The share of a resource of the machine that each of so many devices gets. */
static int share_per_device(int all, int parts)
{
    return all > parts ? all / parts : 1;
}

/* Devices of ranks before n that share the processors of this one: processes
 * without CPU binding share all, and others those that they are bound to
 * together. */
static int count_sharing(const cluster_work *w, const mo_discover_inventory *s,
                         int n)
{
    int count = 0;

    for (int r = 0; r < n; r++) {
        const mo_discover_inventory *t = &w->inventories[r];
        bool same =
            s->n_cpus > 0 && s->n_cpus == t->n_cpus &&
            memcmp(s->cpus, t->cpus, (size_t) s->n_cpus * sizeof *s->cpus) == 0;

        count += s == t || (strcmp(s->machine, t->machine) == 0 &&
                            (!s->is_bound || same));
    }
    return w->o->cpus * count;
}

/* Its index among those of its rank and kind. */
static int kind_index(const cluster_work *w, int device)
{
    const mo_discover_device *f = &w->devices[device];
    int place = 0;

    for (int k = device - 1; k >= 0 && w->devices[k].rank == f->rank; k--)
        place += !w->devices[k].gpu;
    return place;
}

static double rounded(double x)
{
    return round(x * 10) / 10;
}

static double known_or_nan(double x)
{
    return x > 0 ? rounded(x) : MO_DEVICE_UNSET;
}

static void fill_gpu(cluster_work *w, const mo_discover_device *f,
                     mo_device *device, char note[NOTE_SIZE])
{
    const mo_discover_gpu *gpu = f->gpu;

    device->model = copy_text(w, gpu->name);
    device->gpu = gpu->ordinal;
    device->gflops[MO_MATH_F32] =
        known_or_nan(mo_discover_peak_gflops(gpu, w->o->precision));
    device->bandwidth_gbs = known_or_nan(gpu->bandwidth_gbs);
    device->clock_mhz = known_or_nan(gpu->clock_mhz);
    device->sms = gpu->sms > 0 ? gpu->sms : MO_DEVICE_UNSET;
    if (gpu->memory_bytes > 0)
        device->memory_bytes = gpu->memory_bytes;
    if (!mo_device_find(gpu->name)) {
        device->launch_us = gpu_launch_us;
        for (int m = MO_MATH_TF32; m <= MO_MATH_BF16; m++)
            device->gflops[m] = known_or_nan(
                mo_discover_peak_gflops(gpu, mo_math_name((mo_math) m)));
    }
    snprintf(note, NOTE_SIZE,
             "%s, compute capability %d.%d: by its driver; gflops: the peak in "
             "%s%s",
             gpu->name, gpu->arch / 10, gpu->arch % 10, w->o->precision,
             mo_device_find(gpu->name) ? "" : "; launch_us: assumed");
}

static void fill_cpu(const cluster_work *w, const mo_discover_device *f,
                     mo_device *device, char note[NOTE_SIZE])
{
    const mo_discover_inventory *s = f->inventory;
    int parts = count_sharing(w, s, w->n_ranks),
        cores = share_per_device(s->cores, parts);
    double clock = s->clock_mhz > 0 ? s->clock_mhz : assumed_clock_mhz;
    int64_t sharers = 0; /* devices of ranks on the same machine */

    for (int r = 0; r < w->n_ranks; r++)
        sharers += strcmp(w->inventories[r].machine, s->machine) == 0;
    sharers *= w->o->cpus;
    device->is_cpu = true;
    device->threads = share_per_device(s->processors, parts);
    device->gflops[MO_MATH_F32] =
        rounded(cores * clock * s->flops_per_cycle / 1000);
    device->bandwidth_gbs = fmin(cores * core_gbs, most_gbs);
    device->clock_mhz = known_or_nan(s->clock_mhz);
    device->launch_us = cpu_launch_us;
    if (s->memory_bytes != INT64_MAX)
        device->memory_bytes = s->memory_bytes / sharers;
    snprintf(
        note, NOTE_SIZE,
        "%s: %d core%s%s, %g operations a cycle each; memory_bandwidth_gbs "
        "and launch_us: assumed",
        *s->cpu ? s->cpu : "processors", cores, cores > 1 ? "s" : "",
        s->clock_mhz > 0 ? "" : " with an assumed clock", s->flops_per_cycle);
}

/* Several devices that share the processors get some of their own; a single one
 * has them all. Ranks without binding share them, in the order of ranks. */
static mo_status give_processors(const cluster_work *w, int k,
                                 mo_device *device, mo_error *err)
{
    const mo_discover_device *f = &w->devices[k];
    int parts = count_sharing(w, f->inventory, w->n_ranks);
    int part = count_sharing(w, f->inventory, f->rank) + kind_index(w, k);
    size_t n = (size_t) device->threads, room = n * (size_t) parts;
    const mo_discover_inventory *s = f->inventory;
    mo_thread_cpus cpus = { .n = s->n_cpus, .quota = s->processors };
    int *threads, *assigned, *own = NULL;
    mo_status status = MO_OK;

    if (parts < 2)
        return MO_OK;
    cpus.cpus = calloc((size_t) s->n_cpus + 1, sizeof *cpus.cpus);
    threads = calloc((size_t) parts, sizeof *threads);
    assigned = calloc(room, sizeof *assigned);
    if (!cpus.cpus || !threads || !assigned)
        status = mo_fail_memory(err);
    for (int i = 0; i < s->n_cpus && status == MO_OK; i++)
        cpus.cpus[i] = (mo_thread_cpu){ .number = s->cpus[i],
                                        .core = s->core_of[i],
                                        .package = s->package_of[i],
                                        .capacity = s->capacity_of[i] };
    for (int i = 0; i < parts && status == MO_OK; i++)
        threads[i] = device->threads;
    if (status == MO_OK &&
        mo_thread_cpus_assign(&cpus, threads, parts, assigned)) {
        own = mo_arena_array(w->arena, n, sizeof *own);
        if (own) {
            memcpy(own, assigned + n * (size_t) part, n * sizeof *own);
            device->cpus = own;
            device->n_cpus = device->threads;
        } else
            status = mo_fail_memory(err);
    }
    free(threads);
    free(assigned);
    mo_thread_cpus_clear(&cpus);
    return status;
}

static mo_status add_device(cluster_work *w, int k, mo_error *err)
{
    const mo_discover_device *f = &w->devices[k];
    mo_device device = {
        MO_DEVICE_NO_FIGURES,
        .line = k + 1,
    };
    char id[ID_SIZE], note[NOTE_SIZE];
    mo_status status = MO_OK;
    char rank[ID_SIZE / 2] = "";

    if (w->n_ranks > 1)
        snprintf(rank, sizeof rank, "r%d_", f->rank);
    if (f->gpu)
        snprintf(id, ID_SIZE, "%sgpu%d", rank, (int) f->gpu->ordinal);
    else if (w->o->cpus == 1)
        snprintf(id, ID_SIZE, "%scpu", rank);
    else
        snprintf(id, ID_SIZE, "%scpu%d", rank, kind_index(w, k));
    if (w->n_ranks > 1)
        device.rank = f->rank;
    device.id = copy_text(w, id);
    device.host = copy_text(w, f->inventory->host);
    if (f->gpu)
        fill_gpu(w, f, &device, note);
    else
        fill_cpu(w, f, &device, note);
    if (!f->gpu)
        status = give_processors(w, k, &device, err);
    if (status != MO_OK)
        return status;
    w->device_notes[k] = copy_text(w, note);
    if (!device.id || !device.host || !w->device_notes[k] ||
        (f->gpu && !device.model))
        return mo_fail_memory(err);
    mo_device_complete(&device);
    status = mo_cluster_builder_device(w->builder, &device, err);
    if (status == MO_OK)
        status = mo_cluster_builder_id(w->builder, id, strlen(id),
                                       &w->numbers[k], err);
    return status;
}

static mo_status build_cluster(cluster_work *w, mo_error *err)
{
    const mo_cluster *topology = w->o->topology;
    size_t n = (size_t) w->n;
    mo_status status = MO_OK;
    bool any = false;

    w->arena = mo_cluster_builder_arena(w->builder);
    w->numbers = calloc(n, sizeof *w->numbers);
    w->topology_index = calloc(n, sizeof *w->topology_index);
    w->device_notes = mo_arena_array(w->arena, n, sizeof *w->device_notes);
    w->link_notes = mo_arena_array(w->arena, n * n, sizeof *w->link_notes);
    if (!w->numbers || !w->topology_index || !w->device_notes || !w->link_notes)
        return mo_fail_memory(err);
    for (int k = 0; topology && k < w->n; k++) {
        w->topology_index[k] =
            mo_discover_topology_match(topology, &w->devices[k]);
        any |= w->topology_index[k] >= 0;
    }
    if (topology && !any)
        return mo_fail_at(err, MO_E_INPUT, topology->file, 0,
                          "none of its GPUs is one of those here; take the "
                          "topology of these machines");
    mo_cluster_builder_name(
        w->builder,
        w->n_ranks > 1 ? "ranks" : copy_text(w, w->inventories->host));
    for (int k = 0; k < w->n && status == MO_OK; k++)
        status = add_device(w, k, err);
    /* In the cluster's order, so that notes correspond to links. */
    for (int from = 0; from < w->n; from++)
        for (int to = 0; to < w->n && status == MO_OK; to++) {
            mo_link link = { .from = w->numbers[from], .to = w->numbers[to] };
            mo_discover_link way;

            if (from == to)
                continue;
            way = mo_discover_estimate_link(&w->devices[from], &w->devices[to]);
            if (topology)
                mo_discover_topology_link(topology, w->topology_index[from],
                                          w->topology_index[to], &way);
            link.gbps = round(way.gbps * 1000) / 1000;
            link.latency_ns = way.latency_ns;
            w->link_notes[w->n_links] = copy_text(w, way.note);
            status = w->link_notes[w->n_links++]
                         ? mo_cluster_builder_link(w->builder, &link, err)
                         : mo_fail_memory(err);
        }
    return status;
}

mo_status mo_discover_cluster(const mo_discover_inventory *inventories,
                              int n_ranks, const mo_discover_options *options,
                              mo_cluster **cluster, mo_cluster_notes *notes,
                              mo_error *err)
{
    cluster_work w = { .inventories = inventories,
                       .n_ranks = n_ranks,
                       .o = options };
    mo_status status = list_devices(&w, err);

    if (status == MO_OK && w.n == 0)
        status = mo_fail(err, MO_E_INPUT,
                         "there is no GPU (%s), and the processors are not to "
                         "be a device; leave --cpus none away",
                         *inventories->no_gpu ? inventories->no_gpu
                                              : "none is asked for");
    if (status == MO_OK && w.n > MO_MAX_DEVICES)
        status = mo_fail(err, MO_E_LIMIT,
                         "%d devices, and a cluster has %d at most; start "
                         "fewer ranks",
                         w.n, MO_MAX_DEVICES);
    if (status == MO_OK)
        status = mo_cluster_builder_new(&w.builder, err);
    if (status == MO_OK)
        status = build_cluster(&w, err);
    if (status == MO_OK)
        status = mo_cluster_builder_finish(w.builder, "what was discovered",
                                           cluster, err);
    if (status == MO_OK)
        *notes = (mo_cluster_notes){ .devices = w.device_notes,
                                     .links = w.link_notes };
    mo_cluster_builder_free(w.builder);
    free(w.topology_index);
    free(w.numbers);
    free(w.devices);
    return status;
}
