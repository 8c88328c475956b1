/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reach.h - is there a path from one op to another?
 *
 * Two ways behind one question.  Where the whole closure fits the memory the
 * caller allows (50,000 ops: 157 MB, since ids are topological and half the
 * matrix is empty), it is computed once and an answer is one bit.  Where it
 * does not, every op carries a few interval labels that settle most questions
 * at once, and a search pruned by them settles the rest.
 */
#ifndef MO_GRAPH_REACH_H
#define MO_GRAPH_REACH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "graph/dag.h"

typedef struct mo_dag_reach mo_dag_reach;

enum { MO_DAG_REACH_DEFAULT_BYTES = 200000000 };

/* Prepares dag for questions with at most max_bytes of memory for the closure;
 * beyond that, with labels (about 50 bytes an op, whatever max_bytes says).
 * What dag is a view of must outlive the result. */
mo_status mo_dag_reach_new(const mo_dag *dag, size_t max_bytes,
                           mo_dag_reach **reach, mo_error *err);
void mo_dag_reach_free(mo_dag_reach *reach);

/* Is there a path from a to b?  An op reaches itself.  Not for two threads at
 * once: a search marks where it has been. */
bool mo_dag_reach_path(mo_dag_reach *reach, int a, int b);

/* Neither reaches the other: only such ops can run at the same time. */
bool mo_dag_reach_incomparable(mo_dag_reach *reach, int a, int b);

/* The memory it holds. */
size_t mo_dag_reach_bytes(const mo_dag_reach *reach);

#endif
