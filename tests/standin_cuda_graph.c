/*
 * Graphs of the stand-in run their nodes in an order that is allowed but
 * unlikely, the last one that may run first, so that what forgot to wait is
 * found out.
 */
#include <config.h>

#include <stdlib.h>

#include "tests/standin_cuda_graph.h"

struct CUgraphExec_st {
    standin_node *nodes;
    int n;
    int *order;
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

void standin_nodes_free(standin_node *nodes, int n)
{
    for (int i = 0; i < n; i++) {
        standin_args_free(&nodes[i]);
        free(nodes[i].before);
    }
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
    }
    return find_order(exec) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
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
    result = copy_nodes(exec, graph);
    if (result == CUDA_SUCCESS)
        *made = exec;
    else
        cuGraphExecDestroy(exec);
    return result;
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    standin_nodes_free(exec->nodes, exec->n);
    free(exec->order);
    free(exec);
    return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    (void) exec;
    (void) stream;
    return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    CUresult result = CUDA_SUCCESS;

    standin_lock();
    if (standin_is_captured(stream))
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    for (int i = 0; result == CUDA_SUCCESS && i < exec->n; i++) {
        standin_node *node = &exec->nodes[exec->order[i]];

        node->result = CUDA_SUCCESS;
        node->run(node);
        result = node->result;
    }
    standin_unlock();
    return result;
}
