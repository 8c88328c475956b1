/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <assert.h>
#include <stdlib.h>

#include "exec/backend/cuda/graph/peer_copy.h"
#include "exec/backend/cuda/driver/cuda_unit_internal.h"

/*
 * A program is a graph of CUDA, captured from streams: one per lane of each
 * unit, and two for its transfers.  Lane 0 of the unit that records forks into
 * the others where they are first used and joins them at the end; between lanes
 * a call waits for an event behind the call it waits for.
 *
 *     lane 0   begin --- a ---- b ------- d --- end
 *                  \      \              / \    /
 *     lane 1        \      `- event -- c    \  /
 *     lane 2         ------------ e ---------'
 *
 * An event and the stream it is recorded in are of one context; another one's
 * stream may wait for it.
 */
struct mo_backend_program {
    CUgraphExec exec;
};

/* A unit that takes part; the first one records. */
typedef struct seat {
    mo_backend_unit *unit;
    CUstream streams[MO_CUDA_STREAM_COUNT]; /* NULL: not used so far */
    CUevent join[MO_CUDA_STREAM_COUNT];
} seat;

/* What is there while lanes are captured. */
typedef struct capture {
    const mo_cuda_api *api;
    const mo_backend_program_call *calls;
    int n;
    seat *seats;
    int n_seats;
    int *seat_of;    /* by call */
    CUevent *events; /* by call: behind it; NULL where nobody waits */
    CUevent fork;    /* at the beginning */
    int entered;     /* the seat whose context is the thread's; -1: nobody's */
} capture;

static int stream_of(const mo_backend_program_call *call)
{
    if (call->lane == MO_BACKEND_STREAM_OUT)
        return MO_CUDA_STREAM_SEND;
    if (call->lane == MO_BACKEND_STREAM_IN)
        return MO_CUDA_STREAM_RECEIVE;
    assert(call->lane >= 0 && call->lane < MO_CUDA_MAX_COMPUTE_STREAMS);
    return call->lane;
}

static bool are_in_line(const capture *c, int a, int b)
{
    return c->seat_of[a] == c->seat_of[b] &&
           c->calls[a].lane == c->calls[b].lane;
}

/* -------------------------------------------------------------------- seats */

static int seat_of(capture *c, mo_backend_unit *unit)
{
    int s = 0;

    while (s < c->n_seats && c->seats[s].unit != unit)
        s++;
    if (s == c->n_seats)
        c->seats[c->n_seats++].unit = unit;
    return s;
}

static mo_status seat_units(capture *c, mo_backend_unit *recorder,
                            mo_error *err)
{
    size_t room = (size_t) c->n + 1;

    c->seats = calloc(room, sizeof *c->seats);
    c->seat_of = calloc(room, sizeof *c->seat_of);
    c->events = calloc(room, sizeof(CUevent));
    if (!c->seats || !c->seat_of || !c->events)
        return mo_fail_memory(err);
    seat_of(c, recorder);
    for (int i = 0; i < c->n; i++)
        c->seat_of[i] =
            seat_of(c, c->calls[i].unit ? c->calls[i].unit : recorder);
    return MO_OK;
}

static mo_status enter(capture *c, int s, mo_error *err)
{
    mo_status status = MO_OK;

    if (c->entered == s)
        return MO_OK;
    status = mo_cuda_unit_make_current(c->seats[s].unit, err);
    c->entered = status == MO_OK ? s : -1;
    return status;
}

/* ------------------------------------------------------------------- events */

static mo_status new_event(capture *c, int s, CUevent *event, mo_error *err)
{
    mo_status status = enter(c, s, err);

    if (status == MO_OK)
        status = mo_cuda_check(
            c->api, "cuEventCreate",
            c->api->cuEventCreate(event, CU_EVENT_DISABLE_TIMING), err);
    if (status != MO_OK)
        *event = NULL;
    return status;
}

/* Makes an event behind what a stream of a seat was given so far. */
static mo_status mark(capture *c, int s, CUstream stream, CUevent *event,
                      mo_error *err)
{
    mo_status status = *event ? MO_OK : new_event(c, s, event, err);

    if (status != MO_OK)
        return status;
    return mo_cuda_check(c->api, "cuEventRecord",
                         c->api->cuEventRecord(*event, stream), err);
}

static mo_status wait_for(capture *c, CUstream stream, CUevent event,
                          mo_error *err)
{
    return mo_cuda_check(c->api, "cuStreamWaitEvent",
                         c->api->cuStreamWaitEvent(stream, event, 0), err);
}

/* Events are made before the capture begins, and only where a call of another
 * lane waits. */
static mo_status make_events(capture *c, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < c->n; i++)
        for (int w = 0; w < c->calls[i].n_waits && status == MO_OK; w++) {
            int other = c->calls[i].waits[w];

            assert(other >= 0 && other < i);
            if (!are_in_line(c, other, i) && !c->events[other])
                status =
                    new_event(c, c->seat_of[other], &c->events[other], err);
        }
    return status;
}

static mo_status prepare_carries(capture *c, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < c->n && status == MO_OK; i++)
        if (c->calls[i].carry)
            status = mo_cuda_peer_copy_prepare(c->calls[i].carry, err);
    c->entered = -1;
    return status;
}

/* -------------------------------------------------------------------- calls */

/* The stream of a call; the first use makes it a part of what is captured. */
static mo_status enter_stream(capture *c, int i, CUstream *stream,
                              mo_error *err)
{
    seat *s = &c->seats[c->seat_of[i]];
    int k = stream_of(&c->calls[i]);
    mo_status status = enter(c, c->seat_of[i], err);

    if (status == MO_OK && !s->streams[k]) {
        status = mo_cuda_unit_stream(s->unit, k, &s->streams[k], err);
        if (status == MO_OK)
            status = wait_for(c, s->streams[k], c->fork, err);
    }
    *stream = s->streams[k];
    return status;
}

static mo_status wait_for_others(capture *c, int i, CUstream stream,
                                 bool *waited, mo_error *err)
{
    const mo_backend_program_call *call = &c->calls[i];
    mo_status status = MO_OK;

    *waited = false;
    for (int w = 0; w < call->n_waits && status == MO_OK; w++)
        if (!are_in_line(c, call->waits[w], i)) {
            *waited = true;
            status = wait_for(c, stream, c->events[call->waits[w]], err);
        }
    return status;
}

/* What waits for several others begins when all of them are done: graphs let a
 * kernel overlap with one that is before it in its own lane, no more. */
static mo_status put_kernel(mo_backend_unit *unit,
                            const mo_backend_program_call *call,
                            CUstream stream, bool waited, mo_error *err)
{
    bool overlap = unit->overlap;
    mo_status status;

    unit->overlap = overlap && !waited;
    status = mo_cuda_kernel_enqueue(unit, call->kernel, call->in, call->out,
                                    call->workspace, stream, err);
    unit->overlap = overlap;
    return status;
}

static mo_status enqueue_call(capture *c, int i, mo_error *err)
{
    const mo_backend_program_call *call = &c->calls[i];
    CUstream stream = NULL;
    bool waited = false;
    mo_status status = enter_stream(c, i, &stream, err);

    if (status == MO_OK)
        status = wait_for_others(c, i, stream, &waited, err);
    if (status != MO_OK)
        return status;
    if (call->kernel)
        status =
            put_kernel(c->seats[c->seat_of[i]].unit, call, stream, waited, err);
    else
        status = mo_cuda_peer_copy_enqueue(call->carry, stream, err);
    if (status == MO_OK && c->events[i])
        status = mark(c, c->seat_of[i], stream, &c->events[i], err);
    return status;
}

static mo_status join_stream(capture *c, int s, int k, mo_error *err)
{
    seat *joined = &c->seats[s];
    mo_status status;

    if (!joined->streams[k] || (s == 0 && k == 0))
        return MO_OK;
    status = mark(c, s, joined->streams[k], &joined->join[k], err);
    return status == MO_OK
               ? wait_for(c, c->seats->streams[0], joined->join[k], err)
               : status;
}

static mo_status enqueue_all(capture *c, mo_error *err)
{
    mo_status status = mark(c, 0, c->seats->streams[0], &c->fork, err);

    for (int i = 0; i < c->n && status == MO_OK; i++)
        status = enqueue_call(c, i, err);
    for (int s = 0; s < c->n_seats; s++)
        for (int k = 0; k < MO_CUDA_STREAM_COUNT && status == MO_OK; k++)
            status = join_stream(c, s, k, err);
    return status;
}

/* ---------------------------------------------------------------- recording */

static void destroy_event(const capture *c, CUevent event)
{
    if (event)
        c->api->cuEventDestroy(event);
}

static void close_capture(capture *c)
{
    for (int i = 0; c->events && i < c->n; i++)
        destroy_event(c, c->events[i]);
    for (int s = 0; s < c->n_seats; s++)
        for (int k = 0; k < MO_CUDA_STREAM_COUNT; k++)
            destroy_event(c, c->seats[s].join[k]);
    destroy_event(c, c->fork);
    free(c->events);
    free(c->seat_of);
    free(c->seats);
}

/* Relaxed: what other threads do meanwhile is their own affair.  A capture that
 * was begun must be ended, whatever happened in it. */
static mo_status capture_graph(capture *c, CUgraph *graph, mo_error *err)
{
    CUstream stream = c->seats->unit->stream;
    CUresult ended;
    mo_status status = mo_cuda_check(
        c->api, "cuStreamBeginCapture",
        c->api->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
        err);

    if (status != MO_OK)
        return status;
    c->seats->streams[0] = stream;
    status = enqueue_all(c, err);
    ended = c->api->cuStreamEndCapture(stream, graph);
    if (status == MO_OK)
        status = mo_cuda_check(c->api, "cuStreamEndCapture", ended, err);
    return status;
}

/* Is something in it of a library that carries between processes? */
static bool has_carrier(const capture *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->calls[i].carry && c->calls[i].carry->carrier)
            return true;
    return false;
}

/* The first launch uploads what was not.  NCCL's kernels wait for the
 * beginning, not the end, of those before them, and the driver of CUDA 13.0
 * falls over when it is to upload that beforehand. */
static mo_status instantiate(const capture *c, mo_backend_unit *unit,
                             CUgraph graph, CUgraphExec *exec, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    CUgraphExec made = NULL;
    mo_status status =
        mo_cuda_check(api, "cuGraphInstantiate",
                      api->cuGraphInstantiateWithFlags(&made, graph, 0), err);

    if (status == MO_OK && !has_carrier(c))
        status = mo_cuda_check(api, "cuGraphUpload",
                               api->cuGraphUpload(made, unit->stream), err);
    if (status == MO_OK)
        *exec = made;
    else if (made)
        api->cuGraphExecDestroy(made);
    return status;
}

static mo_status record_once(mo_backend_unit *unit,
                             const mo_backend_program_call *calls, int n,
                             CUgraphExec *exec, mo_error *err)
{
    capture c = { .api = unit->api, .calls = calls, .n = n, .entered = -1 };
    CUgraph graph = NULL;
    mo_status status = seat_units(&c, unit, err);

    if (status == MO_OK)
        status = prepare_carries(&c, err);
    if (status == MO_OK)
        status = make_events(&c, err);
    if (status == MO_OK)
        status = capture_graph(&c, &graph, err);
    if (status == MO_OK)
        status = mo_cuda_unit_make_current(unit, err);
    if (status == MO_OK)
        status = instantiate(&c, unit, graph, exec, err);
    if (graph)
        unit->api->cuGraphDestroy(graph);
    close_capture(&c);
    return status;
}

/* Whether one of the units does; from now on none. */
static bool end_overlap(mo_backend_unit *unit,
                        const mo_backend_program_call *calls, int n)
{
    bool any = unit->overlap;

    unit->overlap = false;
    for (int i = 0; i < n; i++)
        if (calls[i].unit) {
            any |= calls[i].unit->overlap;
            calls[i].unit->overlap = false;
        }
    return any;
}

/* Older drivers do not take kernels that overlap into every graph: then they do
 * not overlap. */
static mo_status record_any(mo_backend_unit *unit,
                            const mo_backend_program_call *calls, int n,
                            CUgraphExec *exec, mo_error *err)
{
    mo_status status = record_once(unit, calls, n, exec, err);

    if (status == MO_E_MEMORY || status == MO_OK ||
        !end_overlap(unit, calls, n))
        return status;
    return record_once(unit, calls, n, exec, err);
}

mo_status mo_cuda_graph_capture(mo_backend_unit *unit,
                                const mo_backend_program_call *calls, int n,
                                mo_backend_program **program, mo_error *err)
{
    mo_backend_program *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    status = record_any(unit, calls, n, &made->exec, err);
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
    return mo_cuda_check(unit->api, "cuGraphLaunch",
                         unit->api->cuGraphLaunch(program->exec, unit->stream),
                         err);
}

void mo_cuda_graph_destroy(mo_backend_unit *unit, mo_backend_program *program)
{
    if (!program)
        return;
    if (program->exec)
        unit->api->cuGraphExecDestroy(program->exec);
    free(program);
}
