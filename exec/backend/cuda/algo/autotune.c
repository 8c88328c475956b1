/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/backend/cuda/algo/autotune.h"

#include "exec/backend/cuda/algo/tuning_cache.h"

/* One replay is this many runs: enough for the clock, few enough to be short.
 */
enum { RUNS = 8, REPLAYS = 3 };

/* What measuring needs, made once for all candidates. */
typedef struct bench {
    mo_backend_unit *unit;
    mo_cuda_autotune_run_fn *try;
    void *context;
    CUevent begin, end;
} bench;

static mo_status open_bench(bench *b, mo_error *err)
{
    const mo_cuda_api *api = b->unit->api;
    mo_status status =
        mo_cuda_check(api, "cuEventCreate",
                      api->cuEventCreate(&b->begin, CU_EVENT_DEFAULT), err);

    if (status != MO_OK)
        return status;
    status = mo_cuda_check(api, "cuEventCreate",
                           api->cuEventCreate(&b->end, CU_EVENT_DEFAULT), err);
    if (status != MO_OK)
        api->cuEventDestroy(b->begin);
    return status;
}

static void close_bench(bench *b)
{
    b->unit->api->cuEventDestroy(b->begin);
    b->unit->api->cuEventDestroy(b->end);
}

static mo_status enqueue_runs(const bench *b, int i, mo_error *err)
{
    mo_status status = MO_OK;

    for (int run = 0; run < RUNS && status == MO_OK; run++)
        status = b->try(b->context, i, b->unit->stream, err);
    return status;
}

/* NULL where it cannot be captured: then it is launched as it is. */
static CUgraphExec capture_runs(const bench *b, int i)
{
    const mo_cuda_api *api = b->unit->api;
    CUstream stream = b->unit->stream;
    CUgraphExec exec = NULL;
    CUgraph graph = NULL;
    mo_status status;

    if (api->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) !=
        CUDA_SUCCESS)
        return NULL;
    status = enqueue_runs(b, i, NULL);
    if (api->cuStreamEndCapture(stream, &graph) != CUDA_SUCCESS || !graph)
        return NULL;
    if (status != MO_OK ||
        api->cuGraphInstantiateWithFlags(&exec, graph, 0) != CUDA_SUCCESS)
        exec = NULL;
    api->cuGraphDestroy(graph);
    return exec;
}

static mo_status begin_runs(const bench *b, int i, CUgraphExec exec,
                            mo_error *err)
{
    const mo_cuda_api *api = b->unit->api;

    if (!exec)
        return enqueue_runs(b, i, err);
    return mo_cuda_check(api, "cuGraphLaunch",
                         api->cuGraphLaunch(exec, b->unit->stream), err);
}

/* How long one run takes in one replay. */
static mo_status clock_runs(const bench *b, int i, CUgraphExec exec,
                            int64_t *ns, mo_error *err)
{
    const mo_cuda_api *api = b->unit->api;
    CUstream stream = b->unit->stream;
    float ms = 0;
    mo_status status = mo_cuda_check(api, "cuEventRecord",
                                     api->cuEventRecord(b->begin, stream), err);

    if (status == MO_OK)
        status = begin_runs(b, i, exec, err);
    if (status == MO_OK)
        status = mo_cuda_check(api, "cuEventRecord",
                               api->cuEventRecord(b->end, stream), err);
    if (status == MO_OK)
        status = mo_cuda_check(api, "cuEventSynchronize",
                               api->cuEventSynchronize(b->end), err);
    if (status == MO_OK)
        status =
            mo_cuda_check(api, "cuEventElapsedTime",
                          api->cuEventElapsedTime(&ms, b->begin, b->end), err);
    *ns = (int64_t) (ms * 1e6f / RUNS);
    return status;
}

/* The least of a few replays; what is far behind the best so far is not
 * repeated.  The first replay only warms up. */
static mo_status measure(const bench *b, int i, int64_t best_so_far,
                         int64_t *ns, mo_error *err)
{
    CUgraphExec exec = capture_runs(b, i);
    mo_status status = begin_runs(b, i, exec, err);

    *ns = INT64_MAX;
    for (int replay = 0; replay < REPLAYS && status == MO_OK; replay++) {
        int64_t now = INT64_MAX;

        status = clock_runs(b, i, exec, &now, err);
        if (now < *ns)
            *ns = now;
        if (now / 2 > best_so_far)
            break;
    }
    if (exec)
        b->unit->api->cuGraphExecDestroy(exec);
    return status;
}

/* Does it work at all?  Waits, so that a failure is told by whom it belongs
 * to. */
static mo_status run_once(const bench *b, int i, mo_error *err)
{
    const mo_cuda_api *api = b->unit->api;
    mo_status status = b->try(b->context, i, b->unit->stream, err);

    if (status != MO_OK)
        return status;
    return mo_cuda_check(api, "cuStreamSynchronize",
                         api->cuStreamSynchronize(b->unit->stream), err);
}

static mo_status choose_first(const bench *b, int n, int *best, int64_t *ns,
                              mo_error *err)
{
    mo_status status = MO_E_SUPPORT;

    for (int i = 0; i < n && status == MO_E_SUPPORT; i++) {
        status = run_once(b, i, err);
        *best = i;
    }
    *ns = 0;
    return status;
}

static mo_status choose_fastest(const bench *b, int n, int *best, int64_t *ns,
                                mo_error *err)
{
    mo_status status = MO_E_SUPPORT, found = MO_E_SUPPORT;

    *ns = INT64_MAX;
    for (int i = 0; i < n; i++) {
        int64_t now = INT64_MAX;

        status = run_once(b, i, err);
        if (status == MO_OK)
            status = measure(b, i, *ns, &now, err);
        if (status == MO_OK && (found != MO_OK || now < *ns)) {
            *ns = now;
            *best = i;
            found = MO_OK;
        }
        if (status != MO_OK && status != MO_E_SUPPORT)
            return status;
    }
    return found;
}

mo_status mo_cuda_autotune(mo_backend_unit *unit, uint64_t key,
                           const char *const *names, int n,
                           mo_cuda_autotune_run_fn *try, void *context,
                           int *best, int64_t *ns, mo_error *err)
{
    bench b = { .unit = unit, .try = try, .context = context };
    bool measure = unit->options.measure;
    mo_status status;

    if (n == 0)
        return mo_fail(err, MO_E_SUPPORT, "there is no way to do it");
    if (measure &&
        mo_cuda_tuning_cache_find(unit->tuning_cache, key, names, n, best, ns))
        return MO_OK;
    if (!measure || n == 1) {
        status = choose_first(&b, n, best, ns, err);
    } else {
        status = open_bench(&b, err);
        if (status != MO_OK)
            return status;
        status = choose_fastest(&b, n, best, ns, err);
        close_bench(&b);
    }
    if (status == MO_OK && measure)
        mo_cuda_tuning_cache_add(unit->tuning_cache, key, names[*best], *ns);
    return status;
}
