#include <stddef.h>
#include <string.h>

#include "exec/op/call.h"
#include "exec/op/shape_check.h"

static const mo_exec_op *const families[] = {
    mo_exec_ops_point,   mo_exec_ops_reduce, mo_exec_ops_norm,
    mo_exec_ops_move,    mo_exec_ops_index,  mo_exec_ops_resize,
    mo_exec_ops_product, mo_exec_ops_window,
};

enum { N_FAMILIES = sizeof families / sizeof *families };

const mo_exec_op *mo_exec_op_at(int index)
{
    for (int f = 0; f < N_FAMILIES; f++)
        for (const mo_exec_op *op = families[f]; op->type; op++)
            if (index-- == 0)
                return op;
    return NULL;
}

const mo_exec_op *mo_exec_op_find(const char *type)
{
    for (int f = 0; f < N_FAMILIES; f++)
        for (const mo_exec_op *op = families[f]; op->type; op++)
            if (strcmp(op->type, type) == 0)
                return op;
    return NULL;
}

static bool needs_value(const mo_exec_op *op, int input)
{
    return op->values == MO_EXEC_ALL ||
           (input < 32 && op->values >> input & 1u);
}

mo_status mo_op_lower(const mo_site *site, mo_arena *arena, mo_lowered *lowered,
                      mo_error *err)
{
    const mo_exec_op *op = mo_exec_op_find(site->type);
    mo_status status;

    if (!op)
        return mo_site_fail(site, MO_E_SUPPORT, err,
                            "there is no such operator to run");
    if (site->n_in < 1 || site->n_out < 1)
        return mo_site_fail(site, MO_E_INPUT, err,
                            "has %d inputs and %d outputs", site->n_in,
                            site->n_out);
    for (int i = 0; i < site->n_in; i++)
        if (needs_value(op, i) && !site->value[i])
            return mo_site_fail(site, MO_E_SUPPORT, err,
                                "its input %d must be a constant", i);
    status = mo_site_check_shapes(site, arena, err);
    *lowered = (mo_lowered){ 0 };
    return status == MO_OK ? op->lower(site, arena, lowered, err) : status;
}
