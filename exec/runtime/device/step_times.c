/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step times of one device.
 *
 * A program is launched at once, without timestamps inside. Its calls are
 * measured in isolation after all runs, and the timeline is computed from
 * streams and dependencies, from the launch of the program on:
 *
 *     host      begin p   send x: waits for p
 *     device    |--a--|----b----|
 *                 |---c---|
 *
 * Timer overhead is subtracted. Where the computed timeline is longer than the
 * host's wait for the program, it is scaled down: calls in isolation are
 * slower than concurrent ones.
 */
#include <stdlib.h>

#include "exec/runtime/device/timer_overhead.h"
#include "base/minmax.h"
#include "exec/runtime/device/device_run_internal.h"

enum { PASSES = 5 }; /* or as many as there were runs */

/* ns: n by passes, by call; the medians of each call. */
static void find_medians(int64_t *ns, int n, int passes, int64_t *medians)
{
    for (int i = 0; i < n; i++) {
        int64_t *all = ns + (size_t) i * PASSES;

        qsort(all, (size_t) passes, sizeof *all, mo_compare_i64);
        medians[i] = all[(passes - 1) / 2];
    }
}

int mo_run_timing_repeats(const mo_run_device *d)
{
    return d->n_runs < PASSES ? d->n_runs : PASSES;
}

/* ns: this pass's column is filled. */
static mo_status measure_pass(mo_run_device *d,
                              const mo_backend_program_call *calls, int n,
                              int pass, int64_t *took, int64_t *ns,
                              int64_t *whole, mo_error *err)
{
    mo_status status = mo_run_load_inputs(d, err);

    if (status == MO_OK)
        status = d->backend->time_calls(d->unit, calls, n, took, whole, err);
    for (int i = 0; i < n && status == MO_OK; i++)
        ns[(size_t) i * PASSES + (size_t) pass] = took[i];
    return status;
}

mo_status mo_run_median_call_times(mo_run_device *d,
                                   const mo_backend_program_call *calls, int n,
                                   int64_t *medians, mo_error *err)
{
    int64_t *ns = calloc((size_t) n * PASSES + 1, sizeof *ns);
    int64_t wholes[PASSES] = { 0 }, whole = 0;
    int passes = mo_run_timing_repeats(d);
    mo_status status = ns ? MO_OK : mo_fail_memory(err);

    for (int pass = 0; pass < passes && status == MO_OK; pass++)
        status =
            measure_pass(d, calls, n, pass, medians, ns, &wholes[pass], err);
    if (status == MO_OK && passes > 0) {
        find_medians(ns, n, passes, medians);
        find_medians(wholes, 1, passes, &whole);
        mo_run_remove_timer_overhead(medians, n, whole);
    }
    free(ns);
    return status;
}

/* All calls of all programs as one list, so that its two ends count once. ns:
 * by call of the list. */
static mo_status measure_programs(mo_run_device *d,
                                  mo_backend_program_call *calls, int64_t *ns,
                                  mo_error *err)
{
    int n = 0, at = 0;
    mo_status status = MO_OK;

    for (int i = 0; i < d->n_programs; i++)
        for (int k = 0; k < d->programs[i].n; k++)
            calls[n++] = d->programs[i].calls[k];
    if (n > 0)
        status = mo_run_median_call_times(d, calls, n, ns, err);
    for (int i = 0; i < d->n_programs && status == MO_OK; i++)
        for (int k = 0; k < d->programs[i].n; k++)
            d->isolated_ns[d->programs[i].first + k] = ns[at++];
    return status;
}

mo_status mo_run_time_calls(mo_run_device *d, mo_error *err)
{
    size_t room = (size_t) d->n_actions + 1;
    mo_backend_program_call *calls = calloc(room, sizeof *calls);
    int64_t *ns = calloc(room, sizeof *ns);
    mo_status status = MO_OK;

    d->isolated_ns = calloc(room, sizeof *d->isolated_ns);
    if (!calls || !ns || !d->isolated_ns)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = measure_programs(d, calls, ns, err);
    free(ns);
    free(calls);
    return status;
}

/* Computes begin and end of each call since its program began, as timestamps
 * of a run that begins at 0; returns the end of the last. */
static int64_t compute_timeline(const mo_run_device *d, const mo_run_program *p,
                                int64_t *moments)
{
    int64_t free_at[MO_PLAN_MAX_STREAMS] = { 0 }, last = 0;

    for (int i = 0; i < p->n; i++) {
        const mo_backend_program_call *call = &p->calls[i];
        int64_t begin = free_at[call->stream], end;

        for (int k = 0; k < call->n_deps; k++) {
            end = moments[mo_run_timestamp_step_end(p->first + call->deps[k])];
            begin = mo_max_i64(end, begin);
        }
        end = begin + d->isolated_ns[p->first + i];
        moments[mo_run_timestamp_step_begin(p->first + i)] = begin;
        moments[mo_run_timestamp_step_end(p->first + i)] = end;
        free_at[call->stream] = end;
        last = mo_max_i64(end, last);
    }
    return last;
}

/* A time at which the host has waited for the program. */
static int64_t known_end(const mo_run_device *d, const mo_run_program *p,
                         const int64_t *timestamps)
{
    for (int i = p->first + p->n; i < d->n_actions; i++)
        if (d->actions[i].kind == MO_PLAN_STEP_SEND)
            return timestamps[mo_run_timestamp_step_end(i)];
    return timestamps[mo_run_timestamp_run_end(d->n_actions)];
}

static void scale_program(const mo_run_device *d, const mo_run_program *p,
                          const int64_t *moments, int64_t span,
                          int64_t *free_at, int64_t *timestamps)
{
    int64_t end = known_end(d, p, timestamps);
    int64_t begin = timestamps[mo_run_timestamp_step_begin(p->first)];
    double factor;

    begin = mo_max_i64(*free_at, begin);
    factor = span > end - begin ? (double) (end - begin) / (double) span : 1;
    for (int i = p->first; i < p->first + p->n; i++) {
        int64_t from = moments[mo_run_timestamp_step_begin(i)];
        int64_t to = moments[mo_run_timestamp_step_end(i)];

        timestamps[mo_run_timestamp_step_begin(i)] =
            begin + (int64_t) (factor * (double) from);
        timestamps[mo_run_timestamp_step_end(i)] =
            begin + (int64_t) (factor * (double) to);
    }
    *free_at = begin + (int64_t) (factor * (double) span);
}

mo_status mo_run_step_times(mo_run_device *d, mo_error *err)
{
    int64_t *moments =
        calloc(mo_run_timestamp_count(d->n_actions), sizeof *moments);
    int64_t *spans = calloc((size_t) d->n_programs + 1, sizeof *spans);
    mo_status status = MO_OK;

    if (!moments || !spans)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_run_time_calls(d, err);
    for (int i = 0; i < d->n_programs && status == MO_OK; i++)
        spans[i] = compute_timeline(d, &d->programs[i], moments);
    for (int r = 0; r < d->n_runs && status == MO_OK; r++) {
        int64_t *timestamps = mo_run_device_timestamps(d, r);
        int64_t free_at = timestamps[0];

        for (int i = 0; i < d->n_programs; i++)
            scale_program(d, &d->programs[i], moments, spans[i], &free_at,
                          timestamps);
    }
    free(spans);
    free(moments);
    return status;
}
