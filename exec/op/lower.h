/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower.h - lowering: an operator becomes calls (call.h).
 *
 * Which function lowers an operator stands in the column LOWERING of
 * ingest/operators.def.
 */
#ifndef MO_EXEC_OP_LOWER_H
#define MO_EXEC_OP_LOWER_H

#include "base/arena.h"
#include "base/error.h"
#include "exec/op/call.h"
#include "exec/op/op_site.h"
#include "exec/op/point_program.h"

/* Calls in order.  Operands: 0 .. n_in - 1 are the site's inputs, then its
 * outputs, then temporaries, in that numbering.  A call reads what was there
 * before or what an earlier one wrote. */
typedef struct mo_lower_result {
    mo_call *calls;
    int n_calls;
    mo_tensor_desc *temps;
    int n_temps;
} mo_lower_result;

/* Lowers one operator; everything lies in arena.  MO_E_SUPPORT: this type, or
 * this use of it, cannot be run; MO_E_INPUT: what it is told is wrong. */
typedef mo_status mo_lower_fn(const mo_op_site *site, mo_arena *arena,
                              mo_lower_result *lowered, mo_error *err);

/* A row of operators.def, as far as lowering goes. */
typedef struct mo_lower_entry {
    const char *type;   /* as in ingest/operator.h */
    mo_lower_fn *lower; /* NULL: cannot be run */
    unsigned constants; /* inputs that must be constant: bit i is input i */
    /* The one step of a pointwise operator; of a reduction, its operation. */
    mo_point_op on_reals;
    int on_integers; /* mo_point_op or mo_lower_integer_step */
    mo_call_reduce_op reduce;
} mo_lower_entry;

/* What a unary operator does to integers where it has no step for them. */
typedef enum mo_lower_integer_step {
    MO_POINT_AS_REAL = -1, /* the step for reals, rounded */
    MO_POINT_KEEP = -2     /* nothing */
} mo_lower_integer_step;

#define MO_LOWER_INPUT(i)   (1u << (i))
#define MO_LOWER_ALL_INPUTS (~0u)

/* NULL when there is no such operator to run.  The index-th for tests. */
const mo_lower_entry *mo_lower_entry_find(const char *type);
const mo_lower_entry *mo_lower_entry_at(int index);

/* Fails with MO_E_SUPPORT where there is no such operator, or a value is not
 * constant that must be. */
mo_status mo_lower_operator(const mo_op_site *site, mo_arena *arena,
                            mo_lower_result *lowered, mo_error *err);

/* For lowerings: one more call of that kind, with room for its operands; *call
 * is valid until the next one is made. */
mo_status mo_lower_add_call(mo_lower_result *lowered, mo_arena *arena,
                            mo_call_kind kind, int n_in, int n_out,
                            mo_call **call, mo_error *err);
/* One more temporary; its number as an operand. */
mo_status mo_lower_add_temp(mo_lower_result *lowered, mo_arena *arena,
                            const mo_op_site *site, const mo_tensor_desc *desc,
                            int *number, mo_error *err);

#endif
