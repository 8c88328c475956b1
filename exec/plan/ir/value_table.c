/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/ir/value_table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

mo_plan_value mo_plan_value_init(const char *name, const mo_tensor_desc *desc,
                                 int device)
{
    return (mo_plan_value){
        .name = name,
        .desc = *desc,
        .device = device,
        .view_of = MO_PLAN_NONE,
        .input = MO_PLAN_NONE,
        .transfer = MO_PLAN_NONE,
        .item = MO_PLAN_NONE,
        .offset = MO_PLAN_NONE,
    };
}

mo_status mo_plan_values_copy(const mo_exec_plan *plan, mo_plan_values *values,
                              mo_error *err)
{
    size_t n = (size_t) plan->n_values;
    mo_status status = mo_array_reserve((void **) &values->items, &values->room,
                                        n + 1, sizeof *values->items, err);

    if (status != MO_OK)
        return status;
    if (n > 0)
        memcpy(values->items, plan->values, n * sizeof *values->items);
    values->n = n;
    return MO_OK;
}

mo_status mo_plan_values_add(mo_plan_values *values, const mo_plan_value *value,
                             int *number, mo_error *err)
{
    mo_status status;

    if (values->n >= INT_MAX)
        return mo_fail(err, MO_E_LIMIT, "more than %d values", INT_MAX);
    status = MO_ARRAY_GROW(values->items, values->n, values->room, err);
    if (status != MO_OK)
        return status;
    values->items[values->n] = *value;
    *number = (int) values->n++;
    return MO_OK;
}

mo_status mo_plan_values_commit(const mo_plan_values *values,
                                mo_exec_plan *plan, mo_error *err)
{
    mo_plan_value *kept = mo_arena_array(plan->arena, values->n, sizeof *kept);

    if (!kept)
        return mo_fail_memory(err);
    if (values->n > 0)
        memcpy(kept, values->items, values->n * sizeof *kept);
    plan->values = kept;
    plan->n_values = (int) values->n;
    return MO_OK;
}

void mo_plan_values_clear(mo_plan_values *values)
{
    free(values->items);
    *values = (mo_plan_values){ 0 };
}

int mo_plan_value_root(const mo_plan_value *values, int value)
{
    while (values[value].view_of != MO_PLAN_NONE)
        value = values[value].view_of;
    return value;
}

const mo_tensor_dense *mo_plan_value_constant(const mo_plan_value *values,
                                              int value)
{
    return values[mo_plan_value_root(values, value)].constant;
}
