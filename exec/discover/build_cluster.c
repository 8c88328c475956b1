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

static int count_owned(const bool *owned, int rank)
{
    int count = 0;

    for (int g = 0; g < MO_DISCOVER_MAX_GPUS; g++)
        count += owned[(size_t) rank * MO_DISCOVER_MAX_GPUS + (size_t) g];
    return count;
}

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

static bool is_seen_before(const mo_discover_inventory *inventories, int rank,
                           int gpu)
{
    for (int r = 0; r < rank; r++)
        if (find_gpu(&inventories[r], &inventories[rank], gpu) >= 0)
            return true;
    return false;
}

/* Assigns it to the rank with the fewest GPUs so far, the first of these. */
static void assign_gpu(const mo_discover_inventory *inventories, int n_ranks,
                       int rank, int gpu, bool *owned)
{
    int best = -1, best_gpu = -1, best_count = 0;

    for (int r = rank; r < n_ranks; r++) {
        int g = find_gpu(&inventories[r], &inventories[rank], gpu);
        int count = count_owned(owned, r);

        if (g >= 0 && (best < 0 || count < best_count)) {
            best = r;
            best_gpu = g;
            best_count = count;
        }
    }
    owned[(size_t) best * MO_DISCOVER_MAX_GPUS + (size_t) best_gpu] = true;
}

void mo_discover_assign_gpus(const mo_discover_inventory *inventories,
                             int n_ranks, bool *owned)
{
    memset(owned, 0, (size_t) n_ranks * MO_DISCOVER_MAX_GPUS * sizeof *owned);
    for (int r = 0; r < n_ranks; r++)
        for (int g = 0; g < inventories[r].n_gpus; g++)
            if (!is_seen_before(inventories, r, g))
                assign_gpu(inventories, n_ranks, r, g, owned);
}

/* A topology of several hosts identifies GPUs by ranks, one of a single host
 * by ordinals. */
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

/* Ranks on the same machine as this one. */
static int count_host_ranks(const cluster_work *w,
                            const mo_discover_inventory *inventory)
{
    int count = 0;

    for (int r = 0; r < w->n_ranks; r++)
        count += strcmp(w->inventories[r].machine, inventory->machine) == 0;
    return count;
}

/* The share of a resource of the machine that each of so many devices gets. */
static int share_per_device(int all, int parts)
{
    return all > parts ? all / parts : 1;
}

/* Processes without CPU binding share all processors, and others those that
 * they are bound to together. */
static bool share_processors(const mo_discover_inventory *a,
                             const mo_discover_inventory *b)
{
    if (a == b || strcmp(a->machine, b->machine) != 0)
        return a == b;
    if (!a->is_bound)
        return true;
    return a->n_cpus > 0 && a->n_cpus == b->n_cpus &&
           memcmp(a->cpus, b->cpus, (size_t) a->n_cpus * sizeof *a->cpus) == 0;
}

/* Devices of ranks before n that share the processors of this one. */
static int count_sharing(const cluster_work *w,
                         const mo_discover_inventory *inventory, int n)
{
    int count = 0;

    for (int r = 0; r < n; r++)
        count += share_processors(inventory, &w->inventories[r]);
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

/* "gpu0", "cpu", "cpu1"; with several ranks "r2_gpu0". */
static void make_id(const cluster_work *w, int device, char id[ID_SIZE])
{
    const mo_discover_device *f = &w->devices[device];
    char rank[ID_SIZE / 2] = "";

    if (w->n_ranks > 1)
        snprintf(rank, sizeof rank, "r%d_", f->rank);
    if (f->gpu)
        snprintf(id, ID_SIZE, "%sgpu%d", rank, (int) f->gpu->ordinal);
    else if (w->o->cpus == 1)
        snprintf(id, ID_SIZE, "%scpu", rank);
    else
        snprintf(id, ID_SIZE, "%scpu%d", rank, kind_index(w, device));
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
    int64_t sharers = (int64_t) w->o->cpus * count_host_ranks(w, s);

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

/* The processors of the machine as those of the inventory; the caller frees
 * them. */
static mo_status list_processors(const mo_discover_inventory *s,
                                 mo_thread_cpus *cpus, mo_error *err)
{
    *cpus = (mo_thread_cpus){
        .n = s->n_cpus,
        .cpus = calloc((size_t) s->n_cpus + 1, sizeof *cpus->cpus),
        .quota = s->processors,
    };
    if (!cpus->cpus)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n_cpus; i++)
        cpus->cpus[i] = (mo_thread_cpu){ .number = s->cpus[i],
                                         .core = s->core_of[i],
                                         .package = s->package_of[i],
                                         .capacity = s->capacity_of[i] };
    return MO_OK;
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
    int *threads, *assigned, *own = NULL;
    mo_thread_cpus cpus;
    mo_status status;

    if (parts < 2)
        return MO_OK;
    status = list_processors(f->inventory, &cpus, err);
    threads = calloc((size_t) parts, sizeof *threads);
    assigned = calloc(room, sizeof *assigned);
    if (status == MO_OK && (!threads || !assigned))
        status = mo_fail_memory(err);
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

    make_id(w, k, id);
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

static mo_status add_link(cluster_work *w, int from, int to, mo_error *err)
{
    mo_discover_link way =
        mo_discover_estimate_link(&w->devices[from], &w->devices[to]);
    mo_link link = { .from = w->numbers[from], .to = w->numbers[to] };

    if (w->o->topology)
        mo_discover_topology_link(w->o->topology, w->topology_index[from],
                                  w->topology_index[to], &way);
    link.gbps = round(way.gbps * 1000) / 1000;
    link.latency_ns = way.latency_ns;
    w->link_notes[w->n_links] = copy_text(w, way.note);
    if (!w->link_notes[w->n_links++])
        return mo_fail_memory(err);
    return mo_cluster_builder_link(w->builder, &link, err);
}

static mo_status check_devices(const cluster_work *w, mo_error *err)
{
    if (w->n == 0)
        return mo_fail(err, MO_E_INPUT,
                       "there is no GPU (%s), and the processors are not to "
                       "be a device; leave --cpus none away",
                       *w->inventories->no_gpu ? w->inventories->no_gpu
                                               : "none is asked for");
    if (w->n > MO_MAX_DEVICES)
        return mo_fail(err, MO_E_LIMIT,
                       "%d devices, and a cluster has %d at most; start fewer "
                       "ranks",
                       w->n, MO_MAX_DEVICES);
    return MO_OK;
}

static mo_status match_topology(cluster_work *w, mo_error *err)
{
    bool any = false;

    for (int k = 0; w->o->topology && k < w->n; k++) {
        w->topology_index[k] =
            mo_discover_topology_match(w->o->topology, &w->devices[k]);
        any |= w->topology_index[k] >= 0;
    }
    if (!w->o->topology || any)
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, w->o->topology->file, 0,
                      "none of its GPUs is one of those here; take the "
                      "topology of these machines");
}

static mo_status build_cluster(cluster_work *w, mo_error *err)
{
    size_t n = (size_t) w->n;
    mo_status status;

    w->arena = mo_cluster_builder_arena(w->builder);
    w->numbers = calloc(n, sizeof *w->numbers);
    w->topology_index = calloc(n, sizeof *w->topology_index);
    w->device_notes = mo_arena_array(w->arena, n, sizeof *w->device_notes);
    w->link_notes = mo_arena_array(w->arena, n * n, sizeof *w->link_notes);
    if (!w->numbers || !w->topology_index || !w->device_notes || !w->link_notes)
        return mo_fail_memory(err);
    status = match_topology(w, err);
    mo_cluster_builder_name(
        w->builder,
        w->n_ranks > 1 ? "ranks" : copy_text(w, w->inventories->host));
    for (int k = 0; k < w->n && status == MO_OK; k++)
        status = add_device(w, k, err);
    /* In the cluster's order, so that notes correspond to links. */
    for (int from = 0; from < w->n; from++)
        for (int to = 0; to < w->n && status == MO_OK; to++)
            if (from != to)
                status = add_link(w, from, to, err);
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

    if (status == MO_OK)
        status = check_devices(&w, err);
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
