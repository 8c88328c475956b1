/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/pin_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/exec/rank_binding.h"
#include "exec/measure/host_load.h"

/* Threads that need a processor, by device; those that drive GPUs are one. */
typedef struct demand {
    int *threads; /* to be pinned */
    int sum, all; /* of these; and of all devices of the rank */
} demand;

static mo_status find_demand(int n, const int *rank_of, int rank,
                             const mo_backend *const *backends,
                             const mo_backend_unit_options *units, demand *d,
                             mo_error *err)
{
    d->threads = calloc((size_t) n + 1, sizeof *d->threads);
    if (!d->threads)
        return mo_fail_memory(err);
    for (int k = 0; k < n; k++) {
        if (rank_of[k] != rank || backends[k]->separate_memory)
            continue;
        d->all += units[k].threads;
        if (units[k].n_cpus > 0)
            continue;
        d->threads[k] = units[k].threads;
        d->sum += units[k].threads;
    }
    return MO_OK;
}

static bool drives_gpus(int n, const int *rank_of, int rank,
                        const mo_backend *const *backends)
{
    for (int k = 0; k < n; k++)
        if (rank_of[k] == rank && backends[k]->separate_memory)
            return true;
    return false;
}

/* Processors that the cluster gives to other devices of this process. Claimed,
 * they are free of the threads of other processes, too. */
static void exclude_given(int n, const int *rank_of, int rank,
                          const mo_backend_unit_options *units,
                          mo_thread_cpus *cpus, mo_thread_reservation *r)
{
    for (int k = 0; k < n; k++)
        for (int i = 0; rank_of[k] == rank && i < units[k].n_cpus; i++) {
            (void) mo_thread_claim(MO_THREAD_CLAIM_SPACE, units[k].cpus[i], r);
            for (int c = 0; c < cpus->n; c++)
                cpus->cpus[c].taken |= cpus->cpus[c].number == units[k].cpus[i];
        }
}

/* Whatever other processes do. */
static mo_status pin_always(const mo_thread_cpus *cpus, const demand *d, int n,
                            mo_thread_reservation *r, mo_error *err)
{
    r->cpus = calloc((size_t) d->sum + 1, sizeof *r->cpus);
    if (!r->cpus)
        return mo_fail_memory(err);
    if (mo_thread_cpus_assign(cpus, d->threads, n, r->cpus))
        return MO_OK;
    return mo_fail(err, MO_E_INPUT,
                   "--pin on: the devices have %d threads, and this process "
                   "may use %d of the processors; give fewer threads, or more "
                   "processors",
                   d->all, mo_thread_cpus_usable(cpus));
}

static mo_status reserve(const char *pin, mo_thread_cpus *cpus, const demand *d,
                         int n, bool gpus, mo_thread_reservation *r,
                         mo_exec_fit *fit, mo_error *err)
{
    mo_status status;

    if (strcmp(pin, "on") == 0)
        return pin_always(cpus, d, n, r, err);
    if (d->all + gpus > fit->usable)
        return MO_OK;
    status =
        mo_thread_reserve(MO_THREAD_CLAIM_SPACE, cpus, d->threads, n, r, err);
    fit->contended = status == MO_OK && !r->cpus;
    return status;
}

mo_status mo_exec_pin_devices(const char *pin, int n, const int *rank_of,
                              int rank, bool alone,
                              const mo_backend *const *backends,
                              mo_backend_unit_options *units,
                              mo_thread_reservation *reserved, mo_exec_fit *fit,
                              mo_error *err)
{
    mo_thread_cpus cpus = { 0 };
    demand d = { 0 };
    mo_status status = mo_thread_cpus_read(&cpus, err);
    mo_measure_load load;
    bool pins, gpus = drives_gpus(n, rank_of, rank, backends);
    int at = 0;

    if (status == MO_OK)
        status = find_demand(n, rank_of, rank, backends, units, &d, err);
    mo_measure_load_read(NULL, &load);
    *fit = (mo_exec_fit){ .threads = d.all,
                          .usable = mo_thread_cpus_usable(&cpus),
                          .host = load.machine ^ load.mask };
    /* A single thread has no other to be kept apart from. */
    pins = strcmp(pin, "off") != 0 && d.sum > 0 &&
           (strcmp(pin, "on") == 0 || d.all > 1 || !alone || gpus);
    if (status == MO_OK && strcmp(pin, "off") != 0)
        exclude_given(n, rank_of, rank, units, &cpus, reserved);
    if (status == MO_OK && pins)
        status = reserve(pin, &cpus, &d, n, gpus, reserved, fit, err);
    for (int k = 0; k < n && status == MO_OK && reserved->cpus; k++) {
        if (d.threads[k] == 0)
            continue;
        units[k].cpus = reserved->cpus + at;
        units[k].n_cpus = d.threads[k];
        at += d.threads[k];
    }
    free(d.threads);
    mo_thread_cpus_clear(&cpus);
    return status;
}

void mo_exec_fits_combine(mo_exec_fit *fits, int n)
{
    for (int r = 0; r < n; r++) {
        int first = 0;

        while (fits[first].host != fits[r].host)
            first++;
        fits[r].host_threads = 0;
        fits[first].host_threads += fits[r].threads;
    }
}

bool mo_exec_fits_crowded(const mo_exec_fit *fits, int n, int rank)
{
    for (int r = 0; r < n; r++)
        if (fits[r].host == fits[rank].host && fits[r].host_threads > 0)
            return fits[r].host_threads > fits[rank].usable;
    return false;
}

void mo_exec_fit_log(const mo_exec_fit *fit, int rank,
                     const mo_driver_log *logger)
{
    char of[32] = "", remedy[MO_EXEC_REMEDY_SIZE];

    if (logger->quiet)
        return;
    if (rank >= 0)
        snprintf(of, sizeof of, "rank %d: ", rank);
    if (fit->threads > fit->usable)
        fprintf(stderr,
                "%s: %sthe devices have %d threads, and this process may use "
                "%d processor%s: they take turns, longer than predicted; give "
                "fewer threads, or more processors (%s)\n",
                logger->command, of, fit->threads, fit->usable,
                fit->usable > 1 ? "s" : "",
                mo_exec_binding_remedy(fit->threads, remedy));
    else if (fit->host_threads > fit->usable)
        fprintf(stderr,
                "%s: the ranks that share %d processor%s with rank %d have %d "
                "threads: they take turns, longer than predicted; give fewer "
                "threads, or start fewer ranks on a machine\n",
                logger->command, fit->usable, fit->usable > 1 ? "s" : "", rank,
                fit->host_threads);
    if (fit->contended)
        mo_driver_log_info(
            logger,
            "%sthreads are not pinned: other processes of Moirai "
            "hold too many of the %d processors",
            of, fit->usable);
}

const char *mo_exec_format_cpus(const int *cpus, int n,
                                char text[MO_EXEC_CPUS_SIZE])
{
    size_t length = 0;

    text[0] = '\0';
    for (int i = 0, last; i < n; i = last + 1) {
        char item[32];
        int size;

        for (last = i; last + 1 < n && cpus[last + 1] == cpus[last] + 1; last++)
            ;
        size = snprintf(item, sizeof item, last > i ? "%s%d-%d" : "%s%d",
                        i > 0 ? "," : "", cpus[i], cpus[last]);
        if (length + (size_t) size + sizeof ",..." > MO_EXEC_CPUS_SIZE) {
            memcpy(text + length, ",...", sizeof ",...");
            break;
        }
        memcpy(text + length, item, (size_t) size + 1);
        length += (size_t) size;
    }
    return text;
}
