/* SPDX-License-Identifier: Apache-2.0 */
/*
 * constants_reader.h - an op that reads a constant nobody knows, as guesses see
 * it.
 */
#ifndef MO_EXEC_WEIGHTS_CONSUMER_H
#define MO_EXEC_WEIGHTS_CONSUMER_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/tensor/dense_tensor.h"
#include "graph/graph.h"
#include "ingest/shape.h"

typedef struct mo_weights_consumer {
    const mo_graph *g;
    int op;
    mo_shape in, out; /* of its first input and its first output; rank 0 where
                         they are not known */
    mo_tensor_dense *value; /* to be filled: n numbers */
    int64_t n;
} mo_weights_consumer;

mo_weights_consumer mo_weights_consumer_of(const mo_graph *g,
                                           const mo_edge *feed,
                                           mo_tensor_dense *value);

/* The shape of what op reads at port. */
bool mo_weights_consumer_input_shape(const mo_graph *g, int op, int port,
                                     mo_shape *shape);

/* Would this axis, negative ones counted from the back, do for what the op
 * reads at port?  *is_axis: that may be an axis. */
bool mo_weights_consumer_accepts_axis(const mo_weights_consumer *r, int port,
                                      int axis, bool *is_axis);

#endif
