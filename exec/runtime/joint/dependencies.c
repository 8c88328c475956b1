/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dependency edges of calls and direct transfers from data hazards (RAW, WAR,
 * WAW), reduced with vector clocks.
 *
 * Calls of one device depend on each other as in plan.h: those behind a step
 * of another kind come after all calls of their device before it. These are
 * its base:
 *
 *     base       {}             {a, b}               {c}
 *     steps      a    b   | send x |   c   | await x |   d
 *                stream 0, 1
 *
 * A direct transfer depends on all accesses to its bytes before it, at both
 * ends, unless all of them are reads; and calls depend on direct transfers
 * likewise. No other step has to, be it before or behind: a device waits for
 * what it reads, and its senders for the readers of the memory they overwrite.
 * plan.h, where an await blocks all steps behind it, never lets two values
 * share bytes if their order would differ. Ports are used in turn: the sender's
 * by the order on its track, the receiver's since each transfer waits for the
 * last one through it.
 *
 * Ends of transfers to and from other processes wait for the base as well:
 * they occupy a device until the other end arrives, and should not begin
 * before it is idle.
 *
 * Implied dependencies are left out (transitive reduction). The vector clock
 * of a call has, for every track (a stream, or a port), the last call of that
 * track that happens before it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "exec/plan/ir/value_table.h"
#include "exec/runtime/joint/joint_internal.h"

/* Bytes without accesses. */
static mo_joint_access_range empty_range(int64_t begin, int64_t end)
{
    mo_joint_access_range range = { .begin = begin, .end = end };

    for (int i = 0; i < MO_JOINT_TRACK_COUNT; i++)
        range.wrote[i] = range.read[i] = MO_JOINT_NONE;
    return range;
}

/* Splits ranges so that one begins there; *which is its index. */
static mo_status split_at(mo_joint_access_map *b, int64_t at, size_t *which,
                          mo_error *err)
{
    size_t i = 0, high = b->n;
    mo_status status;

    /* The range that contains the byte. */
    while (high - i > 1) {
        size_t middle = i + (high - i) / 2;

        if (b->ranges[middle].begin <= at)
            i = middle;
        else
            high = middle;
    }
    *which = i;
    if (b->ranges[i].begin == at)
        return MO_OK;
    status = MO_ARRAY_GROW(b->ranges, b->n, b->room, err);
    if (status != MO_OK)
        return status;
    memmove(&b->ranges[i + 1], &b->ranges[i], (b->n - i) * sizeof *b->ranges);
    b->n++;
    b->ranges[i].end = b->ranges[i + 1].begin = at;
    *which = i + 1;
    return MO_OK;
}

mo_status mo_joint_access_map_split(mo_joint_access_map *bytes, int64_t begin,
                                    int64_t end, mo_joint_access_range **first,
                                    size_t *n, mo_error *err)
{
    size_t from = 0, to = 0;
    mo_status status = MO_OK;

    *first = NULL;
    *n = 0;
    if (bytes->n == 0) {
        status = MO_ARRAY_GROW(bytes->ranges, bytes->n, bytes->room, err);
        if (status == MO_OK)
            bytes->ranges[bytes->n++] = empty_range(0, INT64_MAX);
    }
    if (status != MO_OK || begin >= end)
        return status;
    status = split_at(bytes, begin, &from, err);
    if (status == MO_OK)
        status = split_at(bytes, end, &to, err);
    if (status != MO_OK)
        return status;
    *first = &bytes->ranges[from];
    *n = to - from;
    return MO_OK;
}

void mo_joint_access_map_merge(mo_joint_access_map *bytes,
                               mo_joint_access_range *first, size_t n)
{
    size_t behind;

    if (n == 0)
        return;
    behind = bytes->n - n - (size_t) (first - bytes->ranges);
    *first = empty_range(first->begin, first[n - 1].end);
    memmove(first + 1, first + n, behind * sizeof *first);
    bytes->n -= n - 1;
}

void mo_joint_access_map_clear(mo_joint_access_map *bytes)
{
    free(bytes->ranges);
    *bytes = (mo_joint_access_map){ 0 };
}

typedef struct device_state {
    int last[MO_PLAN_MAX_STREAMS]; /* calls since the base, or none */
    int base[MO_PLAN_MAX_STREAMS];
    int n_base;
    int last_in; /* through the port */
    mo_joint_access_map bytes;
} device_state;

/* Kind of access to a value's bytes. */
typedef enum access_kind { READ, WRITE } access_kind;

typedef struct dependency_state {
    mo_joint_state *j;
    device_state *states; /* by local device */
    int *call_of;         /* by call of the plan */
    int *track_last;      /* by track */
    int n_tracks;
    int *clocks;     /* vector clocks, by call and track */
    int *candidates; /* of the current call */
    size_t n_candidates, room;
    int segment_begin; /* all calls before are complete */
} dependency_state;

static void clear_streams(device_state *s)
{
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        s->last[i] = MO_JOINT_NONE;
}

/* A step that is no call: the calls since the base become the base, since they
 * waited for all of the old one. */
static void close_base(device_state *s)
{
    int n = 0;

    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        if (s->last[i] != MO_JOINT_NONE)
            s->base[n++] = s->last[i];
    if (n > 0)
        s->n_base = n;
    clear_streams(s);
}

static mo_status add_candidate(dependency_state *w, int call, mo_error *err)
{
    mo_status status = MO_OK;

    if (call < w->segment_begin)
        return MO_OK;
    status = MO_ARRAY_GROW(w->candidates, w->n_candidates, w->room, err);
    if (status == MO_OK)
        w->candidates[w->n_candidates++] = call;
    return status;
}

static mo_status add_candidates(dependency_state *w, const int *calls, int n,
                                mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++)
        status = add_candidate(w, calls[i], err);
    return status;
}

static mo_status add_base(dependency_state *w, const device_state *s,
                          mo_error *err)
{
    return add_candidates(w, s->base, s->n_base, err);
}

static int compare_descending(const void *a, const void *b)
{
    int x = *(const int *) a, y = *(const int *) b;

    return x > y ? -1 : x < y;
}

static int *clock_row(const dependency_state *w, int call)
{
    return w->clocks + (size_t) call * (size_t) w->n_tracks;
}

static void merge_clock(const dependency_state *w, int *to, int call)
{
    const int *from = clock_row(w, call);

    for (int t = 0; t < w->n_tracks; t++)
        to[t] = mo_max_int(from[t], to[t]);
}

/* The latest candidates come first: they imply the most. */
static mo_status reduce_candidates(dependency_state *w, int call, int track,
                                   mo_error *err)
{
    mo_joint_state *j = w->j;
    int *own = clock_row(w, call), *deps, n = 0;

    for (int t = 0; t < w->n_tracks; t++)
        own[t] = MO_JOINT_NONE;
    if (w->track_last[track] != MO_JOINT_NONE)
        merge_clock(w, own, w->track_last[track]);
    if (w->n_candidates > 0)
        qsort(w->candidates, w->n_candidates, sizeof *w->candidates,
              compare_descending);
    for (size_t i = 0; i < w->n_candidates; i++) {
        int other = w->candidates[i];

        if (own[j->tracks[other]] >= other)
            continue;
        w->candidates[n++] = other - w->segment_begin;
        merge_clock(w, own, other);
    }
    deps = mo_arena_array(j->arena, (size_t) n + 1, sizeof *deps);
    if (!deps)
        return mo_fail_memory(err);
    if (n > 0)
        memcpy(deps, w->candidates, (size_t) n * sizeof *deps);
    own[track] = call;
    w->track_last[track] = call;
    w->n_candidates = 0;
    j->calls[call].deps = deps;
    j->calls[call].n_deps = n;
    return MO_OK;
}

/* The ranges of a value's bytes: of a view those it shares, of a part those of
 * the whole; none where it has no offset in the device's arena. */
static mo_status value_ranges(const dependency_state *w, device_state *s,
                              int value, mo_joint_access_range **first,
                              size_t *n, mo_error *err)
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

/* Calls depend on incoming transfers (RAW), and on outgoing ones before they
 * overwrite the bytes (WAR). */
static mo_status add_transfer_hazards(dependency_state *w, device_state *s,
                                      int value, access_kind how, mo_error *err)
{
    mo_joint_access_range *ranges = NULL;
    size_t n = 0;
    mo_status status = value_ranges(w, s, value, &ranges, &n, err);

    for (size_t i = 0; i < n && status == MO_OK; i++) {
        status = add_candidate(w, ranges[i].wrote[MO_JOINT_TRACK_IN], err);
        if (how == WRITE && status == MO_OK)
            status = add_candidate(w, ranges[i].read[MO_JOINT_TRACK_OUT], err);
    }
    return status;
}

/* A direct transfer depends on all accesses. */
static mo_status add_access_hazards(dependency_state *w, device_state *s,
                                    int value, access_kind how, mo_error *err)
{
    mo_joint_access_range *ranges = NULL;
    size_t n = 0;
    mo_status status = value_ranges(w, s, value, &ranges, &n, err);

    for (size_t i = 0; i < n && status == MO_OK; i++) {
        status = add_candidates(w, ranges[i].wrote, MO_JOINT_TRACK_COUNT, err);
        if (how == WRITE && status == MO_OK)
            status =
                add_candidates(w, ranges[i].read, MO_JOINT_TRACK_COUNT, err);
    }
    return status;
}

/* Records the call as the last one of its track there. A writer of all of the
 * bytes comes after all earlier accesses (exec/plan/schedule/liveness.h), so
 * that dependants of it need not know of these. */
static mo_status record_access(const dependency_state *w, device_state *s,
                               int value, access_kind how, int track, int call,
                               mo_error *err)
{
    const mo_plan_value *values = w->j->plan->values;
    mo_joint_access_range *ranges = NULL;
    size_t n = 0;
    mo_status status = value_ranges(w, s, value, &ranges, &n, err);

    if (how == WRITE && n > 0 &&
        !values[mo_plan_value_root(values, value)].part) {
        mo_joint_access_map_merge(&s->bytes, ranges, n);
        n = 1;
    }
    for (size_t i = 0; i < n; i++)
        (how == WRITE ? ranges[i].wrote : ranges[i].read)[track] = call;
    return status;
}

/* Appends a call on a track of a device, with the dependencies collected. */
static mo_status append_call(dependency_state *w, mo_joint_item *item,
                             int track, const mo_backend_program_call *call,
                             mo_error *err)
{
    mo_joint_state *j = w->j;

    item->call = j->n_calls++;
    j->calls[item->call] = *call;
    j->calls[item->call].unit = j->devices[item->local]->unit;
    j->tracks[item->call] = item->local * MO_JOINT_TRACK_COUNT + track;
    return reduce_candidates(w, item->call, j->tracks[item->call], err);
}

static mo_status add_call(dependency_state *w, mo_joint_item *item,
                          mo_error *err)
{
    const mo_run_device *d = w->j->devices[item->local];
    const mo_run_action *a = &d->actions[item->action];
    const mo_plan_call *planned = &w->j->plan->calls[a->what];
    const mo_call *call = &planned->call;
    device_state *s = &w->states[item->local];
    int stream = planned->stream;
    mo_status status = MO_OK;

    if (s->last[stream] == MO_JOINT_NONE)
        status = add_base(w, s, err);
    for (int i = 0; i < planned->n_depends_on && status == MO_OK; i++)
        status = add_candidate(w, w->call_of[planned->depends_on[i]], err);
    for (int i = 0; i < call->n_in && status == MO_OK; i++)
        status = add_transfer_hazards(w, s, call->in[i], READ, err);
    for (int i = 0; i < call->n_out && status == MO_OK; i++)
        status = add_transfer_hazards(w, s, call->out[i], WRITE, err);
    if (status == MO_OK)
        status = append_call(
            w, item, stream,
            &(mo_backend_program_call){ .kernel = a->kernel,
                                        .in = a->in,
                                        .out = a->out,
                                        .workspace = d->workspaces[stream],
                                        .stream = stream },
            err);
    for (int i = 0; i < call->n_in && status == MO_OK; i++)
        status =
            record_access(w, s, call->in[i], READ, stream, item->call, err);
    for (int i = 0; i < call->n_out && status == MO_OK; i++)
        status =
            record_access(w, s, call->out[i], WRITE, stream, item->call, err);
    w->call_of[a->what] = item->call;
    s->last[stream] = item->call;
    return status;
}

/* A direct transfer: both ends of it, or the one in this process. */
static mo_status add_transfer(dependency_state *w, mo_joint_item *item,
                              mo_error *err)
{
    const mo_plan_transfer *it = &w->j->plan->transfers[item->transfer.id];
    bool sends = item->transfer.from_unit != NULL;
    int to_local = sends ? item->to_local : item->local;
    device_state *from = sends ? &w->states[item->local] : NULL;
    device_state *to = to_local == MO_JOINT_NONE ? NULL : &w->states[to_local];
    mo_status status = MO_OK;

    if (from)
        close_base(from);
    if (to)
        close_base(to);
    if (!from || !to)
        status = add_base(w, &w->states[item->local], err);
    if (from && status == MO_OK)
        status = add_access_hazards(w, from, it->from_value, READ, err);
    if (to && status == MO_OK)
        status = add_access_hazards(w, to, it->to_value, WRITE, err);
    if (to && status == MO_OK)
        status = add_candidate(w, to->last_in, err);
    if (status == MO_OK)
        status =
            append_call(w, item, sends ? MO_JOINT_TRACK_OUT : MO_JOINT_TRACK_IN,
                        &(mo_backend_program_call){
                            .transfer = &item->transfer,
                            .stream = sends ? MO_BACKEND_STREAM_OUT
                                            : MO_BACKEND_STREAM_IN },
                        err);
    if (from && status == MO_OK)
        status = record_access(w, from, it->from_value, READ,
                               MO_JOINT_TRACK_OUT, item->call, err);
    if (to && status == MO_OK)
        status = record_access(w, to, it->to_value, WRITE, MO_JOINT_TRACK_IN,
                               item->call, err);
    if (to)
        to->last_in = item->call;
    return status;
}

static mo_status alloc_state(dependency_state *w, mo_error *err)
{
    mo_joint_state *j = w->j;
    size_t n = (size_t) j->n_items + 1, count;

    w->n_tracks = j->n_local * MO_JOINT_TRACK_COUNT;
    j->calls = mo_arena_array(j->arena, n, sizeof *j->calls);
    j->tracks = mo_arena_array(j->arena, n, sizeof *j->tracks);
    w->call_of =
        mo_arena_array(j->arena, (size_t) j->plan->n_calls + 1, sizeof(int));
    w->track_last = mo_arena_array(j->arena, (size_t) w->n_tracks, sizeof(int));
    w->states =
        mo_arena_array(j->arena, (size_t) j->n_local, sizeof *w->states);
    if (!mo_size_mul(n, (size_t) w->n_tracks, &count) ||
        count > SIZE_MAX / sizeof(int))
        return mo_fail_memory(err);
    w->clocks = malloc(count * sizeof(int));
    if (!j->calls || !j->tracks || !w->call_of || !w->track_last ||
        !w->states || !w->clocks)
        return mo_fail_memory(err);
    for (int i = 0; i < j->plan->n_calls; i++)
        w->call_of[i] = MO_JOINT_NONE;
    return MO_OK;
}

mo_status mo_joint_find_dependencies(mo_joint_state *j, mo_error *err)
{
    dependency_state w = { .j = j };
    mo_status status = alloc_state(&w, err);

    for (int i = 0; i < j->n_segments && status == MO_OK; i++) {
        mo_joint_segment *segment = &j->segments[i];

        w.segment_begin = w.j->n_calls;
        for (int s = 0; s < w.j->n_local; s++) {
            clear_streams(&w.states[s]);
            w.states[s].n_base = 0;
            w.states[s].last_in = MO_JOINT_NONE;
        }
        for (int t = 0; t < w.n_tracks; t++)
            w.track_last[t] = MO_JOINT_NONE;
        segment->first_call = w.j->n_calls;
        for (int k = segment->first;
             k < segment->first + segment->n && status == MO_OK; k++) {
            mo_joint_item *item = &w.j->items[k];

            if (item->kind == MO_JOINT_ITEM_CALL)
                status = add_call(&w, item, err);
            else if (item->kind == MO_JOINT_ITEM_TRANSFER)
                status = add_transfer(&w, item, err);
            else if (item->kind == MO_JOINT_ITEM_AWAIT)
                close_base(&w.states[item->local]);
        }
        segment->n_calls = w.j->n_calls - segment->first_call;
    }
    for (int i = 0; w.states && i < j->n_local; i++)
        mo_joint_access_map_clear(&w.states[i].bytes);
    free(w.candidates);
    free(w.clocks);
    return status;
}
