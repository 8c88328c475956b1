/* SPDX-License-Identifier: Apache-2.0 */
/*
 * def_use.h - def-use chains: producer and readers of every value.
 */
#ifndef MO_EXEC_PLAN_PASSES_DEF_USE_H
#define MO_EXEC_PLAN_PASSES_DEF_USE_H

#include <stdbool.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"

/* By value; MO_PLAN_NONE where there is none. */
typedef struct mo_pass_def_use {
    int *maker;  /* the call that produces it */
    int *reads;  /* number of reads; views and outputs count */
    int *reader; /* the last call that reads it */
    int *view;   /* the last view of it */
} mo_pass_def_use;

/* Fills a zeroed struct; the caller frees it with mo_pass_def_use_clear(),
 * also on failure. */
mo_status mo_pass_def_use_build(const mo_exec_plan *plan, mo_pass_def_use *uses,
                                mo_error *err);
void mo_pass_def_use_clear(mo_pass_def_use *uses);

/* Returns the call that makes a value, behind views, on that device, or NULL.
 * Values that were added to a table since have none. */
const mo_call *mo_pass_def_use_maker(const mo_pass_def_use *uses,
                                     const mo_exec_plan *plan, int value,
                                     int device);

/* Returns whether a pointwise call writes densely, and reads operand i element
 * by element of its result. */
bool mo_pass_point_is_dense(const mo_exec_plan *plan, const mo_call *call,
                            int i);

/* Returns whether a call is pointwise, of one step, with a result of f32. */
bool mo_pass_point_is_step(const mo_exec_plan *plan, const mo_call *call,
                           mo_point_op op);

/* Returns whether register r of a pointwise call is one constant real: *x. */
bool mo_pass_point_number(const mo_exec_plan *plan, const mo_call *call, int r,
                          double *x);

/* Returns whether two values are views of the same. */
bool mo_pass_same_value(const mo_exec_plan *plan, int a, int b);

#endif
