/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/pin_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/exec/device_units.h"
#include "driver/exec/rank_binding.h"
#include "exec/measure/host_load.h"

/* Threads that need a processor, by device; those that drive GPUs are one. */
typedef struct demand {
    int *threads; /* to be pinned */
    int sum, all; /* of these; and of all devices of the rank */
    bool gpus;    /* a thread drives them */
} demand;

static mo_status find_demand(const mo_exec_units *units, int rank, demand *d,
                             mo_error *err)
{
    d->threads = calloc((size_t) units->n + 1, sizeof *d->threads);
    if (!d->threads)
        return mo_fail_memory(err);
    for (int k = 0; k < units->n; k++) {
        const mo_backend_unit_options *unit = &units->options[k];

        if (units->rank_of[k] != rank)
            continue;
        if (units->backends[k]->separate_memory) {
            d->gpus = true;
            continue;
        }
        d->all += unit->threads;
        if (unit->n_cpus > 0)
            continue;
        d->threads[k] = unit->threads;
        d->sum += unit->threads;
    }
    return MO_OK;
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

mo_status mo_exec_pin_devices(const char *pin, int rank, mo_exec_units *units,
                              mo_error *err)
{
    bool is_on = strcmp(pin, "on") == 0, is_off = strcmp(pin, "off") == 0;
    mo_thread_reservation *reserved = &units->reserved;
    mo_exec_fit *fit = &units->fits[rank];
    mo_thread_cpus cpus = { 0 };
    demand d = { 0 };
    mo_status status = mo_thread_cpus_read(&cpus, err);
    mo_measure_load load;
    int at = 0;

    if (status == MO_OK)
        status = find_demand(units, rank, &d, err);
    mo_measure_load_read(NULL, &load);
    *fit = (mo_exec_fit){ .threads = d.all,
                          .usable = mo_thread_cpus_usable(&cpus),
                          .host = load.machine ^ load.mask };
    if (status == MO_OK && !is_off) {
        /* Processors that the cluster gives to other devices of this process.
         * Claimed, they are free of the threads of other processes, too. */
        for (int k = 0; k < units->n; k++) {
            const mo_backend_unit_options *unit = &units->options[k];

            for (int i = 0; units->rank_of[k] == rank && i < unit->n_cpus;
                 i++) {
                (void) mo_thread_claim(MO_THREAD_CLAIM_SPACE, unit->cpus[i],
                                       &units->reserved);
                for (int c = 0; c < cpus.n; c++)
                    cpus.cpus[c].taken |= cpus.cpus[c].number == unit->cpus[i];
            }
        }
    }
    if (status == MO_OK && is_on && d.sum > 0)
        status = pin_always(&cpus, &d, units->n, reserved, err);
    /* A single thread has no other to be kept apart from. */
    if (status == MO_OK && !is_on && !is_off && d.sum > 0 &&
        (d.all > 1 || units->n_ranks > 1 || d.gpus) &&
        d.all + d.gpus <= fit->usable) {
        status = mo_thread_reserve(MO_THREAD_CLAIM_SPACE, &cpus, d.threads,
                                   units->n, reserved, err);
        fit->contended = status == MO_OK && !reserved->cpus;
    }
    for (int k = 0; k < units->n && status == MO_OK && reserved->cpus; k++) {
        if (d.threads[k] == 0)
            continue;
        units->options[k].cpus = reserved->cpus + at;
        units->options[k].n_cpus = d.threads[k];
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
