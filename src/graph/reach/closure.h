/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closure.h - transitive closure of a DAG as a bit matrix.
 */
#ifndef MO_GRAPH_REACH_CLOSURE_H
#define MO_GRAPH_REACH_CLOSURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "graph/dag.h"

typedef struct mo_closure {
    uint64_t *words;
    size_t row_words; /* words in the first row, which is the longest */
    size_t bytes;
} mo_closure;

/* Returns the size in bytes of the closure of n_ops ops; SIZE_MAX when it
 * exceeds a size_t. */
size_t mo_closure_bytes(int n_ops);

/* Computes the closure of dag. The caller frees closure->words with free().
 * Returns MO_OK or MO_E_MEMORY. */
mo_status mo_closure_make(const mo_dag *dag, mo_closure *closure,
                          mo_error *err);

/* Returns whether there is a path from a to b; requires a <= b. */
bool mo_closure_path(const mo_closure *closure, int a, int b);

#endif
