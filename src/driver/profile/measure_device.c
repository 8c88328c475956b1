/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Op times in rounds of runs of the network: on a CPU device under background
 * load on those that share memory and clocks with it; on a part of a GPU with
 * the other parts idle, times the slowdown of the network when they run.  With
 * requests in flight the slowdown is that of a stream of them.
 */
#include <config.h>

#include "driver/profile/measure_device.h"

#include <stdlib.h>

#include "base/minmax.h"
#include "base/parallel_for.h"
#include "driver/profile/background_runs.h"
#include "driver/profile/op_samples.h"
#include "exec/runtime/run.h"

/* Rounds of a GPU: fewer than of CPUs, since preparation takes longer and the
 * placement of memory matters less. */
enum { GPU_ROUNDS = 2 };

bool mo_profiler_is_own(const mo_profiler_work *w, int device)
{
    return w->devices.units.rank_of[device] == w->ranks.rank;
}

mo_profiler_stat *mo_profiler_measured(const mo_profiler_work *w, int device)
{
    return w->measured + (size_t) device * (size_t) w->rows.n_signatures;
}

/* The whole network on such a device. */
static mo_profiler_target target_on(const mo_profiler_work *w, int device)
{
    return (mo_profiler_target){
        w->devices.units.backends[device]->separate_memory ? w->gpu_plan
                                                           : w->job.plan,
        w->inputs.values, w->devices.units.backends[device],
        w->devices.units.options[device]
    };
}

/* Whether the device is of this rank and runs on processors, which share
 * nothing relevant with GPUs. */
static bool is_on_cpu(const mo_profiler_work *w, int device)
{
    return mo_profiler_is_own(w, device) &&
           mo_profiler_devices_available(&w->devices, device) &&
           !w->devices.units.backends[device]->separate_memory;
}

/* Whether there is a processor for each thread of the measured devices. */
static bool fit_together(const mo_profiler_work *w)
{
    int64_t threads = 0;

    for (int k = 0; k < w->devices.cluster->n_devices; k++)
        if (is_on_cpu(w, k))
            threads += w->devices.units.options[k].threads;
    return threads <= mo_parallel_for_cores();
}

/* Whether each slows the other down: CPU devices share memory and clocks, and
 * so do parts of a GPU. */
static bool share_resources(const mo_profiler_work *w, int a, int b)
{
    if (w->devices.units.parts)
        return true;
    return is_on_cpu(w, a) && is_on_cpu(w, b) && fit_together(w);
}

/* Adds that the background runs need memory, too. */
static mo_status fail_background(mo_status status, mo_error *err)
{
    mo_error why = { 0 };

    if (err)
        why = *err;
    return mo_fail(err, status,
                   "the other devices cannot run it meanwhile (--alone lets "
                   "them rest): %.800s",
                   why.text);
}

/* Starts background runs on all devices that share something with this one. */
static mo_status start_background(const mo_profiler_work *w, int device,
                                  mo_profiler_background **background,
                                  mo_error *err)
{
    int n_devices = w->devices.cluster->n_devices, n = 0;
    mo_profiler_target *targets = calloc((size_t) n_devices, sizeof *targets);
    mo_status status;

    if (!targets)
        return mo_fail_memory(err);
    for (int k = 0; k < n_devices && !w->o->alone; k++)
        if (k != device && share_resources(w, device, k))
            targets[n++] = target_on(w, k);
    status = mo_profiler_background_start(targets, n, background, err);
    free(targets);
    return status == MO_OK ? MO_OK : fail_background(status, err);
}

static int rounds_of(const mo_profiler_target *target)
{
    return target->backend->separate_memory ? GPU_ROUNDS : MO_PROFILER_ROUNDS;
}

/* *median_ns: of the whole network; samples NULL: of nothing else. */
static mo_status run_round(mo_profiler_work *w,
                           const mo_profiler_target *target,
                           mo_profiler_samples *samples, int64_t *median_ns,
                           mo_error *err)
{
    int rounds = rounds_of(target);
    int runs = (int) mo_ceil_div(w->o->runs, rounds);
    mo_run_result result = { 0 };
    mo_status status = mo_profiler_target_run(target, MO_EXEC_WARMUP_RUNS, runs,
                                              !samples, NULL, &result, err);

    if (status == MO_OK && samples)
        mo_profiler_samples_add(samples, target->plan, result.call_ns);
    *median_ns = result.median_ns;
    mo_run_result_clear(&result);
    return status;
}

static mo_status run_rounds(mo_profiler_work *w,
                            const mo_profiler_target *target,
                            mo_profiler_samples *samples, int64_t *median_ns,
                            mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < rounds_of(target) && status == MO_OK; i++) {
        status = run_round(w, target, samples, median_ns, err);
        mo_progress_update(&w->progress, ++w->done);
    }
    return status;
}

/* Computes the slowdown of the network under background load. */
static mo_status measure_slowdown(mo_profiler_work *w, int device,
                                  const mo_profiler_target *target,
                                  int64_t alone_ns, double *slowdown,
                                  mo_error *err)
{
    mo_profiler_background *background = NULL;
    int64_t median_ns = 0;
    mo_status status = start_background(w, device, &background, err);

    if (status == MO_OK && background)
        status = run_round(w, target, NULL, &median_ns, err);
    mo_profiler_background_stop(background);
    if (status == MO_OK && median_ns > alone_ns && alone_ns > 0)
        *slowdown = (double) median_ns / (double) alone_ns;
    return status;
}

/* Requests of a stream with so many in flight, by the period of the network. */
static int64_t stream_length(int in_flight, int64_t period_ns)
{
    return mo_profiler_stream_length(6 * (int64_t) in_flight, period_ns);
}

/* With several requests in flight kernels of one device overlap, or wait for
 * each other: the slowdown is the period of the whole network divided by the
 * sum of its ops. */
static void find_pipelined_slowdown(mo_profiler_samples *samples,
                                    const mo_exec_plan *plan, int64_t period_ns,
                                    double *slowdown)
{
    double total_us = mo_profiler_samples_total_us(samples, plan);

    if (total_us > 0 && period_ns > 0)
        *slowdown = (double) period_ns / 1000 / total_us;
}

static mo_status measure_pipelined_slowdown(mo_profiler_work *w,
                                            const mo_profiler_target *target,
                                            mo_profiler_samples *samples,
                                            int64_t median_ns, double *slowdown,
                                            mo_error *err)
{
    int k = (int) w->o->in_flight;
    mo_pipeline_result result = { 0 };
    mo_status status = mo_profiler_target_stream(
        target, k, stream_length(k, median_ns), &result, err);

    if (status == MO_OK)
        find_pipelined_slowdown(samples, target->plan, result.period_ns,
                                slowdown);
    mo_pipeline_result_clear(&result);
    return status;
}

/* Op times are loads with all requests in flight at the same op. A short stream
 * gives the length of the next one. */
static mo_status measure_gpu_stream(mo_profiler_work *w,
                                    const mo_profiler_target *target,
                                    mo_profiler_samples *samples,
                                    double *slowdown, mo_error *err)
{
    int k = (int) w->o->in_flight;
    int64_t n = stream_length(k, INT64_MAX), period_ns = 0;
    mo_status status = MO_OK;

    for (int i = 0; i < rounds_of(target) && status == MO_OK; i++) {
        mo_pipeline_result result = { 0 };

        status = mo_profiler_target_stream(target, k, n, &result, err);
        if (status == MO_OK)
            mo_profiler_samples_add(samples, target->plan, result.call_loads);
        period_ns = result.period_ns;
        n = stream_length(k, period_ns);
        mo_pipeline_result_clear(&result);
        mo_progress_update(&w->progress, ++w->done);
    }
    if (status != MO_OK)
        return status;
    find_pipelined_slowdown(samples, target->plan, period_ns, slowdown);
    if (w->least_period_ns == 0 || period_ns < w->least_period_ns)
        w->least_period_ns = period_ns;
    return MO_OK;
}

/* Background load on parts of a GPU also loads its driver, which would delay a
 * part launched call by call: calls are timed with the others idle, and the
 * whole network under load. With several requests in flight the driver is a
 * resource of its own, the host: there is no background load. */
static mo_status measure_gpu(mo_profiler_work *w, int device,
                             const mo_profiler_target *target,
                             mo_profiler_samples *samples, double *slowdown,
                             mo_error *err)
{
    int64_t alone_ns = 0;
    mo_status status;

    if (w->o->in_flight > 0)
        return measure_gpu_stream(w, target, samples, slowdown, err);
    status = run_rounds(w, target, samples, &alone_ns, err);
    if (status == MO_OK && w->devices.units.parts && !w->o->alone)
        status = measure_slowdown(w, device, target, alone_ns, slowdown, err);
    return status;
}

static mo_status measure_cpu(mo_profiler_work *w, int device,
                             const mo_profiler_target *target,
                             mo_profiler_samples *samples, double *slowdown,
                             mo_error *err)
{
    mo_profiler_background *background = NULL;
    int64_t median_ns = 0;
    mo_status status = start_background(w, device, &background, err);

    if (status == MO_OK)
        status = run_rounds(w, target, samples, &median_ns, err);
    if (status == MO_OK && w->o->in_flight > 0)
        status = measure_pipelined_slowdown(w, target, samples, median_ns,
                                            slowdown, err);
    mo_profiler_background_stop(background);
    return status;
}

mo_status mo_profiler_measure_device(mo_profiler_work *w, int device,
                                     mo_error *err)
{
    mo_profiler_target target = target_on(w, device);
    mo_profiler_samples samples = { 0 };
    double slowdown = 1;
    mo_status status = mo_profiler_samples_begin(
        &w->rows, target.plan, rounds_of(&target), &samples, err);

    if (status == MO_OK)
        status =
            target.backend->separate_memory
                ? measure_gpu(w, device, &target, &samples, &slowdown, err)
                : measure_cpu(w, device, &target, &samples, &slowdown, err);
    if (status == MO_OK)
        mo_profiler_samples_summarize(&samples, target.plan, (int) w->o->runs,
                                      slowdown,
                                      mo_profiler_measured(w, device));
    mo_profiler_samples_clear(&samples);
    return status;
}
