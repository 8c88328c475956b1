/* SPDX-License-Identifier: Apache-2.0 */
#include "coarsen/contract.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "coarsen/contract_internal.h"
#include "ingest/operator.h"

/*
 * Outputs of a group: the tensors of its members that ops outside the group
 * read. A view shares the data of the tensor it is a view of, so both are one
 * output: a remote reader of both receives them once.
 *
 *     x ---+--> add             x+view ---+--> add
 *          `-> view -> matmul             `--> matmul
 */

/* Returns the tensor that this one shares its data with: itself, unless a
 * silent member made it of one tensor of the same size. (Parts of a tuple are
 * smaller.) source holds the results for all smaller tensors. */
static int viewed_tensor_of(const mo_contraction *c, int tensor,
                            const int *source)
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

static bool leaves_group(const mo_contraction *c, const mo_tensor *tensor)
{
    const int *group = c->how->group;

    for (int k = 0; k < tensor->n_edges; k++) {
        int to = group[c->g->edges[tensor->first_edge + k].to];

        if (to >= 0 && to != group[tensor->producer])
            return true;
    }
    return false;
}

/* Tensors are sorted by producer, and members are in topological order, so
 * outputs are numbered the same way whatever the groups are numbered. */
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

static mo_status find_outputs(mo_contraction *c, mo_error *err)
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
    /* Marks every source tensor that leaves its group, by itself or as a view,
     * with output 0. */
    for (int t = 0; t < c->g->n_tensors; t++) {
        const mo_tensor *tensor = &c->g->tensors[t];

        source[t] = viewed_tensor_of(c, t, source);
        c->output[t] = -1;
        if (c->how->group[tensor->producer] >= 0 && leaves_group(c, tensor))
            c->output[source[t]] = 0;
    }
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

/* How an edge of g is merged with others. */
typedef struct edge_merge {
    bool is_first; /* it becomes an edge, with all that are linked behind it */
    int next;      /* next edge of the same tensor to the same group, or -1 */
    int input;     /* its input number in its group, counted member by member */
} edge_merge;

static mo_status copy_comm_columns(mo_contraction *c, mo_error *err)
{
    int column;

    for (int k = 0; k < c->g->n_comm_columns; k++) {
        const mo_measure_column *from = &c->g->comm_columns[k];
        mo_status status = mo_builder_comm_column(
            c->builder, from->key, strlen(from->key), &column, err);

        if (status != MO_OK)
            return status;
        if (!isnan(from->fallback_us))
            mo_builder_comm_fallback(c->builder, column, from->fallback_us);
    }
    return MO_OK;
}

static bool crosses_groups(const mo_contraction *c, const mo_edge *edge)
{
    int from = c->how->group[edge->from], to = c->how->group[edge->to];

    return from >= 0 && to >= 0 && from != to;
}

/* Edges of one tensor are contiguous. last[k] is the latest edge into group k,
 * of whatever tensor. */
static void link_parallel_edges(const mo_contraction *c, edge_merge *merges,
                                int *last)
{
    const mo_edge *edges = c->g->edges;

    for (int k = 0; k < c->how->n_groups; k++)
        last[k] = -1;
    for (int e = 0; e < c->g->n_edges; e++) {
        int to = c->how->group[edges[e].to];

        merges[e] = (edge_merge){ .next = -1 };
        if (!crosses_groups(c, &edges[e]))
            continue;
        if (c->how->merge_parallel && last[to] >= 0 &&
            edges[last[to]].tensor == edges[e].tensor)
            merges[last[to]].next = e;
        else
            merges[e].is_first = true;
        last[to] = e;
    }
}

static void number_inputs(const mo_contraction *c, edge_merge *merges)
{
    for (int group = 0; group < c->how->n_groups; group++) {
        const int *start = c->groups->start;
        int n = 0;

        for (int k = start[group]; k < start[group + 1]; k++) {
            int op = c->groups->member[k];

            for (int i = c->g->in_start[op]; i < c->g->in_start[op + 1]; i++)
                if (merges[c->g->in_edges[i]].is_first)
                    merges[c->g->in_edges[i]].input = n++;
        }
    }
}

static mo_status copy_port(mo_contraction *c, int port, int *kept,
                           mo_error *err)
{
    const char *name;

    *kept = port;
    if (port >= MO_PORT_NONE)
        return MO_OK;
    name = c->g->port_names[-2 - port];
    return mo_builder_port(c->builder, name, strlen(name), kept, err);
}

/* A group of one op keeps its output ports and keys; those of a larger group
 * are numbered when there are several. */
static mo_status set_source_port(mo_contraction *c, int tensor,
                                 mo_builder_edge *edge, mo_error *err)
{
    const mo_tensor *from = &c->g->tensors[tensor];
    mo_status status;

    if (mo_contraction_size(c, edge->from) > 1) {
        if (mo_contraction_outputs(c, edge->from) > 1)
            edge->src_port = c->output[tensor];
        return MO_OK;
    }
    status = copy_port(c, from->port, &edge->src_port, err);
    if (status == MO_OK)
        status = mo_contract_copy_text(c, from->key, &edge->tensor, err);
    return status;
}

static mo_status copy_comms(mo_contraction *c, int number, int e, mo_error *err)
{
    mo_status status = MO_OK;

    if (c->g->n_comm_columns == 0)
        return MO_OK;
    for (int k = c->g->comm_start[e];
         k < c->g->comm_start[e + 1] && status == MO_OK; k++)
        status = mo_builder_comm(c->builder, number, c->g->comms[k].column,
                                 c->g->comms[k].us, err);
    return status;
}

/* A merged edge gets the largest time of its parts. */
static mo_status merge_comms(mo_contraction *c, int number, int first,
                             const edge_merge *merges, mo_error *err)
{
    mo_status status = MO_OK;

    for (int column = 0; column < c->g->n_comm_columns && status == MO_OK;
         column++) {
        double us = NAN;

        for (int e = first; e >= 0; e = merges[e].next)
            us = fmax(us, mo_graph_comm_us(c->g, e, column));
        if (!isnan(us))
            status = mo_builder_comm(c->builder, number, column, us, err);
    }
    return status;
}

static mo_status add_edge(mo_contraction *c, int first,
                          const edge_merge *merges, mo_error *err)
{
    const mo_edge *from = &c->g->edges[first];
    mo_builder_edge edge = {
        .from = c->how->group[from->from],
        .to = c->how->group[from->to],
        .src_port = MO_PORT_NONE,
        .bytes = MO_UNKNOWN,
        .line = from->line,
    };
    int number;
    mo_status status = set_source_port(c, from->tensor, &edge, err);

    for (int e = first; e >= 0; e = merges[e].next)
        if (c->g->edges[e].bytes > edge.bytes)
            edge.bytes = c->g->edges[e].bytes;
    /* The same for input ports. */
    if (status == MO_OK && mo_contraction_size(c, edge.to) == 1)
        status = copy_port(c, from->dst_port, &edge.dst_port, err);
    else if (status == MO_OK)
        edge.dst_port = merges[first].input;
    if (status == MO_OK)
        status = mo_builder_add_edge(c->builder, &edge, &number, err);
    if (status != MO_OK)
        return status;
    return merges[first].next < 0 ? copy_comms(c, number, first, err)
                                  : merge_comms(c, number, first, merges, err);
}

static mo_status add_edges(mo_contraction *c, mo_error *err)
{
    edge_merge *merges = calloc((size_t) c->g->n_edges + 1, sizeof *merges);
    int *last = calloc((size_t) c->how->n_groups + 1, sizeof *last);
    mo_status status =
        merges && last ? copy_comm_columns(c, err) : mo_fail_memory(err);

    if (status == MO_OK) {
        link_parallel_edges(c, merges, last);
        number_inputs(c, merges);
    }
    for (int e = 0; e < c->g->n_edges && status == MO_OK; e++)
        if (merges[e].is_first)
            status = add_edge(c, e, merges, err);
    free(last);
    free(merges);
    return status;
}

/* Collects the members of each group: a map to group numbers, which are not
 * the coarse ids. */
static mo_status gather_members(mo_contraction *c, mo_error *err)
{
    mo_status status =
        mo_coarsen_map_new(c->g->n_ops, c->how->n_groups, &c->groups, err);

    if (status != MO_OK)
        return status;
    if (c->g->n_ops > 0)
        memcpy(c->groups->coarse_of, c->how->group,
               (size_t) c->g->n_ops * sizeof *c->how->group);
    mo_coarsen_map_gather(c->groups);
    return MO_OK;
}

static mo_status build_coarse_graph(mo_contraction *c, mo_error *err)
{
    mo_status status = gather_members(c, err);

    if (status == MO_OK)
        status = find_outputs(c, err);
    if (status == MO_OK)
        status = mo_out_memory(&c->text, err);
    if (status == MO_OK)
        status = mo_builder_new(NULL, &c->builder, err);
    for (int k = 0; k < c->how->n_groups && status == MO_OK; k++)
        status = mo_contract_op(c, k, err);
    if (status == MO_OK)
        status = mo_contract_times(c, err);
    if (status == MO_OK)
        status = add_edges(c, err);
    if (status == MO_OK) {
        const char *name;

        status = mo_contract_copy_text(c, c->g->name, &name, err);
        if (status == MO_OK)
            mo_builder_name(c->builder, name);
    }
    return status;
}

/* Numbers the coarse ops in topological order and makes the map. */
static mo_status finish_coarse_graph(mo_contraction *c, mo_graph **coarse,
                                     mo_coarsen_map **map, mo_error *err)
{
    const int *group = c->how->group;
    int *ids = calloc((size_t) c->how->n_groups + 1, sizeof *ids);
    mo_coarsen_map *made = NULL;
    mo_status status =
        ids ? mo_coarsen_map_new(c->g->n_ops, c->how->n_groups, &made, err)
            : mo_fail_memory(err);

    if (status == MO_OK) {
        mo_builder_map_slots(c->builder, ids);
        status = mo_builder_finish(c->builder, coarse, err);
    }
    if (status == MO_OK) {
        mo_operator_resolve(*coarse);
        for (int i = 0; i < c->g->n_ops; i++)
            made->coarse_of[i] = group[i] < 0 ? group[i] : ids[group[i]];
        mo_coarsen_map_gather(made);
        *map = made;
    } else {
        mo_coarsen_map_free(made);
    }
    free(ids);
    return status;
}

mo_status mo_contract(const mo_graph *g, const mo_grouping *grouping,
                      mo_graph **coarse, mo_coarsen_map **map, mo_error *err)
{
    mo_contraction c = { .g = g, .how = grouping };
    mo_status status = build_coarse_graph(&c, err);

    if (status == MO_OK)
        status = finish_coarse_graph(&c, coarse, map, err);
    mo_builder_free(c.builder);
    mo_out_abandon(c.text);
    mo_coarsen_map_free(c.groups);
    free(c.output);
    free(c.outputs);
    free(c.output_start);
    return status;
}
