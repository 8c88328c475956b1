/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h - the values of a plan while a pass makes more of them.
 *
 * A finished plan owns its values through its arena, where nothing can grow.  A
 * pass takes them out, adds, and puts them back:
 *
 *     mo_plan_values values = { 0 };
 *
 *     status = mo_plan_values_copy(plan, &values, err);
 *     ... mo_plan_values_add(&values, &value, &number, err) ...
 *     if (status == MO_OK)
 *         status = mo_plan_values_commit(&values, plan, err);
 *     mo_plan_values_clear(&values);
 */
#ifndef MO_EXEC_PLAN_IR_VALUE_TABLE_H
#define MO_EXEC_PLAN_IR_VALUE_TABLE_H

#include <stddef.h>

#include "base/error.h"
#include "exec/plan/ir/plan.h"

typedef struct mo_plan_values {
    mo_plan_value *items;
    size_t n, room;
} mo_plan_values;

/* A value of which nothing is known but what it is like and where. */
mo_plan_value mo_plan_value_init(const char *name, const mo_tensor_desc *desc,
                                 int device);

/* A copy of the plan's. */
mo_status mo_plan_values_copy(const mo_exec_plan *plan, mo_plan_values *values,
                              mo_error *err);

/* One more; its number. */
mo_status mo_plan_values_add(mo_plan_values *values, const mo_plan_value *value,
                             int *number, mo_error *err);

/* These are the plan's from now on. */
mo_status mo_plan_values_commit(const mo_plan_values *values,
                                mo_exec_plan *plan, mo_error *err);

void mo_plan_values_clear(mo_plan_values *values);

/* The value whose bytes it shares in the end: itself, unless it is a view. */
int mo_plan_value_root(const mo_plan_value *values, int value);

#endif
