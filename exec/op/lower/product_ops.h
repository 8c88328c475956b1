/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_product.h - products, lowered: one file per kind.
 */
#ifndef MO_EXEC_OP_LOWER_PRODUCT_OPS_H
#define MO_EXEC_OP_LOWER_PRODUCT_OPS_H

#include "exec/op/call.h"

mo_lower_fn mo_lower_matmul, mo_lower_linear, mo_lower_addmm, mo_lower_gemm;
mo_lower_fn mo_lower_einsum;
mo_lower_fn mo_lower_attention;

#endif
