/* SPDX-License-Identifier: Apache-2.0 */
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

/* Returns the number of edges that pass over t without touching it: those that
 * leave an op before t, less those that end at or before t. */
static int jumps_over(const mo_dag *dag, int t)
{
    return dag->out_start[t] - dag->in_start[t + 1];
}

static int first_sink(const mo_dag *dag)
{
    int t = 0;
    while (mo_dag_out_degree(dag, t) > 0)
        t++;
    return t;
}

static int last_source(const mo_dag *dag)
{
    int t = dag->n - 1;
    while (mo_dag_in_degree(dag, t) > 0)
        t--;
    return t;
}

mo_status mo_dag_clean_cuts(const mo_dag *dag, int **cuts, int *n_cuts,
                            mo_error *err)
{
    int *found, n = 0, last;

    *cuts = NULL;
    *n_cuts = 0;
    if (dag->n == 0)
        return MO_OK;

    found = calloc((size_t) dag->n, sizeof *found);
    if (!found)
        return mo_fail_memory(err);
    last = first_sink(dag);
    for (int t = last_source(dag); t <= last; t++)
        if (jumps_over(dag, t) == 0)
            found[n++] = t;

    if (n == 0) {
        free(found);
        return MO_OK;
    }
    *cuts = found;
    *n_cuts = n;
    return MO_OK;
}
