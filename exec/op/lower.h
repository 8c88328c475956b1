/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lower.h - lowering: translation of an operator into calls (call.h).
 *
 * The function that lowers an operator is in the column LOWERING of
 * ingest/operators.def. Lowerings are pure functions of the site; any thread
 * may call them, each with its own arena.
 */
#ifndef MO_EXEC_OP_LOWER_H
#define MO_EXEC_OP_LOWER_H

#include "base/arena.h"
#include "base/error.h"
#include "exec/op/call.h"
#include "exec/op/op_site.h"
#include "exec/op/point_program.h"

/* Calls in order. Operands: 0 .. n_in - 1 are the site's inputs, then its
 * outputs, then temporaries, in that numbering. A call reads inputs or results
 * of earlier calls. */
typedef struct mo_lower_result {
    mo_arena *arena; /* given; owns all of it */
    mo_call *calls;
    int n_calls;
    mo_tensor_desc *temps;
    int n_temps;
} mo_lower_result;

/* Lowers one operator; *lowered has an arena and nothing else. MO_E_SUPPORT:
 * this type, or this use of it, cannot be run; MO_E_INPUT: its shapes, types or
 * attributes are invalid. */
typedef mo_status mo_lower_fn(const mo_op_site *site, mo_lower_result *lowered,
                              mo_error *err);

/* The lowering of a row of operators.def. */
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

/* Returns the entry of an operator; NULL when it cannot be run. _at: entry
 * number index of those that can, NULL behind the last, for tests. */
const mo_lower_entry *mo_lower_entry_find(const char *type);
const mo_lower_entry *mo_lower_entry_at(int index);

/* Lowers the operator at site into *lowered, after checking its constant inputs
 * and its shapes (shape_check.h). Fails with MO_E_SUPPORT where the operator
 * cannot be run, or an input must be constant and is not. */
mo_status mo_lower_operator(const mo_op_site *site, mo_arena *arena,
                            mo_lower_result *lowered, mo_error *err);

/* For lowerings: adds a call of that kind with arrays for its operands; *call
 * is owned by the arena and valid until the next one is added. */
mo_status mo_lower_add_call(mo_lower_result *lowered, mo_call_kind kind,
                            int n_in, int n_out, mo_call **call, mo_error *err);
/* Adds a temporary; *number is its operand. */
mo_status mo_lower_add_temp(mo_lower_result *lowered, const mo_op_site *site,
                            const mo_tensor_desc *desc, int *number,
                            mo_error *err);

#endif
