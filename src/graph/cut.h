/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut.h - clean cuts: the ops where the whole network passes through one.
 *
 * An op is a clean cut when it is comparable with every other op (it comes
 * before or after each of them on some path) and no edge jumps over it.  While
 * it runs, nothing else can: every device but its own is idle and no tensor is
 * on the way.  That is why a placement splits there, exactly, into independent
 * pieces that meet only in the cut's device.
 */
#ifndef MO_GRAPH_CUT_H
#define MO_GRAPH_CUT_H

#include "base/error.h"
#include "graph/dag.h"

/*
 * Finds the clean cuts of dag, in topological order.
 *
 * On success *cuts holds *n_cuts op ids and is the caller's to free().  A graph
 * may well have none: then *n_cuts is 0 and *cuts NULL.
 * Takes O(ops + edges) time.
 */
mo_status mo_dag_clean_cuts(const mo_dag *dag, int **cuts, int *n_cuts,
                            mo_error *err);

#endif
