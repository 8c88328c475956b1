/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <assert.h>
#include <stdlib.h>

#include "exec/backend/cuda/graph/capture.h"
#include "exec/backend/cuda/graph/pdl_choice.h"
#include "exec/backend/cuda/graph/peer_copy.h"
#include "exec/backend/cuda/graph/stages.h"
#include "exec/backend/cuda/kernels/kernel_class.h"

/*
 * A program is a CUDA graph, captured from streams: one per lane of each unit,
 * and two for its transfers. Stream 0 of the unit that records forks into the
 * others where they are first used and joins them at the end; between streams
 * a call waits for an event recorded after its predecessor.
 *
 *     stream 0   begin --- a ---- b ------- d --- end
 *                    \      \              / \    /
 *     stream 1        \      `- event -- c    \  /
 *     stream 2         ------------ e ---------'
 *
 * An event and the stream it is recorded in belong to one context; streams of
 * other contexts may wait for it.
 */
/* A unit with calls that are captured; the first one records. */
typedef struct captured_unit {
    mo_backend_unit *unit;
    CUstream streams[MO_CUDA_STREAM_COUNT]; /* NULL: not captured so far */
    CUevent join[MO_CUDA_STREAM_COUNT];
} captured_unit;

/* The state of one capture. */
typedef struct capture {
    const mo_cuda_api *api;
    const mo_backend_program_call *calls;
    int n;
    captured_unit *units;
    int n_units;
    int *unit_of;    /* index into units, by call */
    CUevent *events; /* by call: recorded after it; NULL where no call of
                        another stream waits for it */
    CUevent fork;    /* recorded at the beginning */
    int current; /* index of the unit with the current context; -1: unknown */
} capture;

static int stream_of(const mo_backend_program_call *call)
{
    if (call->stream == MO_BACKEND_STREAM_OUT)
        return MO_CUDA_STREAM_SEND;
    if (call->stream == MO_BACKEND_STREAM_IN)
        return MO_CUDA_STREAM_RECEIVE;
    assert(call->stream >= 0 && call->stream < MO_CUDA_MAX_COMPUTE_STREAMS);
    return call->stream;
}

static bool are_on_one_stream(const capture *c, int a, int b)
{
    return c->unit_of[a] == c->unit_of[b] &&
           c->calls[a].stream == c->calls[b].stream;
}

static int find_or_add_unit(capture *c, mo_backend_unit *unit)
{
    int s = 0;

    while (s < c->n_units && c->units[s].unit != unit)
        s++;
    if (s == c->n_units)
        c->units[c->n_units++].unit = unit;
    return s;
}

static mo_status make_current(capture *c, int s, mo_error *err)
{
    mo_status status = MO_OK;

    if (c->current == s)
        return MO_OK;
    status = mo_cuda_unit_make_current(c->units[s].unit, err);
    c->current = status == MO_OK ? s : -1;
    return status;
}

static mo_status create_event(capture *c, int s, CUevent *event, mo_error *err)
{
    mo_status status = make_current(c, s, err);

    if (status == MO_OK)
        status = mo_cuda_check(
            c->api, "cuEventCreate",
            c->api->cuEventCreate(event, CU_EVENT_DISABLE_TIMING), err);
    if (status != MO_OK)
        *event = NULL;
    return status;
}

/* Records *event, created on first use, at the end of a unit's stream. */
static mo_status record_event(capture *c, int s, CUstream stream,
                              CUevent *event, mo_error *err)
{
    mo_status status = *event ? MO_OK : create_event(c, s, event, err);

    if (status != MO_OK)
        return status;
    return mo_cuda_check(c->api, "cuEventRecord",
                         c->api->cuEventRecord(*event, stream), err);
}

static mo_status enqueue_wait(capture *c, CUstream stream, CUevent event,
                              mo_error *err)
{
    return mo_cuda_check(c->api, "cuStreamWaitEvent",
                         c->api->cuStreamWaitEvent(stream, event, 0), err);
}

/* Returns the stream of a call; the first use forks it into the capture. */
static mo_status join_capture(capture *c, int i, CUstream *stream,
                              mo_error *err)
{
    captured_unit *s = &c->units[c->unit_of[i]];
    int k = stream_of(&c->calls[i]);
    mo_status status = make_current(c, c->unit_of[i], err);

    if (status == MO_OK && !s->streams[k]) {
        status = mo_cuda_unit_stream(s->unit, k, &s->streams[k], err);
        if (status == MO_OK)
            status = enqueue_wait(c, s->streams[k], c->fork, err);
    }
    *stream = s->streams[k];
    return status;
}

static mo_status enqueue_waits(capture *c, int i, CUstream stream, bool *waited,
                               mo_error *err)
{
    const mo_backend_program_call *call = &c->calls[i];
    mo_status status = MO_OK;

    *waited = false;
    for (int w = 0; w < call->n_deps && status == MO_OK; w++)
        if (!are_on_one_stream(c, call->deps[w], i)) {
            *waited = true;
            status = enqueue_wait(c, stream, c->events[call->deps[w]], err);
        }
    return status;
}

/* A call with several predecessors starts when all of them are complete: in a
 * graph a kernel may overlap only with the previous one of its own stream. */
static mo_status enqueue_kernel(mo_backend_unit *unit,
                                const mo_backend_program_call *call,
                                CUstream stream, bool waited, mo_error *err)
{
    bool overlap = unit->has_pdl;
    mo_status status;

    unit->has_pdl = overlap && !waited;
    status = mo_cuda_kernel_enqueue(unit, call->kernel, call->in, call->out,
                                    call->workspace, stream, err);
    unit->has_pdl = overlap;
    return status;
}

static mo_status enqueue_call(capture *c, int i, mo_error *err)
{
    const mo_backend_program_call *call = &c->calls[i];
    CUstream stream = NULL;
    bool waited = false;
    mo_status status = join_capture(c, i, &stream, err);

    if (status == MO_OK)
        status = enqueue_waits(c, i, stream, &waited, err);
    if (status != MO_OK)
        return status;
    if (call->kernel)
        status = enqueue_kernel(c->units[c->unit_of[i]].unit, call, stream,
                                waited, err);
    else
        status = mo_cuda_peer_copy_enqueue(call->transfer, stream, err);
    if (status == MO_OK && c->events[i])
        status = record_event(c, c->unit_of[i], stream, &c->events[i], err);
    return status;
}

static mo_status join_stream(capture *c, int s, int k, mo_error *err)
{
    captured_unit *joined = &c->units[s];
    mo_status status;

    if (!joined->streams[k] || (s == 0 && k == 0))
        return MO_OK;
    status = record_event(c, s, joined->streams[k], &joined->join[k], err);
    return status == MO_OK
               ? enqueue_wait(c, c->units->streams[0], joined->join[k], err)
               : status;
}

static void destroy_event(const capture *c, CUevent event)
{
    if (event)
        c->api->cuEventDestroy(event);
}

/* Relaxed: calls of other threads stay out of the capture. A capture that was
 * begun must be ended, also after an error. */
static mo_status capture_graph(capture *c, CUgraph *graph, mo_error *err)
{
    CUstream stream = c->units->unit->stream;
    CUresult ended;
    mo_status status = mo_cuda_check(
        c->api, "cuStreamBeginCapture",
        c->api->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
        err);

    if (status != MO_OK)
        return status;
    c->units->streams[0] = stream;

    status = record_event(c, 0, c->units->streams[0], &c->fork, err);

    for (int i = 0; i < c->n && status == MO_OK; i++)
        status = enqueue_call(c, i, err);
    for (int s = 0; s < c->n_units; s++)
        for (int k = 0; k < MO_CUDA_STREAM_COUNT && status == MO_OK; k++)
            status = join_stream(c, s, k, err);
    ended = c->api->cuStreamEndCapture(stream, graph);
    if (status == MO_OK)
        status = mo_cuda_check(c->api, "cuStreamEndCapture", ended, err);
    return status;
}

/* Returns whether a library that transfers between processes takes part. */
static bool has_external_transfer(const capture *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->calls[i].transfer && c->calls[i].transfer->carrier)
            return true;
    return false;
}

/* Uploads the graph now instead of at its first launch. NCCL's kernels wait
 * for the beginning, not the end, of their predecessors, and the driver of
 * CUDA 13.0 crashes when it uploads such a graph beforehand. */
static mo_status instantiate_graph(const capture *c, mo_backend_unit *unit,
                                   CUgraph graph, CUgraphExec *exec,
                                   mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    CUgraphExec made = NULL;
    mo_status status =
        mo_cuda_check(api, "cuGraphInstantiate",
                      api->cuGraphInstantiateWithFlags(&made, graph, 0), err);

    if (status == MO_OK && !has_external_transfer(c))
        status = mo_cuda_check(api, "cuGraphUpload",
                               api->cuGraphUpload(made, unit->stream), err);
    if (status == MO_OK)
        *exec = made;
    else if (made)
        api->cuGraphExecDestroy(made);
    return status;
}

mo_status mo_cuda_graph_capture_once(mo_backend_unit *unit,
                                     const mo_backend_program_call *calls,
                                     int n, CUgraphExec *exec, mo_error *err)
{
    capture c = { .api = unit->api, .calls = calls, .n = n, .current = -1 };
    CUgraph graph = NULL;
    mo_status status;
    size_t room = (size_t) c.n + 1;

    c.units = calloc(room, sizeof *c.units);
    c.unit_of = calloc(room, sizeof *c.unit_of);
    c.events = calloc(room, sizeof(CUevent));
    if (!c.units || !c.unit_of || !c.events) {
        status = mo_fail_memory(err);
    } else {
        find_or_add_unit(&c, unit);
        for (int i = 0; i < c.n; i++)
            c.unit_of[i] =
                find_or_add_unit(&c, c.calls[i].unit ? c.calls[i].unit : unit);
        status = MO_OK;
    }
    for (int i = 0; i < n && status == MO_OK; i++)
        if (calls[i].transfer)
            status = mo_cuda_peer_copy_prepare(calls[i].transfer, err);
    c.current = -1;
    if (status == MO_OK) {
        /* Events are created before the capture begins, and only where a call
         * of another stream waits. */
        for (int i = 0; i < c.n; i++)
            for (int w = 0; w < c.calls[i].n_deps && status == MO_OK; w++) {
                int other = c.calls[i].deps[w];

                assert(other >= 0 && other < i);
                if (!are_on_one_stream(&c, other, i) && !c.events[other])
                    status = create_event(&c, c.unit_of[other],
                                          &c.events[other], err);
            }
    }
    if (status == MO_OK)
        status = capture_graph(&c, &graph, err);
    if (status == MO_OK)
        status = mo_cuda_unit_make_current(unit, err);
    if (status == MO_OK)
        status = instantiate_graph(&c, unit, graph, exec, err);
    if (graph)
        unit->api->cuGraphDestroy(graph);
    for (int i = 0; c.events && i < c.n; i++)
        destroy_event(&c, c.events[i]);
    for (int s = 0; s < c.n_units; s++)
        for (int k = 0; k < MO_CUDA_STREAM_COUNT; k++)
            destroy_event(&c, c.units[s].join[k]);
    destroy_event(&c, c.fork);
    free(c.events);
    free(c.unit_of);
    free(c.units);
    return status;
}

/* Switches programmatic dependent launch off for all units; returns whether
 * any had it. */
static bool disable_pdl(mo_backend_unit *unit,
                        const mo_backend_program_call *calls, int n)
{
    bool any = unit->has_pdl;

    unit->has_pdl = false;
    for (int i = 0; i < n; i++)
        if (calls[i].unit) {
            any |= calls[i].unit->has_pdl;
            calls[i].unit->has_pdl = false;
        }
    return any;
}

mo_status mo_cuda_graph_capture(mo_backend_unit *unit,
                                const mo_backend_program_call *calls, int n,
                                mo_backend_program **program, mo_error *err)
{
    mo_backend_program *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    made->choice_key = mo_cuda_pdl_choice_key(unit, calls, n);
    if (made->choice_key != 0 &&
        mo_cuda_pdl_choice_read(unit, made->choice_key))
        made->choice_key = 0;
    status = mo_cuda_graph_capture_once(unit, calls, n, &made->exec, err);
    /* Older drivers reject programmatic dependent launch in some graphs:
     * capture is repeated without it. */
    if (status != MO_OK && status != MO_E_MEMORY &&
        disable_pdl(unit, calls, n)) {
        made->choice_key = 0;
        status = mo_cuda_graph_capture_once(unit, calls, n, &made->exec, err);
    }
    if (status != MO_OK) {
        mo_cuda_graph_destroy(unit, made);
        return status;
    }
    *program = made;
    return MO_OK;
}

mo_status mo_cuda_graph_launch(mo_backend_unit *unit,
                               const mo_backend_program *program, mo_error *err)
{
    return mo_cuda_graph_launch_on(unit, program, unit->stream, err);
}

mo_status mo_cuda_graph_launch_on(mo_backend_unit *unit,
                                  const mo_backend_program *program,
                                  CUstream stream, mo_error *err)
{
    return mo_cuda_check(unit->api, "cuGraphLaunch",
                         unit->api->cuGraphLaunch(program->exec, stream), err);
}

void mo_cuda_graph_destroy(mo_backend_unit *unit, mo_backend_program *program)
{
    if (!program)
        return;
    if (program->exec)
        unit->api->cuGraphExecDestroy(program->exec);
    mo_cuda_pdl_trial_free(unit, program->trial);
    mo_cuda_stages_free(program->stages);
    free(program);
}
