/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/profile/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/exec/exchange_units.h"

enum { NAME_SIZE = 256 };

void mo_profiler_devices_clear(mo_profiler_devices *d)
{
    for (int k = 0; d->gpus && k < d->units.n; k++)
        free(d->gpus[k]);
    free(d->gpus);
    mo_exec_units_clear(&d->units);
    mo_cluster_free(d->cluster);
    *d = (mo_profiler_devices){ 0 };
}

/* The model of a GPU is known once it is opened. */
static mo_status query_gpu(mo_profiler_devices *d, int device, mo_error *err)
{
    const mo_backend *backend = d->units.backends[device];
    mo_backend_unit *unit = NULL;
    mo_status status = backend->open(&d->units.options[device], &unit, err);

    if (status != MO_OK)
        return status;
    d->gpus[device] = strdup(backend->device_name(unit));
    backend->close(unit);
    return d->gpus[device] ? MO_OK : mo_fail_memory(err);
}

static bool has_any(const mo_profiler_devices *d)
{
    for (int k = 0; k < d->cluster->n_devices; k++)
        if (mo_profiler_devices_available(d, k))
            return true;
    return false;
}

/* Rank 0 receives the names of GPUs of other ranks. */
static mo_status collect_gpus(const mo_profiler_ranks *ranks,
                              mo_profiler_devices *d, mo_error *err)
{
    mo_status status = MO_OK;

    for (int k = 0; k < d->units.n && status == MO_OK; k++) {
        char name[NAME_SIZE] = "";

        if (d->gpus[k])
            snprintf(name, sizeof name, "%s", d->gpus[k]);
        status = mo_profiler_ranks_collect(ranks, d->units.rank_of[k], name,
                                           sizeof name, err);
        name[sizeof name - 1] = '\0';
        if (status == MO_OK && !d->gpus[k] && *name) {
            d->gpus[k] = strdup(name);
            status = d->gpus[k] ? MO_OK : mo_fail_memory(err);
        }
    }
    return status;
}

mo_status mo_profiler_devices_find(const mo_profiler_options *o,
                                   const mo_profiler_ranks *ranks,
                                   mo_profiler_devices *d, mo_error *err)
{
    const char *name = o->cluster ? o->cluster : "cpu";
    char *where = NULL;
    mo_status status = mo_cluster_choose(name, NULL, &d->cluster, &where, err);

    free(where);
    if (status == MO_OK)
        status = mo_exec_units_make(d->cluster, ranks->n_ranks, ranks->rank,
                                    &o->wants, &d->units, err);
    if (status == MO_OK)
        status = mo_exec_exchange_units(ranks->transport, ranks->world,
                                        &o->wants, &d->units, err);
    if (status == MO_OK && !has_any(d))
        status = mo_fail_at(err, MO_E_INPUT, name, 0,
                            "has no device of kind cpu, and others cannot be "
                            "measured here; give kind=\"cpu\" and threads");
    if (status != MO_OK)
        return status;
    d->gpus = calloc((size_t) d->units.n, sizeof *d->gpus);
    if (!d->gpus)
        return mo_fail_memory(err);
    for (int k = 0; k < d->units.n && status == MO_OK; k++)
        if (d->units.rank_of[k] == ranks->rank &&
            d->units.backends[k]->separate_memory)
            status = query_gpu(d, k, err);
    return status == MO_OK ? collect_gpus(ranks, d, err) : status;
}

bool mo_profiler_devices_available(const mo_profiler_devices *d, int device)
{
    return d->cluster->devices[device].is_cpu ||
           d->units.backends[device]->separate_memory;
}

const char *mo_profiler_devices_name(const mo_profiler_devices *d, int device)
{
    const mo_device *is = &d->cluster->devices[device];
    const char *gpu = d->gpus[device];
    bool meant;

    if (!gpu || d->units.parts)
        return is->id;
    meant = is->is_cpu || (is->model && strcmp(is->model, gpu) == 0) ||
            (is->known && is->known == mo_device_find(gpu));
    return meant ? gpu : is->id;
}

bool mo_profiler_devices_equivalent(const mo_profiler_devices *d, int a, int b)
{
    const mo_backend_unit_options *units = d->units.options;
    const mo_device *x = &d->cluster->devices[a], *y = &d->cluster->devices[b];

    if (d->gpus[a] || d->gpus[b])
        return d->gpus[a] && d->gpus[b] && strcmp(d->gpus[a], d->gpus[b]) == 0;
    /* Processors that were chosen here are alike. */
    return units[a].threads == units[b].threads && x->n_cpus == y->n_cpus &&
           (x->n_cpus == 0 ||
            memcmp(x->cpus, y->cpus, (size_t) x->n_cpus * sizeof *x->cpus) ==
                0);
}
