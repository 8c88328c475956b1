/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/minmax.h"
#include "base/array.h"
#include "driver/exec/request_files.h"
#include "exec/runtime/pipeline/pipeline.h"
#include "schedule/period/modulo_schedule.h"

/* Makes *all the plan with the values of so many requests on each device; the
 * caller frees all->devices. */
static mo_status multiply_values(const mo_exec_plan *plan, int64_t in_flight,
                                 mo_exec_plan *all, mo_error *err)
{
    *all = *plan;
    all->devices = calloc((size_t) plan->n_devices + 1, sizeof *all->devices);
    if (!all->devices)
        return mo_fail_memory(err);
    for (int d = 0; d < plan->n_devices; d++) {
        all->devices[d] = plan->devices[d];
        if (!mo_int64_mul(plan->devices[d].arena_bytes, in_flight,
                          &all->devices[d].arena_bytes))
            all->devices[d].arena_bytes = INT64_MAX;
    }
    return MO_OK;
}

/* Requests in flight that hide what the host does for each of them on a GPU:
 * intake, launch and delivery take longer than a period there. Kernels of
 * several requests overlap, and those of a pipeline are spread over its GPUs
 * and transfers; but each has a thread that waits awake. */
enum { GPU_IN_FLIGHT = 8, MAX_GPU_IN_FLIGHT = 16 };

/* Requests in flight for the GPUs of the plan; 0: there is none. */
static int64_t choose_for_gpus(const mo_exec_plan *plan,
                               const mo_exec_units *units)
{
    int64_t n = 0;

    for (int d = 0; d < plan->n_devices; d++)
        if (units->backends[d]->separate_memory && plan->devices[d].n_steps > 0)
            n = mo_min_i64(n + GPU_IN_FLIGHT, MAX_GPU_IN_FLIGHT);
    return n;
}

/* The same on all ranks. */
mo_status mo_exec_requests_choose_in_flight(mo_exec_options *o,
                                            const mo_exec_units *units,
                                            const mo_exec_job *job,
                                            mo_error *err)
{
    const mo_review *r = &job->review;
    const mo_schedule *placed = r->evaluation.schedule;
    mo_modulo_schedule m = { .in_flight = 1 };
    mo_status status = MO_OK;
    int64_t for_gpus;
    bool fits = false;

    if (o->in_flight > 0)
        return MO_OK;
    if (r->evaluation.in_flight > 0)
        m.in_flight = r->evaluation.in_flight;
    else if (placed && !job->alone)
        status = mo_modulo_schedule_make(r->made.loaded.instance, &r->regime,
                                         placed->device, 0, NULL, &m, err);
    o->in_flight = mo_min_i64((int64_t) m.in_flight + 1, MO_PIPELINE_MAX_SLOTS);
    for_gpus = choose_for_gpus(job->plan, units);
    if (r->origin.in_flight > 0)
        o->in_flight = mo_min_i64(o->in_flight, r->origin.in_flight);
    else if (for_gpus > 0)
        o->in_flight =
            mo_min_i64(mo_max_i64(o->in_flight, for_gpus), MAX_GPU_IN_FLIGHT);
    mo_modulo_schedule_clear(&m);
    while (status == MO_OK && o->in_flight > 1 && !fits) {
        mo_exec_plan all;

        status = multiply_values(job->plan, o->in_flight, &all, err);
        fits = status == MO_OK &&
               mo_plan_check_capacity(&all, NULL, NULL) == MO_OK;
        o->in_flight -= !fits;
        free(all.devices);
    }
    return status;
}

mo_status mo_exec_requests_check_memory(const mo_exec_plan *plan,
                                        const mo_exec_units *units, int rank,
                                        int in_flight, int64_t limit,
                                        mo_error *err)
{
    mo_exec_plan all;
    mo_error why = { 0 };
    mo_status status = multiply_values(plan, in_flight, &all, err);

    if (status != MO_OK)
        return status;
    status = mo_plan_check_capacity(&all, NULL, &why);
    if (status == MO_OK)
        status = mo_exec_units_check_memory(units, &all, rank, limit, &why);
    free(all.devices);
    if (status == MO_OK)
        return MO_OK;
    return mo_fail(err, status,
                   "%.800s (%d requests in flight have values of their own; "
                   "lower --in-flight)",
                   why.text, in_flight);
}
