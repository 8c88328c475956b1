/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut.h - clean cuts: articulation ops through which the whole network passes.
 *
 * An op is a clean cut when it is comparable with every other op (it comes
 * before or after each of them on some path) and no edge jumps over it. While
 * it runs, nothing else can: every device but its own is idle and no tensor is
 * in transit. That is why a placement splits there, exactly, into independent
 * segments that share only the cut's device.
 */
#ifndef MO_GRAPH_CUT_H
#define MO_GRAPH_CUT_H

#include "base/error.h"
#include "graph/dag.h"

/*
 * Finds the clean cuts of dag, in topological order, in O(ops + edges) time.
 *
 * On success *cuts holds *n_cuts op ids, and the caller frees it with free().
 * Without any cut *n_cuts is 0 and *cuts NULL. Returns MO_OK or MO_E_MEMORY.
 */
mo_status mo_dag_clean_cuts(const mo_dag *dag, int **cuts, int *n_cuts,
                            mo_error *err);

#endif
