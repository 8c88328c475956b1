/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows (tensor, reader) and tensors of an instance, from the edges of the
 * graph.
 */
#include "cost/instance/instance_internal.h"

/* Parallel edges of one tensor to one reader are one flow; they are contiguous
 * in the graph. */
static bool is_new(const mo_edge *edges, int e)
{
    return e == 0 || edges[e].tensor != edges[e - 1].tensor ||
           edges[e].to != edges[e - 1].to;
}

mo_status mo_instance_maker_flows(mo_instance_maker *m, mo_error *err)
{
    const mo_graph *g = m->g;
    mo_instance *x = m->x;
    mo_arena *arena = x->arena;
    size_t n = (size_t) x->n, t = (size_t) g->n_tensors;
    int *at;
    int q = 0;

    for (int e = 0; e < g->n_edges; e++)
        x->n_flows += is_new(g->edges, e);
    x->n_tensors = g->n_tensors;
    x->flows = mo_arena_array(arena, (size_t) x->n_flows, sizeof *x->flows);
    x->out_start = mo_arena_array(arena, n + 1, sizeof *x->out_start);
    x->in_start = mo_arena_array(arena, n + 1, sizeof *x->in_start);
    x->in_flows =
        mo_arena_array(arena, (size_t) x->n_flows, sizeof *x->in_flows);
    x->tensor_from = mo_arena_array(arena, t, sizeof *x->tensor_from);
    x->tensor_start = mo_arena_array(arena, t + 1, sizeof *x->tensor_start);
    x->tensor_bytes = mo_arena_array(arena, t, sizeof *x->tensor_bytes);
    at = mo_arena_array(arena, n, sizeof *at);
    if (!x->flows || !x->out_start || !x->in_start || !x->in_flows ||
        !x->tensor_from || !x->tensor_start || !x->tensor_bytes || !at)
        return mo_fail_memory(err);
    for (int e = 0; e < g->n_edges; e++) {
        const mo_edge *edge = &g->edges[e];

        if (!is_new(g->edges, e))
            continue;
        x->flows[q] = (mo_flow){ edge->from, edge->to, edge->tensor };
        x->out_start[edge->from + 1] = ++q;
        x->tensor_start[edge->tensor + 1] = q;
        x->in_start[edge->to + 1]++;
    }
    /* An op (or tensor) without flows ends where the one before it did. */
    for (int i = 0; i < x->n; i++) {
        if (x->out_start[i + 1] < x->out_start[i])
            x->out_start[i + 1] = x->out_start[i];
        x->in_start[i + 1] += x->in_start[i];
    }
    for (int i = 0; i < x->n; i++)
        at[i] = x->in_start[i];
    for (q = 0; q < x->n_flows; q++)
        x->in_flows[at[x->flows[q].to]++] = q;
    for (int i = 0; i < x->n_tensors; i++) {
        x->tensor_from[i] = g->tensors[i].producer;
        x->tensor_bytes[i] = g->tensors[i].bytes;
    }
    return MO_OK;
}
