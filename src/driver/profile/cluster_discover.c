/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/profile/cluster_discover.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/number.h"
#include "base/out.h"
#include "base/utf8.h"
#include "driver/exec/device_units.h"
#include "driver/output_guard.h"
#include "driver/profile/link_rows.h"
#include "driver/profile/load_log.h"
#include "cost/cluster/cluster_write.h"
#include "cost/cluster/cpu_list.h"
#include "exec/discover/discover.h"
#include "exec/measure/bench.h"

enum { NOTE_SIZE = 512, NS_PER_US = 1000 };

/* State of the measurement. */
typedef struct measurement {
    mo_cluster *cluster;
    mo_cluster_notes *notes;
    const mo_transport *transport;
    mo_transport_world *world;
    const mo_driver_log *logger;
    int rank;
    mo_exec_units units;
    const char **ids;
    const char **device_notes, **link_notes; /* the cluster's */
} measurement;

static mo_status set_note(measurement *w, const char **note, const char *text,
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
static mo_status note_device(measurement *w, int k,
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

static mo_status measure_links(measurement *w, mo_error *err)
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
    mo_profile_link *links = NULL;
    int n_rows = 0, n_links = 0;
    mo_status status = MO_OK;

    if (options.n_devices > 1) {
        mo_driver_log_info(w->logger, "measuring links between %d devices",
                           options.n_devices);
        status = mo_measure_links(&options, &rows, &n_rows, err);
    }
    if (status == MO_OK && w->rank == 0) {
        /* The smallest and the largest message of every pair. */
        int kept = 0;

        for (int i = 0; i < n_rows; i++) {
            bool first = i == 0 || rows[i].from != rows[i - 1].from ||
                         rows[i].to != rows[i - 1].to;
            bool last = i + 1 == n_rows || rows[i].from != rows[i + 1].from ||
                        rows[i].to != rows[i + 1].to;

            if (first || last)
                rows[kept++] = rows[i];
        }
        status = mo_profiler_link_rows_make(rows, kept, w->ids, &links,
                                            &n_links, err);
    }
    for (int i = 0; i < n_links && status == MO_OK; i++) {
        int from = mo_cluster_find(w->cluster, links[i].from);
        int to = mo_cluster_find(w->cluster, links[i].to);
        int l = mo_cluster_find_link(w->cluster, from, to);
        char text[NOTE_SIZE];

        if (l < 0)
            continue;
        w->cluster->links[l].gbps = links[i].gbps;
        w->cluster->links[l].latency_ns =
            (int64_t) llround(links[i].latency_us * NS_PER_US);
        snprintf(text, sizeof text, "measured, path: %s", links[i].path);
        status = set_note(w, &w->link_notes[l], text, err);
    }
    free(links);
    free(rows);
    return status;
}

static mo_status prepare_units(measurement *w, mo_error *err)
{
    mo_exec_config wants = MO_EXEC_CONFIG_DEFAULTS;
    mo_arena *arena = w->cluster->arena;
    size_t n = (size_t) w->cluster->n_devices;
    size_t n_links = (size_t) w->cluster->n_links;
    mo_status status;

    /* Notes change: copies of both lists, in the same arena. */
    w->device_notes = mo_arena_array(arena, n, sizeof(char *));
    w->link_notes = mo_arena_array(arena, n_links, sizeof(char *));
    if (!w->device_notes || !w->link_notes)
        return mo_fail_memory(err);
    for (size_t k = 0; k < n; k++)
        w->device_notes[k] = w->notes->devices[k];
    for (size_t l = 0; l < n_links; l++)
        w->link_notes[l] = w->notes->links[l];
    w->notes->devices = w->device_notes;
    w->notes->links = w->link_notes;
    wants.no_measure = true; /* no autotuning of products, which takes longer */
    status = mo_exec_units_make(w->cluster, w->transport->n_ranks(w->world),
                                w->rank, &wants, &w->units, err);
    w->ids = calloc(n, sizeof *w->ids);
    if (status == MO_OK && !w->ids)
        return mo_fail_memory(err);
    for (size_t k = 0; k < n && status == MO_OK; k++)
        w->ids[k] = w->cluster->devices[k].id;
    return status;
}

/*
 * Replaces nominal numbers by measured ones and notes it: links between any
 * two devices, and rates of processors. Collective: all ranks call it with the
 * same cluster, and rank 0 has the result. A GPU keeps the peaks that
 * predictions are based on; its measured rate is in its note.
 */
static mo_status measure_cluster(mo_cluster *cluster, mo_cluster_notes *notes,
                                 const mo_transport *transport,
                                 mo_transport_world *world,
                                 const mo_driver_log *logger, mo_error *err)
{
    measurement w = { .cluster = cluster,
                      .notes = notes,
                      .transport = transport,
                      .world = world,
                      .logger = logger,
                      .rank = transport->rank(world) };
    mo_progress step;
    mo_status status = prepare_units(&w, err);

    mo_driver_log_step(logger, &step, "measuring");
    for (int k = 0; k < cluster->n_devices && status == MO_OK; k++) {
        mo_driver_log_info(logger, "measuring device '%s'",
                           cluster->devices[k].id);
        mo_progress_detail(&step, "device '%s'", cluster->devices[k].id);
        /* Devices of one rank are measured one after the other; ranks measure
         * concurrently, as they run. */
        int of = w.units.rank_of[k];
        mo_measure_device_rates reached = { 0 };

        status = MO_OK;
        if (of == w.rank)
            status = mo_measure_device(w.units.backends[k], &w.units.options[k],
                                       &reached, err);
        if (status == MO_OK && of > 0 && (w.rank == of || w.rank == 0))
            status = w.transport->collect(w.world, of, &reached, sizeof reached,
                                          err);
        if (status == MO_OK &&
            !(isfinite(reached.gflops) && reached.gflops >= 0 &&
              isfinite(reached.bandwidth_gbs) && reached.bandwidth_gbs >= 0))
            status = mo_fail(err, MO_E_IO,
                             "rank %d sends rates of device '%s' that are no "
                             "numbers: use the same moirai everywhere",
                             of, w.cluster->devices[k].id);
        if (status == MO_OK && w.rank == 0)
            status = note_device(&w, k, &reached, err);
    }
    mo_progress_detail(&step, "links");
    if (status == MO_OK)
        status = measure_links(&w, err);
    mo_progress_end(&step);
    mo_exec_units_clear(&w.units);
    free(w.ids);
    return status;
}

enum { MOST_CPUS = 64, LINE_SIZE = 512, HEAD_SIZE = 256 };

/* State of the subcommand. */
typedef struct work {
    const mo_driver_cluster_options *o;
    const mo_transport *transport;
    mo_transport_world *world;
    int rank, n_ranks;
    mo_arena *arena; /* of the list of GPUs */
    const int *gpus; /* NULL: all */
    int n_gpus;
    mo_discover_options how;
    mo_discover_inventory *inventories; /* by rank */
    mo_cluster *topology, *cluster;
    mo_cluster_notes notes;
    mo_measure_load load; /* while it was measured */
} work;

static mo_status read_gpus(work *w, mo_error *err)
{
    static const int none[1];
    const char *list = w->o->gpus;

    if (!list)
        return MO_OK;
    if (strcmp(list, "none") == 0) {
        w->gpus = none;
        return MO_OK;
    }
    w->arena = mo_arena_new();
    if (!w->arena)
        return mo_fail_memory(err);
    if (!mo_cpu_list_read(list, w->arena, &w->gpus, &w->n_gpus))
        return mo_fail(err, MO_E_USAGE,
                       "--gpus %.80s: no list of GPUs; write numbers, each "
                       "once, as in 0,2-3, or none",
                       list);
    return w->gpus ? MO_OK : mo_fail_memory(err);
}

static mo_status read_cpus(work *w, mo_error *err)
{
    const char *text = w->o->cpus;
    int64_t n = 1;

    if (text && strcmp(text, "none") == 0)
        n = 0;
    else if (text &&
             (mo_number_read_int(text, strlen(text), &n) != MO_NUMBER_OK ||
              n < 1 || n > MOST_CPUS))
        return mo_fail(err, MO_E_USAGE,
                       "--cpus %.80s: no number of devices from 1 to %d, nor "
                       "none",
                       text, MOST_CPUS);
    w->how.cpus = (int) n;
    return MO_OK;
}

/* Callback of a transport thread that ends the process while the command is
 * blocked. */
static void log_last_error(const mo_error *why)
{
    char text[MO_ERROR_FILE_SIZE + MO_ERROR_TEXT_SIZE + 16];

    fprintf(stderr, "moirai-cluster: %s\n",
            mo_error_format(why, text, sizeof text));
}

/* Logs a rejected rank while the rendezvous goes on. */
static void log_note(const char *text)
{
    fprintf(stderr, "moirai-cluster: %s\n", text);
}

/* Measuring needs the devices of all ranks. */
static mo_status find_devices(work *w, mo_error *err)
{
    mo_status status = MO_OK;

    if (w->o->topology)
        status = mo_cluster_read(w->o->topology, &w->topology, err);
    w->how.topology = w->topology;
    w->inventories = calloc((size_t) w->n_ranks, sizeof *w->inventories);
    if (status == MO_OK && !w->inventories)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_discover_local(w->gpus, w->n_gpus, &w->inventories[w->rank],
                                   err);
    if (status == MO_OK)
        status = mo_discover_gather(w->transport, w->world, w->o->measure,
                                    w->inventories, err);
    if (status != MO_OK || (w->rank > 0 && !w->o->measure))
        return status;
    if (w->rank == 0) {
        /* Logs the devices of each machine, at rank 0. */
        for (int r = 0; r < w->n_ranks && !w->o->logger.quiet; r++) {
            const mo_discover_inventory *s = &w->inventories[r];
            char host[LINE_SIZE];

            mo_utf8_escape_controls(host, sizeof host, s->host);
            if (s->n_gpus == 0 && *s->no_gpu && w->how.cpus > 0)
                fprintf(
                    stderr,
                    "%s: no GPU found on %s, only processors are used: %s\n",
                    w->o->logger.command, host, s->no_gpu);
        }
    }
    status = mo_discover_cluster(w->inventories, w->n_ranks, &w->how,
                                 &w->cluster, &w->notes, err);
    if (status != MO_OK || !w->o->measure)
        return status;
    mo_measure_load_read(NULL, &w->load);
    status = measure_cluster(w->cluster, &w->notes, w->transport, w->world,
                             &w->o->logger, err);
    mo_measure_load_since(NULL, &w->load);
    if (status == MO_OK)
        status = mo_measure_load_gather(w->transport, w->world, &w->load, err);
    return status;
}

static mo_status write_cluster(const work *w, mo_error *err)
{
    mo_cluster_notes notes = w->notes;
    char load[MO_MEASURE_LOAD_SIZE], head[HEAD_SIZE];
    mo_out *out;
    mo_status status = mo_out_open(w->o->output, &out, err);

    if (status != MO_OK)
        return status;
    notes.head = w->o->measure
                     ? "by moirai-cluster discover, measured"
                     : "by moirai-cluster discover, nominal: nothing measured";
    if (w->o->measure && !mo_measure_load_quiet(&w->load)) {
        snprintf(head, sizeof head,
                 "by moirai-cluster discover, measured, not quiet: %s",
                 mo_measure_load_format(&w->load, load));
        notes.head = head;
        mo_driver_load_log(&w->o->logger, &w->load);
    }
    mo_cluster_write(w->cluster, &notes, out);
    return mo_out_commit(out, err);
}

mo_status mo_driver_cluster_discover(mo_driver_cluster_options *o,
                                     mo_error *err)
{
    const mo_output_file output = { .option = "--output", .path = o->output };
    const mo_output_guard guard = { .outputs = &output, .n = 1 };
    work w = { .o = o, .how = { .precision = o->precision } };
    mo_status status = mo_output_guard_check_input(&guard, o->topology, err);

    if (status == MO_OK)
        status = mo_launch_options_check_outputs(&o->job, &guard, err);
    if (status == MO_OK)
        status = read_gpus(&w, err);
    if (status == MO_OK)
        status = read_cpus(&w, err);
    if (status == MO_OK) {
        mo_transport_world_options options = { .print_fatal = log_last_error,
                                               .note = log_note };

        status =
            mo_launch_options_read(&o->job, options.note, &options.launch, err);
        if (status == MO_OK)
            status = mo_transport_select_with(w.o->transport, &options.launch,
                                              &w.transport, err);
        if (status == MO_OK)
            status = w.transport->open(&options, &w.world, err);
        if (status == MO_OK) {
            w.rank = w.transport->rank(w.world);
            w.n_ranks = w.transport->n_ranks(w.world);
        }
    }
    if (status == MO_OK) {
        status = find_devices(&w, err);
        if (status == MO_OK && w.rank == 0 && w.transport->settle)
            status = w.transport->settle(w.world, err);
        if (status == MO_OK && w.rank == 0)
            status = write_cluster(&w, err);
        if (status != MO_OK)
            w.transport->fail(w.world, err);
        w.transport->close(w.world);
    }
    mo_cluster_free(w.cluster);
    mo_cluster_free(w.topology);
    mo_arena_free(w.arena);
    free(w.inventories);
    return status;
}
