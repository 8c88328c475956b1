/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/stop.h"
#include "exec/runtime/joint/joint_internal.h"

/*
 * Calls, and values that are carried within this process, are timed when all
 * runs are done, one by one, and laid out as tracks and waits tell, from the
 * moment their part of the run began.  Where that would be longer than the part
 * took, all of it is shortened by the same factor.  What goes to another
 * process, or comes from there, is timed by the clock of the process, while
 * both ends do nothing else; what else it waits for there is known when all
 * ranks have told their times (run_align.c).
 *
 * A transfer is awaited from when all calls before are done to when it is
 * there.
 */

/* ------------------------------------------------------------------- timing */

/* What is carried from a seat to another one here, as a list of its own. */
static int list_carries(const mo_joint_state *j, int seat,
                        mo_backend_program_call *carries, int *calls)
{
    int n = 0;

    for (int i = 0; i < j->n_calls; i++) {
        const mo_backend_transfer *carry = j->calls[i].carry;

        if (!carry || carry->from_unit != j->devices[seat]->unit ||
            !carry->to_unit)
            continue;
        carries[n] = j->calls[i];
        calls[n++] = i;
    }
    return n;
}

static mo_status time_carries(mo_joint_state *j, int seat, mo_error *err)
{
    size_t room = (size_t) j->n_calls + 1;
    mo_backend_program_call *carries = calloc(room, sizeof *carries);
    int *calls = calloc(room, sizeof *calls);
    int64_t *ns = calloc(room, sizeof *ns);
    mo_status status = carries && calls && ns ? MO_OK : mo_fail_memory(err);
    int n = status == MO_OK ? list_carries(j, seat, carries, calls) : 0;

    if (n > 0)
        status =
            mo_run_median_call_times(j->devices[seat], carries, n, ns, err);
    for (int i = 0; i < n && status == MO_OK; i++)
        j->took_ns[calls[i]] = ns[i];
    free(ns);
    free(calls);
    free(carries);
    return status;
}

static bool is_remote(const mo_joint_item *item)
{
    return item->kind == MO_JOINT_ITEM_TRANSFER &&
           (!item->carry.from_unit || !item->carry.to_unit);
}

static mo_status time_remote(mo_joint_state *j, const mo_joint_item *item,
                             mo_error *err)
{
    int64_t *took = &j->took_ns[item->call], begun = mo_stop_clock_ns(), now;
    mo_status status = mo_joint_activate_unit(j, item->seat, err);

    if (status == MO_OK)
        status =
            j->backend->carry(j->devices[item->seat]->unit, &item->carry, err);
    if (status == MO_OK)
        status = mo_joint_synchronize(j, item->seat, err);
    now = mo_stop_clock_ns() - begun;
    if (*took == 0 || now < *took)
        *took = now;
    return status;
}

/* All ranks do, as often and in the same order: neither end waits for long.
 * The shortest time is that of a transfer nobody was late for. */
static mo_status time_remotes(mo_joint_state *j, mo_error *err)
{
    int passes = mo_run_timing_repeats(j->devices[0]);
    mo_status status = MO_OK;

    for (int pass = 0; pass < passes; pass++)
        for (int i = 0; i < j->n_items && status == MO_OK; i++)
            if (is_remote(&j->items[i]))
                status = time_remote(j, &j->items[i], err);
    return status;
}

static mo_status time_all(mo_joint_state *j, mo_error *err)
{
    mo_status status = time_remotes(j, err);

    for (int s = 0; s < j->n_seats && status == MO_OK; s++) {
        status = mo_joint_activate_unit(j, s, err);
        if (status == MO_OK)
            status = mo_run_time_calls(j->devices[s], err);
        if (status == MO_OK)
            status = time_carries(j, s, err);
    }
    for (int i = 0; i < j->n_items && status == MO_OK; i++) {
        const mo_joint_item *item = &j->items[i];

        if (item->kind == MO_JOINT_ITEM_CALL)
            j->took_ns[item->call] =
                j->devices[item->seat]->by_itself[item->action];
    }
    return status;
}

/* ------------------------------------------------------------------- layout */

typedef struct layout {
    const mo_joint_state *j;
    int64_t *ended;   /* by call, since its part began */
    int64_t *free_at; /* by track */
    int64_t *ready;   /* by seat: all calls before are done */
    int64_t **rows;   /* by seat: moments since the part began */
    int *carry_of;    /* by transfer: the call */
    int64_t *spans;   /* by part */
} layout;

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void stamp(layout *l, int seat, int action, int64_t begun, int64_t ended)
{
    l->rows[seat][mo_run_timestamp_step_begin(action)] = begun;
    l->rows[seat][mo_run_timestamp_step_end(action)] = ended;
}

/* Returns when it begins. */
static int64_t do_call(layout *l, const mo_joint_segment *part, int call)
{
    const mo_backend_program_call *c = &l->j->calls[call];
    int64_t *free_at = &l->free_at[l->j->tracks[call]], begun = *free_at;

    for (int i = 0; i < c->n_waits; i++)
        begun = later(begun, l->ended[part->first_call + c->waits[i]]);
    l->ended[call] = *free_at = begun + l->j->took_ns[call];
    return begun;
}

/* An end of a carry: when it begins, and how long it takes from then. */
static void do_end(layout *l, int seat, int action, int64_t begun, int64_t took)
{
    stamp(l, seat, action, begun, begun);
    l->j->devices[seat]->by_itself[action] = took > 0 ? took : 1;
}

static void do_carry(layout *l, const mo_joint_segment *part,
                     const mo_joint_item *item)
{
    int64_t begun = do_call(l, part, item->call);
    int64_t took = l->ended[item->call] - begun;

    l->carry_of[item->carry.transfer] = item->call;
    do_end(l, item->seat, item->action, begun, took);
    if (item->to_seat != MO_JOINT_NONE)
        do_end(l, item->to_seat, item->to_action, begun, took);
}

static void do_await(layout *l, const mo_joint_segment *part,
                     const mo_joint_item *item)
{
    const mo_run_device *d = l->j->devices[item->seat];
    int call = l->carry_of[d->actions[item->action].what];
    int64_t begun = l->ready[item->seat], ended = begun;

    /* What an earlier part carried is there. */
    if (call >= part->first_call)
        ended = later(ended, l->ended[call]);
    stamp(l, item->seat, item->action, begun, ended);
}

static void do_item(layout *l, const mo_joint_segment *part,
                    const mo_joint_item *item)
{
    int64_t begun;

    if (item->kind == MO_JOINT_ITEM_TRANSFER)
        do_carry(l, part, item);
    if (item->kind == MO_JOINT_ITEM_AWAIT)
        do_await(l, part, item);
    if (item->kind != MO_JOINT_ITEM_CALL)
        return;
    begun = do_call(l, part, item->call);
    stamp(l, item->seat, item->action, begun, l->ended[item->call]);
    l->ready[item->seat] = later(l->ready[item->seat], l->ended[item->call]);
}

static void lay_out_part(layout *l, int p)
{
    const mo_joint_segment *part = &l->j->parts[p];

    for (int t = 0; t < l->j->n_seats * MO_JOINT_TRACK_COUNT; t++)
        l->free_at[t] = 0;
    for (int s = 0; s < l->j->n_seats; s++)
        l->ready[s] = 0;
    for (int i = part->first; i < part->first + part->n; i++)
        do_item(l, part, &l->j->items[i]);
    for (int i = 0; i < part->n_calls; i++)
        l->spans[p] = later(l->spans[p], l->ended[part->first_call + i]);
}

/* ---------------------------------------------------------------- placement */

static void place_step(const layout *l, int seat, int action, int64_t begun,
                       double factor, int64_t *row)
{
    const int64_t *from = l->rows[seat];
    size_t moments[] = { mo_run_timestamp_step_begin(action),
                         mo_run_timestamp_step_end(action) };

    for (int k = 0; k < 2; k++)
        row[moments[k]] =
            begun + (int64_t) (factor * (double) from[moments[k]]);
}

static void place_part(const layout *l, int p, int run)
{
    const mo_joint_segment *part = &l->j->parts[p];
    const mo_joint_item *first = &l->j->items[part->first];
    const int64_t *row =
        mo_run_device_timestamps(l->j->devices[first->seat], run);
    int64_t begun = row[mo_run_timestamp_step_begin(first->action)];
    int64_t took = row[mo_run_timestamp_step_end(first->action)] - begun;
    double factor =
        l->spans[p] > took ? (double) took / (double) l->spans[p] : 1;

    for (int i = part->first; i < part->first + part->n; i++) {
        const mo_joint_item *item = &l->j->items[i];

        place_step(l, item->seat, item->action, begun, factor,
                   mo_run_device_timestamps(l->j->devices[item->seat], run));
        if (item->to_seat != MO_JOINT_NONE)
            place_step(
                l, item->to_seat, item->to_action, begun, factor,
                mo_run_device_timestamps(l->j->devices[item->to_seat], run));
    }
}

static void place_all(layout *l)
{
    const mo_joint_state *j = l->j;

    for (int p = 0; p < j->n_parts; p++) {
        if (j->parts[p].is_host)
            continue;
        lay_out_part(l, p);
        for (int r = 0; r < j->devices[0]->n_runs; r++)
            place_part(l, p, r);
    }
}

static mo_status make_layout(mo_joint_state *j, layout *l, mo_error *err)
{
    size_t calls = (size_t) j->n_calls + 1, seats = (size_t) j->n_seats;

    l->ended = mo_arena_array(j->arena, calls, sizeof *l->ended);
    l->free_at = mo_arena_array(j->arena, seats * MO_JOINT_TRACK_COUNT,
                                sizeof *l->free_at);
    l->ready = mo_arena_array(j->arena, seats, sizeof *l->ready);
    l->rows = mo_arena_array(j->arena, seats, sizeof *l->rows);
    l->carry_of = mo_arena_array(j->arena, (size_t) j->plan->n_transfers + 1,
                                 sizeof *l->carry_of);
    l->spans =
        mo_arena_array(j->arena, (size_t) j->n_parts + 1, sizeof *l->spans);
    if (!l->ended || !l->free_at || !l->ready || !l->rows || !l->carry_of ||
        !l->spans)
        return mo_fail_memory(err);
    for (size_t s = 0; s < seats; s++) {
        l->rows[s] = mo_arena_array(
            j->arena, mo_run_timestamp_count(j->devices[s]->n_actions),
            sizeof **l->rows);
        if (!l->rows[s])
            return mo_fail_memory(err);
    }
    return MO_OK;
}

/* Is there nothing in the plan but one program of these devices? */
static bool is_all(const mo_joint_state *j)
{
    for (int d = 0; d < j->plan->n_devices; d++)
        if (j->plan->devices[d].n_steps > 0 && j->seat_of[d] == MO_JOINT_NONE)
            return false;
    return j->n_parts == 1 && !j->parts[0].is_host;
}

mo_status mo_joint_step_times(mo_joint_state *j, int64_t *chain_ns,
                              mo_error *err)
{
    layout l = { .j = j };
    mo_status status = make_layout(j, &l, err);

    j->took_ns =
        mo_arena_array(j->arena, (size_t) j->n_calls + 1, sizeof *j->took_ns);
    if (!j->took_ns)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = time_all(j, err);
    if (status == MO_OK)
        place_all(&l);
    if (status == MO_OK && is_all(j))
        *chain_ns = l.spans[0];
    return status;
}
