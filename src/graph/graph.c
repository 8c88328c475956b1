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

mo_status mo_graph_set_files(mo_graph *g, const char *const *files, int n,
                             mo_error *err)
{
    const char **made = mo_arena_array(g->arena, (size_t) n, sizeof *made);

    for (int i = 0; i < n && made; i++) {
        made[i] = mo_arena_text(g->arena, files[i], strlen(files[i]));
        if (!made[i])
            return mo_fail_memory(err);
    }
    g->files = made;
    g->n_files = made ? n : 0;
    return made || n == 0 ? MO_OK : mo_fail_memory(err);
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
