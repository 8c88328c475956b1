/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/graph/stages_internal.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "exec/backend/cuda/driver/sm_partition.h"
#include "exec/backend/cuda/graph/capture.h"

enum { NONE = -1 };

/* List scheduling of calls into stages. */
typedef struct partition {
    const mo_backend_program_call *calls;
    int n;
    int *owner_of; /* by call: that of its stage */
    int *stage_of; /* by call, or NONE */
    int *before; /* by call: the previous one on its recorded stream, or NONE */
    int *trial;  /* by call: the last trial in which it was ready */
    int *left;   /* by owner: calls without a stage */
    int n_trials;
} partition;

static mo_backend_unit *unit_of(const mo_backend_program_call *call,
                                mo_backend_unit *recorder)
{
    return call->unit ? call->unit : recorder;
}

/* Transfers of all parts of a GPU have one owner. */
static int find_or_add_owner(mo_cuda_stages *s, mo_backend_unit *unit,
                             bool transfers)
{
    int k = 0;

    while (k < s->n_owners &&
           (s->owners[k].transfers != transfers ||
            (transfers ? s->owners[k].unit->device != unit->device
                       : s->owners[k].unit != unit)))
        k++;
    if (k == s->n_owners)
        s->owners[s->n_owners++] = (mo_cuda_stage_owner){ unit, transfers, 0 };
    return k;
}

/* apart: transfers between parts of a GPU are stages of their own, else of the
 * stage before. */
static void assign_owners(mo_cuda_stages *s, partition *c,
                          mo_backend_unit *recorder, bool apart)
{
    s->n_owners = 0;
    memset(c->left, 0, 2 * (size_t) c->n * sizeof *c->left);
    find_or_add_owner(s, recorder, false);
    for (int i = 0; i < c->n; i++) {
        const mo_backend_program_call *call = &c->calls[i];
        mo_backend_unit *unit = unit_of(call, recorder);
        bool transfers =
            apart && call->transfer && mo_cuda_unit_is_partitioned(unit);

        c->owner_of[i] = find_or_add_owner(s, unit, transfers);
        c->left[c->owner_of[i]]++;
        c->stage_of[i] = NONE;
        c->before[i] = i - 1;
        while (c->before[i] >= 0 &&
               (unit_of(&c->calls[c->before[i]], recorder) != unit ||
                c->calls[c->before[i]].stream != call->stream))
            c->before[i]--;
    }
}

/* Whether a call is of an earlier stage, or of the current trial. */
static bool is_scheduled(const partition *c, int call)
{
    return call == NONE || c->stage_of[call] != NONE ||
           c->trial[call] == c->n_trials;
}

/* Begins a trial: marks the calls of the owner that could be the next stage;
 * returns their number. */
static int mark_ready_calls(partition *c, int k)
{
    int n = 0;

    c->n_trials++;
    for (int i = 0; i < c->n; i++) {
        bool ready = c->owner_of[i] == k && c->stage_of[i] == NONE &&
                     is_scheduled(c, c->before[i]);

        for (int d = 0; d < c->calls[i].n_deps && ready; d++)
            ready = is_scheduled(c, c->calls[i].deps[d]);
        if (ready)
            c->trial[i] = c->n_trials;
        n += ready;
    }
    return n;
}

/* The next stage is of the owner with the fewest calls left then. */
static void partition_calls(mo_cuda_stages *s, partition *c)
{
    s->n_stages = 0;
    for (int n_done = 0; n_done < c->n; s->n_stages++) {
        int best = NONE, best_left = 0, n;

        for (int k = 0; k < s->n_owners; k++) {
            n = mark_ready_calls(c, k);
            if (n > 0 && (best == NONE || c->left[k] - n < best_left)) {
                best = k;
                best_left = c->left[k] - n;
            }
        }
        n_done += mark_ready_calls(c, best);
        c->left[best] = best_left;
        for (int i = 0; i < c->n; i++)
            if (c->trial[i] == c->n_trials && c->stage_of[i] == NONE)
                c->stage_of[i] = s->n_stages;
    }
}

/* Marks the stages that precede each one directly: precedes[i * n + j]. */
static void mark_predecessors(const partition *c, size_t n, bool *precedes)
{
    for (int i = 0; i < c->n; i++) {
        bool *row = precedes + (size_t) c->stage_of[i] * n;

        if (c->before[i] != NONE)
            row[c->stage_of[c->before[i]]] = true;
        for (int d = 0; d < c->calls[i].n_deps; d++)
            row[c->stage_of[c->calls[i].deps[d]]] = true;
        row[c->stage_of[i]] = false;
    }
}

/* Stage i waits for those of its predecessors that precede no other one of
 * them. Stages are in a topological order. */
static void reduce_waits(mo_cuda_stages *s, const bool *precedes, bool *closure)
{
    size_t n = (size_t) s->n_stages;
    int *next = s->waits;

    for (size_t i = 0; i < n; i++) {
        mo_cuda_stage *at = &s->stages[i];
        bool *before = closure + i * n;

        at->waits = next;
        for (size_t p = i; p-- > 0;) {
            if (!precedes[i * n + p] || before[p])
                continue;
            at->waits[at->n_waits++] = (int) p;
            before[p] = true;
            for (size_t q = 0; q < p; q++)
                before[q] |= closure[p * n + q];
        }
        next += at->n_waits;
    }
}

static mo_status find_waits(mo_cuda_stages *s, const partition *c,
                            mo_error *err)
{
    size_t n = (size_t) s->n_stages, n_waits = 0;
    bool *precedes = calloc(2 * n * n + 1, sizeof *precedes);

    if (!precedes)
        return mo_fail_memory(err);
    mark_predecessors(c, n, precedes);
    for (size_t i = 0; i < n * n; i++)
        n_waits += precedes[i];
    s->waits = calloc(n_waits + 1, sizeof *s->waits);
    if (s->waits)
        reduce_waits(s, precedes, precedes + n * n);
    free(precedes);
    return s->waits ? MO_OK : mo_fail_memory(err);
}

static mo_status make_stages(mo_cuda_stages *s, const partition *c,
                             mo_error *err)
{
    mo_status status = MO_OK;

    s->stages = calloc((size_t) s->n_stages + 1, sizeof *s->stages);
    if (!s->stages)
        return mo_fail_memory(err);
    for (int i = 0; i < c->n; i++) {
        s->stages[c->stage_of[i]].owner = c->owner_of[i];
        s->stages[c->stage_of[i]].n_calls++;
    }
    for (int i = 0; i < s->n_stages; i++)
        s->stages[i].n_turns = 1;
    status = mo_cuda_stages_assign_streams(s, err);
    return status == MO_OK ? find_waits(s, c, err) : status;
}

static mo_status create_event(const mo_cuda_stages *s, mo_backend_unit *unit,
                              CUevent *event, mo_error *err)
{
    mo_status status = mo_cuda_unit_make_current(unit, err);

    if (status == MO_OK)
        status = mo_cuda_check(
            s->api, "cuEventCreate",
            s->api->cuEventCreate(event, CU_EVENT_DISABLE_TIMING), err);
    return status;
}

/* All stages but the last have an event: others, or the last, wait for it. */
static mo_status create_events(mo_cuda_stages *s, mo_error *err)
{
    mo_status status = create_event(s, s->owners[0].unit, &s->started, err);

    for (int i = 0; i < s->n_stages; i++)
        s->stages[i].is_sink = true;
    for (int i = 0; i < s->n_stages && status == MO_OK; i++) {
        mo_cuda_stage *at = &s->stages[i];

        for (int w = 0; w < at->n_waits; w++)
            s->stages[at->waits[w]].is_sink = false;
        if (i + 1 < s->n_stages)
            status = create_event(s, s->owners[at->owner].unit, &at->done, err);
    }
    return status;
}

/* Captures the calls of a stage; their dependencies on others are events. */
static mo_status capture_stage(mo_cuda_stages *s, const partition *c,
                               int number, mo_error *err)
{
    size_t room = 1, n_deps = 0;
    mo_backend_program_call *calls;
    int *deps, *number_of, n = 0;
    mo_status status;

    for (int i = 0; i < c->n; i++)
        n_deps += (size_t) c->calls[i].n_deps;
    room += (size_t) c->n;
    calls = calloc(room, sizeof *calls);
    number_of = calloc(room, sizeof *number_of);
    deps = calloc(n_deps + 1, sizeof *deps);
    status = calls && number_of && deps ? MO_OK : mo_fail_memory(err);
    n_deps = 0;
    for (int i = 0; i < c->n && status == MO_OK; i++) {
        mo_backend_program_call *call = &calls[n];

        if (c->stage_of[i] != number)
            continue;
        *call = c->calls[i];
        call->unit = unit_of(call, s->owners[0].unit);
        call->deps = deps + n_deps;
        call->n_deps = 0;
        for (int d = 0; d < c->calls[i].n_deps; d++)
            if (c->stage_of[c->calls[i].deps[d]] == number) {
                deps[n_deps++] = number_of[c->calls[i].deps[d]];
                call->n_deps++;
            }
        number_of[i] = n++;
    }
    if (status == MO_OK)
        status = mo_cuda_unit_make_current(
            s->owners[s->stages[number].owner].unit, err);
    if (status == MO_OK)
        status = mo_cuda_graph_capture(s->owners[s->stages[number].owner].unit,
                                       calls, n, &s->stages[number].graph, err);
    free(calls);
    free(number_of);
    free(deps);
    return status;
}

static mo_status capture_all(mo_cuda_stages *s, mo_backend_unit *recorder,
                             const mo_backend_program_call *calls, int n,
                             mo_error *err)
{
    size_t room = (size_t) n + 1, owners = 2 * room;
    partition c = { .calls = calls, .n = n };
    mo_status status;

    c.owner_of = calloc(room, sizeof *c.owner_of);
    c.stage_of = calloc(room, sizeof *c.stage_of);
    c.before = calloc(room, sizeof *c.before);
    c.trial = calloc(room, sizeof *c.trial);
    c.left = calloc(owners, sizeof *c.left);
    s->owners = calloc(owners, sizeof *s->owners);
    status =
        c.owner_of && c.stage_of && c.before && c.trial && c.left && s->owners
            ? MO_OK
            : mo_fail_memory(err);
    if (status == MO_OK) {
        assign_owners(s, &c, recorder, true);
        partition_calls(s, &c);
        s->by_host = s->n_stages > MO_CUDA_MAX_STAGES;
        if (s->by_host) {
            assign_owners(s, &c, recorder, false);
            partition_calls(s, &c);
        }
        status = make_stages(s, &c, err);
    }
    for (int i = 0; i < s->n_stages && status == MO_OK; i++)
        status = capture_stage(s, &c, i, err);
    if (status == MO_OK)
        status = create_events(s, err);
    free(c.owner_of);
    free(c.stage_of);
    free(c.before);
    free(c.trial);
    free(c.left);
    return status;
}

mo_status mo_cuda_stages_capture(mo_backend_unit *unit,
                                 const mo_backend_program_call *calls, int n,
                                 mo_backend_program **program, mo_error *err)
{
    mo_backend_program *made;
    bool whole = true;
    mo_status status;

    for (int i = 0; i < n; i++)
        whole = whole && unit_of(&calls[i], unit) == unit;
    for (int i = 0; i < n; i++)
        whole = whole || (calls[i].transfer && calls[i].transfer->carrier);
    if (whole)
        return mo_cuda_graph_capture(unit, calls, n, program, err);
    made = calloc(1, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    made->stages = calloc(1, sizeof *made->stages);
    if (made->stages) {
        made->stages->api = unit->api;
        status = capture_all(made->stages, unit, calls, n, err);
    } else {
        status = mo_fail_memory(err);
    }
    if (status == MO_OK)
        status = mo_cuda_unit_make_current(unit, err);
    if (status == MO_OK)
        *program = made;
    else
        mo_cuda_graph_destroy(unit, made);
    return status;
}

void mo_cuda_stages_free(mo_cuda_stages *s)
{
    if (!s)
        return;
    for (int i = 0; s->stages && i < s->n_stages; i++) {
        mo_cuda_stage *at = &s->stages[i];

        mo_cuda_graph_destroy(s->owners[at->owner].unit, at->graph);
        if (at->done)
            s->api->cuEventDestroy(at->done);
    }
    if (s->started)
        s->api->cuEventDestroy(s->started);
    free(s->stages);
    free(s->waits);
    free(s->owners);
    free(s);
}

static mo_status record_event(const mo_cuda_stages *s, CUevent event,
                              CUstream stream, mo_error *err)
{
    return mo_cuda_check(s->api, "cuEventRecord",
                         s->api->cuEventRecord(event, stream), err);
}

static mo_status enqueue_wait(const mo_cuda_stages *s, CUstream stream,
                              CUevent event, mo_error *err)
{
    return mo_cuda_check(s->api, "cuStreamWaitEvent",
                         s->api->cuStreamWaitEvent(stream, event, 0), err);
}

static mo_status wait_on_host(const mo_cuda_stages *s, CUevent event,
                              mo_error *err)
{
    CUresult result = s->api->cuEventQuery(event);

    while (result == CUDA_ERROR_NOT_READY) {
        sched_yield();
        result = s->api->cuEventQuery(event);
    }
    return mo_cuda_check(s->api, "cuEventQuery", result, err);
}

mo_backend_unit *mo_cuda_stages_first(const mo_cuda_stages *s, CUstream *stream)
{
    *stream = s->stages[0].stream;
    return s->owners[s->stages[0].owner].unit;
}

/* Whether a stage is a first one, and not behind the work before the program.
 */
static bool needs_start(const mo_cuda_stage *at, CUstream begin)
{
    return at->n_waits == 0 && at->stream != begin;
}

static mo_status launch_stage(const mo_cuda_stages *s, const mo_cuda_stage *at,
                              CUstream begin, mo_error *err)
{
    mo_backend_unit *unit = s->owners[at->owner].unit;
    mo_status status = mo_cuda_unit_make_current(unit, err);

    if (status == MO_OK && needs_start(at, begin))
        status = enqueue_wait(s, at->stream, s->started, err);
    for (int w = 0; w < at->n_waits && status == MO_OK; w++) {
        CUevent event = s->stages[at->waits[w]].done;

        status = s->by_host ? wait_on_host(s, event, err)
                            : enqueue_wait(s, at->stream, event, err);
    }
    if (status == MO_OK)
        status = mo_cuda_graph_launch_on(unit, at->graph, at->stream, err);
    if (status == MO_OK && at->done)
        status = record_event(s, at->done, at->stream, err);
    return status;
}

mo_status mo_cuda_stages_launch(const mo_cuda_stages *s, mo_backend_unit **unit,
                                CUstream *stream, mo_error *err)
{
    const mo_cuda_stage *last = &s->stages[s->n_stages - 1];
    CUstream begin = *stream;
    mo_status status = record_event(s, s->started, begin, err);

    for (int i = 0; i < s->n_stages && status == MO_OK; i++)
        status = launch_stage(s, &s->stages[i], begin, err);
    for (int i = 0; i + 1 < s->n_stages && status == MO_OK; i++)
        if (s->stages[i].is_sink)
            status = enqueue_wait(s, last->stream, s->stages[i].done, err);
    *unit = s->owners[last->owner].unit;
    *stream = last->stream;
    return status;
}
