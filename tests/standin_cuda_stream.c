/*
 * Streams and events of the stand-in.  A stream does at once what it is told,
 * unless it is being captured: then nodes are noted with all they wait for,
 * through streams and events.
 */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/standin_cuda_graph.h"

struct CUstream_st {
    uint64_t capture; /* its id; 0: none */
    standin_set tail; /* what the next node waits for */
};

struct CUevent_st {
    bool timed, recorded;
    int64_t ns;
    uint64_t capture; /* that it was recorded in */
    standin_set after;
};

static struct CUstream_st first_stream; /* the one called 0 */
static CUgraph captures;                /* under way */
static uint64_t n_captures;

static CUstream stream_of(CUstream stream)
{
    return stream ? stream : &first_stream;
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
    standin_node now = *node;
    CUgraph graph;
    CUresult result;

    standin_lock();
    graph = capture_of(s->capture);
    if (graph)
        result = note(graph, s, node);
    else {
        now.result = CUDA_SUCCESS;
        now.run(&now);
        result = now.result;
    }
    standin_unlock();
    return result;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    (void) flags;
    *stream = calloc(1, sizeof **stream);
    return *stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuStreamDestroy(CUstream stream)
{
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    standin_set_clear(&stream->tail);
    free(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
    CUgraph graph;

    standin_lock();
    graph = capture_of(stream_of(stream)->capture);
    standin_unlock();
    return graph ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
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

/* Marks what has to be done before the nodes of tail are, and these. */
static void mark_before(const struct CUgraph_st *graph, const standin_set *tail,
                        char *marks)
{
    for (int i = 0; i < tail->n; i++)
        marks[tail->at[i]] = 1;
    for (int i = graph->n - 1; i >= 0; i--)
        for (int k = 0; marks[i] && k < graph->nodes[i].n_before; k++)
            marks[graph->nodes[i].before[k]] = 1;
}

/* Does the stream that began wait for all that was noted? */
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
    standin_unlock();
    return result;
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    *event = calloc(1, sizeof **event);
    if (!*event)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*event)->timed = !(flags & CU_EVENT_DISABLE_TIMING);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event)
{
    if (!event)
        return CUDA_ERROR_INVALID_HANDLE;
    standin_set_clear(&event->after);
    free(event);
    return CUDA_SUCCESS;
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    CUstream s = stream_of(stream);
    CUresult result = CUDA_SUCCESS;

    standin_lock();
    event->recorded = true;
    event->ns = now_ns();
    event->capture = capture_of(s->capture) ? s->capture : 0;
    event->after.n = 0;
    if (event->capture &&
        !standin_set_add(&event->after, s->tail.at, s->tail.n))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    standin_unlock();
    return result;
}

static void run_record(standin_node *node)
{
    CUevent event = node->to;

    event->recorded = true;
    event->ns = now_ns();
    event->capture = 0;
}

/* An external one is a node of the graph: it happens whenever that runs. */
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    standin_node node = { .run = run_record, .to = event };

    return flags & CU_EVENT_RECORD_EXTERNAL ? standin_submit(stream, &node)
                                            : cuEventRecord(event, stream);
}

CUresult cuEventSynchronize(CUevent event)
{
    return event->capture ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
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
