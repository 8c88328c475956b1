/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include <stdlib.h>

#include "exec/backend/cuda/graph/peer_copy.h"
#include "exec/backend/cuda/graph/link_emulation.h"
#include "exec/backend/cuda/kernels/index_check.h"
#include "exec/backend/cuda/driver/cuda_unit_internal.h"

/*
 * Events lie between the calls, all in one graph: launched one by one, short
 * kernels would wait for the host, and their times would be its times.  So they
 * would where the device does what is launched faster than it is told: a graph
 * without events, which costs the host next to nothing, keeps it busy until all
 * events are on their way.
 *
 *     host      whole whole   eventful
 *     device    |--a-b-c--|--a-b-c--|-a-|-b-|-c-|
 *
 * The last of these also tells how long the calls take with nobody looking.
 */
enum {
    MOST_AT_ONCE = 256, /* calls of one graph with events: queues are finite */
    MOST_WHOLE = 64,    /* graphs to keep it busy with */
    TOLD_NS = 20000     /* what the host may need for a call with its event */
};

/* A graph, and the events in it. */
typedef struct looker {
    CUevent *events;
    int n_events;
    CUgraph graph;
    CUgraphExec exec;
} looker;

static void close_looker(const mo_backend_unit *unit, looker *l)
{
    const mo_cuda_api *api = unit->api;

    if (l->exec)
        api->cuGraphExecDestroy(l->exec);
    if (l->graph)
        api->cuGraphDestroy(l->graph);
    for (int i = 0; i < l->n_events; i++)
        if (l->events[i])
            api->cuEventDestroy(l->events[i]);
    free(l->events);
}

static mo_status make_events(mo_backend_unit *unit, int n, looker *l,
                             mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    mo_status status = MO_OK;

    l->events = calloc((size_t) n, sizeof(CUevent));
    if (!l->events)
        return mo_fail_memory(err);
    l->n_events = n;
    for (int i = 0; i < n && status == MO_OK; i++)
        status = mo_cuda_check(
            api, "cuEventCreate",
            api->cuEventCreate(&l->events[i], CU_EVENT_DEFAULT), err);
    return status;
}

/* External: the event is really recorded, each time the graph is launched. */
static mo_status record_event(mo_backend_unit *unit, CUevent event,
                              mo_error *err)
{
    const mo_cuda_api *api = unit->api;

    return mo_cuda_check(api, "cuEventRecordWithFlags",
                         api->cuEventRecordWithFlags(event, unit->stream,
                                                     CU_EVENT_RECORD_EXTERNAL),
                         err);
}

static mo_status enqueue(mo_backend_unit *unit,
                         const mo_backend_program_call *call, mo_error *err)
{
    if (!call->kernel)
        return mo_cuda_peer_copy_enqueue(call->carry, unit->stream, err);
    return mo_cuda_kernel_enqueue(unit, call->kernel, call->in, call->out,
                                  call->workspace, unit->stream, err);
}

/* A kernel overlaps with one right before it, or with nothing. */
static mo_status enqueue_behind(mo_backend_unit *unit,
                                const mo_backend_program_call *calls, int i,
                                bool apart, mo_error *err)
{
    bool overlap = unit->overlap;
    mo_status status;

    unit->overlap = overlap && !apart && i > 0 && calls[i - 1].kernel;
    status = enqueue(unit, &calls[i], err);
    unit->overlap = overlap;
    return status;
}

/* Apart: with an event behind each call, else behind the last. */
static mo_status enqueue_all(mo_backend_unit *unit,
                             const mo_backend_program_call *calls, int n,
                             bool apart, const CUevent *events, mo_error *err)
{
    mo_status status = record_event(unit, *events++, err);

    for (int i = 0; i < n && status == MO_OK; i++) {
        status = enqueue_behind(unit, calls, i, apart, err);
        if (status == MO_OK && (apart || i == n - 1))
            status = record_event(unit, *events++, err);
    }
    return status;
}

static mo_status capture(mo_backend_unit *unit,
                         const mo_backend_program_call *calls, int n,
                         bool apart, looker *l, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    CUresult ended;
    mo_status status = mo_cuda_check(
        api, "cuStreamBeginCapture",
        api->cuStreamBeginCapture(unit->stream, CU_STREAM_CAPTURE_MODE_RELAXED),
        err);

    if (status != MO_OK)
        return status;
    status = enqueue_all(unit, calls, n, apart, l->events, err);
    ended = api->cuStreamEndCapture(unit->stream, &l->graph);
    if (status == MO_OK)
        status = mo_cuda_check(api, "cuStreamEndCapture", ended, err);
    return status;
}

static mo_status launch(mo_backend_unit *unit, const looker *l, mo_error *err)
{
    return mo_cuda_check(unit->api, "cuGraphLaunch",
                         unit->api->cuGraphLaunch(l->exec, unit->stream), err);
}

static mo_status wait(mo_backend_unit *unit, mo_error *err)
{
    return mo_cuda_check(unit->api, "cuStreamSynchronize",
                         unit->api->cuStreamSynchronize(unit->stream), err);
}

static mo_status open_looker(mo_backend_unit *unit,
                             const mo_backend_program_call *calls, int n,
                             bool apart, looker *l, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    mo_status status = make_events(unit, apart ? n + 1 : 2, l, err);

    if (status == MO_OK)
        status = capture(unit, calls, n, apart, l, err);
    if (status == MO_OK)
        status = mo_cuda_check(
            api, "cuGraphInstantiate",
            api->cuGraphInstantiateWithFlags(&l->exec, l->graph, 0), err);
    /* Not every graph can be; then its first launch does. */
    if (status == MO_OK)
        (void) api->cuGraphUpload(l->exec, unit->stream);
    return status;
}

/* Between its events, one after the other. */
static mo_status read_events(mo_backend_unit *unit, const looker *l,
                             int64_t *ns, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i + 1 < l->n_events && status == MO_OK; i++) {
        float ms = 0;

        status = mo_cuda_check(
            unit->api, "cuEventElapsedTime",
            unit->api->cuEventElapsedTime(&ms, l->events[i], l->events[i + 1]),
            err);
        ns[i] = (int64_t) (ms * 1e6f);
    }
    return status;
}

/* The whole, whose events tell how long that is, until the other one is told.
 */
static mo_status look_behind(mo_backend_unit *unit, const looker *whole,
                             const looker *eventful, int64_t *ns, mo_error *err)
{
    int64_t whole_ns = 0, told_ns = (int64_t) TOLD_NS * eventful->n_events;
    mo_status status = read_events(unit, whole, &whole_ns, err);

    for (int i = 0; i < MOST_WHOLE && status == MO_OK && told_ns > 0; i++) {
        status = launch(unit, whole, err);
        told_ns -= whole_ns;
    }
    if (status == MO_OK)
        status = launch(unit, eventful, err);
    if (status == MO_OK)
        status = wait(unit, err);
    return status == MO_OK ? read_events(unit, eventful, ns, err) : status;
}

static mo_status look_at_some(mo_backend_unit *unit, const looker *whole,
                              const mo_backend_program_call *calls, int n,
                              int64_t *ns, mo_error *err)
{
    looker eventful = { 0 };
    mo_status status = open_looker(unit, calls, n, true, &eventful, err);

    if (status == MO_OK)
        status = look_behind(unit, whole, &eventful, ns, err);
    close_looker(unit, &eventful);
    return status;
}

/* Transfers of links that are to be held, be they held or too short for it,
 * count from who makes to who reads. */
static void add_steps(const mo_backend_program_call *calls, int n, int64_t *ns,
                      int64_t *whole_ns)
{
    for (int i = 0; i < n; i++)
        if (calls[i].carry && calls[i].carry->hold_ns > 0) {
            ns[i] += MO_CUDA_LINK_EMULATION_LAUNCH_NS;
            *whole_ns += MO_CUDA_LINK_EMULATION_LAUNCH_NS;
        }
}

/* Inputs are gone when the calls are done a second time: what kernels say of
 * indices then means nothing. */
mo_status mo_cuda_time_calls(mo_backend_unit *unit,
                             const mo_backend_program_call *calls, int n,
                             int64_t *ns, int64_t *whole_ns, mo_error *err)
{
    looker whole = { 0 };
    mo_status status = open_looker(unit, calls, n, false, &whole, err);

    if (status == MO_OK)
        status = launch(unit, &whole, err);
    if (status == MO_OK)
        status = wait(unit, err);
    for (int i = 0; i < n && status == MO_OK; i += MOST_AT_ONCE)
        status = look_at_some(unit, &whole, calls + i,
                              n - i < MOST_AT_ONCE ? n - i : MOST_AT_ONCE,
                              ns + i, err);
    if (status == MO_OK)
        status = read_events(unit, &whole, whole_ns, err);
    if (status == MO_OK)
        add_steps(calls, n, ns, whole_ns);
    (void) mo_cuda_index_error_check(unit, NULL);
    close_looker(unit, &whole);
    return status;
}
