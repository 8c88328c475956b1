/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/passes/def_use.h"

#include <stdlib.h>

#include "exec/plan/ir/value_table.h"

mo_status mo_pass_def_use_build(const mo_exec_plan *plan, mo_pass_def_use *uses,
                                mo_error *err)
{
    size_t n = (size_t) plan->n_values + 1;

    uses->maker = calloc(n, sizeof *uses->maker);
    uses->reads = calloc(n, sizeof *uses->reads);
    uses->reader = calloc(n, sizeof *uses->reader);
    uses->view = calloc(n, sizeof *uses->view);
    if (!uses->maker || !uses->reads || !uses->reader || !uses->view)
        return mo_fail_memory(err);
    for (int v = 0; v < plan->n_values; v++)
        uses->maker[v] = uses->reader[v] = uses->view[v] = MO_PLAN_NONE;
    for (int v = 0; v < plan->n_values; v++) {
        int seen = plan->values[v].view_of;

        if (seen == MO_PLAN_NONE)
            continue;
        uses->reads[seen]++;
        uses->view[seen] = v;
    }
    for (int c = 0; c < plan->n_calls; c++) {
        const mo_call *call = &plan->calls[c].call;

        for (int i = 0; i < call->n_in; i++) {
            uses->reads[call->in[i]]++;
            uses->reader[call->in[i]] = c;
        }
        for (int i = 0; i < call->n_out; i++)
            uses->maker[call->out[i]] = c;
    }
    for (int i = 0; i < plan->n_outputs; i++)
        uses->reads[plan->outputs[i].value]++;
    return MO_OK;
}

void mo_pass_def_use_clear(mo_pass_def_use *uses)
{
    free(uses->view);
    free(uses->reader);
    free(uses->reads);
    free(uses->maker);
    *uses = (mo_pass_def_use){ 0 };
}

const mo_call *mo_pass_def_use_maker(const mo_pass_def_use *uses,
                                     const mo_exec_plan *plan, int value,
                                     int device)
{
    int root = mo_plan_value_root(plan->values, value);
    int c = root < plan->n_values ? uses->maker[root] : MO_PLAN_NONE;

    return c != MO_PLAN_NONE && plan->calls[c].device == device
               ? &plan->calls[c].call
               : NULL;
}

bool mo_pass_point_is_dense(const mo_exec_plan *plan, const mo_call *call,
                            int i)
{
    const mo_shape *shape = &plan->values[call->out[0]].desc.shape;
    mo_point_access dense = mo_point_access_dense(shape);

    return mo_point_access_equal(&call->u.point.out, &dense, shape) &&
           mo_point_access_equal(&call->u.point.operands[i].access, &dense,
                                 shape);
}

bool mo_pass_point_is_step(const mo_exec_plan *plan, const mo_call *call,
                           mo_point_op op)
{
    const mo_point_program *point = &call->u.point;

    return call->kind == MO_CALL_POINT && point->n_steps == 1 &&
           point->steps[0].op == op && point->result == point->n_operands &&
           plan->values[call->out[0]].desc.elem == MO_ELEM_F32;
}

bool mo_pass_point_number(const mo_exec_plan *plan, const mo_call *call, int r,
                          double *x)
{
    const mo_tensor_dense *constant =
        r < call->n_in ? mo_plan_value_constant(plan->values, call->in[r])
                       : NULL;

    if (!constant || mo_tensor_desc_elements(&constant->desc) != 1 ||
        !mo_elem_is_float(constant->desc.elem))
        return false;
    *x = mo_tensor_get_double(constant, 0);
    return true;
}

bool mo_pass_same_value(const mo_exec_plan *plan, int a, int b)
{
    return mo_plan_value_root(plan->values, a) ==
           mo_plan_value_root(plan->values, b);
}
