/* SPDX-License-Identifier: Apache-2.0 */
/*
 * point_builder.h - builder of pointwise calls (POINT) and epilogues.
 *
 *     mo_point_builder builder = mo_point_builder_init(site);
 *     int x = mo_point_builder_input(&builder, 0);
 *     int y = mo_point_builder_input(&builder, 1);
 *
 *     mo_point_builder_store(
 *         &builder, mo_point_builder_binary(&builder, MO_POINT_ADD, x, y));
 *     return mo_point_builder_finish_call(&builder, lowered, err);
 *
 * The first failure is kept and returned by mo_point_builder_finish_call();
 * the calls in between are harmless. A builder owns no memory.
 */
#ifndef MO_EXEC_OP_POINT_BUILDER_H
#define MO_EXEC_OP_POINT_BUILDER_H

#include "base/arena.h"
#include "base/error.h"
#include "exec/op/lower.h"

typedef struct mo_point_builder {
    const mo_op_site *site;
    mo_point_program point;
    int in[MO_POINT_MAX_OPERANDS]; /* tensors, by operand */
    int out;                       /* the tensor that is written */
    mo_tensor_desc desc;           /* its type and shape */
    mo_status status;
    mo_error error;
} mo_point_builder;

/* Return a builder of output 0; of tensor out, described by desc. */
mo_point_builder mo_point_builder_init(const mo_op_site *site);
mo_point_builder mo_point_builder_init_for(const mo_op_site *site, int out,
                                           const mo_tensor_desc *desc);

/* Returns the register of input i, broadcast by the op's "auto_broadcast". */
int mo_point_builder_input(mo_point_builder *builder, int i);
/* Returns the register of any tensor; from must broadcast to the result as
 * numpy does. */
int mo_point_builder_operand(mo_point_builder *builder, int tensor,
                             const mo_tensor_desc *from);
/* Returns the register of any tensor, as if its only dimensions were those of
 * the result from axis on: a bias per channel. */
int mo_point_builder_operand_along(mo_point_builder *builder, int tensor,
                                   const mo_tensor_desc *from, int axis);

/* Append a step; return its register. x and y are the step's numbers. */
int mo_point_builder_unary(mo_point_builder *builder, mo_point_op op, int a);
int mo_point_builder_unary_params(mo_point_builder *builder, mo_point_op op,
                                  int a, double x, double y);
int mo_point_builder_binary(mo_point_builder *builder, mo_point_op op, int a,
                            int b);
int mo_point_builder_ternary(mo_point_builder *builder, mo_point_op op, int a,
                             int b, int c);

bool mo_point_builder_is_real(const mo_point_builder *builder, int reg);

/* Return a register as a real; as an integer, truncated; as 0 or 1. */
int mo_point_builder_to_real(mo_point_builder *builder, int reg);
int mo_point_builder_to_integer(mo_point_builder *builder, int reg);
int mo_point_builder_to_bool(mo_point_builder *builder, int reg);

/* Sets the result, converted to its type. */
void mo_point_builder_store(mo_point_builder *builder, int reg);

/* Keeps a failure from elsewhere, unless there is one already. */
void mo_point_builder_fail(mo_point_builder *builder, mo_status status,
                           const mo_error *err);

/* Adds the call to lowered, or returns the first failure. */
mo_status mo_point_builder_finish_call(mo_point_builder *builder,
                                       mo_lower_result *lowered, mo_error *err);

/* Makes it the epilogue of a call instead: its tensors 1, 2, ... are
 * in[first_extra], ...; tensor 0 is the call's result. */
mo_status mo_point_builder_finish_epilogue(mo_point_builder *builder,
                                           mo_arena *arena, mo_call *call,
                                           mo_error *err);

#endif
