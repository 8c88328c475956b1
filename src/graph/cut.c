#include "graph/cut.h"

#include <stdlib.h>

/*
 * Ids stand in topological order.  Op t is a clean cut if and only if
 *
 *   1. no edge jumps over t,
 *   2. no op before t is a sink,
 *   3. no op after t is a source.
 *
 *       s --> a --> t --> b --> e          Every walk forward from an op
 *        `--> c --^  `--> d --^            before t ends in t: it cannot
 *                                          stop (2) nor pass (1).
 *
 * So all ops before t reach it, and by (3), walking backward, it reaches all
 * ops after it.  The reverse is plain.  No reachability is ever computed.
 */

/* jumps[t] = how many edges pass over op t without touching it. */
static void count_jumps(const mo_graph *g, int *jumps)
{
    for (int e = 0; e < g->n_edges; e++) {
        jumps[g->edges[e].from + 1]++;
        jumps[g->edges[e].to]--;
    }
    for (int t = 1; t < g->n_ops; t++)
        jumps[t] += jumps[t - 1];
}

static int first_sink(const mo_graph *g)
{
    int t = 0;
    while (mo_graph_out_degree(g, t) > 0)
        t++;
    return t;
}

static int last_source(const mo_graph *g)
{
    int t = g->n_ops - 1;
    while (mo_graph_in_degree(g, t) > 0)
        t--;
    return t;
}

mo_status mo_cut_find(const mo_graph *g, int **cuts, int *n_cuts, mo_error *err)
{
    int *jumps, *found, n = 0, last;

    *cuts = NULL;
    *n_cuts = 0;
    if (g->n_ops == 0)
        return MO_OK;

    jumps = calloc((size_t) g->n_ops + 1, sizeof *jumps);
    found = calloc((size_t) g->n_ops, sizeof *found);
    if (!jumps || !found) {
        free(found);
        free(jumps);
        return mo_fail_memory(err);
    }

    count_jumps(g, jumps);
    last = first_sink(g);
    for (int t = last_source(g); t <= last; t++)
        if (jumps[t] == 0)
            found[n++] = t;
    free(jumps);

    if (n == 0) {
        free(found);
        return MO_OK;
    }
    *cuts = found;
    *n_cuts = n;
    return MO_OK;
}
