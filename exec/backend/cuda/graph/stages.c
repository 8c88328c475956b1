/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/graph/stages.h"

#include <stdlib.h>

#include "exec/backend/cuda/driver/cuda_unit.h"
#include "exec/backend/cuda/driver/sm_partition.h"
#include "exec/backend/cuda/graph/capture.h"
#include "exec/backend/cuda/graph/queue.h"

enum { NONE = -1 };

/* A stream of stages, which run one after the other: of a unit, or of the
 * transfers of a GPU. The first is of the unit that records. */
typedef struct stage_stream {
    mo_backend_unit *unit;
    bool transfers; /* of the parts of a GPU */
} stage_stream;

typedef struct stage {
    int stream;
    mo_backend_program *graph;
    CUevent done; /* NULL: no other stream waits for it */
    int *waits;   /* by stream: the stage there that precedes it, or NONE */
} stage;

struct mo_cuda_stages {
    const mo_cuda_api *api;
    stage_stream *streams;
    int n_streams;
    stage *stages;
    int n_stages;
    int *waits;      /* of all stages */
    int *last;       /* by stream: its last stage */
    CUevent started; /* before the first stage; NULL: only stream 0 starts */
};

/* List scheduling of calls into stages. */
typedef struct partition {
    const mo_backend_program_call *calls;
    int n;
    int *stream_of; /* by call: that of its stage */
    int *stage_of;  /* by call, or NONE */
    int *before; /* by call: the previous one on its recorded stream, or NONE */
    int *trial;  /* by call: the last trial in which it was ready */
    int *left;   /* by stream: calls without a stage */
    int n_trials;
} partition;

static mo_backend_unit *unit_of(const mo_backend_program_call *call,
                                mo_backend_unit *recorder)
{
    return call->unit ? call->unit : recorder;
}

/* Transfers of all parts of a GPU share a stream. */
static int find_or_add_stream(mo_cuda_stages *s, mo_backend_unit *unit,
                              bool transfers)
{
    int k = 0;

    while (k < s->n_streams &&
           (s->streams[k].transfers != transfers ||
            (transfers ? s->streams[k].unit->device != unit->device
                       : s->streams[k].unit != unit)))
        k++;
    if (k == s->n_streams)
        s->streams[s->n_streams++] = (stage_stream){ unit, transfers };
    return k;
}

static void assign_streams(mo_cuda_stages *s, partition *c,
                           mo_backend_unit *recorder)
{
    find_or_add_stream(s, recorder, false);
    for (int i = 0; i < c->n; i++) {
        const mo_backend_program_call *call = &c->calls[i];
        mo_backend_unit *unit = unit_of(call, recorder);
        bool transfers = call->transfer && mo_cuda_unit_is_partitioned(unit);

        c->stream_of[i] = find_or_add_stream(s, unit, transfers);
        c->left[c->stream_of[i]]++;
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

/* Begins a trial: marks the calls of the stream that could be the next stage;
 * returns their number. */
static int mark_ready_calls(partition *c, int k)
{
    int n = 0;

    c->n_trials++;
    for (int i = 0; i < c->n; i++) {
        bool ready = c->stream_of[i] == k && c->stage_of[i] == NONE &&
                     is_scheduled(c, c->before[i]);

        for (int d = 0; d < c->calls[i].n_deps && ready; d++)
            ready = is_scheduled(c, c->calls[i].deps[d]);
        if (ready)
            c->trial[i] = c->n_trials;
        n += ready;
    }
    return n;
}

/* The next stage is on the stream of which the fewest calls remain. */
static void partition_calls(mo_cuda_stages *s, partition *c)
{
    for (int n_done = 0; n_done < c->n; s->n_stages++) {
        int best = NONE, best_left = 0, n;

        for (int k = 0; k < s->n_streams; k++) {
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
        s->last[best] = s->n_stages;
    }
}

static void add_wait(stage *at, const stage *stages, int precedes)
{
    int *wait = &at->waits[stages[precedes].stream];

    if (&stages[precedes] != at && stages[precedes].stream != at->stream &&
        *wait < precedes)
        *wait = precedes;
}

static mo_status make_stages(mo_cuda_stages *s, const partition *c,
                             mo_error *err)
{
    size_t n = (size_t) s->n_stages, n_streams = (size_t) s->n_streams;

    s->stages = calloc(n + 1, sizeof *s->stages);
    s->waits = calloc(n * n_streams + 1, sizeof *s->waits);
    if (!s->stages || !s->waits)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        s->stages[i].waits = s->waits + i * n_streams;
        for (size_t k = 0; k < n_streams; k++)
            s->stages[i].waits[k] = NONE;
    }
    for (int i = 0; i < c->n; i++)
        s->stages[c->stage_of[i]].stream = c->stream_of[i];
    for (int i = 0; i < c->n; i++) {
        stage *at = &s->stages[c->stage_of[i]];

        if (c->before[i] != NONE)
            add_wait(at, s->stages, c->stage_of[c->before[i]]);
        for (int d = 0; d < c->calls[i].n_deps; d++)
            add_wait(at, s->stages, c->stage_of[c->calls[i].deps[d]]);
    }
    return MO_OK;
}

static mo_status create_event(const mo_cuda_stages *s, int k, CUevent *event,
                              mo_error *err)
{
    mo_status status =
        *event ? MO_OK : mo_cuda_unit_make_current(s->streams[k].unit, err);

    if (status != MO_OK || *event)
        return status;
    status = mo_cuda_check(
        s->api, "cuEventCreate",
        s->api->cuEventCreate(event, CU_EVENT_DISABLE_TIMING), err);
    if (status != MO_OK)
        *event = NULL;
    return status;
}

/* Whether the stage waits for another stream. */
static bool has_wait(const mo_cuda_stages *s, const stage *at)
{
    for (int k = 0; k < s->n_streams; k++)
        if (at->waits[k] != NONE)
            return true;
    return false;
}

static mo_status create_events(mo_cuda_stages *s, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < s->n_stages && status == MO_OK; i++) {
        stage *at = &s->stages[i];

        for (int k = 0; k < s->n_streams && status == MO_OK; k++)
            if (at->waits[k] != NONE)
                status = create_event(s, k, &s->stages[at->waits[k]].done, err);
        if (at->stream != 0 && !has_wait(s, at) && status == MO_OK)
            status = create_event(s, 0, &s->started, err);
    }
    for (int k = 1; k < s->n_streams && status == MO_OK; k++)
        status = create_event(s, k, &s->stages[s->last[k]].done, err);
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
        call->unit = unit_of(call, s->streams[0].unit);
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
            s->streams[s->stages[number].stream].unit, err);
    if (status == MO_OK)
        status =
            mo_cuda_graph_capture(s->streams[s->stages[number].stream].unit,
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
    size_t room = (size_t) n + 1, streams = 2 * room;
    partition c = { .calls = calls, .n = n };
    mo_status status;

    c.stream_of = calloc(room, sizeof *c.stream_of);
    c.stage_of = calloc(room, sizeof *c.stage_of);
    c.before = calloc(room, sizeof *c.before);
    c.trial = calloc(room, sizeof *c.trial);
    c.left = calloc(streams, sizeof *c.left);
    s->streams = calloc(streams, sizeof *s->streams);
    s->last = calloc(streams, sizeof *s->last);
    status = c.stream_of && c.stage_of && c.before && c.trial && c.left &&
                     s->streams && s->last
                 ? MO_OK
                 : mo_fail_memory(err);
    if (status == MO_OK) {
        assign_streams(s, &c, recorder);
        partition_calls(s, &c);
        status = make_stages(s, &c, err);
    }
    for (int i = 0; i < s->n_stages && status == MO_OK; i++)
        status = capture_stage(s, &c, i, err);
    if (status == MO_OK)
        status = create_events(s, err);
    free(c.stream_of);
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
        stage *at = &s->stages[i];

        mo_cuda_graph_destroy(s->streams[at->stream].unit, at->graph);
        if (at->done)
            s->api->cuEventDestroy(at->done);
    }
    if (s->started)
        s->api->cuEventDestroy(s->started);
    free(s->stages);
    free(s->waits);
    free(s->streams);
    free(s->last);
    free(s);
}

/* ------------------------------------------------------------------ launch */

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

static mo_status launch_stage(const mo_cuda_stages *s, const stage *at,
                              mo_backend_queue *queue, mo_error *err)
{
    mo_backend_unit *unit = s->streams[at->stream].unit;
    CUstream stream = NULL;
    mo_status status = mo_cuda_queue_stream(
        queue, unit, s->streams[at->stream].transfers, &stream, err);

    if (status == MO_OK && at->stream != 0 && !has_wait(s, at))
        status = enqueue_wait(s, stream, s->started, err);
    for (int k = 0; k < s->n_streams && status == MO_OK; k++)
        if (at->waits[k] != NONE)
            status = enqueue_wait(s, stream, s->stages[at->waits[k]].done, err);
    if (status == MO_OK)
        status = mo_cuda_graph_launch_on(unit, at->graph, stream, err);
    if (status == MO_OK && at->done)
        status = record_event(s, at->done, stream, err);
    return status;
}

mo_status mo_cuda_stages_launch(const mo_cuda_stages *s,
                                mo_backend_queue *queue, mo_error *err)
{
    CUstream first = NULL;
    mo_status status =
        mo_cuda_queue_stream(queue, s->streams[0].unit, false, &first, err);

    if (status == MO_OK && s->started)
        status = record_event(s, s->started, first, err);
    for (int i = 0; i < s->n_stages && status == MO_OK; i++)
        status = launch_stage(s, &s->stages[i], queue, err);
    if (status == MO_OK && s->n_streams > 1)
        status =
            mo_cuda_queue_stream(queue, s->streams[0].unit, false, &first, err);
    for (int k = 1; k < s->n_streams && status == MO_OK; k++)
        status = enqueue_wait(s, first, s->stages[s->last[k]].done, err);
    return status;
}
