/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step times of devices with separate memory.
 *
 * A program is launched at once, without timestamps inside. Its calls, and
 * direct transfers within this process, are measured in isolation after all
 * runs, and the timeline is computed from tracks and dependencies, from the
 * launch of their segment on, or the end of the one before:
 *
 *     host      begin p   send x: waits for p
 *     device    |--a--|----b----|
 *                 |---c---|
 *
 * Timer overhead is subtracted. Where the computed timeline is longer than the
 * host's wait for the segment, it is scaled down: calls in isolation are slower
 * than concurrent ones. Transfers to and from other processes are measured by
 * the host's clock, with both ends otherwise idle; further waiting is added
 * when all ranks have reported their times (exec/runtime/aggregate.c).
 *
 * A transfer is awaited from the end of all calls before it to its arrival.
 */
#include <stdlib.h>

#include "base/minmax.h"
#include "base/stop.h"
#include "exec/runtime/joint/joint_internal.h"

enum { MAX_PASSES = 5 }; /* of a measurement */

static int64_t corrected(int64_t ns, int64_t cost, int64_t least)
{
    if (ns <= least)
        return ns;
    return ns - cost > least ? ns - cost : least;
}

static int64_t corrected_sum(const int64_t *ns, int n, int64_t cost,
                             int64_t least)
{
    int64_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += corrected(ns[i], cost, least);
    return sum;
}

/* The sum falls as the overhead grows: binary search for the least overhead
 * that is enough. */
void mo_joint_remove_timer_overhead(int64_t *ns, int n, int64_t whole)
{
    int64_t least = n > 0 ? whole / n / 4 : 0, low = 0, high = 0;

    for (int i = 0; i < n; i++)
        high = ns[i] > high ? ns[i] : high;
    if (corrected_sum(ns, n, 0, least) <= whole)
        return;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (corrected_sum(ns, n, middle, least) > whole)
            low = middle + 1;
        else
            high = middle;
    }
    for (int i = 0; i < n; i++)
        ns[i] = corrected(ns[i], low, least);
}

/* The number of repetitions of a measurement, the same on all ranks. */
static int timing_repeats(const mo_run_device *d)
{
    return d->n_runs < MAX_PASSES ? d->n_runs : MAX_PASSES;
}

/* ns: of n calls, MAX_PASSES each; the medians of each call. */
static void find_medians(int64_t *ns, int n, int passes, int64_t *medians)
{
    for (int i = 0; i < n; i++) {
        int64_t *all = ns + (size_t) i * MAX_PASSES;

        qsort(all, (size_t) passes, sizeof *all, mo_compare_i64);
        medians[i] = all[(passes - 1) / 2];
    }
}

/* Medians of several measurements of calls of the unit, or of direct
 * transfers. */
static mo_status median_call_times(mo_run_device *d,
                                   const mo_backend_program_call *calls, int n,
                                   int64_t *medians, mo_error *err)
{
    int64_t *ns = calloc((size_t) n * MAX_PASSES + 1, sizeof *ns);
    int64_t wholes[MAX_PASSES] = { 0 }, whole = 0;
    int passes = timing_repeats(d);
    mo_status status = ns ? MO_OK : mo_fail_memory(err);

    for (int pass = 0; pass < passes && status == MO_OK; pass++) {
        status = mo_run_load_inputs(d, err);
        if (status == MO_OK)
            status = d->backend->time_calls(d->unit, calls, n, medians,
                                            &wholes[pass], err);
        for (int i = 0; i < n && status == MO_OK; i++)
            ns[i * MAX_PASSES + pass] = medians[i];
    }
    if (status == MO_OK && passes > 0) {
        find_medians(ns, n, passes, medians);
        find_medians(wholes, 1, passes, &whole);
        mo_joint_remove_timer_overhead(medians, n, whole);
    }
    free(ns);
    return status;
}

mo_status mo_joint_time_calls(const mo_joint_state *j, int local, mo_error *err)
{
    mo_run_device *d = j->devices[local];
    size_t room = (size_t) d->n_actions + 1;
    mo_backend_program_call *calls = calloc(room, sizeof *calls);
    int64_t *ns = calloc(room, sizeof *ns);
    mo_status status = MO_OK;
    int n = 0;

    d->isolated_ns = calloc(room, sizeof *d->isolated_ns);
    if (!calls || !ns || !d->isolated_ns)
        status = mo_fail_memory(err);
    /* All calls of all segments as one list, so that its two ends count
     * once. */
    for (int i = 0; i < j->n_items && status == MO_OK; i++)
        if (j->items[i].kind == MO_JOINT_ITEM_CALL &&
            j->items[i].local == local)
            calls[n++] = j->calls[j->items[i].call];
    if (n > 0)
        status = median_call_times(d, calls, n, ns, err);
    n = 0;
    for (int i = 0; i < j->n_items && status == MO_OK; i++)
        if (j->items[i].kind == MO_JOINT_ITEM_CALL &&
            j->items[i].local == local)
            d->isolated_ns[j->items[i].action] = ns[n++];
    free(ns);
    free(calls);
    return status;
}

/* Collective: all ranks, equally often and in the same order, so that neither
 * end waits for long. The shortest time is that of a transfer with both ends
 * ready. */
static mo_status measure_remotes(mo_joint_state *j, mo_error *err)
{
    int passes = timing_repeats(j->devices[0]);
    mo_status status = MO_OK;

    for (int pass = 0; pass < passes; pass++)
        for (int i = 0; i < j->n_items && status == MO_OK; i++) {
            const mo_joint_item *item = &j->items[i];
            int64_t begun = mo_stop_clock_ns(), now, *took;

            if (item->kind != MO_JOINT_ITEM_TRANSFER ||
                (item->transfer.from_unit && item->transfer.to_unit))
                continue;
            status = mo_joint_activate_unit(j, item->local, err);
            if (status == MO_OK)
                status = j->backend->transfer(j->devices[item->local]->unit,
                                              &item->transfer, err);
            if (status == MO_OK)
                status = mo_joint_synchronize(j, item->local, err);
            now = mo_stop_clock_ns() - begun;
            took = &j->isolated_ns[item->call];
            if (*took == 0 || now < *took)
                *took = now;
        }
    return status;
}

static mo_status measure_all(mo_joint_state *j, mo_error *err)
{
    mo_status status = measure_remotes(j, err);

    for (int s = 0; s < j->n_local && status == MO_OK; s++) {
        status = mo_joint_activate_unit(j, s, err);
        if (status == MO_OK)
            status = mo_joint_time_calls(j, s, err);
        if (status == MO_OK) {
            /* The direct transfers from one local device to others. */
            size_t room = (size_t) j->n_calls + 1;
            mo_backend_program_call *transfers =
                calloc(room, sizeof *transfers);
            int *calls = calloc(room, sizeof *calls);
            int64_t *ns = calloc(room, sizeof *ns);
            status = transfers && calls && ns ? MO_OK : mo_fail_memory(err);
            int n = 0;

            for (int i = 0; i < j->n_calls && status == MO_OK; i++) {
                const mo_backend_transfer *transfer = j->calls[i].transfer;

                if (!transfer || transfer->from_unit != j->devices[s]->unit ||
                    !transfer->to_unit)
                    continue;
                transfers[n] = j->calls[i];
                calls[n++] = i;
            }
            if (n > 0)
                status =
                    median_call_times(j->devices[s], transfers, n, ns, err);
            for (int i = 0; i < n && status == MO_OK; i++)
                j->isolated_ns[calls[i]] = ns[i];
            free(ns);
            free(calls);
            free(transfers);
        }
    }
    for (int i = 0; i < j->n_items && status == MO_OK; i++) {
        const mo_joint_item *item = &j->items[i];

        if (item->kind == MO_JOINT_ITEM_CALL)
            j->isolated_ns[item->call] =
                j->devices[item->local]->isolated_ns[item->action];
    }
    return status;
}

typedef struct timeline {
    const mo_joint_state *j;
    int64_t *ended;   /* by call, since its segment began */
    int64_t *free_at; /* by track */
    int64_t *ready;   /* by local device: all calls before are complete */
    int64_t **rows;   /* by local device: timestamps since the segment began */
    int *call_of_transfer; /* by transfer: the call */
    int64_t *length_ns;    /* by segment */
} timeline;

static void set_timestamps(timeline *l, int local, int action, int64_t begun,
                           int64_t ended)
{
    l->rows[local][mo_run_timestamp_step_begin(action)] = begun;
    l->rows[local][mo_run_timestamp_step_end(action)] = ended;
}

/* Returns the begin. */
static int64_t place_call(timeline *l, const mo_joint_segment *segment,
                          int call)
{
    const mo_backend_program_call *c = &l->j->calls[call];
    int64_t *free_at = &l->free_at[l->j->tracks[call]], begun = *free_at;

    for (int i = 0; i < c->n_deps; i++)
        begun = mo_max_i64(begun, l->ended[segment->first_call + c->deps[i]]);
    l->ended[call] = *free_at = begun + l->j->isolated_ns[call];
    return begun;
}

/* One end of a transfer: its begin and its duration. */
static void place_transfer_end(timeline *l, int local, int action,
                               int64_t begun, int64_t took)
{
    set_timestamps(l, local, action, begun, begun);
    l->j->devices[local]->isolated_ns[action] = took > 0 ? took : 1;
}

static void place_item(timeline *l, const mo_joint_segment *segment,
                       const mo_joint_item *item)
{
    const mo_run_action *a = &l->j->devices[item->local]->actions[item->action];
    int64_t *ready = &l->ready[item->local], begun, ended;
    int call;

    switch (item->kind) {
    case MO_JOINT_ITEM_CALL:
        begun = place_call(l, segment, item->call);
        ended = l->ended[item->call];
        set_timestamps(l, item->local, item->action, begun, ended);
        *ready = mo_max_i64(*ready, ended);
        break;
    case MO_JOINT_ITEM_TRANSFER:
        begun = place_call(l, segment, item->call);
        ended = l->ended[item->call];
        l->call_of_transfer[item->transfer.id] = item->call;
        place_transfer_end(l, item->local, item->action, begun, ended - begun);
        if (item->to_local != MO_JOINT_NONE)
            place_transfer_end(l, item->to_local, item->to_action, begun,
                               ended - begun);
        break;
    case MO_JOINT_ITEM_AWAIT:
        call = l->call_of_transfer[a->what];
        begun = ended = *ready;
        /* A transfer of an earlier segment has arrived. */
        if (call >= segment->first_call)
            ended = mo_max_i64(ended, l->ended[call]);
        set_timestamps(l, item->local, item->action, begun, ended);
        break;
    case MO_JOINT_ITEM_HOST:
        break;
    }
}

static void scale_step(const timeline *l, int local, int action, int64_t begun,
                       double factor, int64_t *row)
{
    const int64_t *from = l->rows[local];
    size_t moments[] = { mo_run_timestamp_step_begin(action),
                         mo_run_timestamp_step_end(action) };

    for (int k = 0; k < 2; k++)
        row[moments[k]] =
            begun + (int64_t) (factor * (double) from[moments[k]]);
}

/* free_at: when the segment before has ended, and this one. */
static void scale_segment(const timeline *l, int p, int run, int64_t *free_at)
{
    const mo_joint_segment *segment = &l->j->segments[p];
    const mo_joint_item *first = &l->j->items[segment->first];
    const int64_t *row =
        mo_run_device_timestamps(l->j->devices[first->local], run);
    int64_t begun =
        mo_max_i64(row[mo_run_timestamp_step_begin(first->action)], *free_at);
    int64_t took = row[mo_run_timestamp_step_end(first->action)] - begun;
    double factor =
        l->length_ns[p] > took ? (double) took / (double) l->length_ns[p] : 1;

    for (int i = segment->first; i < segment->first + segment->n; i++) {
        const mo_joint_item *item = &l->j->items[i];

        scale_step(l, item->local, item->action, begun, factor,
                   mo_run_device_timestamps(l->j->devices[item->local], run));
        if (item->to_local != MO_JOINT_NONE)
            scale_step(
                l, item->to_local, item->to_action, begun, factor,
                mo_run_device_timestamps(l->j->devices[item->to_local], run));
    }
    *free_at = begun + (int64_t) (factor * (double) l->length_ns[p]);
}

static mo_status alloc_timeline(mo_joint_state *j, timeline *l, mo_error *err)
{
    size_t calls = (size_t) j->n_calls + 1, n_local = (size_t) j->n_local;

    l->ended = mo_arena_array(j->arena, calls, sizeof *l->ended);
    l->free_at = mo_arena_array(j->arena, n_local * MO_JOINT_TRACK_COUNT,
                                sizeof *l->free_at);
    l->ready = mo_arena_array(j->arena, n_local, sizeof *l->ready);
    l->rows = mo_arena_array(j->arena, n_local, sizeof *l->rows);
    l->call_of_transfer =
        mo_arena_array(j->arena, (size_t) j->plan->n_transfers + 1,
                       sizeof *l->call_of_transfer);
    l->length_ns = mo_arena_array(j->arena, (size_t) j->n_segments + 1,
                                  sizeof *l->length_ns);
    if (!l->ended || !l->free_at || !l->ready || !l->rows ||
        !l->call_of_transfer || !l->length_ns)
        return mo_fail_memory(err);
    for (size_t s = 0; s < n_local; s++) {
        l->rows[s] = mo_arena_array(
            j->arena, mo_run_timestamp_count(j->devices[s]->n_actions),
            sizeof **l->rows);
        if (!l->rows[s])
            return mo_fail_memory(err);
    }
    return MO_OK;
}

mo_status mo_joint_step_times(mo_joint_state *j, int64_t *chain_ns,
                              mo_error *err)
{
    timeline l = { .j = j };
    mo_status status = alloc_timeline(j, &l, err);
    bool is_whole = j->n_local > 1 || j->n_carriers > 0;

    j->isolated_ns = mo_arena_array(j->arena, (size_t) j->n_calls + 1,
                                    sizeof *j->isolated_ns);
    if (!j->isolated_ns)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = measure_all(j, err);
    for (int p = 0; p < j->n_segments && status == MO_OK; p++) {
        const mo_joint_segment *segment = &j->segments[p];

        if (segment->is_host)
            continue;
        for (int t = 0; t < j->n_local * MO_JOINT_TRACK_COUNT; t++)
            l.free_at[t] = 0;
        for (int s = 0; s < j->n_local; s++)
            l.ready[s] = 0;
        for (int i = segment->first; i < segment->first + segment->n; i++)
            place_item(&l, segment, &j->items[i]);
        for (int i = 0; i < segment->n_calls; i++)
            l.length_ns[p] =
                mo_max_i64(l.length_ns[p], l.ended[segment->first_call + i]);
    }
    for (int r = 0; r < j->devices[0]->n_runs && status == MO_OK; r++) {
        int64_t free_at = INT64_MIN;

        for (int p = 0; p < j->n_segments; p++)
            if (!j->segments[p].is_host)
                scale_segment(&l, p, r, &free_at);
    }
    /* The whole plan is one program of these devices, with transfers in it. */
    for (int d = 0; d < j->plan->n_devices; d++)
        is_whole &=
            j->plan->devices[d].n_steps == 0 || j->local_of[d] != MO_JOINT_NONE;
    if (status == MO_OK && is_whole && j->n_segments == 1 &&
        !j->segments[0].is_host)
        *chain_ns = l.length_ns[0];
    return status;
}
