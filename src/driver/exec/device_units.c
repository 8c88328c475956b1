/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/device_units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "base/array.h"
#include "base/utf8.h"
#include "cost/cluster.h"
#include "driver/exec/emulate.h"
#include "driver/exec/exchange_units.h"
#include "report/format_units.h"

enum { LINE_SIZE = 512 };

void mo_exec_units_clear(mo_exec_units *units)
{
    free(units->rank_of);
    free(units->options);
    free(units->backends);
    free(units->streams);
    free(units->concat_inplace);
    free(units->can_jit);
    free(units->parts);
    free(units->fits);
    free(units->cpus);
    free(units->chosen);
    mo_thread_reservation_clear(&units->reserved);
    *units = (mo_exec_units){ 0 };
}

/* A single process has all devices, whatever ranks the cluster assigns. */
static mo_status find_ranks(const mo_cluster *cluster, int n_ranks,
                            int *rank_of, mo_error *err)
{
    int n = cluster->n_devices;
    bool has_ranks = false;

    for (int k = 0; k < n; k++)
        has_ranks |= cluster->devices[k].rank >= 0;
    if (n_ranks > 1 && n_ranks < n && !has_ranks)
        return mo_fail(err, MO_E_INPUT,
                       "the cluster has %d devices, but there are %d ranks; "
                       "start %d, or give devices a rank",
                       n, n_ranks, n);
    for (int k = 0; k < n && n_ranks > 1; k++) {
        const mo_device *device = &cluster->devices[k];

        rank_of[k] = device->rank >= 0 ? device->rank : k;
        if (rank_of[k] >= n_ranks)
            return mo_fail(err, MO_E_INPUT,
                           "device '%.80s' belongs to rank %d, but there are "
                           "%d ranks; start more, or give it another rank",
                           device->id, rank_of[k], n_ranks);
    }
    return MO_OK;
}

/* Threads for each device without a number of its own. Where a launcher binds
 * processes, the allowed processors belong to this process alone. */
static mo_status thread_share(const mo_exec_units *units, int rank, int *share,
                              mo_error *err)
{
    int processes = mo_host_local_processes(), local = 0, cores;
    mo_thread_cpus cpus = { 0 };
    mo_status status = mo_thread_cpus_read(&cpus, err);

    for (int k = 0; k < units->n; k++)
        local += units->rank_of[k] == rank;
    cores = mo_thread_cpus_usable(&cpus);
    if (cores >= processes && cpus.n == mo_host_cpu_count())
        cores /= processes;
    *share = local > 0 && cores > local ? cores / local : 1;
    mo_thread_cpus_clear(&cpus);
    return status;
}

/* Sets the properties of a device that its plan depends on, by its backend. */
static void set_plan_traits(mo_exec_units *units, int device,
                            const mo_exec_config *wants)
{
    bool separate_memory = units->backends[device]->separate_memory;

    units->streams[device] = separate_memory ? (int) wants->streams : 1;
    units->can_jit[device] = separate_memory;
    units->concat_inplace[device] = !separate_memory;
}

void mo_exec_units_disable(mo_exec_units *units, int device,
                           const mo_exec_config *wants)
{
    units->backends[device] = &mo_backend_cpu;
    units->options[device].threads = 1;
    units->options[device].cpus = NULL;
    units->options[device].n_cpus = 0;
    set_plan_traits(units, device, wants);
}

mo_status mo_exec_units_make(const mo_cluster *cluster, int n_ranks, int rank,
                             const mo_exec_config *wants, mo_exec_units *units,
                             mo_error *err)
{
    size_t n = (size_t) cluster->n_devices;
    mo_status status;

    units->n = cluster->n_devices;
    units->rank_of = calloc(n, sizeof *units->rank_of);
    units->options = calloc(n, sizeof *units->options);
    units->backends = calloc(n, sizeof *units->backends);
    units->streams = calloc(n, sizeof *units->streams);
    units->can_jit = calloc(n, sizeof *units->can_jit);
    units->concat_inplace = calloc(n, sizeof *units->concat_inplace);
    units->cpus = calloc(n, sizeof *units->cpus);
    units->chosen = calloc(n, sizeof *units->chosen);
    units->fits = calloc((size_t) n_ranks, sizeof *units->fits);
    units->n_ranks = n_ranks;
    if (!units->cpus || !units->chosen || !units->fits || !units->rank_of ||
        !units->options || !units->backends || !units->streams ||
        !units->can_jit || !units->concat_inplace)
        return mo_fail_memory(err);
    status = find_ranks(cluster, n_ranks, units->rank_of, err);
    if (status == MO_OK) {
        int *gpus = calloc((size_t) units->n, sizeof *gpus);
        int each = 1;

        status =
            gpus ? thread_share(units, rank, &each, err) : mo_fail_memory(err);
        if (status == MO_OK)
            status = mo_exec_backends_choose(cluster, wants, units->backends,
                                             gpus, &units->no_gpu, err);
        for (int k = 0; k < units->n && status == MO_OK; k++) {
            int wanted = wants->threads > 0 ? (int) wants->threads
                                            : cluster->devices[k].threads;
            const char *cache = wants->cache;

            if (wanted > MO_BACKEND_MAX_THREADS)
                wanted = MO_BACKEND_MAX_THREADS;
            units->options[k] = (mo_backend_unit_options){
                .threads = wanted > 0 ? wanted : each,
                .cpus = cluster->devices[k].cpus,
                .n_cpus = cluster->devices[k].n_cpus,
                .precision = mo_exec_compute_precision(wants),
                .cache = cache && strcmp(cache, "none") == 0 ? "" : cache,
                .autotune = !wants->no_measure,
            };
            units->options[k].gpu = gpus[k];
            set_plan_traits(units, k, wants);
        }
        free(gpus);
    }
    if (status == MO_OK && wants->emulate)
        status = mo_emulate_sm_counts(wants->emulate, cluster, n_ranks,
                                      &units->parts, err);
    /* All devices are parts of the first GPU, whatever GPUs the cluster
     * assigns. */
    for (int k = 0; k < units->n && units->parts; k++) {
        units->options[k].gpu = 0;
        units->options[k].parts = units->parts;
        units->options[k].n_parts = units->n;
        units->options[k].part = k;
    }
    if (status == MO_OK)
        status = mo_exec_pin_devices(wants->pin, rank, units, err);
    for (int k = 0; k < units->n && status == MO_OK; k++)
        if (units->rank_of[k] == rank && !units->backends[k]->separate_memory) {
            const mo_backend_unit_options *unit = &units->options[k];
            int allowed[MO_THREAD_MAX_CPUS], n_allowed = 0;

            /* Those of the list that this process may use. */
            for (int i = 0; i < unit->n_cpus && n_allowed < MO_THREAD_MAX_CPUS;
                 i++)
                if (mo_host_cpu_is_allowed(unit->cpus[i]))
                    allowed[n_allowed++] = unit->cpus[i];
            mo_exec_format_cpus(allowed, n_allowed, units->cpus[k]);
            units->chosen[k] =
                strcmp(wants->pin, "on") != 0 &&
                units->options[k].cpus != cluster->devices[k].cpus;
        }
    return status;
}

void mo_exec_units_log(const mo_exec_units *units, const mo_cluster *cluster,
                       int rank, const mo_driver_log *logger)
{
    mo_exec_backends_log(cluster, units->backends, units->options,
                         &units->no_gpu, logger);
    for (int k = 0; k < units->n && !logger->quiet; k++) {
        const mo_backend_unit_options *unit = &units->options[k];
        int others = 0, missing = -1;
        char id[LINE_SIZE];

        for (int i = 0; i < unit->n_cpus; i++)
            if (mo_host_cpu_is_allowed(unit->cpus[i]))
                others++;
            else if (missing < 0)
                missing = unit->cpus[i];
        if (units->rank_of[k] == rank && missing >= 0)
            fprintf(
                stderr,
                "%s: device %s should run on processor %d, which this "
                "process may not use: its threads run %s\n",
                logger->command,
                mo_utf8_escape_controls(id, sizeof id, cluster->devices[k].id),
                missing, others > 0 ? "on the others" : "anywhere");
    }
    for (int r = 0; r < units->n_ranks; r++)
        mo_exec_fit_log(&units->fits[r], units->n_ranks > 1 ? r : -1, logger);
}

/* Adds bytes to *sum; INT64_MAX where that is too large. */
static void add_bytes(int64_t *sum, int64_t bytes)
{
    if (!mo_int64_add(*sum, bytes, sum))
        *sum = INT64_MAX;
}

mo_status mo_exec_units_check_memory(const mo_exec_units *units,
                                     const mo_exec_plan *plan, int rank,
                                     int64_t limit, mo_error *err)
{
    int64_t left = limit > 0 ? limit : mo_host_available_memory_bytes();
    int64_t need = 0;
    char wanted[MO_FORMAT_SIZE], there[MO_FORMAT_SIZE];

    /* Weights are mapped and packed: the copies count, the files do not.
     * Devices with memory of their own check it themselves. */
    for (int k = 0; k < plan->n_devices; k++) {
        const mo_plan_device *device = &plan->devices[k];

        if (units->rank_of[k] != rank || units->backends[k]->separate_memory)
            continue;
        add_bytes(&need, device->arena_bytes);
        add_bytes(&need, device->weight_bytes);
    }
    for (int i = 0; i < plan->n_inputs; i++)
        add_bytes(&need, mo_tensor_desc_bytes(&plan->inputs[i].desc));
    for (int i = 0; i < plan->n_outputs && rank == 0; i++) {
        mo_tensor_desc desc = mo_plan_output_desc(plan, i);

        add_bytes(&need, mo_tensor_desc_bytes(&desc));
    }
    if (need <= left)
        return MO_OK;
    return mo_fail(err, MO_E_MEMORY,
                   "this process needs %s of memory for devices, inputs and "
                   "outputs, and %s %s left; run on more machines, or smaller "
                   "inputs%s",
                   mo_format_bytes((double) need, wanted),
                   limit > 0 ? "of --memory-limit there are"
                             : "the machine has",
                   mo_format_bytes((double) left, there),
                   limit > 0 ? ", or raise it" : "");
}

/* A GPU of another rank, never called here: this program may have been built
 * without CUDA. */
static const mo_backend elsewhere = { .name = "cuda", .separate_memory = true };

/* By device, whether it is a GPU, and its processors; and how the rank's
 * threads fit its processors. Fixed size: ranks may have clusters of other
 * sizes, which is detected later. */
typedef struct unit_kinds {
    uint8_t separate_memory[MO_MAX_DEVICES]; /* 0 or 1 */
    uint8_t chosen[MO_MAX_DEVICES]; /* 0 or 1: processors were chosen, not
                                       given; sent back: they are given up */
    char cpus[MO_MAX_DEVICES][MO_EXEC_CPUS_SIZE];
    mo_exec_fit fit;
} unit_kinds;

/* Of the CPU devices of one rank, and their processors. */
enum { MAX_FIT = 1 << 18 };

mo_status mo_exec_decode_fit(const mo_exec_fit *sent, mo_exec_fit *fit,
                             mo_error *err)
{
    if (sent->threads < 0 || sent->threads > MAX_FIT)
        return mo_fail(err, MO_E_IO, "%d threads", (int) sent->threads);
    if (sent->usable < 0 || sent->usable > MAX_FIT)
        return mo_fail(err, MO_E_IO, "%d processors", (int) sent->usable);
    *fit = *sent;
    fit->host_threads = 0;
    return MO_OK;
}

/* Checks what rank from sends: flags, and lists of processors, which are
 * printed. */
static mo_status decode_kinds(const unit_kinds *kinds, int from,
                              mo_exec_fit *fit, mo_error *err)
{
    mo_error why = { 0 };
    mo_status status = mo_exec_decode_fit(&kinds->fit, fit, &why);

    for (int k = 0; k < MO_MAX_DEVICES && status == MO_OK; k++) {
        size_t length = strnlen(kinds->cpus[k], MO_EXEC_CPUS_SIZE);

        if (kinds->separate_memory[k] > 1 || kinds->chosen[k] > 1)
            status = mo_fail(&why, MO_E_IO, "a flag that is neither 0 nor 1");
        else if (length == MO_EXEC_CPUS_SIZE ||
                 strspn(kinds->cpus[k], "0123456789,-.") != length)
            status = mo_fail(&why, MO_E_IO, "no list of processors");
    }
    if (status == MO_OK)
        return MO_OK;
    return mo_fail(err, status,
                   "rank %d sends %s: use the same moirai everywhere", from,
                   why.text);
}

/* At rank 0: receives the message of every rank. */
static mo_status receive_all(const mo_transport *transport,
                             mo_transport_world *world, mo_exec_units *units,
                             unit_kinds *all, mo_error *err)
{
    mo_status status = MO_OK;
    unit_kinds theirs;

    for (int r = 1; r < transport->n_ranks(world) && status == MO_OK; r++) {
        status = transport->collect(world, r, &theirs, sizeof theirs, err);
        if (status == MO_OK)
            status = decode_kinds(&theirs, r, &units->fits[r], err);
        for (int k = 0; k < units->n && status == MO_OK; k++)
            if (units->rank_of[k] == r) {
                all->separate_memory[k] = theirs.separate_memory[k];
                all->chosen[k] = theirs.chosen[k];
                memcpy(units->cpus[k], theirs.cpus[k], sizeof theirs.cpus[k]);
            }
    }
    if (status != MO_OK)
        return status;
    mo_exec_fits_combine(units->fits, units->n_ranks);
    for (int k = 0; k < units->n; k++)
        all->chosen[k] &= mo_exec_fits_crowded(units->fits, units->n_ranks,
                                               units->rank_of[k]);
    return status;
}

mo_status mo_exec_exchange_units(const mo_transport *transport,
                                 mo_transport_world *world,
                                 const mo_exec_config *wants,
                                 mo_exec_units *units, mo_error *err)
{
    int rank = transport->rank(world);
    unit_kinds all = { .fit = units->fits[rank] };
    mo_exec_fit ignored;
    mo_status status;

    if (transport->n_ranks(world) == 1)
        return MO_OK;
    for (int k = 0; k < units->n; k++) {
        all.separate_memory[k] = units->backends[k]->separate_memory;
        memcpy(all.cpus[k], units->cpus[k], sizeof all.cpus[k]);
        all.chosen[k] = units->chosen[k];
    }
    status = rank == 0 ? receive_all(transport, world, units, &all, err)
                       : transport->collect(world, rank, &all, sizeof all, err);
    if (status == MO_OK)
        status = transport->broadcast(world, &all, sizeof all, err);
    if (status == MO_OK && rank != 0)
        status = decode_kinds(&all, 0, &ignored, err);
    for (int k = 0; k < units->n && status == MO_OK; k++) {
        if (units->rank_of[k] != rank) {
            units->backends[k] =
                all.separate_memory[k] ? &elsewhere : &mo_backend_cpu;
            set_plan_traits(units, k, wants);
        }
        /* Some ranks of a machine must not keep processors from others that
         * have none. */
        if (all.chosen[k]) {
            units->options[k].cpus = NULL;
            units->options[k].n_cpus = 0;
            units->cpus[k][0] = '\0';
        }
    }
    return status;
}
