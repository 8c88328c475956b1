/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/profile/measure.h"

#include <math.h>

#include "base/minmax.h"
#include "exec/measure/bench.h"

/* Measures the overhead of transfers between CPU devices. */
static mo_status measure_transfers(const mo_profiler_work *w, bool *added,
                                   mo_error *err)
{
    const mo_profiler_devices *devices = &w->devices;
    mo_profile *profile = w->rows.profile;
    mo_backend_unit_options units[2];
    mo_measure_overhead measured = { 0 };
    int n = 0;
    mo_status status;

    for (int k = 0; k < devices->cluster->n_devices && n < 2; k++)
        if (mo_profiler_devices_available(devices, k) &&
            !devices->units.backends[k]->separate_memory)
            units[n++] = devices->units.options[k];
    if (n < 2 || profile->overhead_us > 0)
        return MO_OK;
    status =
        mo_measure_overhead_run(units, (int) w->o->in_flight, &measured, err);
    if (status != MO_OK)
        return status;
    profile->overhead_us = measured.overhead_us;
    profile->copy_gbs = measured.copy_gbs;
    *added = true;
    return MO_OK;
}

/* Measures the launch overhead of GPUs. */
static mo_status measure_launches(const mo_profiler_work *w, bool *added,
                                  mo_error *err)
{
    const mo_profiler_devices *devices = &w->devices;
    mo_profile *profile = w->rows.profile;
    int n_calls = w->gpu_plan ? w->gpu_plan->n_calls : 0;
    mo_backend_unit_options units[2];
    const mo_backend *backend = NULL;
    mo_measure_host measured = { 0 };
    int n = 0;
    mo_status status;

    for (int k = 0; k < devices->cluster->n_devices && n < 2; k++) {
        const mo_backend *own = devices->units.backends[k];

        if (!mo_profiler_devices_available(devices, k) || !own->queue_open ||
            (backend && own != backend))
            continue;
        backend = own;
        units[n++] = devices->units.options[k];
    }
    if (n < 2 || profile->host_request_us > 0)
        return MO_OK;
    status = mo_measure_host_run(backend, units, (int) w->o->in_flight,
                                 &measured, err);
    if (status != MO_OK)
        return status;
    profile->host_request_us =
        measured.request_us + measured.call_us * mo_max_int(n_calls - 1, 0);
    if (w->least_period_ns > 0)
        profile->host_request_us =
            fmin(profile->host_request_us, (double) w->least_period_ns / 1000);
    profile->host_transfer_us = measured.transfer_us;
    *added = true;
    return MO_OK;
}

mo_status mo_profiler_measure_overheads(const mo_profiler_work *w, bool *added,
                                        mo_error *err)
{
    mo_status status;

    if (!w->rows.profile || w->ranks.n_ranks > 1)
        return MO_OK;
    status = measure_transfers(w, added, err);
    return status == MO_OK ? measure_launches(w, added, err) : status;
}
