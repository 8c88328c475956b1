/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>

#include "exec/op/call.h"
#include "exec/op/shape_check.h"

static const mo_lower_entry *const families[] = {
    mo_lower_pointwise_ops, mo_lower_reduce_ops, mo_lower_norm_ops,
    mo_lower_movement_ops,  mo_lower_index_ops,  mo_lower_interpolate_ops,
    mo_lower_product_ops,   mo_lower_window_ops,
};

enum { N_FAMILIES = sizeof families / sizeof *families };

const mo_lower_entry *mo_lower_entry_at(int index)
{
    for (int f = 0; f < N_FAMILIES; f++)
        for (const mo_lower_entry *op = families[f]; op->type; op++)
            if (index-- == 0)
                return op;
    return NULL;
}

const mo_lower_entry *mo_lower_entry_find(const char *type)
{
    for (int f = 0; f < N_FAMILIES; f++)
        for (const mo_lower_entry *op = families[f]; op->type; op++)
            if (strcmp(op->type, type) == 0)
                return op;
    return NULL;
}

static bool needs_value(const mo_lower_entry *op, int input)
{
    return op->values == MO_LOWER_ALL_INPUTS ||
           (input < 32 && op->values >> input & 1u);
}

mo_status mo_lower_operator(const mo_op_site *site, mo_arena *arena,
                            mo_lower_result *lowered, mo_error *err)
{
    const mo_lower_entry *op = mo_lower_entry_find(site->type);
    mo_status status;

    if (!op)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "there is no such operator to run");
    if (site->n_in < 1 || site->n_out < 1)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "has %d inputs and %d outputs", site->n_in,
                               site->n_out);
    for (int i = 0; i < site->n_in; i++)
        if (needs_value(op, i) && !site->value[i])
            return mo_op_site_fail(site, MO_E_SUPPORT, err,
                                   "its input %d must be a constant", i);
    status = mo_op_site_check_shapes(site, arena, err);
    *lowered = (mo_lower_result){ 0 };
    return status == MO_OK ? op->lower(site, arena, lowered, err) : status;
}
