/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_order.h - flops of an op with inputs of unknown port, by
 * enumerating their orders.
 *
 * An edge without dst_port may be any input, and the names of the op's
 * neighbours must not decide. All arrangements are tried: those that do not
 * fit the shapes (mo_work_shapes_agree) are out, and where the rest disagree,
 * constants come behind the others, as frameworks have them. If they still
 * disagree, the flops are unknown.
 */
#ifndef MO_INGEST_WORK_INPUT_ORDER_H
#define MO_INGEST_WORK_INPUT_ORDER_H

#include <stdbool.h>

#include "ingest/work.h"

enum { MO_INPUT_ORDER_MAX_FREE = 4 }; /* 24 arrangements */

/* An input without a port, in the slot where it happens to be. */
typedef struct mo_input_order_free_input {
    int slot;
    bool is_constant;
} mo_input_order_free_input;

/* Returns true when the operator's formula depends on the order of its
 * inputs. */
bool mo_input_order_matters(const mo_operator *kind);

/* Returns the flops of the op at input, whose inputs lie in shapes; the n free
 * ones (at most MO_INPUT_ORDER_MAX_FREE, by slot) are permuted in place. < 0
 * when the arrangements disagree or a shape they need is not known. */
double mo_input_order_flops(const mo_work_input *input, mo_shape *shapes,
                            const mo_input_order_free_input *free_inputs,
                            int n);

/* Returns false when the shapes contradict each other; true where too little
 * is known, or the operator has no check. */
bool mo_work_shapes_agree(const mo_work_input *in);

#endif
