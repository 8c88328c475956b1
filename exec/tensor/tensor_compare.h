/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.h - how far two tensors are apart.
 */
#ifndef MO_EXEC_TENSOR_TENSOR_COMPARE_H
#define MO_EXEC_TENSOR_TENSOR_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "exec/tensor/dense_tensor.h"

typedef struct mo_tensor_difference {
    bool same_shape;
    double relative; /* largest |a - b| / max(largest |b|, tiny), over all; NaN
                        in one only, or unequal infinities: INFINITY */
    double absolute;
    int64_t at; /* where the largest is */
} mo_tensor_difference;

/* b is what a is held against; element types may differ. */
mo_tensor_difference mo_tensor_compare(const mo_tensor_dense *a,
                                       const mo_tensor_dense *b);

#endif
