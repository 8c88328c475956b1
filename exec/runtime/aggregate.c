/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "exec/runtime/gather.h"

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

    return x < y ? -1 : x > y;
}

static const int64_t *row(const mo_run_device_record *record, int run)
{
    return record->stamps +
           (size_t) run * mo_run_timestamp_count(record->n_actions);
}

static int64_t duration(const int64_t *moments, int action)
{
    return moments[mo_run_timestamp_step_end(action)] -
           moments[mo_run_timestamp_step_begin(action)];
}

/* ---------------------------------------------------------------- makespans */

/* When the first device began, and how long it took until the last one ended.
 * Devices with nothing to do do not count. */
static int64_t makespan(const mo_exec_plan *plan,
                        const mo_run_device_record *records, int run,
                        int64_t *begin)
{
    int64_t first = INT64_MAX, last = INT64_MIN, end;

    for (int d = 0; d < plan->n_devices; d++) {
        const mo_run_device_record *r = &records[d];

        if (!r->stamps || r->n_actions == 0)
            continue;
        if (row(r, run)[0] < first)
            first = row(r, run)[0];
        end = row(r, run)[mo_run_timestamp_run_end(r->n_actions)];
        if (end > last)
            last = end;
    }
    *begin = first;
    return last > first ? last - first : 0;
}

static void find_median(mo_run_result *result, int64_t *sorted)
{
    int n = result->n_runs;

    memcpy(sorted, result->makespan_ns, (size_t) n * sizeof *sorted);
    qsort(sorted, (size_t) n, sizeof *sorted, compare);
    result->median_ns = sorted[(n - 1) / 2];
    result->spread_ns = sorted[(n - 1) * 3 / 4] - sorted[(n - 1) / 4];
    while (result->makespan_ns[result->median_run] != result->median_ns)
        result->median_run++;
}

/* -------------------------------------------------------------------- steps */

/* Durations of step i in all runs, sorted. */
static void sort_durations(const mo_run_device_record *record, int i,
                           int n_runs, int64_t *sorted)
{
    for (int r = 0; r < n_runs; r++)
        sorted[r] = duration(row(record, r), i);
    qsort(sorted, (size_t) n_runs, sizeof *sorted, compare);
}

static void time_calls(const mo_exec_plan *plan, int d,
                       const mo_run_device_record *record, int64_t *sorted,
                       mo_run_result *result)
{
    const int64_t *median = row(record, result->median_run);

    for (int i = 0; i < record->n_actions; i++) {
        const mo_plan_step *step = &plan->devices[d].steps[i];

        if (step->kind != MO_PLAN_STEP_COMPUTE)
            continue;
        if (record->by_itself) {
            result->call_ns[step->what] = record->by_itself[i];
            result->busy_ns[d] += record->by_itself[i];
            continue;
        }
        sort_durations(record, i, result->n_runs, sorted);
        result->call_ns[step->what] = sorted[(result->n_runs - 1) / 2];
        result->busy_ns[d] += duration(median, i);
    }
}

static mo_status keep_steps(const mo_run_device_record *record, int median_run,
                            int64_t begin, mo_run_step **steps, mo_error *err)
{
    const int64_t *stamps = row(record, median_run);

    *steps = calloc((size_t) record->n_actions + 1, sizeof **steps);
    if (!*steps)
        return mo_fail_memory(err);
    for (int i = 0; i < record->n_actions; i++) {
        (*steps)[i].begin_ns = stamps[mo_run_timestamp_step_begin(i)] - begin;
        (*steps)[i].end_ns = stamps[mo_run_timestamp_step_end(i)] - begin;
    }
    return MO_OK;
}

static mo_status sum_up_device(const mo_exec_plan *plan, int d,
                               const mo_run_device_record *record,
                               const mo_run_plan_options *wanted, int64_t begin,
                               int64_t *sorted, mo_run_result *result,
                               mo_error *err)
{
    result->workspace_bytes[d] = record->workspace_bytes;
    result->allocated_bytes[d] = record->allocated_bytes;
    if (result->n_runs == 0 || wanted->whole)
        return MO_OK;
    time_calls(plan, d, record, sorted, result);
    if (!wanted->trace)
        return MO_OK;
    return keep_steps(record, result->median_run, begin, &result->steps[d],
                      err);
}

mo_status mo_run_aggregate(const mo_exec_plan *plan,
                           const mo_run_device_record *records,
                           const mo_run_plan_options *wanted,
                           mo_run_result *result, mo_error *err)
{
    int64_t *sorted = calloc((size_t) result->n_runs + 1, sizeof *sorted);
    int64_t begin = 0;
    mo_status status = MO_OK;

    if (!sorted)
        return mo_fail_memory(err);
    for (int r = 0; r < result->n_runs; r++)
        result->makespan_ns[r] = makespan(plan, records, r, &begin);
    if (result->n_runs > 0) {
        find_median(result, sorted);
        makespan(plan, records, result->median_run, &begin);
    }
    for (int d = 0; d < plan->n_devices && status == MO_OK; d++)
        if (records[d].stamps)
            status = sum_up_device(plan, d, &records[d], wanted, begin, sorted,
                                   result, err);
    free(sorted);
    return status;
}
