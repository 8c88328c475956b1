/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Op times in rounds of runs of the network: on a CPU device under background
 * load on those that share memory and clocks with it; on a part of a GPU with
 * the other parts idle, times the slowdown of the network when they run.  With
 * requests in flight the slowdown is that of a stream of them.
 */
#include <config.h>

#include "driver/profile/measure.h"

#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/parallel_for.h"
#include "driver/profile/background_runs.h"
#include "exec/runtime/run.h"

/* Rounds of a GPU: fewer than of CPUs, since preparation takes longer and the
 * placement of memory matters less. */
enum { GPU_ROUNDS = 2 };

/* Op times collected by signature. */
typedef struct op_samples {
    const mo_profiler_table *rows;
    int *start; /* of each signature's samples: [start[s], start[s + 1]) */
    int *n;     /* samples of each signature */
    double *us;
    int64_t *op_ns;       /* by op and round */
    int rounds, n_rounds; /* capacity and number of rounds */
} op_samples;

/* Items of replicated work have no op and no row. */
static int signature_of(const op_samples *s, const mo_exec_plan *plan, int item)
{
    int op = plan->items[item].op;

    return op == MO_PLAN_NONE ? MO_PLAN_NONE : s->rows->signature_of[op];
}

/* Allocates space for so many rounds; *s begins as zeros and is cleared by the
 * caller. */
static mo_status begin_samples(const mo_profiler_table *rows,
                               const mo_exec_plan *plan, int rounds,
                               op_samples *s, mo_error *err)
{
    size_t n = (size_t) rows->n_signatures;

    s->rows = rows;
    s->rounds = rounds;
    s->start = calloc(n + 1, sizeof *s->start);
    s->n = calloc(n + 1, sizeof *s->n);
    s->us = calloc((size_t) plan->n_items * (size_t) rounds + 1, sizeof *s->us);
    s->op_ns = calloc((size_t) rows->graph->n_ops * (size_t) rounds + 1,
                      sizeof *s->op_ns);
    if (!s->start || !s->n || !s->us || !s->op_ns)
        return mo_fail_memory(err);
    for (int i = 0; i < plan->n_items; i++) {
        int signature = signature_of(s, plan, i);

        if (signature != MO_PLAN_NONE)
            s->start[signature + 1] += rounds;
    }
    for (size_t i = 0; i < n; i++)
        s->start[i + 1] += s->start[i];
    return MO_OK;
}

static int64_t *times_of(const op_samples *s, int op)
{
    return s->op_ns + (size_t) op * (size_t) s->rounds;
}

/* Adds the times of a round, by call: the sum over the calls of an item. */
static void add_samples(op_samples *s, const mo_exec_plan *plan,
                        const int64_t *call_ns)
{
    int round = s->n_rounds++;

    for (int c = 0; c < plan->n_calls; c++) {
        int op = plan->items[plan->calls[c].timed_as].op;

        if (op != MO_PLAN_NONE)
            times_of(s, op)[round] += call_ns[c];
    }
    for (int i = 0; i < plan->n_items; i++) {
        int signature = signature_of(s, plan, i);

        if (signature != MO_PLAN_NONE)
            s->us[s->start[signature] + s->n[signature]++] =
                (double) times_of(s, plan->items[i].op)[round] / 1000;
    }
}

/* The clock has nanosecond resolution. */
static double to_ns(double us)
{
    return round(us * 1000) / 1000;
}

static int compare_us(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double median_us(int64_t *ns, int n)
{
    int64_t twice;

    qsort(ns, (size_t) n, sizeof *ns, mo_compare_i64);
    twice = ns[(n - 1) / 2] + ns[n / 2];
    return (double) twice / 2000;
}

/* By signature: the mean over its ops of the median over rounds, so that the op
 * times add up to that of the network, cache effects included; the
 * interquartile range of all samples; and count, the number of runs, 0 for a
 * signature without ops. */
static void summarize_samples(op_samples *s, const mo_exec_plan *plan, int runs,
                              double slowdown, mo_profiler_stat *measured)
{
    for (int i = 0; i < s->rows->n_signatures; i++)
        measured[i] = (mo_profiler_stat){ 0 };
    for (int i = 0; i < plan->n_items && s->n_rounds > 0; i++) {
        int signature = signature_of(s, plan, i);
        mo_profiler_stat *m;

        if (signature == MO_PLAN_NONE)
            continue;
        /* Running mean over ops; count is their number. */
        m = &measured[signature];
        m->count++;
        m->median_us +=
            (median_us(times_of(s, plan->items[i].op), s->n_rounds) -
             m->median_us) /
            m->count;
    }
    for (int i = 0; i < s->rows->n_signatures; i++) {
        double *us = s->us + s->start[i];
        int n = s->n[i];

        if (n == 0)
            continue;
        qsort(us, (size_t) n, sizeof *us, compare_us);
        measured[i].median_us = to_ns(slowdown * measured[i].median_us);
        measured[i].spread_us =
            to_ns(slowdown * (us[(3 * n - 1) / 4] - us[n / 4]));
        measured[i].count = runs;
    }
}

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

/* Starts background runs on all devices that share something with this one. */
static mo_status start_background(const mo_profiler_work *w, int device,
                                  mo_profiler_background **background,
                                  mo_error *err)
{
    int n_devices = w->devices.cluster->n_devices, n = 0;
    mo_profiler_target *targets = calloc((size_t) n_devices, sizeof *targets);
    int64_t threads = 0;
    mo_error why = { 0 };
    mo_status status;
    bool fit;

    if (!targets)
        return mo_fail_memory(err);
    /* Whether there is a processor for each thread of the measured devices. */
    for (int k = 0; k < n_devices; k++)
        if (is_on_cpu(w, k))
            threads += w->devices.units.options[k].threads;
    fit = threads <= mo_parallel_for_cores();
    /* Each slows the other down: CPU devices share memory and clocks, and so do
     * parts of a GPU. */
    for (int k = 0; k < n_devices && !w->o->alone; k++)
        if (k != device && (w->devices.units.parts ||
                            (is_on_cpu(w, device) && is_on_cpu(w, k) && fit)))
            targets[n++] = target_on(w, k);
    status = mo_profiler_background_start(targets, n, background, err);
    free(targets);
    if (status == MO_OK)
        return MO_OK;
    /* The background runs need memory, too. */
    if (err)
        why = *err;
    return mo_fail(err, status,
                   "the other devices cannot run it meanwhile (--alone lets "
                   "them rest): %.800s",
                   why.text);
}

static int rounds_of(const mo_profiler_target *target)
{
    return target->backend->separate_memory ? GPU_ROUNDS : MO_PROFILER_ROUNDS;
}

static void show_round(mo_profiler_work *w)
{
    mo_progress_share(&w->progress, ++w->done,
                      (int64_t) w->devices.cluster->n_devices *
                          MO_PROFILER_ROUNDS);
}

/* *median_ns: of the whole network; samples NULL: of nothing else. */
static mo_status run_round(mo_profiler_work *w,
                           const mo_profiler_target *target,
                           op_samples *samples, int64_t *median_ns,
                           mo_error *err)
{
    int rounds = rounds_of(target);
    int runs = (int) mo_ceil_div(w->o->runs, rounds);
    mo_run_result result = { 0 };
    mo_status status = mo_profiler_target_run(target, MO_EXEC_WARMUP_RUNS, runs,
                                              !samples, NULL, &result, err);

    if (status == MO_OK && samples)
        add_samples(samples, target->plan, result.call_ns);
    *median_ns = result.median_ns;
    mo_run_result_clear(&result);
    return status;
}

static mo_status run_rounds(mo_profiler_work *w,
                            const mo_profiler_target *target,
                            op_samples *samples, int64_t *median_ns,
                            mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < rounds_of(target) && status == MO_OK; i++) {
        status = run_round(w, target, samples, median_ns, err);
        show_round(w);
    }
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
static void find_pipelined_slowdown(op_samples *samples,
                                    const mo_exec_plan *plan, int64_t period_ns,
                                    double *slowdown)
{
    double total_us = 0; /* sum over ops of the median over rounds */

    for (int i = 0; i < plan->n_items && samples->n_rounds > 0; i++)
        if (signature_of(samples, plan, i) != MO_PLAN_NONE)
            total_us += median_us(times_of(samples, plan->items[i].op),
                                  samples->n_rounds);
    if (total_us > 0 && period_ns > 0)
        *slowdown = (double) period_ns / 1000 / total_us;
}

/* Op times are loads with all requests in flight at the same op. A short stream
 * gives the length of the next one. */
static mo_status measure_gpu_stream(mo_profiler_work *w,
                                    const mo_profiler_target *target,
                                    op_samples *samples, double *slowdown,
                                    mo_error *err)
{
    int k = (int) w->o->in_flight;
    int64_t n = stream_length(k, INT64_MAX), period_ns = 0;
    mo_status status = MO_OK;

    for (int i = 0; i < rounds_of(target) && status == MO_OK; i++) {
        mo_pipeline_result result = { 0 };

        status = mo_profiler_target_stream(target, k, n, &result, err);
        if (status == MO_OK)
            add_samples(samples, target->plan, result.call_loads);
        period_ns = result.period_ns;
        n = stream_length(k, period_ns);
        mo_pipeline_result_clear(&result);
        show_round(w);
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
                             op_samples *samples, double *slowdown,
                             mo_error *err)
{
    mo_profiler_background *background = NULL;
    int64_t alone_ns = 0, median_ns = 0;
    mo_status status;

    if (w->o->in_flight > 0)
        return measure_gpu_stream(w, target, samples, slowdown, err);
    status = run_rounds(w, target, samples, &alone_ns, err);
    if (status != MO_OK || !w->devices.units.parts || w->o->alone)
        return status;
    status = start_background(w, device, &background, err);
    if (status == MO_OK && background)
        status = run_round(w, target, NULL, &median_ns, err);
    mo_profiler_background_stop(background);
    if (status == MO_OK && median_ns > alone_ns && alone_ns > 0)
        *slowdown = (double) median_ns / (double) alone_ns;
    return status;
}

static mo_status measure_cpu(mo_profiler_work *w, int device,
                             const mo_profiler_target *target,
                             op_samples *samples, double *slowdown,
                             mo_error *err)
{
    int k = (int) w->o->in_flight;
    mo_profiler_background *background = NULL;
    int64_t median_ns = 0;
    mo_status status = start_background(w, device, &background, err);

    if (status == MO_OK)
        status = run_rounds(w, target, samples, &median_ns, err);
    if (status == MO_OK && k > 0) {
        mo_pipeline_result result = { 0 };

        status = mo_profiler_target_stream(
            target, k, stream_length(k, median_ns), &result, err);
        if (status == MO_OK)
            find_pipelined_slowdown(samples, target->plan, result.period_ns,
                                    slowdown);
        mo_pipeline_result_clear(&result);
    }
    mo_profiler_background_stop(background);
    return status;
}

mo_status mo_profiler_measure_device(mo_profiler_work *w, int device,
                                     mo_error *err)
{
    mo_profiler_target target = target_on(w, device);
    op_samples samples = { 0 };
    double slowdown = 1;
    mo_status status =
        begin_samples(&w->rows, target.plan, rounds_of(&target), &samples, err);

    if (status == MO_OK)
        status =
            target.backend->separate_memory
                ? measure_gpu(w, device, &target, &samples, &slowdown, err)
                : measure_cpu(w, device, &target, &samples, &slowdown, err);
    if (status == MO_OK)
        summarize_samples(&samples, target.plan, (int) w->o->runs, slowdown,
                          mo_profiler_measured(w, device));
    free(samples.start);
    free(samples.n);
    free(samples.us);
    free(samples.op_ns);
    return status;
}
