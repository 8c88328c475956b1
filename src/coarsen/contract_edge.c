#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coarsen/contraction.h"

static bool is_alone(const mo_contraction *c, int group)
{
    return c->groups->start[group + 1] - c->groups->start[group] == 1;
}

static mo_status copy_columns(mo_contraction *c, mo_error *err)
{
    int column;

    for (int k = 0; k < c->g->n_comm_columns; k++) {
        const mo_column *from = &c->g->comm_columns[k];
        mo_status status = mo_builder_comm_column(
            c->builder, from->key, strlen(from->key), &column, err);

        if (status != MO_OK)
            return status;
        if (!isnan(from->fallback_us))
            mo_builder_comm_fallback(c->builder, column, from->fallback_us);
    }
    return MO_OK;
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
    int group = c->how->group[from->producer];
    mo_status status;

    if (!is_alone(c, group)) {
        edge->src_port = c->n_leaving[group] > 1 ? c->leaving[tensor]
                                                 : MO_PORT_NONE;
        return MO_OK;
    }
    status = keep_port(c, from->port, &edge->src_port, err);
    if (status == MO_OK && from->key)
        status = mo_builder_text(c->builder, from->key, strlen(from->key),
                                 &edge->tensor, err);
    return status;
}

/* What an edge becomes that is the leader of its parallels, merged: as dear
 * as the dearest of them. */
static mo_status copy_comms(mo_contraction *c, int number, int first, int last,
                            mo_error *err)
{
    for (int column = 0; column < c->g->n_comm_columns; column++) {
        double us = NAN;
        mo_status status;

        for (int e = first; e < last; e++)
            us = fmax(us, mo_graph_comm_us(c->g, e, column));
        if (isnan(us))
            continue;
        status = mo_builder_comm(c->builder, number, column, us, err);
        if (status != MO_OK)
            return status;
    }
    return MO_OK;
}

/* Edges are sorted by from, tensor, to: parallels are neighbours. */
static int end_of_parallels(const mo_contraction *c, int first)
{
    const mo_edge *edges = c->g->edges;
    int last = first + 1;

    if (c->how->merge_parallel)
        while (last < c->g->n_edges &&
               edges[last].from == edges[first].from &&
               edges[last].tensor == edges[first].tensor &&
               edges[last].to == edges[first].to)
            last++;
    return last;
}

static mo_status add_edge(mo_contraction *c, int first, int last,
                          const int *input, mo_error *err)
{
    const mo_edge *from = &c->g->edges[first];
    mo_builder_edge edge = {
        .from = c->how->group[from->from],
        .to = c->how->group[from->to],
        .src_port = MO_PORT_NONE,
        .bytes = from->bytes,
        .line = from->line,
    };
    int number;
    mo_status status = name_output(c, from->tensor, &edge, err);

    for (int e = first; e < last; e++)
        if (c->g->edges[e].bytes > edge.bytes)
            edge.bytes = c->g->edges[e].bytes;
    edge.dst_port = input[first];
    if (status == MO_OK && is_alone(c, edge.to))
        status = keep_port(c, from->dst_port, &edge.dst_port, err);
    if (status == MO_OK)
        status = mo_builder_add_edge(c->builder, &edge, &number, err);
    if (status == MO_OK)
        status = copy_comms(c, number, first, last, err);
    return status;
}

static bool crosses(const mo_contraction *c, const mo_edge *edge)
{
    int from = c->how->group[edge->from], to = c->how->group[edge->to];

    return from >= 0 && to >= 0 && from != to;
}

/* input[e]: which input of its group edge e is, counted member by member. */
static void number_inputs(const mo_contraction *c, int *input)
{
    for (int group = 0; group < c->how->n_groups; group++) {
        const int *start = c->groups->start;
        int n = 0;

        for (int k = start[group]; k < start[group + 1]; k++) {
            int op = c->groups->member[k];

            for (int i = c->g->in_start[op]; i < c->g->in_start[op + 1]; i++)
                if (crosses(c, &c->g->edges[c->g->in_edges[i]]))
                    input[c->g->in_edges[i]] = n++;
        }
    }
}

mo_status mo_contract_edges(mo_contraction *c, mo_error *err)
{
    int *input = calloc((size_t) c->g->n_edges + 1, sizeof *input);
    mo_status status = input ? copy_columns(c, err) : mo_fail_memory(err);

    if (status == MO_OK)
        number_inputs(c, input);
    for (int e = 0; e < c->g->n_edges && status == MO_OK;) {
        int last = end_of_parallels(c, e);

        if (crosses(c, &c->g->edges[e]))
            status = add_edge(c, e, last, input, err);
        e = last;
    }
    free(input);
    return status;
}
