/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coarsen/contract_internal.h"

/* What becomes of an edge of g. */
typedef struct strand {
    bool leads; /* it becomes an edge, for itself and for those behind it */
    int next;   /* one of the same tensor to the same group, or -1 */
    int input;  /* which input of its group it is, counted member by member */
} strand;

static mo_status copy_columns(mo_contraction *c, mo_error *err)
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

static bool crosses(const mo_contraction *c, const mo_edge *edge)
{
    int from = c->how->group[edge->from], to = c->how->group[edge->to];

    return from >= 0 && to >= 0 && from != to;
}

/* Edges of one tensor are neighbours.  last[k] is the latest that goes to group
 * k, of whatever tensor. */
static void tie_strands(const mo_contraction *c, strand *strands, int *last)
{
    const mo_edge *edges = c->g->edges;

    for (int k = 0; k < c->how->n_groups; k++)
        last[k] = -1;
    for (int e = 0; e < c->g->n_edges; e++) {
        int to = c->how->group[edges[e].to];

        strands[e] = (strand){ .next = -1 };
        if (!crosses(c, &edges[e]))
            continue;
        if (c->how->merge_parallel && last[to] >= 0 &&
            edges[last[to]].tensor == edges[e].tensor)
            strands[last[to]].next = e;
        else
            strands[e].leads = true;
        last[to] = e;
    }
}

static void number_inputs(const mo_contraction *c, strand *strands)
{
    for (int group = 0; group < c->how->n_groups; group++) {
        const int *start = c->groups->start;
        int n = 0;

        for (int k = start[group]; k < start[group + 1]; k++) {
            int op = c->groups->member[k];

            for (int i = c->g->in_start[op]; i < c->g->in_start[op + 1]; i++)
                if (strands[c->g->in_edges[i]].leads)
                    strands[c->g->in_edges[i]].input = n++;
        }
    }
}

static mo_status keep_port(mo_contraction *c, int port, int *kept,
                           mo_error *err)
{
    const char *name;

    *kept = port;
    if (port >= MO_PORT_NONE)
        return MO_OK;
    name = c->g->port_names[-2 - port];
    return mo_builder_port(c->builder, name, strlen(name), kept, err);
}

/* An op that stayed alone keeps its outputs as they were called; a group's are
 * numbered when there are several. */
static mo_status name_output(mo_contraction *c, int tensor,
                             mo_builder_edge *edge, mo_error *err)
{
    const mo_tensor *from = &c->g->tensors[tensor];
    mo_status status;

    if (mo_contraction_size(c, edge->from) > 1) {
        if (mo_contraction_outputs(c, edge->from) > 1)
            edge->src_port = c->output[tensor];
        return MO_OK;
    }
    status = keep_port(c, from->port, &edge->src_port, err);
    if (status == MO_OK)
        status = mo_contract_copy_text(c, from->key, &edge->tensor, err);
    return status;
}

/* The same for inputs. */
static mo_status name_input(mo_contraction *c, int port, int input,
                            mo_builder_edge *edge, mo_error *err)
{
    if (mo_contraction_size(c, edge->to) == 1)
        return keep_port(c, port, &edge->dst_port, err);
    edge->dst_port = input;
    return MO_OK;
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

/* Edges that become one are as dear as the dearest of them. */
static mo_status merge_comms(mo_contraction *c, int number, int first,
                             const strand *strands, mo_error *err)
{
    mo_status status = MO_OK;

    for (int column = 0; column < c->g->n_comm_columns && status == MO_OK;
         column++) {
        double us = NAN;

        for (int e = first; e >= 0; e = strands[e].next)
            us = fmax(us, mo_graph_comm_us(c->g, e, column));
        if (!isnan(us))
            status = mo_builder_comm(c->builder, number, column, us, err);
    }
    return status;
}

static mo_status add_edge(mo_contraction *c, int first, const strand *strands,
                          mo_error *err)
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
    mo_status status = name_output(c, from->tensor, &edge, err);

    for (int e = first; e >= 0; e = strands[e].next)
        if (c->g->edges[e].bytes > edge.bytes)
            edge.bytes = c->g->edges[e].bytes;
    if (status == MO_OK)
        status =
            name_input(c, from->dst_port, strands[first].input, &edge, err);
    if (status == MO_OK)
        status = mo_builder_add_edge(c->builder, &edge, &number, err);
    if (status != MO_OK)
        return status;
    return strands[first].next < 0
               ? copy_comms(c, number, first, err)
               : merge_comms(c, number, first, strands, err);
}

mo_status mo_contract_edges(mo_contraction *c, mo_error *err)
{
    strand *strands = calloc((size_t) c->g->n_edges + 1, sizeof *strands);
    int *last = calloc((size_t) c->how->n_groups + 1, sizeof *last);
    mo_status status =
        strands && last ? copy_columns(c, err) : mo_fail_memory(err);

    if (status == MO_OK) {
        tie_strands(c, strands, last);
        number_inputs(c, strands);
    }
    for (int e = 0; e < c->g->n_edges && status == MO_OK; e++)
        if (strands[e].leads)
            status = add_edge(c, e, strands, err);
    free(last);
    free(strands);
    return status;
}
