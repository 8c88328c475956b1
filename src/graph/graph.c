/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/phases.h"

void mo_graph_free(mo_graph *graph)
{
    if (!graph)
        return;
    mo_phases_free(graph->phases);
    free(graph->tensors);
    free(graph->edges);
    free(graph->ops);
    mo_arena_free(graph->arena); /* graph itself is allocated in it */
}

int mo_graph_find(const mo_graph *g, const char *name)
{
    for (int i = 0; i < g->n_ops + g->n_constants; i++)
        if (strcmp(g->ops[i].name, name) == 0)
            return i;
    return -1;
}

static int compare_columns(const void *column, const void *measure)
{
    int a = *(const int *) column, b = ((const mo_measure *) measure)->column;

    return (a > b) - (a < b);
}

static double find_measure(const mo_measure *measures, const int *start,
                           int owner, const mo_measure_column *columns,
                           int column)
{
    int first = start[owner];
    const mo_measure *found;

    found =
        bsearch(&column, measures + first, (size_t) (start[owner + 1] - first),
                sizeof *measures, compare_columns);
    return found ? found->us : columns[column].fallback_us;
}

double mo_graph_time_us(const mo_graph *g, int op, int column)
{
    return find_measure(g->times, g->time_start, op, g->time_columns, column);
}

double mo_graph_comm_us(const mo_graph *g, int edge, int column)
{
    return find_measure(g->comms, g->comm_start, edge, g->comm_columns, column);
}
