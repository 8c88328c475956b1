/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor_compare.h - maximum relative and absolute error between two tensors.
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
    int64_t at; /* element with the largest error */
} mo_tensor_difference;

/* Compares a with the reference b; element types may differ. Different shapes:
 * both errors are INFINITY. */
mo_tensor_difference mo_tensor_compare(const mo_tensor_dense *a,
                                       const mo_tensor_dense *b);

#endif
