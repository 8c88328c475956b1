/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_constants.h - fitted constants of the models of kernels, by generation
 * and operands.
 */
#ifndef MO_COST_PREDICT_KERNEL_CONSTANTS_H
#define MO_COST_PREDICT_KERNEL_CONSTANTS_H

#include "cost/device.h"
#include "cost/predict/kernel_model.h"

typedef enum mo_operands {
    MO_OPERANDS_HALF, /* f16, bf16; tf32 */
    MO_OPERANDS_FP8,
    MO_OPERANDS_INT8,
    MO_OPERANDS_FP4,
    MO_OPERANDS_INT8_WEIGHTS, /* b of 8 bits, converted to a's half type */
    MO_OPERANDS_INT4_WEIGHTS  /* b of 4 bits */
} mo_operands;

/* Returns the constants; where none were fitted, those for half precision, and
 * of a generation without measurements those of all generations together. */
const mo_product_constants *mo_product_constants_of(mo_generation generation,
                                                    mo_operands operands);

/* Returns the constants for many queries (prefill), or few (decode). */
const mo_attention_constants *
mo_attention_constants_of(mo_generation generation, bool has_few_queries);

#endif
