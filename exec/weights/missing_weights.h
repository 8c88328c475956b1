/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing_weights.h - inputs of an op that its graph does not have, from the
 * shapes of the others and of the output: what ops with windows share with the
 * rest.
 */
#ifndef MO_EXEC_WEIGHTS_MISSING_WEIGHTS_H
#define MO_EXEC_WEIGHTS_MISSING_WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/weights/missing_inputs.h"

typedef struct mo_weights_search {
    const mo_weights_partial_op *op;
    const mo_shape *in, *out;
    mo_arena *arena;
    mo_weights_missing *missing;
} mo_weights_search;

/* Adds weights of the output's type; returns true. */
bool mo_weights_search_add(mo_weights_search *s, int port,
                           const mo_shape *shape);

/* Returns the elements of the weights by their bytes; 0: unknown. */
int64_t mo_weights_search_elements(const mo_weights_search *s);

/* Of ops with a window, which is inferred where the graph does not give it.
 * false: none fits. */
bool mo_weights_infer_conv(mo_weights_search *s);
bool mo_weights_infer_group_conv(mo_weights_search *s);
bool mo_weights_infer_conv_transpose(mo_weights_search *s);
bool mo_weights_infer_group_conv_transpose(mo_weights_search *s);
bool mo_weights_infer_pool(mo_weights_search *s);

#endif
