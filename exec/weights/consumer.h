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

typedef struct mo_reader {
    const mo_graph *g;
    int op;
    mo_shape in, out; /* of its first input and its first output; rank 0 where
                         they are not known */
    mo_dense *value;  /* to be filled: n numbers */
    int64_t n;
} mo_reader;

mo_reader mo_reader_of(const mo_graph *g, const mo_edge *feed, mo_dense *value);

/* The shape of what op reads at port. */
bool mo_reader_input(const mo_graph *g, int op, int port, mo_shape *shape);

/* Would this axis, negative ones counted from the back, do for what the op
 * reads at port?  *is_axis: that may be an axis. */
bool mo_reader_takes(const mo_reader *r, int port, int axis, bool *is_axis);

#endif
