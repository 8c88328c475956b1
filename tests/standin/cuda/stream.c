/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams and events of the stand-in. A stream executes immediately, unless an
 * external operation is pending (stream_queue.h), or it is being captured:
 * then nodes are recorded with all their dependencies, through streams and
 * events.
 */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/standin/cuda/green_ctx.h"
#include "tests/standin/cuda/stream_queue.h"

struct CUstream_st {
    struct CUgreenCtx_st *green; /* NULL: of the primary context */
    int gpu;
    uint64_t capture; /* its id; 0: none */
    standin_set tail; /* dependencies of the next node, in a capture */
    standin_set live; /* and otherwise */
};

struct CUevent_st {
    int gpu;
    bool timed, recorded;
    int64_t ns;
    uint64_t capture; /* that it was recorded in */
    standin_set after;
    standin_set live; /* the same outside of a capture */
};

static struct CUstream_st first_stream; /* the stream 0 */
static CUgraph captures;                /* running captures */
static uint64_t n_captures;

static CUstream stream_of(CUstream stream)
{
    return stream ? stream : &first_stream;
}

int standin_stream_gpu(CUstream stream)
{
    return stream ? stream->gpu : standin_gpu();
}

static CUgraph capture_of(uint64_t id)
{
    CUgraph graph = captures;

    while (graph && graph->id != id)
        graph = graph->next;
    return id ? graph : NULL;
}

bool standin_is_captured(CUstream stream)
{
    return capture_of(stream_of(stream)->capture) != NULL;
}

bool standin_is_capturing(void)
{
    bool found = false;

    standin_lock();
    for (CUgraph g = captures; g; g = g->next)
        found |= g->mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
                 (g->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL &&
                  pthread_equal(g->thread, pthread_self()));
    standin_unlock();
    return found;
}

static CUresult note(CUgraph graph, CUstream stream, const standin_node *node)
{
    standin_node *nodes =
        realloc(graph->nodes, (size_t) (graph->n + 1) * sizeof *nodes);
    CUresult result;

    if (!nodes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    graph->nodes = nodes;
    result = standin_node_copy(&nodes[graph->n], node, stream->tail.at,
                               stream->tail.n);
    if (result != CUDA_SUCCESS)
        return result;
    stream->tail.n = 0;
    if (!standin_set_add(&stream->tail, &graph->n, 1))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    graph->n++;
    return result;
}

CUresult standin_submit(CUstream stream, const standin_node *node)
{
    CUstream s = stream_of(stream);
    standin_node here = *node;
    CUgraph graph;
    CUresult result;

    if (standin_green_is_gone(s->green))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    here.green = s->green;
    standin_lock();
    graph = capture_of(s->capture);
    result = graph ? note(graph, s, &here) : standin_queue_add(&s->live, &here);
    standin_unlock();
    return result;
}

CUresult standin_foreign(CUstream stream, const standin_external_op *errand,
                         void *context)
{
    standin_node node = { .errand = errand, .context = context };

    return standin_submit(stream, &node);
}

CUresult standin_stream_new(struct CUgreenCtx_st *green, CUstream *stream)
{
    if (standin_gpu() == STANDIN_NO_GPU)
        return CUDA_ERROR_INVALID_CONTEXT;
    *stream = calloc(1, sizeof **stream);
    if (!*stream)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*stream)->gpu = standin_gpu();
    (*stream)->green = green;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    (void) flags;
    return standin_stream_new(NULL, stream);
}

CUresult cuStreamDestroy(CUstream stream)
{
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (standin_green_is_gone(stream->green))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (stream->green)
        standin_green_release(stream->green);
    standin_set_clear(&stream->tail);
    standin_set_clear(&stream->live);
    free(stream);
    return CUDA_SUCCESS;
}

static CUresult look(standin_set *live)
{
    CUresult result;

    standin_lock();
    result = standin_queue_is_done(live) ? standin_queue_result()
                                         : CUDA_ERROR_NOT_READY;
    standin_unlock();
    return result;
}

/* Blocks until all entries are complete. */
static CUresult wait_for(standin_set *live)
{
    CUresult result;

    while ((result = look(live)) == CUDA_ERROR_NOT_READY)
        usleep(20);
    return result;
}

static bool is_captured(CUstream stream)
{
    bool captured;

    standin_lock();
    captured = standin_is_captured(stream);
    standin_unlock();
    return captured;
}

CUresult cuStreamSynchronize(CUstream stream)
{
    return is_captured(stream) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                               : wait_for(&stream_of(stream)->live);
}

CUresult cuStreamQuery(CUstream stream)
{
    return is_captured(stream) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                               : look(&stream_of(stream)->live);
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    CUgraph graph = calloc(1, sizeof *graph);

    if (!graph)
        return CUDA_ERROR_OUT_OF_MEMORY;
    standin_lock();
    if (!stream || capture_of(stream->capture)) {
        standin_unlock();
        free(graph);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    graph->id = ++n_captures;
    graph->origin = stream;
    graph->mode = mode;
    graph->thread = pthread_self();
    graph->next = captures;
    captures = graph;
    stream->capture = graph->id;
    stream->tail.n = 0;
    standin_unlock();
    return CUDA_SUCCESS;
}

/* Marks the nodes of tail and all their predecessors. */
static void mark_before(const struct CUgraph_st *graph, const standin_set *tail,
                        char *marks)
{
    for (int i = 0; i < tail->n; i++)
        marks[tail->at[i]] = 1;
    for (int i = graph->n - 1; i >= 0; i--)
        for (int k = 0; marks[i] && k < graph->nodes[i].n_before; k++)
            marks[graph->nodes[i].before[k]] = 1;
}

/* Whether the stream of origin depends on all recorded nodes. */
static CUresult check_joined(const struct CUgraph_st *graph)
{
    char *marks = calloc((size_t) graph->n + 1, 1);
    CUresult result = CUDA_SUCCESS;

    if (!marks)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mark_before(graph, &graph->origin->tail, marks);
    for (int i = 0; i < graph->n; i++)
        if (!marks[i])
            result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    free(marks);
    return result;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    CUresult result = CUDA_ERROR_ILLEGAL_STATE;
    CUgraph g, *at = &captures;

    *graph = NULL;
    standin_lock();
    g = stream ? capture_of(stream->capture) : NULL;
    if (g && g->origin == stream) {
        while (*at != g)
            at = &(*at)->next;
        *at = g->next;
        result = check_joined(g);
        stream->capture = 0;
        if (result == CUDA_SUCCESS)
            *graph = g;
        else
            cuGraphDestroy(g);
    }
    standin_unlock();
    return result;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    CUstream s = stream_of(stream);
    CUresult result = CUDA_SUCCESS;
    CUgraph graph;

    (void) flags;
    standin_lock();
    graph = capture_of(event->capture);
    if (graph && s->capture != graph->id) {
        if (capture_of(s->capture))
            result = CUDA_ERROR_STREAM_CAPTURE_MERGE;
        s->capture = graph->id;
        s->tail.n = 0;
    }
    if (!graph && capture_of(s->capture))
        result = CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    if (graph && result == CUDA_SUCCESS &&
        !standin_set_add(&s->tail, event->after.at, event->after.n))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!graph && result == CUDA_SUCCESS &&
        !standin_set_add(&s->live, event->live.at, event->live.n))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    standin_unlock();
    return result;
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    if (standin_gpu() == STANDIN_NO_GPU)
        return CUDA_ERROR_INVALID_CONTEXT;
    *event = calloc(1, sizeof **event);
    if (!*event)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*event)->gpu = standin_gpu();
    (*event)->timed = !(flags & CU_EVENT_DISABLE_TIMING);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event)
{
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    standin_set_clear(&event->after);
    standin_set_clear(&event->live);
    free(event);
    return CUDA_SUCCESS;
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static void run_record(standin_node *node)
{
    CUevent event = node->to;

    event->recorded = true;
    event->ns = now_ns();
    event->capture = 0;
}

/* An event with timing is complete before it is destroyed. */
static CUresult record_now(CUevent event, CUstream stream)
{
    standin_node node = { .run = run_record, .to = event };
    CUresult result = CUDA_SUCCESS;

    run_record(&node);
    if (event->timed)
        result = standin_queue_add(&stream->live, &node);
    event->live.n = 0;
    if (result == CUDA_SUCCESS &&
        !standin_set_add(&event->live, stream->live.at, stream->live.n))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    return result;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    CUstream s = stream_of(stream);
    CUresult result = CUDA_SUCCESS;

    if (event->gpu != standin_stream_gpu(stream))
        return CUDA_ERROR_INVALID_HANDLE;
    standin_lock();
    if (!capture_of(s->capture))
        result = record_now(event, s);
    else {
        event->recorded = true;
        event->capture = s->capture;
        event->after.n = 0;
        if (!standin_set_add(&event->after, s->tail.at, s->tail.n))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    standin_unlock();
    return result;
}

/* An external event is a node of the graph: each launch records it. */
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    standin_node node = { .run = run_record, .to = event };

    if (event->gpu != standin_stream_gpu(stream))
        return CUDA_ERROR_INVALID_HANDLE;
    return flags & CU_EVENT_RECORD_EXTERNAL ? standin_submit(stream, &node)
                                            : cuEventRecord(event, stream);
}

CUresult cuEventSynchronize(CUevent event)
{
    return event->capture ? CUDA_ERROR_CAPTURED_EVENT : wait_for(&event->live);
}

CUresult cuEventQuery(CUevent event)
{
    return event->capture ? CUDA_ERROR_CAPTURED_EVENT : look(&event->live);
}

CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
    if (!from->timed || !to->timed || !from->recorded || !to->recorded)
        return CUDA_ERROR_INVALID_HANDLE;
    if (from->capture || to->capture)
        return CUDA_ERROR_CAPTURED_EVENT;
    *ms = (float) ((double) (to->ns - from->ns) * 1e-6);
    return CUDA_SUCCESS;
}
