/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/lower/product_ops.h"

#include <stddef.h>

const mo_lower_entry mo_lower_product_ops[] = {
    { "MatMul", mo_lower_matmul, 0 },
    { "Linear", mo_lower_linear, 0 },
    { "Addmm", mo_lower_addmm, 0 },
    { "Gemm", mo_lower_gemm, 0 },
    { "Einsum", mo_lower_einsum, 0 },
    { "ScaledDotProductAttention", mo_lower_attention, 1u << 4 },
    { NULL, NULL, 0 },
};
