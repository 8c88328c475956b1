/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A split is a placement of the network on several parts. The first is
 * contiguous; each further one is the best by the fit to those before, until
 * the measured period is about the predicted one: so the fit is to placements
 * like those that moirai-place finds with it.
 */
#include <config.h>

#include "driver/profile/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "cost/calibrate/fit_period.h"
#include "driver/exec/emulate.h"
#include "driver/exec/resource_loads.h"
#include "driver/profile/background_runs.h"
#include "solvers/search/method.h"

enum {
    FIRST_REQUESTS = 200, /* of the stream that gives the length of the next */
    MAX_SPLITS = 5,
    SEARCH_ROUNDS = 12, /* for one split */
    SEARCH_SECONDS = 2
};

/* Relative error of a predicted period that ends the measurement. */
#define SMALL_ERROR 0.03

/* The splits so far. */
typedef struct split_series {
    const mo_profiler_work *w;
    const mo_exec_units *units;
    const mo_regime *regime;
    const mo_exec_options *options;
    mo_problem problem; /* of the job, borrowed, but with the profile so far;
                           the instance is made anew for each split */
    int *device[MAX_SPLITS];                  /* by op; owned */
    mo_fit_period_split measured[MAX_SPLITS]; /* arrays are owned */
    int n;
} split_series;

/* Finds the next split, the first with the fewest transfers. *several: it is
 * on more than one part. */
static mo_status place_split(const split_series *s, int *device, bool *several,
                             mo_error *err)
{
    const mo_instance *x = s->problem.instance;
    const mo_method *method =
        s->n == 0 ? &mo_method_dp_contiguous : &mo_method_moirai;
    mo_method_result placed = { 0 };
    mo_stop stop;
    const mo_method_task task = { .method = method,
                                  .x = x,
                                  .regime = *s->regime,
                                  .objective = MO_OBJECTIVE_PERIOD,
                                  .seed = 1,
                                  .gap = 0.01,
                                  .rounds = SEARCH_ROUNDS,
                                  .stop = &stop };
    mo_status status;

    mo_stop_after(&stop, SEARCH_SECONDS);
    status = method->place(&task, &placed, err);
    if (status == MO_OK && !placed.schedule)
        status = mo_fail(err, MO_E_INFEASIBLE, "%s", placed.why);
    *several = false;
    for (int i = 0; status == MO_OK && i < x->n; i++) {
        device[i] = placed.schedule->device[i];
        *several |= device[i] != device[0];
    }
    mo_method_result_clear(&placed);
    return status;
}

/* Runs a short stream, and one whose length is by the period of that. */
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
                                     .inputs = w->inputs.values,
                                     .min_transfer_ns = transfer_ns };
    int n_slots = (int) mo_min_i64((units->parts ? 2 : 1) * w->o->in_flight,
                                   MO_PIPELINE_MAX_SLOTS);
    int64_t n = FIRST_REQUESTS;
    mo_status status = MO_OK;

    for (int i = 0; i < 2 && status == MO_OK; i++) {
        mo_pipeline_result result = { 0 };

        status = mo_profiler_plan_stream(plan, &on, n_slots, n, &result, err);
        *period_ns = result.period_ns;
        n = mo_profiler_stream_length(FIRST_REQUESTS, *period_ns);
        mo_pipeline_result_clear(&result);
    }
    return status;
}

/* Sets the loads of the split to those that the executor predicts, without
 * slowdown and overhead. */
static mo_status compute_loads(const split_series *s, const mo_exec_plan *plan,
                               mo_fit_period_split *split, mo_error *err)
{
    const mo_profile *profile = s->w->rows.profile;
    mo_report_throughput_resource *resources = NULL;
    int n = 0;
    mo_status status = mo_exec_resource_loads(
        plan, &s->problem, NULL, s->regime->congestion, &resources, &n, err);

    split->n_parts = plan->n_devices;
    split->load_us = calloc((size_t) plan->n_devices, sizeof *split->load_us);
    split->n_transfers =
        calloc((size_t) plan->n_devices, sizeof *split->n_transfers);
    if (status == MO_OK && (!split->load_us || !split->n_transfers))
        status = mo_fail_memory(err);
    for (int i = 0; status == MO_OK && i < plan->n_transfers; i++) {
        split->n_transfers[plan->transfers[i].from]++;
        split->n_transfers[plan->transfers[i].to]++;
    }
    for (int r = 0; status == MO_OK && r < n; r++) {
        double us = (double) resources[r].predicted_ns / 1000;

        if (r < plan->n_devices)
            split->load_us[r] =
                fmax(us - profile->parts_overhead_us * split->n_transfers[r],
                     0) /
                fmax(profile->parts_slowdown, 1);
        else
            split->other_us = fmax(split->other_us, us);
    }
    free(resources);
    return status;
}

/* Fits the slowdown to all splits, the last of which is new; *done where its
 * period was predicted well. */
static void fit_splits(const split_series *s, bool *done)
{
    mo_profile *profile = s->w->rows.profile;
    const mo_fit_period_split *last = &s->measured[s->n - 1];
    double predicted_us = mo_fit_period_predict_us(
        last, fmax(profile->parts_slowdown, 1), profile->parts_overhead_us);

    mo_fit_period(s->measured, s->n, &profile->parts_slowdown,
                  &profile->parts_overhead_us);
    mo_driver_log_info(&s->w->o->logger,
                       "split %d: period %.1f us, predicted %.1f us; "
                       "slowdown %.3f, %.2f us for a transfer",
                       s->n, last->period_us, predicted_us,
                       profile->parts_slowdown, profile->parts_overhead_us);
    *done = s->n > 1 && fabs(predicted_us / last->period_us - 1) < SMALL_ERROR;
}

/* Measures a further split and fits all; *done: another would not help. */
static mo_status add_split(split_series *s, bool *done, mo_error *err)
{
    const mo_graph *g = s->w->rows.graph;
    const mo_instance_options with = { .profile = s->w->rows.profile,
                                       .any_size = true };
    int *device = calloc((size_t) g->n_ops + 1, sizeof *device);
    bool several = false;
    mo_status status = device ? mo_instance_make(g, s->problem.cluster, &with,
                                                 &s->problem.instance, err)
                              : mo_fail_memory(err);

    if (status == MO_OK)
        status = place_split(s, device, &several, err);
    *done = status == MO_OK && !several;
    for (int i = 0; i < s->n && status == MO_OK; i++) /* one of those before */
        *done |= memcmp(s->device[i], device,
                        (size_t) s->problem.instance->n * sizeof *device) == 0;
    s->device[s->n] = device;
    if (status == MO_OK && !*done) {
        mo_fit_period_split *split = &s->measured[s->n];
        mo_exec_plan *plan = NULL;
        int64_t *transfer_ns = NULL, period_ns = 0;

        status =
            mo_exec_job_plan_on(s->options, &s->w->job, s->problem.instance,
                                s->units, device, &plan, err);
        if (status == MO_OK)
            status = compute_loads(s, plan, split, err);
        if (status == MO_OK && s->units->parts)
            status =
                mo_emulate_transfer_times(plan, &s->problem, &transfer_ns, err);
        if (status == MO_OK)
            status = measure_period(s->w, plan, transfer_ns, &period_ns, err);
        split->period_us = (double) mo_max_i64(period_ns, 1) / 1000;
        free(transfer_ns);
        mo_plan_free(plan);
    }
    s->n++;
    if (status == MO_OK && !*done)
        fit_splits(s, done);
    mo_instance_free(s->problem.instance);
    s->problem.instance = NULL;
    return status;
}

mo_status mo_profiler_measure_split(const mo_profiler_work *w,
                                    const mo_exec_options *options, bool *added,
                                    mo_error *err)
{
    mo_profile *profile = w->rows.profile;
    split_series s = { .w = w,
                       .units = &w->devices.units,
                       .regime = &w->job.review.regime,
                       .options = options,
                       .problem = w->job.review.problem };
    const mo_cluster *cluster = w->devices.cluster;
    bool done = false, share = true; /* parts of a GPU, or all CPUs */
    mo_status status = MO_OK;

    s.problem.cluster = w->devices.cluster;
    s.problem.profile = profile;
    for (int k = 0; k < cluster->n_devices && !s.units->parts; k++)
        share &= cluster->devices[k].is_cpu;
    if (!profile || profile->parts_slowdown > 0 || !share || w->o->alone ||
        w->ranks.n_ranks > 1)
        return MO_OK;
    while (status == MO_OK && !done && s.n < MAX_SPLITS)
        status = add_split(&s, &done, err);
    *added |= profile->parts_slowdown > 0;
    for (int i = 0; i < s.n; i++) {
        free(s.measured[i].load_us);
        free(s.measured[i].n_transfers);
        free(s.device[i]);
    }
    return status;
}
