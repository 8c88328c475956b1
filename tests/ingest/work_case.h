/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_case.h - a graph of one op, "x", and of its inputs.
 */
#ifndef MO_TESTS_INGEST_WORK_CASE_H
#define MO_TESTS_INGEST_WORK_CASE_H

#include <stdbool.h>

#include "graph/graph.h"

typedef struct work_input {
    const char *shape;
    bool is_constant;
    int port; /* of the op: MO_PORT_NONE or a number */
} work_input;

/* Returns the graph before flops and bytes are filled in; the caller frees it
 * with mo_graph_free(). Of x its type, shape, element type, attributes and
 * bytes of weights, if any, are used. */
mo_graph *work_graph(const mo_op *x, const work_input *inputs, int n);

/* Returns "x". */
const mo_op *work_op(const mo_graph *g);

#endif
