/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.h - reachability queries on a DAG: is there a path from one op to
 * another?
 *
 * Two indexes behind one interface. Where the transitive closure fits the
 * memory that the caller allows (50,000 ops: 157 MB, since ids are topological
 * and half the matrix is empty), it is computed once and a query reads one
 * bit. Where it does not fit, every op has a few interval labels (GRAIL:
 * Yildirim, Chaoji, Zaki 2010) that decide most queries at once, and a search
 * pruned by them decides the rest.
 */
#ifndef MO_GRAPH_REACH_H
#define MO_GRAPH_REACH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "graph/dag.h"

typedef struct mo_dag_reach mo_dag_reach;

enum { MO_DAG_REACH_DEFAULT_BYTES = 200000000 };

/* Builds the index of dag: the closure if it takes at most max_bytes, labels
 * otherwise (about 50 bytes per op, whatever max_bytes is). The arrays that
 * dag borrows must outlive the result. The caller frees *reach with
 * mo_dag_reach_free(), which accepts NULL. Returns MO_OK or MO_E_MEMORY. */
mo_status mo_dag_reach_new(const mo_dag *dag, size_t max_bytes,
                           mo_dag_reach **reach, mo_error *err);
void mo_dag_reach_free(mo_dag_reach *reach);

/* Returns whether there is a path from a to b; every op reaches itself. Not
 * for two threads at once: a search writes visit stamps. */
bool mo_dag_reach_path(mo_dag_reach *reach, int a, int b);

/* Returns whether neither op reaches the other: only such ops can run at the
 * same time. */
bool mo_dag_reach_incomparable(mo_dag_reach *reach, int a, int b);

/* Returns the memory that the index holds, in bytes. */
size_t mo_dag_reach_bytes(const mo_dag_reach *reach);

#endif
