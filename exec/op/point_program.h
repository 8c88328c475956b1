/* SPDX-License-Identifier: Apache-2.0 */
/*
 * point_program.h - pointwise programs: straight-line code that computes one
 * element of the result from one element of each operand.
 *
 * All elementwise operators are such programs, and so is a whole fused group
 * of them; a program after a product or a convolution is its epilogue. Steps
 * work on registers: operands first, then the results of the steps before. A
 * register holds a real or an int64 (booleans are 0 and 1). Reals are floats,
 * or doubles where the program is wide (an operand or the result is f64).
 */
#ifndef MO_EXEC_OP_POINT_PROGRAM_H
#define MO_EXEC_OP_POINT_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "exec/tensor/dense_tensor.h"

/* Operations of a step, from points.def. */
typedef enum mo_point_op {
#define POINT(name, signature) MO_POINT_##name,
#include "exec/op/points.def"
    MO_POINT_OPS
} mo_point_op;

typedef struct mo_point_step {
    mo_point_op op;
    int a, b, c;  /* registers; 0 where not used */
    double x, y;  /* parameters */
    mo_elem elem; /* of MO_POINT_ROUND_TO and MO_POINT_I_WRAP; of other steps
                     between integers and reals MO_ELEM_U64: unsigned */
} mo_point_step;

enum {
    MO_POINT_MAX_OPERANDS = 16,
    MO_POINT_MAX_STEPS = 48,
    MO_POINT_MAX_REGISTERS = MO_POINT_MAX_OPERANDS + MO_POINT_MAX_STEPS
};

/* Address of an operand's element for an element of the result: offset + sum
 * over d of index[d] * stride[d], in elements; stride 0 repeats. Dimensions
 * are the result's. */
typedef struct mo_point_access {
    int64_t offset, stride[MO_MAX_RANK];
} mo_point_access;

typedef struct mo_point_operand {
    mo_elem elem;
    mo_point_access access;
} mo_point_operand;

typedef struct mo_point_program {
    int n_operands, n_steps;
    mo_point_operand operands[MO_POINT_MAX_OPERANDS];
    mo_point_step steps[MO_POINT_MAX_STEPS];
    int result;          /* the register that is stored */
    mo_point_access out; /* where: every element of the result once, densely, in
                      any order of its dimensions */
} mo_point_program;

/* Signature of a step: number of registers, and which are reals. */
typedef struct mo_point_signature {
    int arity;
    bool a_real, b_real; /* c is like b */
    bool real;           /* the result */
} mo_point_signature;

mo_point_signature mo_point_op_signature(mo_point_op op);

/* Return the access of a dense tensor of that shape, and that of a dense tensor
 * of shape from, which must be broadcastable to shape to as in numpy. */
mo_point_access mo_point_access_dense(const mo_shape *shape);
mo_point_access mo_point_access_broadcast(const mo_shape *from,
                                          const mo_shape *to);

/* Expresses an access over another shape of as many elements in the same
 * order; returns false when that is impossible. */
bool mo_point_access_reshape(const mo_point_access *access,
                             const mo_shape *from, const mo_shape *to,
                             mo_point_access *result);

/* Returns true when both give the same addresses over a shape. */
bool mo_point_access_equal(const mo_point_access *a, const mo_point_access *b,
                           const mo_shape *shape);

/* Returns true when both have the same types and steps; the addresses of their
 * operands may differ. */
bool mo_point_program_computes_same(const mo_point_program *a,
                                    const mo_point_program *b);

/* Returns true when a register holds a real. */
bool mo_point_register_is_real(const mo_point_program *point, int reg);

/* Returns true when reals are doubles: some operand, or the result's type, is
 * f64. */
bool mo_point_is_wide(const mo_point_program *point, mo_elem result);

/* Liveness: marks the registers that the result depends on; the caller clears
 * used. */
void mo_point_mark_live(const mo_point_program *point,
                        bool used[MO_POINT_MAX_REGISTERS]);

/* Appends a step; returns its register, or -1 when the program is full. */
int mo_point_push_step(mo_point_program *point, mo_point_step step);

/*
 * Fuses two programs: operand at of second becomes the result of first,
 * rounded to the type in which first was stored. The operands are first's,
 * then second's without that one. Returns false when the result has too many
 * operands or steps; *joined may be neither of them. The accesses of second
 * must be over the same shape.
 */
bool mo_point_fuse(const mo_point_program *first, mo_elem stored,
                   const mo_point_program *second, int at,
                   mo_point_program *joined);

/* Removes operand drop, which equals operand keep (a lower number). */
void mo_point_unify_operands(mo_point_program *point, int keep, int drop);

/* Returns the program that stores its only operand, of that type and shape. */
mo_point_program mo_point_program_identity(mo_elem elem, const mo_shape *shape);

#endif
