/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/profile/split_slowdown.h"

#include <stdlib.h>

#include "base/minmax.h"
#include "driver/exec/emulate.h"
#include "driver/profile/background_runs.h"
#include "schedule/period/loads.h"
#include "solvers/search/period/contiguous.h"

/* Requests that give the length of the measured stream. */
enum { FIRST_REQUESTS = 200 };

/* Fills device, by op, and computes the predicted period; *n_used: devices with
 * an op. */
static mo_status split_network(const mo_instance *x, const mo_regime *regime,
                               int *device, int64_t *period_ns, int *n_used,
                               mo_error *err)
{
    mo_period_problem problem = { 0 };
    mo_period_loads loads = { 0 };
    mo_status status = mo_period_problem_init(&problem, x, regime, err);

    if (status == MO_OK)
        status = mo_period_split_contiguous(&problem, device, err);
    if (status == MO_OK)
        status = mo_period_loads_compute(x, regime, device, &loads, err);
    *n_used = 0;
    for (int k = 0; k < x->n_devices && status == MO_OK; k++)
        *n_used += loads.load_ns[k] > 0;
    *period_ns = loads.period_ns;
    mo_period_loads_clear(&loads);
    mo_period_problem_clear(&problem);
    return status;
}

static mo_status measure_period(const mo_profiler_work *w,
                                const mo_exec_plan *plan,
                                const int64_t *transfer_ns, int64_t *period_ns,
                                mo_error *err)
{
    const mo_exec_units *units = &w->devices.units;
    const mo_run_plan_options on = { .transport = &mo_transport_local,
                                     .backends = units->backends,
                                     .units = units->options,
                                     .rank_of = units->rank_of,
                                     .min_transfer_ns = transfer_ns };
    int n_slots = (int) mo_min_i64(2 * w->o->in_flight, MO_PIPELINE_MAX_SLOTS);
    int64_t n = FIRST_REQUESTS;
    mo_status status = MO_OK;

    for (int i = 0; i < 2 && status == MO_OK; i++) {
        mo_pipeline_result result = { 0 };

        status = mo_profiler_plan_stream(plan, w->inputs.values, &on, n_slots,
                                         n, false, &result, err);
        *period_ns = result.period_ns;
        n = mo_profiler_stream_length(FIRST_REQUESTS, *period_ns);
        mo_pipeline_result_clear(&result);
    }
    return status;
}

static mo_status measure_split(const mo_profiler_work *w,
                               const mo_exec_options *options,
                               const mo_driver_loaded *on, const int *device,
                               int64_t *period_ns, mo_error *err)
{
    mo_exec_plan *plan = NULL;
    int64_t *transfer_ns = NULL;
    mo_status status = mo_exec_job_plan_on(
        options, &w->job, on->instance, &w->devices.units, device, &plan, err);

    if (status == MO_OK)
        status = mo_emulate_transfer_times(plan, on, &transfer_ns, err);
    if (status == MO_OK)
        status = measure_period(w, plan, transfer_ns, period_ns, err);
    free(transfer_ns);
    mo_plan_free(plan);
    return status;
}

mo_status mo_profiler_measure_split(const mo_profiler_work *w,
                                    const mo_exec_options *options, bool *added,
                                    mo_error *err)
{
    mo_profile *profile = w->rows.profile;
    const mo_instance_options with = { .profile = profile, .any_size = true };
    mo_driver_loaded on = { w->devices.cluster, profile, NULL };
    const mo_regime *regime = &w->job.review.regime;
    int64_t predicted_ns = 0, period_ns = 0;
    int *device, n_used = 0;
    mo_status status;

    if (!profile || profile->parts_slowdown > 0 || !w->devices.units.parts ||
        w->o->alone || w->ranks.n_ranks > 1)
        return MO_OK;
    device = calloc((size_t) w->rows.graph->n_ops + 1, sizeof *device);
    status = device ? mo_instance_make(w->rows.graph, on.cluster, &with,
                                       &on.instance, err)
                    : mo_fail_memory(err);
    if (status == MO_OK)
        status = split_network(on.instance, regime, device, &predicted_ns,
                               &n_used, err);
    if (status == MO_OK && n_used > 1) {
        status = measure_split(w, options, &on, device, &period_ns, err);
        if (status == MO_OK) {
            profile->parts_slowdown = mo_max_double(
                (double) period_ns / (double) mo_max_i64(predicted_ns, 1), 1);
            *added = true;
        }
    }
    mo_instance_free(on.instance);
    free(device);
    return status;
}
