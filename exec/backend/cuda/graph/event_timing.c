/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of single calls by CUDA events, which are recorded between the calls
 * inside one graph: launched one by one, short kernels would wait for the
 * host, and the launch overhead would be measured. The same happens where the
 * device runs a graph faster than the host launches it: a graph without inner
 * events, which costs the host next to nothing, keeps the device busy until
 * all of the other is launched.
 *
 *     host      whole whole   each
 *     device    |--a-b-c--|--a-b-c--|-a-|-b-|-c-|
 *
 * The last run of the whole graph also measures all calls without events
 * between them.
 */
#include <config.h>

#include <stdlib.h>

#include "exec/backend/cuda/graph/capture.h"
#include "exec/backend/cuda/graph/peer_copy.h"
#include "exec/backend/cuda/graph/link_emulation.h"
#include "exec/backend/cuda/kernels/index_check.h"
#include "exec/backend/cuda/kernels/kernel_class.h"

enum {
    MAX_GRAPH_CALLS =
        256, /* calls of one graph with events: launch queues are finite */
    MAX_WHOLE_GRAPHS = 64, /* launches of the whole graph before a timed one */
    LAUNCH_NS = 20000 /* host time to launch a call and its event, at most */
};

/* A graph and the events recorded in it. */
typedef struct timed_graph {
    CUevent *events;
    int n_events;
    CUgraph graph;
    CUgraphExec exec;
} timed_graph;

static void close_timed_graph(const mo_backend_unit *unit, timed_graph *l)
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

static mo_status create_events(mo_backend_unit *unit, int n, timed_graph *l,
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

/* External: the event is recorded by each launch of the graph. */
static mo_status record_event(mo_backend_unit *unit, CUevent event,
                              mo_error *err)
{
    const mo_cuda_api *api = unit->api;

    return mo_cuda_check(api, "cuEventRecordWithFlags",
                         api->cuEventRecordWithFlags(event, unit->stream,
                                                     CU_EVENT_RECORD_EXTERNAL),
                         err);
}

static mo_status launch_graph(mo_backend_unit *unit, const timed_graph *l,
                              mo_error *err)
{
    return mo_cuda_check(unit->api, "cuGraphLaunch",
                         unit->api->cuGraphLaunch(l->exec, unit->stream), err);
}

static mo_status synchronize(mo_backend_unit *unit, mo_error *err)
{
    return mo_cuda_check(unit->api, "cuStreamSynchronize",
                         unit->api->cuStreamSynchronize(unit->stream), err);
}

static mo_status open_timed_graph(mo_backend_unit *unit,
                                  const mo_backend_program_call *calls, int n,
                                  bool separate, timed_graph *l, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    mo_status status = create_events(unit, separate ? n + 1 : 2, l, err);
    CUresult ended;

    if (status != MO_OK)
        return status;
    status = mo_cuda_check(
        api, "cuStreamBeginCapture",
        api->cuStreamBeginCapture(unit->stream, CU_STREAM_CAPTURE_MODE_RELAXED),
        err);
    if (status != MO_OK)
        return status;

    /* Separate: records an event after each call, else after the last. */
    const CUevent *events = l->events;
    status = record_event(unit, *events++, err);

    for (int i = 0; i < n && status == MO_OK; i++) {
        bool overlap = unit->has_pdl;

        /* A kernel overlaps only with a kernel directly before it. */
        unit->has_pdl = overlap && !separate && i > 0 && calls[i - 1].kernel;
        status = calls[i].kernel
                     ? mo_cuda_kernel_enqueue(
                           unit, calls[i].kernel, calls[i].in, calls[i].out,
                           calls[i].workspace, unit->stream, err)
                     : mo_cuda_peer_copy_enqueue(calls[i].transfer,
                                                 unit->stream, err);
        unit->has_pdl = overlap;
        if (status == MO_OK && (separate || i == n - 1))
            status = record_event(unit, *events++, err);
    }
    ended = api->cuStreamEndCapture(unit->stream, &l->graph);
    if (status == MO_OK)
        status = mo_cuda_check(api, "cuStreamEndCapture", ended, err);
    if (status == MO_OK)
        status = mo_cuda_check(
            api, "cuGraphInstantiate",
            api->cuGraphInstantiateWithFlags(&l->exec, l->graph, 0), err);
    /* Some graphs cannot be uploaded beforehand; their first launch does it. */
    if (status == MO_OK)
        (void) api->cuGraphUpload(l->exec, unit->stream);
    return status;
}

/* Times between successive events. */
static mo_status read_events(mo_backend_unit *unit, const timed_graph *l,
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

static mo_status time_calls(mo_backend_unit *unit, const timed_graph *whole,
                            const mo_backend_program_call *calls, int n,
                            int64_t *ns, mo_error *err)
{
    timed_graph each = { 0 };
    mo_status status = open_timed_graph(unit, calls, n, true, &each, err);

    if (status == MO_OK) {
        /* Launches the whole graph, whose duration its events have measured,
         * until the timed graph is launched behind it. */
        int64_t whole_ns = 0, launch_ns = (int64_t) LAUNCH_NS * each.n_events;
        status = read_events(unit, whole, &whole_ns, err);

        for (int i = 0;
             i < MAX_WHOLE_GRAPHS && status == MO_OK && launch_ns > 0; i++) {
            status = launch_graph(unit, whole, err);
            launch_ns -= whole_ns;
        }
        if (status == MO_OK)
            status = launch_graph(unit, &each, err);
        if (status == MO_OK)
            status = synchronize(unit, err);
        if (status == MO_OK)
            status = read_events(unit, &each, ns, err);
    }
    close_timed_graph(unit, &each);
    return status;
}

/* Repeated runs overwrite inputs: index errors that kernels report are
 * ignored. */
mo_status mo_cuda_time_calls(mo_backend_unit *unit,
                             const mo_backend_program_call *calls, int n,
                             int64_t *ns, int64_t *whole_ns, mo_error *err)
{
    timed_graph whole = { 0 };
    mo_status status = open_timed_graph(unit, calls, n, false, &whole, err);

    if (status == MO_OK)
        status = launch_graph(unit, &whole, err);
    if (status == MO_OK)
        status = synchronize(unit, err);
    for (int i = 0; i < n && status == MO_OK; i += MAX_GRAPH_CALLS)
        status = time_calls(unit, &whole, calls + i,
                            n - i < MAX_GRAPH_CALLS ? n - i : MAX_GRAPH_CALLS,
                            ns + i, err);
    if (status == MO_OK)
        status = read_events(unit, &whole, whole_ns, err);
    if (status == MO_OK) {
        /* The time of a transfer over an emulated link, waited for or too short
         * for it, includes the launch latencies before and after it. */
        for (int i = 0; i < n; i++)
            if (calls[i].transfer && calls[i].transfer->min_ns > 0) {
                ns[i] += MO_CUDA_LINK_EMULATION_LAUNCH_NS;
                *whole_ns += MO_CUDA_LINK_EMULATION_LAUNCH_NS;
            }
    }
    (void) mo_cuda_index_error_check(unit, NULL);
    close_timed_graph(unit, &whole);
    return status;
}
