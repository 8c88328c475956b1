#include <config.h>

#include <stdlib.h>

#include "exec/backend/cuda/carry.h"
#include "exec/backend/cuda/unit.h"

/*
 * Events lie between the calls, all in one graph: launched one by one, short
 * kernels would wait for the host, and their times would be its times.
 */

static void free_events(const mo_unit *unit, CUevent *events, int n)
{
    for (int i = 0; i < n; i++)
        if (events[i])
            unit->api->cuEventDestroy(events[i]);
    free(events);
}

static mo_status make_events(mo_unit *unit, int n, CUevent **events,
                             mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    CUevent *made = calloc((size_t) n, sizeof(CUevent));
    mo_status status = MO_OK;

    if (!made)
        return mo_fail_memory(err);
    for (int i = 0; i < n && status == MO_OK; i++)
        status =
            mo_cuda_check(api, "cuEventCreate",
                          api->cuEventCreate(&made[i], CU_EVENT_DEFAULT), err);
    if (status != MO_OK) {
        free_events(unit, made, n);
        return status;
    }
    *events = made;
    return MO_OK;
}

/* External: the event is really recorded, each time the graph is launched. */
static mo_status record_event(mo_unit *unit, CUevent event, mo_error *err)
{
    const mo_cuda_api *api = unit->api;

    return mo_cuda_check(api, "cuEventRecordWithFlags",
                         api->cuEventRecordWithFlags(event, unit->stream,
                                                     CU_EVENT_RECORD_EXTERNAL),
                         err);
}

static mo_status enqueue(mo_unit *unit, const mo_program_call *call,
                         mo_error *err)
{
    if (!call->kernel)
        return mo_cuda_carry_enqueue(call->carry, unit->stream, err);
    return mo_cuda_enqueue(unit, call->kernel, call->in, call->out,
                           call->workspace, unit->stream, err);
}

static mo_status enqueue_all(mo_unit *unit, const mo_program_call *calls, int n,
                             const CUevent *events, mo_error *err)
{
    mo_status status = record_event(unit, events[0], err);

    for (int i = 0; i < n && status == MO_OK; i++) {
        status = enqueue(unit, &calls[i], err);
        if (status == MO_OK)
            status = record_event(unit, events[i + 1], err);
    }
    return status;
}

static mo_status capture(mo_unit *unit, const mo_program_call *calls, int n,
                         const CUevent *events, CUgraph *graph, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    CUresult ended;
    mo_status status = mo_cuda_check(
        api, "cuStreamBeginCapture",
        api->cuStreamBeginCapture(unit->stream, CU_STREAM_CAPTURE_MODE_RELAXED),
        err);

    if (status != MO_OK)
        return status;
    status = enqueue_all(unit, calls, n, events, err);
    ended = api->cuStreamEndCapture(unit->stream, graph);
    if (status == MO_OK)
        status = mo_cuda_check(api, "cuStreamEndCapture", ended, err);
    return status;
}

static mo_status run_graph(mo_unit *unit, CUgraph graph, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    CUgraphExec exec = NULL;
    mo_status status =
        mo_cuda_check(api, "cuGraphInstantiate",
                      api->cuGraphInstantiateWithFlags(&exec, graph, 0), err);

    if (status != MO_OK)
        return status;
    status = mo_cuda_check(api, "cuGraphLaunch",
                           api->cuGraphLaunch(exec, unit->stream), err);
    if (status == MO_OK)
        status = mo_cuda_check(api, "cuStreamSynchronize",
                               api->cuStreamSynchronize(unit->stream), err);
    api->cuGraphExecDestroy(exec);
    return status;
}

static mo_status read_events(mo_unit *unit, const CUevent *events, int n,
                             int64_t *ns, mo_error *err)
{
    const mo_cuda_api *api = unit->api;
    mo_status status = MO_OK;

    for (int i = 0; i < n && status == MO_OK; i++) {
        float ms = 0;

        status = mo_cuda_check(
            api, "cuEventElapsedTime",
            api->cuEventElapsedTime(&ms, events[i], events[i + 1]), err);
        ns[i] = (int64_t) (ms * 1e6f);
    }
    return status;
}

mo_status mo_cuda_time(mo_unit *unit, const mo_program_call *calls, int n,
                       int64_t *ns, mo_error *err)
{
    bool overlap = unit->overlap;
    CUevent *events = NULL;
    CUgraph graph = NULL;
    mo_status status = make_events(unit, n + 1, &events, err);

    if (status != MO_OK)
        return status;
    unit->overlap = false;
    status = capture(unit, calls, n, events, &graph, err);
    unit->overlap = overlap;
    if (status == MO_OK)
        status = run_graph(unit, graph, err);
    if (status == MO_OK)
        status = read_events(unit, events, n, ns, err);
    if (graph)
        unit->api->cuGraphDestroy(graph);
    free_events(unit, events, n + 1);
    return status;
}
