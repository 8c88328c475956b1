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
mo_status mo_dag_clean_cuts(const mo_dag *dag, int **cuts, int *n_cuts,
                            mo_error *err)
{
    int *found, n = 0, first, last;

    *cuts = NULL;
    *n_cuts = 0;
    if (dag->n == 0)
        return MO_OK;

    found = calloc((size_t) dag->n, sizeof *found);
    if (!found)
        return mo_fail_memory(err);
    /* From the last source to the first sink. */
    first = dag->n - 1;
    last = 0;
    while (mo_dag_in_degree(dag, first) > 0)
        first--;
    while (mo_dag_out_degree(dag, last) > 0)
        last++;
    /* No edge passes over t without touching it: those that leave an op before
     * t are as many as those that end at or before t. */
    for (int t = first; t <= last; t++)
        if (dag->out_start[t] == dag->in_start[t + 1])
            found[n++] = t;

    if (n == 0) {
        free(found);
        return MO_OK;
    }
    *cuts = found;
    *n_cuts = n;
    return MO_OK;
}
