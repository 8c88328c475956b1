/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregation of measured runs: makespans, medians, and one timeline of all
 * ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "exec/runtime/gather.h"

static const int64_t *timestamp_row(const mo_run_device_record *record, int run)
{
    return record->timestamps +
           (size_t) run * mo_run_timestamp_count(record->n_actions);
}

static int64_t step_duration(const int64_t *moments, int action)
{
    return moments[mo_run_timestamp_step_end(action)] -
           moments[mo_run_timestamp_step_begin(action)];
}

/* From the start of the first device to the end of the last. Devices without
 * steps do not count. */
static int64_t makespan(const mo_exec_plan *plan,
                        const mo_run_device_record *records, int run,
                        int64_t *begin)
{
    int64_t first = INT64_MAX, last = INT64_MIN, end;

    for (int d = 0; d < plan->n_devices; d++) {
        const mo_run_device_record *r = &records[d];

        if (!r->timestamps || r->n_actions == 0)
            continue;
        if (timestamp_row(r, run)[0] < first)
            first = timestamp_row(r, run)[0];
        end = timestamp_row(r, run)[mo_run_timestamp_run_end(r->n_actions)];
        if (end > last)
            last = end;
    }
    *begin = first;
    return last > first ? last - first : 0;
}

static void median_call_times(const mo_exec_plan *plan, int d,
                              const mo_run_device_record *record,
                              int64_t *sorted, mo_run_result *result)
{
    const int64_t *median = timestamp_row(record, result->median_run);

    for (int i = 0; i < record->n_actions; i++) {
        const mo_plan_step *step = &plan->devices[d].steps[i];

        if (step->kind != MO_PLAN_STEP_COMPUTE)
            continue;
        if (record->isolated_ns) {
            result->call_ns[step->what] = record->isolated_ns[i];
            result->busy_ns[d] += record->isolated_ns[i];
            continue;
        }
        /* Durations of step i in all runs, sorted. */
        for (int r = 0; r < result->n_runs; r++)
            sorted[r] = step_duration(timestamp_row(record, r), i);
        qsort(sorted, (size_t) result->n_runs, sizeof *sorted, mo_compare_i64);
        result->call_ns[step->what] = sorted[(result->n_runs - 1) / 2];
        result->busy_ns[d] += step_duration(median, i);
    }
}

/* The index of a percentile among n sorted values: the least of them that is
 * not below so many percent (nearest rank). */
static int percentile_index(int n, int percent)
{
    return (int) (((int64_t) n * percent + 99) / 100) - 1;
}

/* A thread that is woken waits for its processor for a few microseconds, even
 * where that is idle. */
enum { WAKE_NS = 20000, DISTURBED_PERCENT = 5 };

static int count_disturbed(const mo_exec_plan *plan,
                           const mo_run_device_record *records,
                           const mo_run_result *result)
{
    int count = 0;

    for (int r = 0; r < result->n_runs; r++) {
        int64_t most = mo_max_i64(WAKE_NS, result->makespan_ns[r] / 100 *
                                               DISTURBED_PERCENT);
        bool disturbed = false;

        for (int d = 0; d < plan->n_devices; d++)
            disturbed |= records[d].timestamps && records[d].n_actions > 0 &&
                         records[d].wait_ns[r] > most;
        count += disturbed;
    }
    return count;
}

mo_status mo_run_aggregate(const mo_exec_plan *plan,
                           const mo_run_device_record *records,
                           const mo_run_plan_options *wanted,
                           mo_run_result *result, mo_error *err)
{
    int64_t *sorted = calloc((size_t) result->n_runs + 1, sizeof *sorted);
    int64_t begin = 0;
    mo_status status = MO_OK;
    int n = result->n_runs;

    if (!sorted)
        return mo_fail_memory(err);
    for (int r = 0; r < result->n_runs; r++)
        result->makespan_ns[r] = makespan(plan, records, r, &begin);
    if (result->n_runs > 0) {
        memcpy(sorted, result->makespan_ns, (size_t) n * sizeof *sorted);
        qsort(sorted, (size_t) n, sizeof *sorted, mo_compare_i64);
        result->median_ns = sorted[(n - 1) / 2];
        result->spread_ns = sorted[(n - 1) * 3 / 4] - sorted[(n - 1) / 4];
        result->min_ns = sorted[0];
        result->p95_ns = sorted[percentile_index(n, 95)];
        result->p99_ns = sorted[percentile_index(n, 99)];
        result->n_disturbed = count_disturbed(plan, records, result);
        while (result->makespan_ns[result->median_run] != result->median_ns)
            result->median_run++;
        makespan(plan, records, result->median_run, &begin);
    }
    for (int d = 0; d < plan->n_devices && status == MO_OK; d++) {
        const mo_run_device_record *record = &records[d];

        if (!record->timestamps)
            continue;
        result->workspace_bytes[d] = record->workspace_bytes;
        result->allocated_bytes[d] = record->allocated_bytes;
        if (n == 0)
            continue;
        memcpy(sorted, record->wait_ns, (size_t) n * sizeof *sorted);
        qsort(sorted, (size_t) n, sizeof *sorted, mo_compare_i64);
        result->wait_ns[d] = sorted[(n - 1) / 2];
        if (!wanted->whole)
            median_call_times(plan, d, record, sorted, result);
        if (wanted->trace) {
            mo_run_step **steps = &result->steps[d];
            const int64_t *timestamps =
                timestamp_row(record, result->median_run);

            *steps = calloc((size_t) record->n_actions + 1, sizeof **steps);
            if (!*steps)
                status = mo_fail_memory(err);
            else {
                for (int i = 0; i < record->n_actions; i++) {
                    (*steps)[i].begin_ns =
                        timestamps[mo_run_timestamp_step_begin(i)] - begin;
                    (*steps)[i].end_ns =
                        timestamps[mo_run_timestamp_step_end(i)] - begin;
                }
                status = MO_OK;
            }
        }
    }
    free(sorted);
    return status;
}

/*
 * Timeline alignment: a simulation of the steps of all devices in the total
 * order of the plan. Measured steps stay. Computed ones are shifted by a delay
 * of their device that changes where it awaits a direct transfer:
 *
 *     computed    a  |--a1--|send x|      b  |recv x|await x|--b1--|
 *     aligned     a  |--a1--|send x|
 *                 b  |recv x|---await x---|--b1--|
 *
 * Computed, several awaits in a row begin at once, and the next step begins
 * with the last to end: so they follow each other here. A sender does not
 * stall (exec/runtime/joint/dependencies.c): it only awaits.
 */
typedef struct direct_transfer {
    bool is_so;
    int64_t begun; /* both ends */
    int64_t took;
} direct_transfer;

typedef struct alignment {
    const mo_exec_plan *plan;
    const mo_run_device_record *records;
    mo_run_result *result;
    direct_transfer *transfers;
    int64_t *delay;   /* by device */
    int64_t *arrived; /* by device: arrival of the last transfer it awaited */
    int *next;        /* by device: its next step */
} alignment;

/* The device with the first next step in the total order; MO_PLAN_NONE at
 * the end. */
static int next_device(const alignment *a)
{
    int best = MO_PLAN_NONE, order = 0;

    for (int d = 0; d < a->plan->n_devices; d++) {
        const mo_plan_device *device = &a->plan->devices[d];

        if (!a->result->steps[d] || a->next[d] == device->n_steps)
            continue;
        if (best == MO_PLAN_NONE || device->steps[a->next[d]].order < order) {
            best = d;
            order = device->steps[a->next[d]].order;
        }
    }
    return best;
}

static void post_transfer(alignment *a, int d, int i, mo_run_step *step)
{
    direct_transfer *c = &a->transfers[a->plan->devices[d].steps[i].what];
    const int64_t *took = a->records[d].isolated_ns;

    c->is_so = took && took[i] > 0;
    if (!c->is_so)
        return;
    step->begin_ns += a->delay[d];
    step->end_ns += a->delay[d];
    c->begun = mo_max_i64(c->begun, step->begin_ns);
    c->took = mo_max_i64(c->took, took[i]);
}

static void await_transfer(alignment *a, int d, int t, mo_run_step *step)
{
    const direct_transfer *c = &a->transfers[t];
    int64_t end;

    if (!c->is_so) {
        a->delay[d] = a->arrived[d] = 0;
        return;
    }
    step->begin_ns += a->delay[d];
    end = mo_max_i64(step->begin_ns, c->begun + c->took);
    if (a->plan->transfers[t].to == d) {
        end = mo_max_i64(end, a->arrived[d]);
        a->arrived[d] = end;
        a->delay[d] = end - step->end_ns;
    }
    step->end_ns = end;
}

/* A timeline longer than the run is scaled down to it. */
static void fit_to_makespan(alignment *a)
{
    int64_t last = 0;
    double factor;

    for (int d = 0; d < a->plan->n_devices; d++)
        for (int i = 0; i < a->next[d]; i++)
            last = mo_max_i64(last, a->result->steps[d][i].end_ns);
    if (last <= a->result->median_ns)
        return;
    factor = (double) a->result->median_ns / (double) last;
    for (int d = 0; d < a->plan->n_devices; d++)
        for (int i = 0; i < a->next[d]; i++) {
            mo_run_step *step = &a->result->steps[d][i];

            step->begin_ns = (int64_t) (factor * (double) step->begin_ns);
            step->end_ns = (int64_t) (factor * (double) step->end_ns);
        }
}

mo_status mo_run_align_timeline(const mo_exec_plan *plan,
                                const mo_run_device_record *records,
                                mo_run_result *result, mo_error *err)
{
    size_t devices = (size_t) plan->n_devices + 1;
    alignment a = { .plan = plan,
                    .records = records,
                    .result = result,
                    .transfers = calloc((size_t) plan->n_transfers + 1,
                                        sizeof *a.transfers),
                    .delay = calloc(devices, sizeof *a.delay),
                    .arrived = calloc(devices, sizeof *a.arrived),
                    .next = calloc(devices, sizeof *a.next) };
    bool done = a.transfers && a.delay && a.arrived && a.next;

    if (done) {
        for (int d = next_device(&a); d != MO_PLAN_NONE; d = next_device(&a)) {
            int i = a.next[d]++;
            const mo_plan_step *planned = &a.plan->devices[d].steps[i];
            mo_run_step *step = &a.result->steps[d][i];

            switch (planned->kind) {
            case MO_PLAN_STEP_COMPUTE:
                step->begin_ns += a.delay[d];
                step->end_ns += a.delay[d];
                break;
            case MO_PLAN_STEP_SEND:
            case MO_PLAN_STEP_RECEIVE:
                post_transfer(&a, d, i, step);
                break;
            case MO_PLAN_STEP_AWAIT:
                await_transfer(&a, d, planned->what, step);
                break;
            }
        }
        fit_to_makespan(&a);
    }
    free(a.transfers);
    free(a.delay);
    free(a.arrived);
    free(a.next);
    return done ? MO_OK : mo_fail_memory(err);
}
