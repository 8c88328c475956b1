/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/runtime/device/timer_overhead.h"
#include "exec/runtime/device/device_run_internal.h"

/*
 * A program is begun at once and nobody looks at the clock inside.  Its calls
 * are timed when all runs are done, one by one, and laid out as lanes and waits
 * tell, from the moment the program began:
 *
 *     host      begin p   send x: waits for p
 *     device    |--a--|----b----|
 *                 |---c---|
 *
 * What it costs to look at the clock is taken out of their times.  Where that
 * would be longer than it really took until the host had waited for it, all of
 * it is shortened by the same factor: calls by themselves are slower than side
 * by side.
 */
enum { PASSES = 5 }; /* or as many as there were runs */

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

    return x < y ? -1 : x > y;
}

/* n times of as many passes, by call, the middle ones to medians. */
static void find_medians(int64_t *ns, int n, int passes, int64_t *medians)
{
    for (int i = 0; i < n; i++) {
        int64_t *all = ns + (size_t) i * PASSES;

        qsort(all, (size_t) passes, sizeof *all, compare);
        medians[i] = all[(passes - 1) / 2];
    }
}

int mo_run_timing_repeats(const mo_run_device *d)
{
    return d->n_runs < PASSES ? d->n_runs : PASSES;
}

/* ns: this pass's column is filled. */
static mo_status time_pass(mo_run_device *d,
                           const mo_backend_program_call *calls, int n,
                           int pass, int64_t *took, int64_t *ns, int64_t *whole,
                           mo_error *err)
{
    mo_status status = mo_run_load_inputs(d, err);

    if (status == MO_OK)
        status = d->backend->time(d->unit, calls, n, took, whole, err);
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
        status = time_pass(d, calls, n, pass, medians, ns, &wholes[pass], err);
    if (status == MO_OK && passes > 0) {
        find_medians(ns, n, passes, medians);
        find_medians(wholes, 1, passes, &whole);
        mo_run_remove_timer_overhead(medians, n, whole);
    }
    free(ns);
    return status;
}

/* All calls of its programs, one list: what is at its ends counts once.  ns: by
 * call of the list. */
static mo_status time_programs(mo_run_device *d, mo_backend_program_call *calls,
                               int64_t *ns, mo_error *err)
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
            d->by_itself[d->programs[i].first + k] = ns[at++];
    return status;
}

mo_status mo_run_time_calls(mo_run_device *d, mo_error *err)
{
    size_t room = (size_t) d->n_actions + 1;
    mo_backend_program_call *calls = calloc(room, sizeof *calls);
    int64_t *ns = calloc(room, sizeof *ns);
    mo_status status = MO_OK;

    d->by_itself = calloc(room, sizeof *d->by_itself);
    if (!calls || !ns || !d->by_itself)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = time_programs(d, calls, ns, err);
    free(ns);
    free(calls);
    return status;
}

/* ------------------------------------------------------------------- layout */

/* Begin and end of each call since its program began, into moments of a run
 * that begins at 0; returns when the last is over. */
static int64_t lay_out(const mo_run_device *d, const mo_run_program *p,
                       int64_t *moments)
{
    int64_t free_at[MO_PLAN_MAX_STREAMS] = { 0 }, last = 0;

    for (int i = 0; i < p->n; i++) {
        const mo_backend_program_call *call = &p->calls[i];
        int64_t begin = free_at[call->lane], end;

        for (int k = 0; k < call->n_waits; k++) {
            end = moments[mo_run_timestamp_step_end(p->first + call->waits[k])];
            begin = end > begin ? end : begin;
        }
        end = begin + d->by_itself[p->first + i];
        moments[mo_run_timestamp_step_begin(p->first + i)] = begin;
        moments[mo_run_timestamp_step_end(p->first + i)] = end;
        free_at[call->lane] = end;
        last = end > last ? end : last;
    }
    return last;
}

/* When the host has certainly waited for the program. */
static int64_t known_end(const mo_run_device *d, const mo_run_program *p,
                         const int64_t *stamps)
{
    for (int i = p->first + p->n; i < d->n_actions; i++)
        if (d->actions[i].kind == MO_PLAN_STEP_SEND)
            return stamps[mo_run_timestamp_step_end(i)];
    return stamps[mo_run_timestamp_run_end(d->n_actions)];
}

static void place_program(const mo_run_device *d, const mo_run_program *p,
                          const int64_t *moments, int64_t span,
                          int64_t *free_at, int64_t *stamps)
{
    int64_t end = known_end(d, p, stamps);
    int64_t begin = stamps[mo_run_timestamp_step_begin(p->first)];
    double factor;

    begin = *free_at > begin ? *free_at : begin;
    factor = span > end - begin ? (double) (end - begin) / (double) span : 1;
    for (int i = p->first; i < p->first + p->n; i++) {
        int64_t from = moments[mo_run_timestamp_step_begin(i)];
        int64_t to = moments[mo_run_timestamp_step_end(i)];

        stamps[mo_run_timestamp_step_begin(i)] =
            begin + (int64_t) (factor * (double) from);
        stamps[mo_run_timestamp_step_end(i)] =
            begin + (int64_t) (factor * (double) to);
    }
    *free_at = begin + (int64_t) (factor * (double) span);
}

static void place_run(const mo_run_device *d, const int64_t *moments,
                      const int64_t *spans, int64_t *stamps)
{
    int64_t free_at = stamps[0];

    for (int i = 0; i < d->n_programs; i++)
        place_program(d, &d->programs[i], moments, spans[i], &free_at, stamps);
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
        spans[i] = lay_out(d, &d->programs[i], moments);
    for (int r = 0; r < d->n_runs && status == MO_OK; r++)
        place_run(d, moments, spans, mo_run_device_timestamps(d, r));
    free(spans);
    free(moments);
    return status;
}
