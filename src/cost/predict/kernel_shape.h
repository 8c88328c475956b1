/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_shape.h - sizes of the product, convolution or attention that an op
 * is, from the types of its operands.
 */
#ifndef MO_COST_PREDICT_KERNEL_SHAPE_H
#define MO_COST_PREDICT_KERNEL_SHAPE_H

#include <stdbool.h>

#include "cost/predict.h"
#include "graph/shape.h"

enum { MO_KERNEL_INPUTS = 4 };

typedef struct mo_kernel_tensor {
    mo_shape shape;       /* rank -1: unknown */
    double element_bytes; /* or 0: those of the arithmetic */
} mo_kernel_tensor;

typedef struct mo_kernel_operands {
    mo_kernel_tensor inputs[MO_KERNEL_INPUTS]; /* by port */
    mo_kernel_tensor output;                   /* the first */
    int first;           /* input that is the left operand */
    double weight_bytes; /* of constant operands together, or <= 0: unknown */
    double groups;       /* of a convolution, or 0: by the filter's shape */
    bool is_causal;
} mo_kernel_operands;

/* Sets product and attention of work, whose other members are set. */
void mo_kernel_shape_set(const mo_kernel_operands *operands, mo_workload *work);

#endif
