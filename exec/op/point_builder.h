/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draft.h - a pointwise call while it is being written.
 *
 *     mo_point_builder draft = mo_point_builder_init(site);
 *     int x = mo_point_builder_input(&draft, 0), y =
 * mo_point_builder_input(&draft, 1);
 *
 *     mo_point_builder_store(&draft, mo_point_builder_binary(&draft,
 * MO_POINT_ADD, x, y)); return mo_point_builder_finish_call(&draft, arena,
 * lowered, err);
 *
 * The first thing that goes wrong is kept and returned by
 * mo_point_builder_finish_call; what is done in between does no harm.
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
    mo_tensor_desc desc;           /* what it is like */
    mo_status status;
    mo_error error;
} mo_point_builder;

/* One that makes output 0; or one that makes tensor out, like desc. */
mo_point_builder mo_point_builder_init(const mo_op_site *site);
mo_point_builder mo_point_builder_init_for(const mo_op_site *site, int out,
                                           const mo_tensor_desc *desc);

/* The register of input i, broadcast as the op says ("auto_broadcast"). */
int mo_point_builder_input(mo_point_builder *draft, int i);
/* Of any tensor; from must broadcast to the result as numpy does. */
int mo_point_builder_operand(mo_point_builder *draft, int tensor,
                             const mo_tensor_desc *from);
/* Of any tensor, as if its only dimensions were those of the result from axis
 * on: a bias per channel. */
int mo_point_builder_operand_along(mo_point_builder *draft, int tensor,
                                   const mo_tensor_desc *from, int axis);

/* One more step; its register.  The numbers of mo_point_builder_unary_params
 * are the step's. */
int mo_point_builder_unary(mo_point_builder *draft, mo_point_op op, int a);
int mo_point_builder_unary_params(mo_point_builder *draft, mo_point_op op,
                                  int a, double x, double y);
int mo_point_builder_binary(mo_point_builder *draft, mo_point_op op, int a,
                            int b);
int mo_point_builder_ternary(mo_point_builder *draft, mo_point_op op, int a,
                             int b, int c);

bool mo_point_builder_is_real(const mo_point_builder *draft, int reg);

/* A register as a real; as an integer, cut towards zero; as 0 or 1. */
int mo_point_builder_to_real(mo_point_builder *draft, int reg);
int mo_point_builder_to_integer(mo_point_builder *draft, int reg);
int mo_point_builder_to_bool(mo_point_builder *draft, int reg);

/* The result, converted to its type. */
void mo_point_builder_store(mo_point_builder *draft, int reg);

/* Keeps a failure that was found elsewhere. */
void mo_point_builder_fail(mo_point_builder *draft, mo_status status,
                           const mo_error *err);

/* Adds the call. */
mo_status mo_point_builder_finish_call(mo_point_builder *draft, mo_arena *arena,
                                       mo_lower_result *lowered, mo_error *err);

/* Makes it the epilogue of a call instead, which has its tensors 1, 2, ... as
 * in[first_extra], ...; tensor 0 stands for what the call computes. */
mo_status mo_point_builder_finish_epilogue(mo_point_builder *draft,
                                           mo_arena *arena, mo_call *call,
                                           mo_error *err);

#endif
