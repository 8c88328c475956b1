/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lowerings.h - prototypes of the functions that the column LOWERING of
 * ingest/operators.def names, and helpers that several of them share.
 */
#ifndef MO_EXEC_OP_LOWER_LOWERINGS_H
#define MO_EXEC_OP_LOWER_LOWERINGS_H

#include "exec/op/lower.h"
#include "exec/op/point_builder.h"

/* Of the words that stand for one function. */
mo_lower_fn mo_lower_unary;
mo_lower_fn mo_lower_binary;
mo_lower_fn mo_lower_variadic;
mo_lower_fn mo_lower_logical;
mo_lower_fn mo_lower_bitwise;
mo_lower_fn mo_lower_reduce;

/* Of those that name it. */
#define DECLARE_NONE
#define DECLARE_UNARY(real, integer)
#define DECLARE_BINARY(real, integer)
#define DECLARE_VARIADIC(real, integer)
#define DECLARE_LOGICAL(op)
#define DECLARE_BITWISE(op)
#define DECLARE_REDUCE(op)
#define DECLARE_BINARY_BY(f, real, integer)                  mo_lower_fn mo_lower_##f;
#define DECLARE_LOWER(f, inputs)                             mo_lower_fn mo_lower_##f;
#define OPERATOR(name, class, flops, shape, value, lowering) DECLARE_##lowering
#include "ingest/operators.def"

/* Fills *sweep: in and out from the shapes of input 0 and output 0, kernel
 * from the caller, the rest from attributes, padding by auto_pad. */
mo_status mo_lower_window_read(const mo_op_site *site, const int64_t *kernel,
                               mo_call_window *sweep, mo_error *err);

/* Fails unless the data has batch, channels and 1 to 3 spatial dimensions, and
 * the result as many. */
mo_status mo_lower_window_check(const mo_op_site *site, int *spatial,
                                mo_error *err);

/* Adds a temporary of integers that counts its elements, from start on. */
mo_status mo_lower_add_counter(const mo_op_site *site, int64_t start,
                               const mo_tensor_desc *desc,
                               mo_lower_result *lowered, int *temp,
                               mo_error *err);

/* Steps of quantized operators. Scales and zero points are one number, or one
 * for each index of an axis. An optional input without elements counts as
 * absent. */

/* Returns whether input i is given. */
bool mo_lower_quantize_has(const mo_op_site *site, int i);

/* Returns the register of input i, a scale or a zero point: one number, one
 * for each index of axis of the result, or broadcast as numpy does; -1 where it
 * is not given.  Called before the first step. */
int mo_lower_quantize_operand(mo_point_builder *builder, int i, int axis);

/* Returns the integer of a real, rounded half to even, plus the zero point in
 * that register (-1: none), saturated to elem. */
int mo_lower_quantize_saturate(mo_point_builder *builder, int reg, int zero,
                               mo_elem elem);

/* Returns a real rounded to f32, in a program of doubles. */
int mo_lower_quantize_round_f32(mo_point_builder *builder, int reg);

#endif
