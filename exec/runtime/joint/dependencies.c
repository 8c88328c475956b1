/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exec/plan/ir/value_table.h"
#include "exec/runtime/joint/access_map.h"
#include "exec/runtime/joint/joint_internal.h"

/*
 * What a call, or a value that is carried, waits for.
 *
 * Calls among each other do as plan.h says: those behind a step of another kind
 * come after all calls of their device before it.  These are its base:
 *
 *     base       {}             {a, b}               {c}
 *     steps      a    b   | send x |   c   | await x |   d
 *                lane 0, 1
 *
 * What is carried waits for who touched its bytes before, at both ends, unless
 * all of them only read; and so do calls for what is carried.  No other step
 * has to, be it before or behind: a device is held up by what it reads, and
 * whoever sends to it by those who still need the memory.  plan.h, where awaits
 * hold up all that is behind them, never lets two share bytes whose order would
 * be another one.  Ports are taken in turn: the sender's by the order on its
 * track, the receiver's since each waits for the last one through it.
 *
 * Ends of what other processes send or receive wait for the base as well: they
 * take a device's time until the other end is there, and should not begin
 * before it has nothing better to do.
 *
 * Waits that others imply are left out.  reach has, for every call and every
 * track (a lane, or a port), the last call of that track that is done when it
 * is.
 */
typedef struct state {
    int last[MO_PLAN_MAX_STREAMS]; /* calls since the base, or none */
    int base[MO_PLAN_MAX_STREAMS];
    int n_base;
    int last_in; /* through the port */
    mo_joint_access_map bytes;
} state;

/* What is done to the bytes of a value. */
typedef enum use { READ, WRITE } use;

typedef struct waiting {
    mo_joint_state *j;
    state *states;   /* by seat */
    int *call_of;    /* by call of the plan */
    int *track_last; /* by track */
    int n_tracks;
    int *reach;      /* by call and track */
    int *candidates; /* of the call at hand */
    size_t n_candidates, room;
    int part_begin; /* all calls before are done */
} waiting;

/* -------------------------------------------------------------------- bases */

static void clear_lanes(state *s)
{
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        s->last[i] = MO_JOINT_NONE;
}

/* A step that is no call: what came since the base is the base now, for it
 * waited for all of the old one. */
static void close_stretch(state *s)
{
    int n = 0;

    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        if (s->last[i] != MO_JOINT_NONE)
            s->base[n++] = s->last[i];
    if (n > 0)
        s->n_base = n;
    clear_lanes(s);
}

static void begin_part(waiting *w)
{
    w->part_begin = w->j->n_calls;
    for (int s = 0; s < w->j->n_seats; s++) {
        clear_lanes(&w->states[s]);
        w->states[s].n_base = 0;
        w->states[s].last_in = MO_JOINT_NONE;
    }
    for (int t = 0; t < w->n_tracks; t++)
        w->track_last[t] = MO_JOINT_NONE;
}

/* -------------------------------------------------------------------- waits */

static mo_status want(waiting *w, int call, mo_error *err)
{
    mo_status status = MO_OK;

    if (call < w->part_begin)
        return MO_OK;
    status = MO_ARRAY_GROW(w->candidates, w->n_candidates, w->room, err);
    if (status == MO_OK)
        w->candidates[w->n_candidates++] = call;
    return status;
}

static mo_status want_all(waiting *w, const int *calls, int n, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++)
        status = want(w, calls[i], err);
    return status;
}

static mo_status want_base(waiting *w, const state *s, mo_error *err)
{
    return want_all(w, s->base, s->n_base, err);
}

static int descending(const void *a, const void *b)
{
    int x = *(const int *) a, y = *(const int *) b;

    return x > y ? -1 : x < y;
}

static int *row(const waiting *w, int call)
{
    return w->reach + (size_t) call * (size_t) w->n_tracks;
}

static void join(const waiting *w, int *to, int call)
{
    const int *from = row(w, call);

    for (int t = 0; t < w->n_tracks; t++)
        to[t] = from[t] > to[t] ? from[t] : to[t];
}

/* What was done when the one before on its track was. */
static int *begin_row(const waiting *w, int call, int track)
{
    int *own = row(w, call);

    for (int t = 0; t < w->n_tracks; t++)
        own[t] = MO_JOINT_NONE;
    if (w->track_last[track] != MO_JOINT_NONE)
        join(w, own, w->track_last[track]);
    return own;
}

/* The later a candidate, the more it may imply: these come first. */
static mo_status choose_waits(waiting *w, int call, int track, mo_error *err)
{
    mo_joint_state *j = w->j;
    int *own = begin_row(w, call, track), *waits, n = 0;

    if (w->n_candidates > 0)
        qsort(w->candidates, w->n_candidates, sizeof *w->candidates,
              descending);
    for (size_t i = 0; i < w->n_candidates; i++) {
        int other = w->candidates[i];

        if (own[j->tracks[other]] >= other)
            continue;
        w->candidates[n++] = other - w->part_begin;
        join(w, own, other);
    }
    waits = mo_arena_array(j->arena, (size_t) n + 1, sizeof *waits);
    if (!waits)
        return mo_fail_memory(err);
    if (n > 0)
        memcpy(waits, w->candidates, (size_t) n * sizeof *waits);
    own[track] = call;
    w->track_last[track] = call;
    w->n_candidates = 0;
    j->calls[call].waits = waits;
    j->calls[call].n_waits = n;
    return MO_OK;
}

/* -------------------------------------------------------------------- bytes */

/* The spans of a value's bytes: of a view those it shares, of a part those of
 * the whole; none where it has no place in the device's memory. */
static mo_status spans_of(const waiting *w, state *s, int value,
                          mo_joint_access_range **first, size_t *n,
                          mo_error *err)
{
    const mo_plan_value *values = w->j->plan->values, *it;

    value = mo_plan_value_root(values, value);
    while (values[value].part)
        value = mo_plan_value_root(values, values[value].part->of);
    it = &values[value];
    if (it->offset == MO_PLAN_NONE) {
        *n = 0;
        return MO_OK;
    }
    return mo_joint_access_map_split(
        &s->bytes, it->offset, it->offset + mo_tensor_desc_bytes(&it->desc),
        first, n, err);
}

/* Calls want what came in, and what goes out before they overwrite it. */
static mo_status want_carries(waiting *w, state *s, int value, use how,
                              mo_error *err)
{
    mo_joint_access_range *spans = NULL;
    size_t n = 0;
    mo_status status = spans_of(w, s, value, &spans, &n, err);

    for (size_t i = 0; i < n && status == MO_OK; i++) {
        status = want(w, spans[i].wrote[MO_JOINT_TRACK_IN], err);
        if (how == WRITE && status == MO_OK)
            status = want(w, spans[i].read[MO_JOINT_TRACK_OUT], err);
    }
    return status;
}

/* What is carried wants everybody. */
static mo_status want_users(waiting *w, state *s, int value, use how,
                            mo_error *err)
{
    mo_joint_access_range *spans = NULL;
    size_t n = 0;
    mo_status status = spans_of(w, s, value, &spans, &n, err);

    for (size_t i = 0; i < n && status == MO_OK; i++) {
        status = want_all(w, spans[i].wrote, MO_JOINT_TRACK_COUNT, err);
        if (how == WRITE && status == MO_OK)
            status = want_all(w, spans[i].read, MO_JOINT_TRACK_COUNT, err);
    }
    return status;
}

/* From now on the call is the last one of its track there.  Who writes all of
 * the bytes comes after those who touched them before (life.h), so that whoever
 * waits for it need not know of these. */
static mo_status note_use(const waiting *w, state *s, int value, use how,
                          int track, int call, mo_error *err)
{
    const mo_plan_value *values = w->j->plan->values;
    mo_joint_access_range *spans = NULL;
    size_t n = 0;
    mo_status status = spans_of(w, s, value, &spans, &n, err);

    if (how == WRITE && n > 0 &&
        !values[mo_plan_value_root(values, value)].part) {
        mo_joint_access_map_merge(&s->bytes, spans, n);
        n = 1;
    }
    for (size_t i = 0; i < n; i++)
        (how == WRITE ? spans[i].wrote : spans[i].read)[track] = call;
    return status;
}

/* -------------------------------------------------------------------- items */

/* A new call on a track of a seat, with the waits that are wanted. */
static mo_status push(waiting *w, mo_joint_item *item, int track,
                      const mo_backend_program_call *call, mo_error *err)
{
    mo_joint_state *j = w->j;

    item->call = j->n_calls++;
    j->calls[item->call] = *call;
    j->calls[item->call].unit = j->devices[item->seat]->unit;
    j->tracks[item->call] = item->seat * MO_JOINT_TRACK_COUNT + track;
    return choose_waits(w, item->call, j->tracks[item->call], err);
}

static mo_status want_of_call(waiting *w, state *s, const mo_plan_call *planned,
                              mo_error *err)
{
    const mo_call *call = &planned->call;
    mo_status status = MO_OK;

    if (s->last[planned->stream] == MO_JOINT_NONE)
        status = want_base(w, s, err);
    for (int i = 0; i < planned->n_depends_on && status == MO_OK; i++)
        status = want(w, w->call_of[planned->depends_on[i]], err);
    for (int i = 0; i < call->n_in && status == MO_OK; i++)
        status = want_carries(w, s, call->in[i], READ, err);
    for (int i = 0; i < call->n_out && status == MO_OK; i++)
        status = want_carries(w, s, call->out[i], WRITE, err);
    return status;
}

static mo_status note_call(const waiting *w, state *s,
                           const mo_plan_call *planned, int number,
                           mo_error *err)
{
    const mo_call *call = &planned->call;
    mo_status status = MO_OK;

    for (int i = 0; i < call->n_in && status == MO_OK; i++)
        status =
            note_use(w, s, call->in[i], READ, planned->stream, number, err);
    for (int i = 0; i < call->n_out && status == MO_OK; i++)
        status =
            note_use(w, s, call->out[i], WRITE, planned->stream, number, err);
    return status;
}

static mo_status add_call(waiting *w, mo_joint_item *item, mo_error *err)
{
    const mo_run_device *d = w->j->devices[item->seat];
    const mo_run_action *a = &d->actions[item->action];
    const mo_plan_call *planned = &w->j->plan->calls[a->what];
    state *s = &w->states[item->seat];
    mo_status status = want_of_call(w, s, planned, err);

    if (status == MO_OK)
        status = push(w, item, planned->stream,
                      &(mo_backend_program_call){
                          .kernel = a->kernel,
                          .in = a->in,
                          .out = a->out,
                          .workspace = d->workspaces[planned->stream],
                          .lane = planned->stream },
                      err);
    if (status == MO_OK)
        status = note_call(w, s, planned, item->call, err);
    w->call_of[a->what] = item->call;
    s->last[planned->stream] = item->call;
    return status;
}

/* Where a carry ends; NULL: elsewhere. */
static state *target_of(const waiting *w, const mo_joint_item *item)
{
    int to = item->carry.from_unit ? item->to_seat : item->seat;

    return to == MO_JOINT_NONE ? NULL : &w->states[to];
}

static mo_status want_of_carry(waiting *w, const mo_joint_item *item,
                               state *from, state *to, mo_error *err)
{
    const mo_plan_transfer *it = &w->j->plan->transfers[item->carry.transfer];
    mo_status status = MO_OK;

    if (!from || !to)
        status = want_base(w, &w->states[item->seat], err);
    if (from && status == MO_OK)
        status = want_users(w, from, it->from_value, READ, err);
    if (to && status == MO_OK)
        status = want_users(w, to, it->to_value, WRITE, err);
    if (to && status == MO_OK)
        status = want(w, to->last_in, err);
    return status;
}

static mo_status note_carry(const waiting *w, const mo_joint_item *item,
                            state *from, state *to, mo_error *err)
{
    const mo_plan_transfer *it = &w->j->plan->transfers[item->carry.transfer];
    mo_status status = MO_OK;

    if (from)
        status = note_use(w, from, it->from_value, READ, MO_JOINT_TRACK_OUT,
                          item->call, err);
    if (to && status == MO_OK)
        status = note_use(w, to, it->to_value, WRITE, MO_JOINT_TRACK_IN,
                          item->call, err);
    if (to)
        to->last_in = item->call;
    return status;
}

static mo_status add_carry(waiting *w, mo_joint_item *item, mo_error *err)
{
    bool sends = item->carry.from_unit != NULL;
    state *from = sends ? &w->states[item->seat] : NULL;
    state *to = target_of(w, item);
    mo_status status;

    if (from)
        close_stretch(from);
    if (to)
        close_stretch(to);
    status = want_of_carry(w, item, from, to, err);
    if (status == MO_OK)
        status = push(
            w, item, sends ? MO_JOINT_TRACK_OUT : MO_JOINT_TRACK_IN,
            &(mo_backend_program_call){ .carry = &item->carry,
                                        .lane = sends ? MO_BACKEND_STREAM_OUT
                                                      : MO_BACKEND_STREAM_IN },
            err);
    return status == MO_OK ? note_carry(w, item, from, to, err) : status;
}

static mo_status add_item(waiting *w, mo_joint_item *item, mo_error *err)
{
    switch (item->kind) {
    case MO_JOINT_ITEM_CALL:
        return add_call(w, item, err);
    case MO_JOINT_ITEM_TRANSFER:
        return add_carry(w, item, err);
    case MO_JOINT_ITEM_AWAIT:
        close_stretch(&w->states[item->seat]);
        break;
    case MO_JOINT_ITEM_STAGED:
        break;
    }
    return MO_OK;
}

static mo_status add_part(waiting *w, mo_joint_segment *part, mo_error *err)
{
    mo_status status = MO_OK;

    begin_part(w);
    part->first_call = w->j->n_calls;
    for (int i = part->first; i < part->first + part->n && status == MO_OK; i++)
        status = add_item(w, &w->j->items[i], err);
    part->n_calls = w->j->n_calls - part->first_call;
    return status;
}

/* --------------------------------------------------------------------- room */

static void fill(int *numbers, int n)
{
    for (int i = 0; i < n; i++)
        numbers[i] = MO_JOINT_NONE;
}

static mo_status make_room(waiting *w, mo_error *err)
{
    mo_joint_state *j = w->j;
    size_t n = (size_t) j->n_items + 1, count;

    w->n_tracks = j->n_seats * MO_JOINT_TRACK_COUNT;
    j->calls = mo_arena_array(j->arena, n, sizeof *j->calls);
    j->tracks = mo_arena_array(j->arena, n, sizeof *j->tracks);
    w->call_of =
        mo_arena_array(j->arena, (size_t) j->plan->n_calls + 1, sizeof(int));
    w->track_last = mo_arena_array(j->arena, (size_t) w->n_tracks, sizeof(int));
    w->states =
        mo_arena_array(j->arena, (size_t) j->n_seats, sizeof *w->states);
    if (!mo_size_mul(n, (size_t) w->n_tracks, &count) ||
        count > SIZE_MAX / sizeof(int))
        return mo_fail_memory(err);
    w->reach = malloc(count * sizeof(int));
    if (!j->calls || !j->tracks || !w->call_of || !w->track_last ||
        !w->states || !w->reach)
        return mo_fail_memory(err);
    fill(w->call_of, j->plan->n_calls);
    return MO_OK;
}

mo_status mo_joint_find_dependencies(mo_joint_state *j, mo_error *err)
{
    waiting w = { .j = j };
    mo_status status = make_room(&w, err);

    for (int i = 0; i < j->n_parts && status == MO_OK; i++)
        status = add_part(&w, &j->parts[i], err);
    for (int i = 0; w.states && i < j->n_seats; i++)
        mo_joint_access_map_clear(&w.states[i].bytes);
    free(w.candidates);
    free(w.reach);
    return status;
}
