#include <config.h>

#include <assert.h>
#include <stdlib.h>

#include "exec/backend/cuda/unit.h"

/*
 * A program is a graph of CUDA, captured from streams: one per lane.  Lane 0
 * forks into the others where they are first used and joins them at the end;
 * between lanes a call waits for an event behind the call it waits for.
 *
 *     lane 0   begin --- a ---- b ------- d --- end
 *                  \      \              / \    /
 *     lane 1        \      `- event -- c    \  /
 *     lane 2         ------------ e ---------'
 */
struct mo_program {
    CUgraphExec exec;
};

/* What is there while lanes are captured. */
typedef struct capture {
    mo_unit *unit;
    const mo_program_call *calls;
    int n;
    CUevent *events; /* by call: behind it; NULL where nobody waits */
    CUevent fork;    /* at the beginning */
    CUevent join[MO_CUDA_MAX_LANES];
    CUstream streams[MO_CUDA_MAX_LANES]; /* NULL: not used so far */
} capture;

static mo_status new_event(capture *c, CUevent *event, mo_error *err)
{
    const mo_cuda_api *api = c->unit->api;
    mo_status status =
        mo_cuda_check(api, "cuEventCreate",
                      api->cuEventCreate(event, CU_EVENT_DISABLE_TIMING), err);

    if (status != MO_OK)
        *event = NULL;
    return status;
}

/* Makes an event behind what a stream was given so far. */
static mo_status mark(capture *c, CUstream stream, CUevent *event,
                      mo_error *err)
{
    const mo_cuda_api *api = c->unit->api;
    mo_status status = *event ? MO_OK : new_event(c, event, err);

    if (status != MO_OK)
        return status;
    return mo_cuda_check(api, "cuEventRecord",
                         api->cuEventRecord(*event, stream), err);
}

static mo_status wait_for(capture *c, CUstream stream, CUevent event,
                          mo_error *err)
{
    const mo_cuda_api *api = c->unit->api;

    return mo_cuda_check(api, "cuStreamWaitEvent",
                         api->cuStreamWaitEvent(stream, event, 0), err);
}

/* The stream of a lane; the first use makes it a part of what is captured. */
static mo_status enter_lane(capture *c, int lane, CUstream *stream,
                            mo_error *err)
{
    mo_status status = MO_OK;

    assert(lane >= 0 && lane < MO_CUDA_MAX_LANES);
    if (!c->streams[lane]) {
        status = mo_cuda_lane(c->unit, lane, &c->streams[lane], err);
        if (status == MO_OK)
            status = wait_for(c, c->streams[lane], c->fork, err);
    }
    *stream = c->streams[lane];
    return status;
}

static mo_status wait_for_others(capture *c, int i, CUstream stream,
                                 bool *waited, mo_error *err)
{
    const mo_program_call *call = &c->calls[i];
    mo_status status = MO_OK;

    *waited = false;
    for (int w = 0; w < call->n_waits && status == MO_OK; w++)
        if (c->calls[call->waits[w]].lane != call->lane) {
            *waited = true;
            status = wait_for(c, stream, c->events[call->waits[w]], err);
        }
    return status;
}

/* What waits for several others begins when all of them are done: graphs let a
 * kernel overlap with one that is before it in its own lane, no more. */
static mo_status enqueue_call(capture *c, int i, mo_error *err)
{
    const mo_program_call *call = &c->calls[i];
    bool overlap = c->unit->overlap, waited = false;
    CUstream stream = NULL;
    mo_status status = enter_lane(c, call->lane, &stream, err);

    if (status == MO_OK)
        status = wait_for_others(c, i, stream, &waited, err);
    if (status != MO_OK)
        return status;
    c->unit->overlap = overlap && !waited;
    status = mo_cuda_enqueue(c->unit, call->kernel, call->in, call->out,
                             call->workspace, stream, err);
    c->unit->overlap = overlap;
    if (status == MO_OK && c->events[i])
        status = mark(c, stream, &c->events[i], err);
    return status;
}

static mo_status join_lanes(capture *c, mo_error *err)
{
    mo_status status = MO_OK;

    for (int lane = 1; lane < MO_CUDA_MAX_LANES && status == MO_OK; lane++)
        if (c->streams[lane]) {
            status = mark(c, c->streams[lane], &c->join[lane], err);
            if (status == MO_OK)
                status = wait_for(c, c->streams[0], c->join[lane], err);
        }
    return status;
}

static mo_status enqueue_all(capture *c, mo_error *err)
{
    mo_status status = mark(c, c->streams[0], &c->fork, err);

    for (int i = 0; i < c->n && status == MO_OK; i++)
        status = enqueue_call(c, i, err);
    return status == MO_OK ? join_lanes(c, err) : status;
}

/* Events are made before the capture begins, and only where a call of another
 * lane waits. */
static mo_status make_events(capture *c, mo_error *err)
{
    mo_status status = MO_OK;

    c->events = calloc((size_t) c->n + 1, sizeof(CUevent));
    if (!c->events)
        return mo_fail_memory(err);
    for (int i = 0; i < c->n; i++)
        for (int w = 0; w < c->calls[i].n_waits && status == MO_OK; w++) {
            int other = c->calls[i].waits[w];

            assert(other >= 0 && other < i);
            if (c->calls[other].lane != c->calls[i].lane && !c->events[other])
                status = new_event(c, &c->events[other], err);
        }
    return status;
}

static void close_capture(capture *c)
{
    const mo_cuda_api *api = c->unit->api;

    for (int i = 0; c->events && i < c->n; i++)
        if (c->events[i])
            api->cuEventDestroy(c->events[i]);
    for (int lane = 0; lane < MO_CUDA_MAX_LANES; lane++)
        if (c->join[lane])
            api->cuEventDestroy(c->join[lane]);
    if (c->fork)
        api->cuEventDestroy(c->fork);
    free(c->events);
}

/* Relaxed: what other threads do meanwhile is their own affair.  A capture that
 * was begun must be ended, whatever happened in it. */
static mo_status capture_graph(capture *c, CUgraph *graph, mo_error *err)
{
    const mo_cuda_api *api = c->unit->api;
    CUstream stream = c->unit->stream;
    CUresult ended;
    mo_status status = mo_cuda_check(
        api, "cuStreamBeginCapture",
        api->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), err);

    if (status != MO_OK)
        return status;
    c->streams[0] = stream;
    status = enqueue_all(c, err);
    ended = api->cuStreamEndCapture(stream, graph);
    if (status == MO_OK)
        status = mo_cuda_check(api, "cuStreamEndCapture", ended, err);
    return status;
}

static mo_status instantiate(mo_unit *unit, CUgraph graph, CUgraphExec *exec,
                             mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    mo_status status =
        mo_cuda_check(api, "cuGraphInstantiate",
                      api->cuGraphInstantiateWithFlags(exec, graph, 0), err);

    if (status != MO_OK) {
        *exec = NULL;
        return status;
    }
    return mo_cuda_check(api, "cuGraphUpload",
                         api->cuGraphUpload(*exec, unit->stream), err);
}

static mo_status record_once(mo_unit *unit, const mo_program_call *calls, int n,
                             CUgraphExec *exec, mo_error *err)
{
    capture c = { .unit = unit, .calls = calls, .n = n };
    CUgraph graph = NULL;
    mo_status status = make_events(&c, err);

    if (status == MO_OK)
        status = capture_graph(&c, &graph, err);
    if (status == MO_OK)
        status = instantiate(unit, graph, exec, err);
    if (graph)
        unit->api->cuGraphDestroy(graph);
    close_capture(&c);
    return status;
}

/* Older drivers do not take kernels that overlap into every graph: then they do
 * not overlap. */
static mo_status record_any(mo_unit *unit, const mo_program_call *calls, int n,
                            CUgraphExec *exec, mo_error *err)
{
    mo_status status = record_once(unit, calls, n, exec, err);

    if (status == MO_E_MEMORY || status == MO_OK || !unit->overlap)
        return status;
    unit->overlap = false;
    return record_once(unit, calls, n, exec, err);
}

mo_status mo_cuda_record(mo_unit *unit, const mo_program_call *calls, int n,
                         mo_program **program, mo_error *err)
{
    mo_program *made = calloc(1, sizeof *made);
    mo_status status;

    if (!made)
        return mo_fail_memory(err);
    status = record_any(unit, calls, n, &made->exec, err);
    if (status != MO_OK) {
        mo_cuda_forget(unit, made);
        return status;
    }
    *program = made;
    return MO_OK;
}

mo_status mo_cuda_replay(mo_unit *unit, const mo_program *program,
                         mo_error *err)
{
    return mo_cuda_check(unit->api, "cuGraphLaunch",
                         unit->api->cuGraphLaunch(program->exec, unit->stream),
                         err);
}

void mo_cuda_forget(mo_unit *unit, mo_program *program)
{
    if (!program)
        return;
    if (program->exec)
        unit->api->cuGraphExecDestroy(program->exec);
    free(program);
}
