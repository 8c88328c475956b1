/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of a pipelined run: period, latency percentiles, loads. */
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "exec/runtime/pipeline/pipeline_internal.h"

int64_t mo_pipeline_first_steady(const mo_pipeline_options *options)
{
    return options->first +
           mo_min_i64(options->n_slots,
                      (options->n_requests - options->first) / 2);
}

/* Nearest rank. */
static int64_t percentile(const int64_t *sorted, int64_t n, int percent)
{
    return sorted[(n * percent + 99) / 100 - 1];
}

static void summarize_times(const mo_pipeline *p, int64_t *latencies,
                            int64_t *ends, mo_pipeline_result *r)
{
    int64_t begin = INT64_MAX, n = 0, first;

    for (int64_t i = 0; i < mo_min_i64(r->n_accepted, p->n_times); i++) {
        const mo_pipeline_times *t = &p->times[i];

        if (t->end_ns == 0)
            continue;
        begin = mo_min_i64(begin, t->begin_ns);
        latencies[n] = t->end_ns - t->begin_ns;
        ends[n++] = t->end_ns;
    }
    if (n == 0)
        return;
    qsort(latencies, (size_t) n, sizeof *latencies, mo_compare_i64);
    qsort(ends, (size_t) n, sizeof *ends, mo_compare_i64);
    r->min_ns = latencies[0];
    r->p50_ns = percentile(latencies, n, 50);
    r->p95_ns = percentile(latencies, n, 95);
    r->p99_ns = percentile(latencies, n, 99);
    r->begin_ns = begin;
    r->wall_ns = ends[n - 1] - begin;
    first = mo_min_i64(p->options->n_slots, n / 2);
    r->n_steady = (int) mo_min_i64(n - 1 - first, INT32_MAX);
    r->period_ns = r->n_steady > 0 ? (ends[n - 1] - ends[first]) / r->n_steady
                                   : r->wall_ns / n;
}

/* Requests of each copy, and the mean time between the ends of two, once its
 * slots are full. */
static mo_status summarize_copies(const mo_pipeline *p, mo_pipeline_result *r,
                                  mo_error *err)
{
    int64_t *ends;

    if (!p->options->copies)
        return MO_OK;
    r->copies = calloc((size_t) p->n_shares, sizeof *r->copies);
    ends = calloc((size_t) p->n_times + 1, sizeof *ends);
    if (!r->copies || !ends) {
        free(ends);
        return mo_fail_memory(err);
    }
    for (int s = 0; s < p->n_shares; s++) {
        int64_t n = 0, first;

        for (int64_t i = 0; i < mo_min_i64(r->n_accepted, p->n_times); i++)
            if (p->times[i].share == s && p->times[i].end_ns > 0)
                ends[n++] = p->times[i].end_ns;
        qsort(ends, (size_t) n, sizeof *ends, mo_compare_i64);
        first = mo_min_i64(p->shares[s].n_slots, n / 2);
        r->copies[s].n_completed = n;
        if (n > first + 1)
            r->copies[s].period_ns =
                (ends[n - 1] - ends[first]) / (n - 1 - first);
    }
    free(ends);
    return MO_OK;
}

mo_status mo_pipeline_summarize(const mo_pipeline *p,
                                mo_pipeline_result *result, mo_error *err)
{
    mo_pipeline_result *r = result;
    size_t room = (size_t) mo_min_i64(p->next_in, p->n_times) + 1;
    int64_t *latencies = calloc(room, sizeof *latencies);
    int64_t *ends = calloc(room, sizeof *ends);
    /* Those of devices with separate memory, which are the first group. */
    mo_joint_slots *slots = p->n_groups > 0 ? p->groups->slots : NULL;
    const int64_t *loads = slots ? mo_joint_slots_call_loads(slots) : NULL;
    size_t n_calls = (size_t) p->plan->n_calls;
    mo_status status = MO_OK;

    r->n_accepted = p->next_in;
    r->n_requests = p->n_requests;
    r->next = p->next;
    r->is_sunk = p->sink_status != MO_OK;
    r->n_completed = p->n_completed;
    r->n_failed = p->n_failed;
    r->interrupt = p->interrupt;
    r->n_devices = p->plan->n_devices;
    r->devices = calloc((size_t) r->n_devices + 1, sizeof *r->devices);
    r->lost = calloc((size_t) p->n_outcomes + 1, sizeof *r->lost);
    if (!latencies || !ends || !r->devices || !r->lost)
        status = mo_fail_memory(err);
    if (status == MO_OK) {
        summarize_times(p, latencies, ends, r);
        for (int64_t i = p->next_in - mo_min_i64(p->next_in, p->n_outcomes);
             i < p->next_in; i++)
            if (p->outcomes[i % p->n_outcomes].lost)
                r->lost[r->n_lost++] = i;
    }
    if (status == MO_OK)
        status = summarize_copies(p, r, err);
    if (status == MO_OK && loads) {
        r->call_loads = calloc(n_calls + 1, sizeof *r->call_loads);
        if (r->call_loads)
            memcpy(r->call_loads, loads, n_calls * sizeof *loads);
        else
            status = mo_fail_memory(err);
    }
    for (int d = 0; d < r->n_devices && status == MO_OK; d++) {
        r->devices[d] = p->loads[d];
        if (p->share_of[d] != MO_PLAN_NONE)
            r->devices[d].load_ns /=
                mo_max_i64(p->shares[p->share_of[d]].n_loads, 1);
    }
    free(latencies);
    free(ends);
    return status;
}

void mo_pipeline_result_clear(mo_pipeline_result *result)
{
    free(result->lost);
    free(result->devices);
    free(result->copies);
    free(result->call_loads);
    *result = (mo_pipeline_result){ 0 };
}
