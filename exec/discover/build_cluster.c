/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost/cluster/cluster_builder.h"
#include "exec/discover/discover_internal.h"

/* What is taken where nobody tells. */
static const double assumed_clock_mhz = 2500, core_gbs = 10, most_gbs = 200;
static const double cpu_launch_us = 1, gpu_launch_us = 5;

enum { NOTE_SIZE = 400, ID_SIZE = 48 };

typedef struct work {
    const mo_discover_inventory *surveys;
    int n_ranks;
    const mo_discover_options *o;
    mo_discover_device *finds; /* by device */
    int *numbers;              /* by device: of its id in the builder */
    int *there; /* by device: which of the topology's it is, or -1 */
    int n;
    mo_cluster_builder *builder;
    mo_arena *arena;
    const char **device_notes, **link_notes;
    int n_links;
} work;

static char *keep_text(work *w, const char *text)
{
    return mo_arena_text(w->arena, text, strlen(text));
}

/* ------------------------------------------------------------------ devices */

/* All GPUs of a rank, then its processors. */
static mo_status list_finds(work *w, mo_error *err)
{
    size_t n_ranks = (size_t) w->n_ranks;
    size_t each = MO_DISCOVER_MAX_GPUS + (size_t) w->o->cpus;
    bool *owned = calloc(n_ranks * MO_DISCOVER_MAX_GPUS, sizeof *owned);

    w->finds = calloc(n_ranks * each, sizeof *w->finds);
    if (!owned || !w->finds) {
        free(owned);
        return mo_fail_memory(err);
    }
    mo_discover_assign_gpus(w->surveys, w->n_ranks, owned);
    for (int r = 0; r < w->n_ranks; r++) {
        const mo_discover_inventory *s = &w->surveys[r];

        for (int g = 0; g < s->n_gpus; g++)
            if (owned[(size_t) r * MO_DISCOVER_MAX_GPUS + (size_t) g])
                w->finds[w->n++] = (mo_discover_device){ s, &s->gpus[g], r };
        for (int c = 0; c < w->o->cpus; c++)
            w->finds[w->n++] = (mo_discover_device){ s, NULL, r };
    }
    free(owned);
    return MO_OK;
}

/* Ranks of the machine of this one. */
static int count_neighbours(const work *w, const mo_discover_inventory *survey)
{
    int count = 0;

    for (int r = 0; r < w->n_ranks; r++)
        count += strcmp(w->surveys[r].machine, survey->machine) == 0;
    return count;
}

/* A part of what the machine has that each of so many devices gets. */
static int share_of(int all, int parts)
{
    return all > parts ? all / parts : 1;
}

/* Processes that are not bound share all processors. */
static int parts_of(const work *w, const mo_discover_inventory *survey)
{
    return w->o->cpus * (survey->is_bound ? 1 : count_neighbours(w, survey));
}

/* Its place among those of its rank and kind. */
static int place_of(const work *w, int device)
{
    const mo_discover_device *f = &w->finds[device];
    int place = 0;

    for (int k = device - 1; k >= 0 && w->finds[k].rank == f->rank; k--)
        place += !w->finds[k].gpu;
    return place;
}

/* "gpu0", "cpu", "cpu1"; with several ranks "r2_gpu0". */
static void make_id(const work *w, int device, char id[ID_SIZE])
{
    const mo_discover_device *f = &w->finds[device];
    char rank[ID_SIZE / 2] = "";

    if (w->n_ranks > 1)
        snprintf(rank, sizeof rank, "r%d_", f->rank);
    if (f->gpu)
        snprintf(id, ID_SIZE, "%sgpu%d", rank, (int) f->gpu->ordinal);
    else if (w->o->cpus == 1)
        snprintf(id, ID_SIZE, "%scpu", rank);
    else
        snprintf(id, ID_SIZE, "%scpu%d", rank, place_of(w, device));
}

static double rounded(double x)
{
    return round(x * 10) / 10;
}

static double known_or_unset(double x)
{
    return x > 0 ? rounded(x) : MO_DEVICE_UNSET;
}

static void describe_gpu(work *w, const mo_discover_device *f,
                         mo_device *device, char note[NOTE_SIZE])
{
    const mo_discover_gpu *gpu = f->gpu;

    device->model = keep_text(w, gpu->name);
    device->gpu = gpu->ordinal;
    device->gflops =
        known_or_unset(mo_discover_peak_gflops(gpu, w->o->precision));
    device->bandwidth_gbs = known_or_unset(gpu->bandwidth_gbs);
    device->clock_mhz = known_or_unset(gpu->clock_mhz);
    device->sms = gpu->sms > 0 ? gpu->sms : MO_DEVICE_UNSET;
    if (gpu->memory_bytes > 0)
        device->memory_bytes = gpu->memory_bytes;
    if (!mo_device_find(gpu->name))
        device->launch_us = gpu_launch_us;
    snprintf(note, NOTE_SIZE,
             "%s, compute capability %d.%d: by its driver; gflops: the peak in "
             "%s%s",
             gpu->name, gpu->arch / 10, gpu->arch % 10, w->o->precision,
             mo_device_find(gpu->name) ? "" : "; launch_us: assumed");
}

static void describe_cpu(const work *w, const mo_discover_device *f,
                         mo_device *device, char note[NOTE_SIZE])
{
    const mo_discover_inventory *s = f->survey;
    int parts = parts_of(w, s), cores = share_of(s->cores, parts);
    double clock = s->clock_mhz > 0 ? s->clock_mhz : assumed_clock_mhz;
    int64_t sharers = (int64_t) w->o->cpus * count_neighbours(w, s);

    device->is_cpu = true;
    device->threads = share_of(s->processors, parts);
    device->gflops = rounded(cores * clock * s->flops_per_cycle / 1000);
    device->bandwidth_gbs = fmin(cores * core_gbs, most_gbs);
    device->clock_mhz = known_or_unset(s->clock_mhz);
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

static mo_status add_device(work *w, int k, mo_error *err)
{
    const mo_discover_device *f = &w->finds[k];
    mo_device device = {
        .gflops = MO_DEVICE_UNSET,
        .bandwidth_gbs = MO_DEVICE_UNSET,
        .clock_mhz = MO_DEVICE_UNSET,
        .launch_us = MO_DEVICE_UNSET,
        .sms = MO_DEVICE_UNSET,
        .memory_bytes = MO_DEVICE_UNSET,
        .rank = w->n_ranks > 1 ? f->rank : -1,
        .gpu = -1,
        .line = k + 1,
    };
    char id[ID_SIZE], note[NOTE_SIZE];
    mo_status status;

    make_id(w, k, id);
    device.id = keep_text(w, id);
    device.host = keep_text(w, f->survey->host);
    if (f->gpu)
        describe_gpu(w, f, &device, note);
    else
        describe_cpu(w, f, &device, note);
    w->device_notes[k] = keep_text(w, note);
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

/* -------------------------------------------------------------------- links */

static mo_status add_link(work *w, int from, int to, mo_error *err)
{
    mo_discover_link way =
        mo_discover_estimate_link(&w->finds[from], &w->finds[to]);
    mo_link link = { .from = w->numbers[from], .to = w->numbers[to] };

    if (w->o->topology)
        mo_discover_topology_link(w->o->topology, w->there[from], w->there[to],
                                  &way);
    link.gbps = round(way.gbps * 1000) / 1000;
    link.latency_ns = way.latency_ns;
    w->link_notes[w->n_links] = keep_text(w, way.note);
    if (!w->link_notes[w->n_links++])
        return mo_fail_memory(err);
    return mo_cluster_builder_link(w->builder, &link, err);
}

/* --------------------------------------------------------------------- both */

static mo_status check(const work *w, mo_error *err)
{
    if (w->n == 0)
        return mo_fail(err, MO_E_INPUT,
                       "there is no GPU (%s), and the processors are not to "
                       "be a device; leave --cpus none away",
                       *w->surveys->no_gpu ? w->surveys->no_gpu
                                           : "none is asked for");
    if (w->n > MO_MAX_DEVICES)
        return mo_fail(err, MO_E_LIMIT,
                       "%d devices, and a cluster has %d at most; start fewer "
                       "ranks",
                       w->n, MO_MAX_DEVICES);
    return MO_OK;
}

static mo_status match_topology(work *w, mo_error *err)
{
    bool any = false;

    for (int k = 0; w->o->topology && k < w->n; k++) {
        w->there[k] = mo_discover_topology_match(w->o->topology, &w->finds[k]);
        any |= w->there[k] >= 0;
    }
    if (!w->o->topology || any)
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, w->o->topology->file, 0,
                      "none of its GPUs is one of those here; take the "
                      "topology of these machines");
}

static mo_status build(work *w, mo_error *err)
{
    size_t n = (size_t) w->n;
    mo_status status;

    w->arena = mo_cluster_builder_arena(w->builder);
    w->numbers = calloc(n, sizeof *w->numbers);
    w->there = calloc(n, sizeof *w->there);
    w->device_notes = mo_arena_array(w->arena, n, sizeof *w->device_notes);
    w->link_notes = mo_arena_array(w->arena, n * n, sizeof *w->link_notes);
    if (!w->numbers || !w->there || !w->device_notes || !w->link_notes)
        return mo_fail_memory(err);
    status = match_topology(w, err);
    mo_cluster_builder_name(
        w->builder, w->n_ranks > 1 ? "ranks" : keep_text(w, w->surveys->host));
    for (int k = 0; k < w->n && status == MO_OK; k++)
        status = add_device(w, k, err);
    /* In the order that the cluster has them in, so that notes fit. */
    for (int from = 0; from < w->n; from++)
        for (int to = 0; to < w->n && status == MO_OK; to++)
            if (from != to)
                status = add_link(w, from, to, err);
    return status;
}

mo_status mo_discover_cluster(const mo_discover_inventory *surveys, int n_ranks,
                              const mo_discover_options *options,
                              mo_cluster **cluster, mo_cluster_notes *notes,
                              mo_error *err)
{
    work w = { .surveys = surveys, .n_ranks = n_ranks, .o = options };
    mo_status status = list_finds(&w, err);

    if (status == MO_OK)
        status = check(&w, err);
    if (status == MO_OK)
        status = mo_cluster_builder_new(&w.builder, err);
    if (status == MO_OK)
        status = build(&w, err);
    if (status == MO_OK)
        status = mo_cluster_builder_finish(w.builder, "what was discovered",
                                           cluster, err);
    if (status == MO_OK)
        *notes = (mo_cluster_notes){ .devices = w.device_notes,
                                     .links = w.link_notes };
    mo_cluster_builder_free(w.builder);
    free(w.there);
    free(w.numbers);
    free(w.finds);
    return status;
}
