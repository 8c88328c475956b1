#include <stdint.h>
#include <stdlib.h>

#include "base/array.h"
#include "exec/run_joint_parts.h"

/*
 * What a call, or a value that is carried, waits for.
 *
 * plan.h says that a step of another kind begins when all calls of its device
 * before it are done, and that calls behind it come after them.  What all later
 * steps of a device must wait for is its base:
 *
 *     base       {}             {a, b}               {c, x}
 *     steps      a    b   | send x |   c   | await x |   d
 *                lane 0, 1
 *
 * A carry waits for the bases of both its ends, and for what went through the
 * receiver's port before; through the sender's it goes in order.
 *
 * Hence values live as long as plan.h wants, with no memory shared too early: a
 * value that arrives is written when all steps of its device before the receive
 * are done, the last readers of what was there among them, be they calls or
 * carries that were awaited; and one that is sent is not overwritten before all
 * steps up to its await are done, the carry among them.
 *
 * Waits that others imply are left out.  reach has, for every call and every
 * track (a lane, or a port), the last call of that track that is done when it
 * is.
 */
typedef struct state {
    int last[MO_PLAN_MAX_LANES]; /* calls since the base, or none */
    int *base;
    int n_base;
    int last_in; /* through the port */
} state;

typedef struct waiting {
    mo_run_joint *j;
    state *states;   /* by seat */
    int *call_of;    /* by call of the plan */
    int *carry_of;   /* by transfer */
    int *track_last; /* by track */
    int n_tracks;
    int *reach;      /* by call and track */
    int *candidates; /* of the call at hand */
    int n_candidates;
    int part_begin; /* all calls before are done */
} waiting;

/* -------------------------------------------------------------------- bases */

static void clear_lanes(state *s)
{
    for (int i = 0; i < MO_PLAN_MAX_LANES; i++)
        s->last[i] = MO_JOINT_NONE;
}

/* A step that is no call: what came since the base is the base now, for it
 * waited for all of the old one. */
static void close_stretch(state *s)
{
    int n = 0;

    for (int i = 0; i < MO_PLAN_MAX_LANES; i++)
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

static void want(waiting *w, int call)
{
    if (call >= w->part_begin)
        w->candidates[w->n_candidates++] = call;
}

static void want_base(waiting *w, const state *s)
{
    for (int i = 0; i < s->n_base; i++)
        want(w, s->base[i]);
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
    mo_run_joint *j = w->j;
    int *own = begin_row(w, call, track), n = 0;
    int *waits =
        mo_arena_array(j->arena, (size_t) w->n_candidates + 1, sizeof *waits);

    if (!waits)
        return mo_fail_memory(err);
    qsort(w->candidates, (size_t) w->n_candidates, sizeof *w->candidates,
          descending);
    for (int i = 0; i < w->n_candidates; i++) {
        int other = w->candidates[i];

        if (own[j->tracks[other]] >= other)
            continue;
        waits[n++] = other - w->part_begin;
        join(w, own, other);
    }
    own[track] = call;
    w->track_last[track] = call;
    w->n_candidates = 0;
    j->calls[call].waits = waits;
    j->calls[call].n_waits = n;
    return MO_OK;
}

/* -------------------------------------------------------------------- items */

/* A new call on a track of a seat, with the waits that are wanted. */
static mo_status push(waiting *w, mo_joint_item *item, int seat, int port,
                      const mo_program_call *call, mo_error *err)
{
    mo_run_joint *j = w->j;

    item->call = j->n_calls++;
    j->calls[item->call] = *call;
    j->calls[item->call].unit = j->devices[seat]->unit;
    j->tracks[item->call] = seat * MO_JOINT_TRACKS + port;
    return choose_waits(w, item->call, j->tracks[item->call], err);
}

static mo_status add_call(waiting *w, mo_joint_item *item, mo_error *err)
{
    const mo_run_device *d = w->j->devices[item->seat];
    const mo_run_action *a = &d->actions[item->action];
    const mo_plan_call *planned = &w->j->plan->calls[a->what];
    state *s = &w->states[item->seat];
    mo_status status;

    if (s->last[planned->lane] == MO_JOINT_NONE)
        want_base(w, s);
    for (int i = 0; i < planned->n_waits; i++)
        want(w, w->call_of[planned->waits[i]]);
    status = push(w, item, item->seat, planned->lane,
                  &(mo_program_call){ .kernel = a->kernel,
                                      .in = a->in,
                                      .out = a->out,
                                      .workspace = d->workspaces[planned->lane],
                                      .lane = planned->lane },
                  err);
    w->call_of[a->what] = item->call;
    s->last[planned->lane] = item->call;
    return status;
}

/* Both ports are held: the sender's by the order on its track, the receiver's
 * by what waits for what went through it last. */
static mo_status add_carry(waiting *w, mo_joint_item *item, mo_error *err)
{
    const mo_carry *carry = &item->carry;
    int to = carry->from_unit ? item->to_seat : item->seat;
    bool sends = carry->from_unit != NULL;
    mo_status status;

    close_stretch(&w->states[item->seat]);
    want_base(w, &w->states[item->seat]);
    if (to != MO_JOINT_NONE) {
        close_stretch(&w->states[to]);
        want_base(w, &w->states[to]);
        want(w, w->states[to].last_in);
    }
    status =
        push(w, item, item->seat, sends ? MO_JOINT_OUT : MO_JOINT_IN,
             &(mo_program_call){ .carry = carry,
                                 .lane = sends ? MO_LANE_OUT : MO_LANE_IN },
             err);
    w->carry_of[carry->transfer] = item->call;
    if (to != MO_JOINT_NONE)
        w->states[to].last_in = item->call;
    return status;
}

static void add_await(waiting *w, const mo_joint_item *item)
{
    const mo_run_device *d = w->j->devices[item->seat];
    state *s = &w->states[item->seat];
    int carry = w->carry_of[d->actions[item->action].what];

    close_stretch(s);
    if (carry >= w->part_begin)
        s->base[s->n_base++] = carry;
}

static mo_status add_item(waiting *w, mo_joint_item *item, mo_error *err)
{
    switch (item->kind) {
    case MO_JOINT_CALL:
        return add_call(w, item, err);
    case MO_JOINT_CARRY:
        return add_carry(w, item, err);
    case MO_JOINT_AWAIT:
        add_await(w, item);
        break;
    case MO_JOINT_HOST:
        break;
    }
    return MO_OK;
}

static mo_status add_part(waiting *w, mo_joint_part *part, mo_error *err)
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

/* A base has at most a call of each lane and all that the device awaits. */
static mo_status make_states(waiting *w, mo_error *err)
{
    const mo_run_joint *j = w->j;

    w->states =
        mo_arena_array(j->arena, (size_t) j->n_seats, sizeof *w->states);
    for (int s = 0; w->states && s < j->n_seats; s++) {
        size_t room = MO_PLAN_MAX_LANES + (size_t) j->devices[s]->n_actions;

        w->states[s].base = mo_arena_array(j->arena, room, sizeof(int));
        if (!w->states[s].base)
            return mo_fail_memory(err);
    }
    return w->states ? MO_OK : mo_fail_memory(err);
}

static void fill(int *numbers, int n)
{
    for (int i = 0; i < n; i++)
        numbers[i] = MO_JOINT_NONE;
}

static mo_status make_room(waiting *w, mo_error *err)
{
    mo_run_joint *j = w->j;
    size_t n = (size_t) j->n_items + 1, count;

    w->n_tracks = j->n_seats * MO_JOINT_TRACKS;
    j->calls = mo_arena_array(j->arena, n, sizeof *j->calls);
    j->tracks = mo_arena_array(j->arena, n, sizeof *j->tracks);
    w->call_of =
        mo_arena_array(j->arena, (size_t) j->plan->n_calls + 1, sizeof(int));
    w->carry_of = mo_arena_array(j->arena, (size_t) j->plan->n_transfers + 1,
                                 sizeof(int));
    w->track_last = mo_arena_array(j->arena, (size_t) w->n_tracks, sizeof(int));
    /* Those of two bases, those of the plan, the port. */
    w->candidates = mo_arena_array(
        j->arena, 2 * n + (size_t) j->plan->n_calls + 2 * MO_PLAN_MAX_LANES,
        sizeof(int));
    if (!mo_size_mul(n, (size_t) w->n_tracks, &count) ||
        count > SIZE_MAX / sizeof(int))
        return mo_fail_memory(err);
    w->reach = malloc(count * sizeof(int));
    if (!j->calls || !j->tracks || !w->call_of || !w->carry_of ||
        !w->track_last || !w->candidates || !w->reach)
        return mo_fail_memory(err);
    fill(w->call_of, j->plan->n_calls);
    fill(w->carry_of, j->plan->n_transfers);
    return make_states(w, err);
}

mo_status mo_joint_waits(mo_run_joint *j, mo_error *err)
{
    waiting w = { .j = j };
    mo_status status = make_room(&w, err);

    for (int i = 0; i < j->n_parts && status == MO_OK; i++)
        status = add_part(&w, &j->parts[i], err);
    free(w.reach);
    return status;
}
