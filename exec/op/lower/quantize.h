/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantize.h - steps that lowerings of quantized operators share.
 *
 * Scales and zero points are one number, or one for each index of an axis.  An
 * optional input without elements counts as absent.
 */
#ifndef MO_EXEC_OP_LOWER_QUANTIZE_H
#define MO_EXEC_OP_LOWER_QUANTIZE_H

#include "exec/op/lower.h"
#include "exec/op/point_builder.h"

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

/* Returns a real rounded to f32 in a program of doubles. */
int mo_lower_quantize_round_f32(mo_point_builder *builder, int reg);

#endif
