/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/profile/cluster_measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/exec/device_units.h"
#include "driver/profile/link_rows.h"
#include "exec/measure/bench_link.h"
#include "exec/measure/bench_device.h"

enum { NOTE_SIZE = 512, NS_PER_US = 1000 };

/* State of the measurement. */
typedef struct work {
    mo_cluster *cluster;
    mo_cluster_notes *notes;
    const mo_transport *transport;
    mo_transport_world *world;
    const mo_driver_log *logger;
    int rank;
    mo_exec_units units;
    const char **ids;
    const char **device_notes, **link_notes; /* the cluster's */
} work;

/* Notes change: copies of both lists, in the same arena. */
static mo_status copy_notes(work *w, mo_error *err)
{
    mo_arena *arena = w->cluster->arena;
    size_t n_devices = (size_t) w->cluster->n_devices;
    size_t n_links = (size_t) w->cluster->n_links;

    w->device_notes = mo_arena_array(arena, n_devices, sizeof(char *));
    w->link_notes = mo_arena_array(arena, n_links, sizeof(char *));
    if (!w->device_notes || !w->link_notes)
        return mo_fail_memory(err);
    for (size_t k = 0; k < n_devices; k++)
        w->device_notes[k] = w->notes->devices[k];
    for (size_t l = 0; l < n_links; l++)
        w->link_notes[l] = w->notes->links[l];
    w->notes->devices = w->device_notes;
    w->notes->links = w->link_notes;
    return MO_OK;
}

static mo_status set_note(work *w, const char **note, const char *text,
                          mo_error *err)
{
    char *kept = mo_arena_text(w->cluster->arena, text, strlen(text));

    if (!kept)
        return mo_fail_memory(err);
    *note = kept;
    return MO_OK;
}

static double round_rate(double x)
{
    double unit = x < 1 ? 1000 : 10;

    return round(x * unit) / unit;
}

/* The measured rate replaces that of processors; a GPU keeps its nominal peak,
 * which the cost models scale. */
static mo_status note_device(work *w, int k,
                             const mo_measure_device_rates *reached,
                             mo_error *err)
{
    mo_device *device = &w->cluster->devices[k];
    double gflops = round_rate(reached->gflops);
    double gbs = round_rate(reached->bandwidth_gbs);
    char text[NOTE_SIZE];

    if (!device->is_cpu || gflops <= 0 || gbs <= 0) {
        snprintf(text, sizeof text,
                 "%s; measured: a product of floats reaches %g GFLOP/s, a copy "
                 "%g GB/s",
                 w->device_notes[k], gflops, gbs);
        return set_note(w, &w->device_notes[k], text, err);
    }
    device->gflops[MO_MATH_F32] = gflops;
    device->bandwidth_gbs = gbs;
    snprintf(text, sizeof text,
             "measured: gflops by a product of floats, memory_bandwidth_gbs by "
             "a copy; launch_us: assumed");
    return set_note(w, &w->device_notes[k], text, err);
}

/* Devices of one rank are measured one after the other; ranks measure
 * concurrently, as they run. */
static mo_status measure_device(work *w, int k, mo_error *err)
{
    int of = w->units.rank_of[k];
    mo_measure_device_rates reached = { 0 };
    mo_status status = MO_OK;

    if (of == w->rank)
        status = mo_measure_device(w->units.backends[k], &w->units.options[k],
                                   &reached, err);
    if (status == MO_OK && of > 0 && (w->rank == of || w->rank == 0))
        status =
            w->transport->collect(w->world, of, &reached, sizeof reached, err);
    if (status == MO_OK &&
        !(isfinite(reached.gflops) && reached.gflops >= 0 &&
          isfinite(reached.bandwidth_gbs) && reached.bandwidth_gbs >= 0))
        status = mo_fail(err, MO_E_IO,
                         "rank %d sends rates of device '%s' that are no "
                         "numbers: use the same moirai everywhere",
                         of, w->cluster->devices[k].id);
    if (status == MO_OK && w->rank == 0)
        status = note_device(w, k, &reached, err);
    return status;
}

/* Keeps the smallest and the largest message of every pair; returns the number
 * of rows left. */
static int keep_extremes(mo_measure_link_row *rows, int n)
{
    int kept = 0;

    for (int i = 0; i < n; i++) {
        bool first = i == 0 || rows[i].from != rows[i - 1].from ||
                     rows[i].to != rows[i - 1].to;
        bool last = i + 1 == n || rows[i].from != rows[i + 1].from ||
                    rows[i].to != rows[i + 1].to;

        if (first || last)
            rows[kept++] = rows[i];
    }
    return kept;
}

static mo_status set_link(work *w, const mo_profile_link *measured,
                          mo_error *err)
{
    int from = mo_cluster_find(w->cluster, measured->from);
    int to = mo_cluster_find(w->cluster, measured->to);
    int l = mo_cluster_find_link(w->cluster, from, to);
    char text[NOTE_SIZE];
    mo_link *link;

    if (l < 0)
        return MO_OK;
    link = &w->cluster->links[l];
    link->gbps = measured->gbps;
    link->latency_ns = (int64_t) llround(measured->latency_us * NS_PER_US);
    snprintf(text, sizeof text, "measured, path: %s", measured->path);
    return set_note(w, &w->link_notes[l], text, err);
}

static mo_status set_links(work *w, mo_measure_link_row *rows, int n,
                           mo_error *err)
{
    mo_profile_link *links = NULL;
    int n_links = 0;
    mo_status status = mo_profiler_link_rows_make(
        rows, keep_extremes(rows, n), w->ids, &links, &n_links, err);

    for (int i = 0; i < n_links && status == MO_OK; i++)
        status = set_link(w, &links[i], err);
    free(links);
    return status;
}

static mo_status measure_links(work *w, mo_error *err)
{
    const mo_run_plan_options run = {
        .transport = w->transport,
        .world = w->world,
        .backends = w->units.backends,
        .units = w->units.options,
        .rank_of = w->units.rank_of,
    };
    const mo_measure_links_options options = {
        .n_devices = w->cluster->n_devices, .ids = w->ids, .run = &run
    };
    mo_measure_link_row *rows = NULL;
    int n_rows = 0;
    mo_status status = MO_OK;

    if (options.n_devices > 1) {
        mo_driver_log_info(w->logger, "measuring links between %d devices",
                           options.n_devices);
        status = mo_measure_links(&options, &rows, &n_rows, err);
    }
    if (status == MO_OK && w->rank == 0)
        status = set_links(w, rows, n_rows, err);
    free(rows);
    return status;
}

static mo_status prepare_units(work *w, mo_error *err)
{
    mo_exec_config wants = MO_EXEC_CONFIG_DEFAULTS;
    size_t n = (size_t) w->cluster->n_devices;
    mo_status status = copy_notes(w, err);

    wants.no_measure = true; /* no autotuning of products, which takes longer */
    if (status == MO_OK)
        status = mo_exec_units_make(w->cluster, w->transport->n_ranks(w->world),
                                    w->rank, &wants, &w->units, err);
    w->ids = calloc(n, sizeof *w->ids);
    if (status == MO_OK && !w->ids)
        return mo_fail_memory(err);
    for (size_t k = 0; k < n && status == MO_OK; k++)
        w->ids[k] = w->cluster->devices[k].id;
    return status;
}

mo_status mo_driver_cluster_measure(mo_cluster *cluster,
                                    mo_cluster_notes *notes,
                                    const mo_transport *transport,
                                    mo_transport_world *world,
                                    const mo_driver_log *logger, mo_error *err)
{
    work w = { .cluster = cluster,
               .notes = notes,
               .transport = transport,
               .world = world,
               .logger = logger,
               .rank = transport->rank(world) };
    mo_status status = prepare_units(&w, err);

    for (int k = 0; k < cluster->n_devices && status == MO_OK; k++) {
        mo_driver_log_info(logger, "measuring device '%s'",
                           cluster->devices[k].id);
        status = measure_device(&w, k, err);
    }
    if (status == MO_OK)
        status = measure_links(&w, err);
    mo_exec_units_clear(&w.units);
    free(w.ids);
    return status;
}
