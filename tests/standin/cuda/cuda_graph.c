/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs of the stand-in run their nodes in an allowed but unlikely order, the
 * last ready one first, so that a missing dependency is found. A graph with
 * external operations is itself one: it polls its nodes repeatedly, and a node
 * that is not complete does not block others.
 */
#include <config.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/standin/cuda/stream_queue.h"

struct CUgraphExec_st {
    standin_node *nodes;
    int n;
    int *order;
    bool has_errands;
    char *done; /* by node, in the current launch */
    int n_done;
    atomic_int kept; /* references, by its owner and by launches */
};

void standin_set_clear(standin_set *s)
{
    free(s->at);
    *s = (standin_set){ NULL, 0 };
}

bool standin_set_add(standin_set *s, const int *more, int n)
{
    int *at = realloc(s->at, (size_t) (s->n + n + 1) * sizeof *at);

    if (!at)
        return false;
    s->at = at;
    for (int i = 0; i < n; i++)
        at[s->n++] = more[i];
    return true;
}

void standin_node_clear(standin_node *node)
{
    standin_args_free(node);
    free(node->before);
    if (node->errand)
        node->errand->drop(node->context);
}

void standin_nodes_free(standin_node *nodes, int n)
{
    for (int i = 0; i < n; i++)
        standin_node_clear(&nodes[i]);
    free(nodes);
}

CUresult standin_node_copy(standin_node *to, const standin_node *from,
                           const int *before, int n_before)
{
    standin_set waits = { NULL, 0 };
    CUresult result;

    *to = *from;
    to->before = NULL;
    to->n_before = 0;
    if ((result = standin_args_copy(to)) != CUDA_SUCCESS)
        return result;
    if (!standin_set_add(&waits, before, n_before)) {
        standin_args_free(to);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    to->before = waits.at;
    to->n_before = waits.n;
    if (to->errand)
        to->errand->keep(to->context);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    standin_nodes_free(graph->nodes, graph->n);
    free(graph);
    return CUDA_SUCCESS;
}

static bool may_run(const standin_node *node, const char *done)
{
    for (int k = 0; k < node->n_before; k++)
        if (!done[node->before[k]])
            return false;
    return true;
}

static bool find_order(CUgraphExec exec)
{
    char *done = calloc((size_t) exec->n + 1, 1);

    exec->order = calloc((size_t) exec->n + 1, sizeof *exec->order);
    for (int i = 0; done && exec->order && i < exec->n; i++) {
        int next = exec->n - 1;

        while (done[next] || !may_run(&exec->nodes[next], done))
            next--;
        exec->order[i] = next;
        done[next] = 1;
    }
    free(done);
    return done && exec->order;
}

static CUresult copy_nodes(CUgraphExec exec, const struct CUgraph_st *graph)
{
    exec->nodes = calloc((size_t) graph->n + 1, sizeof *exec->nodes);
    if (!exec->nodes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (; exec->n < graph->n; exec->n++) {
        const standin_node *from = &graph->nodes[exec->n];
        CUresult result = standin_node_copy(&exec->nodes[exec->n], from,
                                            from->before, from->n_before);

        if (result != CUDA_SUCCESS)
            return result;
        exec->has_errands |= from->errand != NULL;
    }
    exec->done = calloc((size_t) exec->n + 1, 1);
    return exec->done && find_order(exec) ? CUDA_SUCCESS
                                          : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *made, CUgraph graph,
                                     unsigned long long flags)
{
    CUgraphExec exec = calloc(1, sizeof *exec);
    CUresult result;

    (void) flags;
    *made = NULL;
    if (!exec)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec->kept = 1;
    result = copy_nodes(exec, graph);
    if (result == CUDA_SUCCESS)
        *made = exec;
    else
        cuGraphExecDestroy(exec);
    return result;
}

/* Launches that are running continue. */
CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    if (--exec->kept > 0)
        return CUDA_SUCCESS;
    standin_nodes_free(exec->nodes, exec->n);
    free(exec->order);
    free(exec->done);
    free(exec);
    return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    (void) exec;
    (void) stream;
    return CUDA_SUCCESS;
}

static void run_graph(standin_node *launched)
{
    CUgraphExec exec = launched->to;

    for (int i = 0; launched->result == CUDA_SUCCESS && i < exec->n; i++) {
        standin_node *node = &exec->nodes[exec->order[i]];

        node->result = CUDA_SUCCESS;
        node->run(node);
        launched->result = node->result;
    }
}

static void begin_graph(void *context)
{
    CUgraphExec exec = context;

    memset(exec->done, 0, (size_t) exec->n);
    exec->n_done = 0;
}

/* Nodes that fail report why; the others continue. */
static bool poll_graph(void *context)
{
    CUgraphExec exec = context;

    for (int i = 0; i < exec->n; i++) {
        int k = exec->order[i];

        if (exec->done[k] || !may_run(&exec->nodes[k], exec->done) ||
            !standin_node_step(&exec->nodes[k]))
            continue;
        exec->done[k] = 1;
        exec->n_done++;
    }
    return exec->n_done == exec->n;
}

static void keep_graph(void *context)
{
    ((CUgraphExec) context)->kept++;
}

static void drop_graph(void *context)
{
    cuGraphExecDestroy(context);
}

static const standin_external_op graph_errand = { begin_graph, poll_graph,
                                                  keep_graph, drop_graph };

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    standin_node plain = { .run = run_graph, .to = exec };
    standin_node errand = { .errand = &graph_errand, .context = exec };
    bool captured;

    standin_lock();
    captured = standin_is_captured(stream);
    standin_unlock();
    return captured
               ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
               : standin_submit(stream, exec->has_errands ? &errand : &plain);
}
