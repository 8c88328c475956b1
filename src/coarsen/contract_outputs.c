/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/array.h"
#include "coarsen/contract_internal.h"

/*
 * A group hands out the tensors of its members that somebody else reads.  What
 * a view hands out are the data of the tensor it is a view of, so both are one
 * output: whoever reads both from afar has them sent once.
 *
 *     x ---+--> add             x+view ---+--> add
 *          `-> view -> matmul             `--> matmul
 */

/* The tensor whose data this one shows: itself, unless a member that does no
 * work made it of one tensor of the same size.  (Parts of a tuple are smaller.)
 * source holds the answers for all tensors before it. */
static int source_of(const mo_contraction *c, int tensor, const int *source)
{
    const mo_graph *g = c->g;
    const mo_tensor *shown = &g->tensors[tensor];
    int op = shown->producer;
    const mo_edge *edge;

    if (mo_contraction_counts_member(c, op) || mo_graph_in_degree(g, op) != 1 ||
        shown->bytes == MO_UNKNOWN)
        return tensor;
    edge = &g->edges[g->in_edges[g->in_start[op]]];
    if (c->how->group[edge->from] != c->how->group[op] ||
        g->tensors[edge->tensor].bytes != shown->bytes)
        return tensor;
    return source[edge->tensor];
}

static bool leaves(const mo_contraction *c, const mo_tensor *tensor)
{
    const int *group = c->how->group;

    for (int k = 0; k < tensor->n_edges; k++) {
        int to = group[c->g->edges[tensor->first_edge + k].to];

        if (to >= 0 && to != group[tensor->producer])
            return true;
    }
    return false;
}

/* Marks every source that leaves, by itself or as a view, with output 0. */
static void mark_outputs(mo_contraction *c, int *source)
{
    for (int t = 0; t < c->g->n_tensors; t++) {
        const mo_tensor *tensor = &c->g->tensors[t];

        source[t] = source_of(c, t, source);
        c->output[t] = -1;
        if (c->how->group[tensor->producer] >= 0 && leaves(c, tensor))
            c->output[source[t]] = 0;
    }
}

/* Tensors are sorted by producer, and members are in topological order, so
 * outputs are numbered the same way whatever the groups are called. */
static void number_outputs(mo_contraction *c, const int *source)
{
    int *start = c->output_start, n = 0;

    for (int t = 0; t < c->g->n_tensors; t++)
        if (source[t] != t)
            c->output[t] = c->output[source[t]];
        else if (c->output[t] == 0)
            c->output[t] = start[c->how->group[c->g->tensors[t].producer]]++;
    for (int k = 0; k <= c->how->n_groups; k++) {
        int count = start[k];

        start[k] = n;
        n += count;
    }
    for (int t = 0; t < c->g->n_tensors; t++)
        if (source[t] == t && c->output[t] >= 0) {
            int group = c->how->group[c->g->tensors[t].producer];

            c->outputs[start[group] + c->output[t]] = t;
        }
}

mo_status mo_contract_find_outputs(mo_contraction *c, mo_error *err)
{
    size_t n_tensors = (size_t) c->g->n_tensors;
    int *source = calloc(n_tensors + 1, sizeof *source);

    c->output = calloc(n_tensors + 1, sizeof *c->output);
    c->outputs = calloc(n_tensors + 1, sizeof *c->outputs);
    c->output_start =
        calloc((size_t) c->how->n_groups + 1, sizeof *c->output_start);
    if (!source || !c->output || !c->outputs || !c->output_start) {
        free(source);
        return mo_fail_memory(err);
    }
    mark_outputs(c, source);
    number_outputs(c, source);
    free(source);
    return MO_OK;
}

int64_t mo_contract_output_bytes(const mo_contraction *c, int group)
{
    int64_t sum = 0;

    for (int i = c->output_start[group]; i < c->output_start[group + 1]; i++) {
        int64_t bytes = c->g->tensors[c->outputs[i]].bytes;

        if (bytes == MO_UNKNOWN || !mo_int64_add(sum, bytes, &sum))
            return MO_UNKNOWN;
    }
    return sum;
}
