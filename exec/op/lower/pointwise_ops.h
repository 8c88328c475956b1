/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower_point.h - the lowerings of pointwise operators, by the files they are
 * in; lower_point.c has the table.
 */
#ifndef MO_EXEC_OP_LOWER_POINTWISE_OPS_H
#define MO_EXEC_OP_LOWER_POINTWISE_OPS_H

#include "exec/op/call.h"

/* lower_unary.c: of one tensor, without parameters. */
mo_lower_fn mo_lower_unary;

/* lower_binary.c: of two tensors, or more of them one after the other. */
mo_lower_fn mo_lower_binary;
mo_lower_fn mo_lower_logical;
mo_lower_fn mo_lower_bitwise;
mo_lower_fn mo_lower_power;
mo_lower_fn mo_lower_prelu;

/* lower_activation.c: of one tensor and some numbers. */
mo_lower_fn mo_lower_clamp;
mo_lower_fn mo_lower_relu6;
mo_lower_fn mo_lower_round;
mo_lower_fn mo_lower_elu;
mo_lower_fn mo_lower_selu;
mo_lower_fn mo_lower_leaky_relu;
mo_lower_fn mo_lower_swish;
mo_lower_fn mo_lower_gelu;
mo_lower_fn mo_lower_hard_sigmoid;
mo_lower_fn mo_lower_rsqrt;
mo_lower_fn mo_lower_square;

/* lower_choice.c: what chooses, converts, asks. */
mo_lower_fn mo_lower_convert;
mo_lower_fn mo_lower_select;
mo_lower_fn mo_lower_masked_fill;
mo_lower_fn mo_lower_float_class;
mo_lower_fn mo_lower_fake_quantize;

#endif
