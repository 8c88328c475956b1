/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closure.h - all answers of reach.h at once, a bit each.
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
    size_t row_words; /* of the first row, which is the longest */
    size_t bytes;
} mo_closure;

/* The memory that the closure of n_ops ops takes; SIZE_MAX when it is more than
 * can be said. */
size_t mo_closure_bytes(int n_ops);

/* words is malloced; free() gives it back. */
mo_status mo_closure_make(const mo_dag *dag, mo_closure *closure,
                          mo_error *err);

/* Is there a path from a to b?  a is at most b. */
bool mo_closure_path(const mo_closure *closure, int a, int b);

#endif
