/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Step times of joint execution.
 *
 * Calls, and direct transfers within this process, are measured in isolation
 * after all runs, and the timeline is computed from tracks and dependencies,
 * from the begin of their segment on. Where that is longer than the segment
 * took, it is scaled down. Transfers to and from other processes are measured
 * by the host's clock, with both ends otherwise idle; further waiting is added
 * when all ranks have reported their times (exec/runtime/aggregate.c).
 *
 * A transfer is awaited from the end of all calls before it to its arrival.
 */
#include <stdlib.h>

#include "base/stop.h"
#include "exec/runtime/joint/joint_internal.h"
#include "base/minmax.h"

/* The direct transfers from one local device to others, as a list. */
static int collect_transfers(const mo_joint_state *j, int local,
                             mo_backend_program_call *transfers, int *calls)
{
    int n = 0;

    for (int i = 0; i < j->n_calls; i++) {
        const mo_backend_transfer *transfer = j->calls[i].transfer;

        if (!transfer || transfer->from_unit != j->devices[local]->unit ||
            !transfer->to_unit)
            continue;
        transfers[n] = j->calls[i];
        calls[n++] = i;
    }
    return n;
}

static mo_status measure_transfers(mo_joint_state *j, int local, mo_error *err)
{
    size_t room = (size_t) j->n_calls + 1;
    mo_backend_program_call *transfers = calloc(room, sizeof *transfers);
    int *calls = calloc(room, sizeof *calls);
    int64_t *ns = calloc(room, sizeof *ns);
    mo_status status = transfers && calls && ns ? MO_OK : mo_fail_memory(err);
    int n = status == MO_OK ? collect_transfers(j, local, transfers, calls) : 0;

    if (n > 0)
        status =
            mo_run_median_call_times(j->devices[local], transfers, n, ns, err);
    for (int i = 0; i < n && status == MO_OK; i++)
        j->isolated_ns[calls[i]] = ns[i];
    free(ns);
    free(calls);
    free(transfers);
    return status;
}

static mo_status measure_remote(mo_joint_state *j, const mo_joint_item *item,
                                mo_error *err)
{
    int64_t *took = &j->isolated_ns[item->call], begun = mo_stop_clock_ns(),
            now;
    mo_status status = mo_joint_activate_unit(j, item->local, err);

    if (status == MO_OK)
        status = j->backend->transfer(j->devices[item->local]->unit,
                                      &item->transfer, err);
    if (status == MO_OK)
        status = mo_joint_synchronize(j, item->local, err);
    now = mo_stop_clock_ns() - begun;
    if (*took == 0 || now < *took)
        *took = now;
    return status;
}

/* Collective: all ranks, equally often and in the same order, so that neither
 * end waits for long. The shortest time is that of a transfer with both ends
 * ready. */
static mo_status measure_remotes(mo_joint_state *j, mo_error *err)
{
    int passes = mo_run_timing_repeats(j->devices[0]);
    mo_status status = MO_OK;

    for (int pass = 0; pass < passes; pass++)
        for (int i = 0; i < j->n_items && status == MO_OK; i++)
            if (j->items[i].kind == MO_JOINT_ITEM_TRANSFER &&
                (!j->items[i].transfer.from_unit ||
                 !j->items[i].transfer.to_unit))
                status = measure_remote(j, &j->items[i], err);
    return status;
}

static mo_status measure_all(mo_joint_state *j, mo_error *err)
{
    mo_status status = measure_remotes(j, err);

    for (int s = 0; s < j->n_local && status == MO_OK; s++) {
        status = mo_joint_activate_unit(j, s, err);
        if (status == MO_OK)
            status = mo_run_time_calls(j->devices[s], err);
        if (status == MO_OK)
            status = measure_transfers(j, s, err);
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

static void place_transfer(timeline *l, const mo_joint_segment *segment,
                           const mo_joint_item *item)
{
    int64_t begun = place_call(l, segment, item->call);
    int64_t took = l->ended[item->call] - begun;

    l->call_of_transfer[item->transfer.id] = item->call;
    place_transfer_end(l, item->local, item->action, begun, took);
    if (item->to_local != MO_JOINT_NONE)
        place_transfer_end(l, item->to_local, item->to_action, begun, took);
}

static void place_await(timeline *l, const mo_joint_segment *segment,
                        const mo_joint_item *item)
{
    const mo_run_device *d = l->j->devices[item->local];
    int call = l->call_of_transfer[d->actions[item->action].what];
    int64_t begun = l->ready[item->local], ended = begun;

    /* A transfer of an earlier segment has arrived. */
    if (call >= segment->first_call)
        ended = mo_max_i64(ended, l->ended[call]);
    set_timestamps(l, item->local, item->action, begun, ended);
}

static void place_item(timeline *l, const mo_joint_segment *segment,
                       const mo_joint_item *item)
{
    int64_t begun;

    if (item->kind == MO_JOINT_ITEM_TRANSFER)
        place_transfer(l, segment, item);
    if (item->kind == MO_JOINT_ITEM_AWAIT)
        place_await(l, segment, item);
    if (item->kind != MO_JOINT_ITEM_CALL)
        return;
    begun = place_call(l, segment, item->call);
    set_timestamps(l, item->local, item->action, begun, l->ended[item->call]);
    l->ready[item->local] =
        mo_max_i64(l->ready[item->local], l->ended[item->call]);
}

static void compute_segment(timeline *l, int p)
{
    const mo_joint_segment *segment = &l->j->segments[p];

    for (int t = 0; t < l->j->n_local * MO_JOINT_TRACK_COUNT; t++)
        l->free_at[t] = 0;
    for (int s = 0; s < l->j->n_local; s++)
        l->ready[s] = 0;
    for (int i = segment->first; i < segment->first + segment->n; i++)
        place_item(l, segment, &l->j->items[i]);
    for (int i = 0; i < segment->n_calls; i++)
        l->length_ns[p] =
            mo_max_i64(l->length_ns[p], l->ended[segment->first_call + i]);
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

static void scale_segment(const timeline *l, int p, int run)
{
    const mo_joint_segment *segment = &l->j->segments[p];
    const mo_joint_item *first = &l->j->items[segment->first];
    const int64_t *row =
        mo_run_device_timestamps(l->j->devices[first->local], run);
    int64_t begun = row[mo_run_timestamp_step_begin(first->action)];
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

/* Returns whether the whole plan is one program of these devices. */
static bool is_whole_plan(const mo_joint_state *j)
{
    for (int d = 0; d < j->plan->n_devices; d++)
        if (j->plan->devices[d].n_steps > 0 && j->local_of[d] == MO_JOINT_NONE)
            return false;
    return j->n_segments == 1 && !j->segments[0].is_host;
}

mo_status mo_joint_step_times(mo_joint_state *j, int64_t *chain_ns,
                              mo_error *err)
{
    timeline l = { .j = j };
    mo_status status = alloc_timeline(j, &l, err);

    j->isolated_ns = mo_arena_array(j->arena, (size_t) j->n_calls + 1,
                                    sizeof *j->isolated_ns);
    if (!j->isolated_ns)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = measure_all(j, err);
    for (int p = 0; p < j->n_segments && status == MO_OK; p++) {
        if (j->segments[p].is_host)
            continue;
        compute_segment(&l, p);
        for (int r = 0; r < j->devices[0]->n_runs; r++)
            scale_segment(&l, p, r);
    }
    if (status == MO_OK && is_whole_plan(j))
        *chain_ns = l.length_ns[0];
    return status;
}
