/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "graph/build/build_steps.h"
#include "graph/build/text_rank.h"

/* The new number of a port; place is of the names. */
static int moved(int port, const int *place)
{
    return port >= MO_PORT_NONE ? port : -2 - place[-2 - port];
}

static void renumber(mo_builder *b, const int *place)
{
    for (size_t e = 0; e < b->n_edges; e++)
        b->edges[e].dst_port = moved(b->edges[e].dst_port, place);
    for (size_t i = 0; i < b->n_outputs; i++)
        b->outputs[i].port = moved(b->outputs[i].port, place);
}

static mo_status sort_names(mo_builder *b, const char **names, int *place,
                            int *by_rank, mo_error *err)
{
    mo_status status = mo_intern_rank_texts(b->ports, by_rank, err);

    if (status != MO_OK)
        return status;
    for (int r = 0; r < mo_intern_count(b->ports); r++) {
        names[r] = mo_intern_text(b->ports, by_rank[r]);
        place[by_rank[r]] = r;
    }
    return MO_OK;
}

mo_status mo_build_ports(mo_builder *builder, mo_graph *g, mo_error *err)
{
    size_t n = (size_t) mo_intern_count(builder->ports);
    int *by_rank, *place;
    mo_status status;

    if (n == 0)
        return MO_OK;
    g->n_port_names = (int) n;
    g->port_names = mo_arena_array(builder->arena, n, sizeof *g->port_names);
    place = calloc(n, sizeof *place);
    by_rank = calloc(n, sizeof *by_rank);
    if (!g->port_names || !place || !by_rank)
        status = mo_fail_memory(err);
    else
        status = sort_names(builder, g->port_names, place, by_rank, err);
    if (status == MO_OK)
        renumber(builder, place);
    free(by_rank);
    free(place);
    return status;
}
