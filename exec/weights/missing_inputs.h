/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing_inputs.h - constant inputs that a graph leaves out: the weights of a
 * convolution or a product, the target shape of a Reshape.
 *
 * Graphs that are written for placement have the shapes of tensors and the
 * work of ops, but no weights. Type and shape of the missing inputs follow
 * from the tensors on both sides of the op and from its attributes; the size
 * of a window also from the bytes of the weights, or from the FLOPs.
 */
#ifndef MO_EXEC_WEIGHTS_MISSING_INPUTS_H
#define MO_EXEC_WEIGHTS_MISSING_INPUTS_H

#include <stdbool.h>

#include "base/arena.h"
#include "exec/tensor/dense_tensor.h"
#include "graph/graph.h"

enum { MO_WEIGHTS_MAX_MISSING = 4 };

/* An op as the graph describes it. */
typedef struct mo_weights_partial_op {
    const mo_op *op;
    const char *type;         /* canonical */
    const mo_tensor_desc *in; /* the only input that the graph has */
    const mo_tensor_desc *out;
    int n_out;
} mo_weights_partial_op;

typedef struct mo_weights_missing {
    int n; /* of the inputs below; 0: none, or unknown ones */
    int port[MO_WEIGHTS_MAX_MISSING];
    mo_tensor_desc desc[MO_WEIGHTS_MAX_MISSING];
    int data_port; /* of the input there is */
    /* The values follow from the shapes: none of them is a weight. */
    bool determined;
    /* NULL, or attributes for a window, also of a pool, that has none. */
    const mo_attr_list *attrs;
} mo_weights_missing;

/* Infers the inputs that op lacks beside its only one. missing->attrs is
 * allocated in arena, and NULL also when memory is exhausted. */
void mo_weights_find_missing(const mo_weights_partial_op *op, mo_arena *arena,
                             mo_weights_missing *missing);

#endif
