/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_table.h - a growable copy of a plan's values, for passes that add
 * some.
 *
 * A plan owns its values through its arena, where arrays cannot grow. A pass
 * copies them, appends, and commits:
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

/* Returns a value with type, shape and device, and no other property; it
 * borrows name. */
mo_plan_value mo_plan_value_init(const char *name, const mo_tensor_desc *desc,
                                 int device);

/* Replaces the table by a copy of the plan's values; the caller frees it with
 * mo_plan_values_clear(). */
mo_status mo_plan_values_copy(const mo_exec_plan *plan, mo_plan_values *values,
                              mo_error *err);

/* Appends a value; *number is its index. */
mo_status mo_plan_values_add(mo_plan_values *values, const mo_plan_value *value,
                             int *number, mo_error *err);

/* Copies the table into the plan's arena and makes it the plan's values. */
mo_status mo_plan_values_commit(const mo_plan_values *values,
                                mo_exec_plan *plan, mo_error *err);

void mo_plan_values_clear(mo_plan_values *values);

/* Returns the value at the end of the chain of views: itself, unless it is a
 * view. */
int mo_plan_value_root(const mo_plan_value *values, int value);

/* Returns the constant behind a value and its views, or NULL. */
const mo_tensor_dense *mo_plan_value_constant(const mo_plan_value *values,
                                              int value);

#endif
