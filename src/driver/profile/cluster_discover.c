/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/profile/cluster_discover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/number.h"
#include "base/out.h"
#include "base/utf8.h"
#include "driver/output_files.h"
#include "driver/profile/cluster_measure.h"
#include "driver/profile/load_log.h"
#include "cost/cluster/cpu_list.h"
#include "exec/discover/discover.h"

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

/* Logs the devices of each machine, at rank 0. */
static void log_inventory(const work *w)
{
    for (int r = 0; r < w->n_ranks && !w->o->logger.quiet; r++) {
        const mo_discover_inventory *s = &w->inventories[r];
        char host[LINE_SIZE];

        mo_utf8_escape_controls(host, sizeof host, s->host);
        if (s->n_gpus == 0 && *s->no_gpu && w->how.cpus > 0)
            fprintf(stderr,
                    "%s: no GPU on %s, its processors alone are taken: %s\n",
                    w->o->logger.command, host, s->no_gpu);
    }
}

static mo_status inventory_devices(work *w, mo_error *err)
{
    mo_status status;

    w->inventories = calloc((size_t) w->n_ranks, sizeof *w->inventories);
    if (!w->inventories)
        return mo_fail_memory(err);
    status =
        mo_discover_local(w->gpus, w->n_gpus, &w->inventories[w->rank], err);
    if (status == MO_OK)
        status = mo_discover_gather(w->transport, w->world, w->o->measure,
                                    w->inventories, err);
    return status;
}

/* Measuring needs the devices of all ranks. */
static mo_status find_devices(work *w, mo_error *err)
{
    mo_status status = MO_OK;

    if (w->o->topology)
        status = mo_cluster_read(w->o->topology, &w->topology, err);
    w->how.topology = w->topology;
    if (status == MO_OK)
        status = inventory_devices(w, err);
    if (status != MO_OK || (w->rank > 0 && !w->o->measure))
        return status;
    if (w->rank == 0)
        log_inventory(w);
    status = mo_discover_cluster(w->inventories, w->n_ranks, &w->how,
                                 &w->cluster, &w->notes, err);
    if (status != MO_OK || !w->o->measure)
        return status;
    mo_measure_load_read(NULL, &w->load);
    status = mo_driver_cluster_measure(w->cluster, &w->notes, w->transport,
                                       w->world, &w->o->logger, err);
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
    work w = { .o = o, .how = { .precision = o->precision } };
    mo_status status =
        mo_output_files_check_input(&output, 1, o->topology, err);

    if (status == MO_OK)
        status = mo_launch_options_check_outputs(&o->job, &output, 1, err);
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
