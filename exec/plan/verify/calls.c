/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/plan/verify/verify_internal.h"

static bool is_index(int number, int count)
{
    return number >= 0 && number < count;
}

static mo_status fail_transfer(const mo_exec_plan *plan, int t, mo_error *err,
                               const char *what)
{
    return mo_fail(err, MO_E_INPUT, "plan: transfer %d of %d %s", t,
                   plan->n_transfers, what);
}

static mo_status check_transfer(const mo_exec_plan *plan, int t, mo_error *err)
{
    const mo_plan_transfer *it = &plan->transfers[t];
    const mo_plan_value *from, *to;

    if (!is_index(it->from_value, plan->n_values) ||
        !is_index(it->to_value, plan->n_values))
        return fail_transfer(plan, t, err, "is of values that do not exist");
    from = &plan->values[it->from_value];
    to = &plan->values[it->to_value];
    if (it->from == it->to || from->device != it->from || to->device != it->to)
        return fail_transfer(plan, t, err,
                             "is not between the devices of its values");
    if (!mo_tensor_desc_equal(&from->desc, &to->desc) ||
        from->channels_last != to->channels_last ||
        mo_tensor_desc_bytes(&from->desc) != it->bytes)
        return fail_transfer(plan, t, err,
                             "has ends that differ in size or type");
    if (to->transfer != t)
        return fail_transfer(plan, t, err, "brings what comes another way");
    return MO_OK;
}

static mo_status check_input(const mo_exec_plan *plan, int i, mo_error *err)
{
    const mo_plan_input *input = &plan->inputs[i];

    if (input->n_values < 0 || (input->n_values > 0 && !input->values))
        return mo_fail(err, MO_E_INPUT, "plan: input %d has wrong counts", i);
    for (int k = 0; k < input->n_values; k++)
        if (!is_index(input->values[k], plan->n_values) ||
            plan->values[input->values[k]].input != i)
            return mo_fail(err, MO_E_INPUT,
                           "plan: input %d is fed to what is no input", i);
    return MO_OK;
}

/* Every value that is an input is fed, once. */
static mo_status check_fed(const mo_exec_plan *plan, mo_error *err)
{
    char *fed = calloc((size_t) plan->n_values + 1, sizeof *fed);
    mo_status status = fed ? MO_OK : mo_fail_memory(err);

    for (int i = 0; i < plan->n_inputs && status == MO_OK; i++)
        for (int k = 0; k < plan->inputs[i].n_values && status == MO_OK; k++)
            if (fed[plan->inputs[i].values[k]]++)
                status = mo_fail(err, MO_E_INPUT,
                                 "plan: input %d is fed twice to one value", i);
    for (int v = 0; v < plan->n_values && status == MO_OK; v++)
        if (plan->values[v].input != MO_PLAN_NONE && !fed[v])
            status = mo_fail(err, MO_E_INPUT,
                             "plan: value %d is an input that nobody feeds", v);
    free(fed);
    return status;
}

static bool is_half(const mo_exec_plan *plan, int output)
{
    mo_elem elem = plan->values[plan->outputs[output].value].desc.elem;

    return elem == MO_ELEM_F16 || elem == MO_ELEM_BF16;
}

mo_status mo_verify_transfers_and_io(const mo_exec_plan *plan, mo_error *err)
{
    mo_status status = MO_OK;

    for (int t = 0; t < plan->n_transfers && status == MO_OK; t++)
        status = check_transfer(plan, t, err);
    for (int i = 0; i < plan->n_inputs && status == MO_OK; i++)
        status = check_input(plan, i, err);
    if (status == MO_OK)
        status = check_fed(plan, err);
    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++)
        if (!is_index(plan->outputs[i].value, plan->n_values))
            status = mo_fail(err, MO_E_INPUT,
                             "plan: output %d is no value of it", i);
        else if (plan->outputs[i].widened && !is_half(plan, i))
            status = mo_fail(err, MO_E_INPUT,
                             "plan: output %d is widened, but not narrow", i);
    return status;
}

static mo_status fail_call(const mo_exec_plan *plan, int c, mo_error *err,
                           const char *what)
{
    return mo_fail(err, MO_E_INPUT, "plan: call %d of %d %s", c, plan->n_calls,
                   what);
}

static bool are_operands(const mo_exec_plan *plan, const int *operands, int n,
                         int device)
{
    if (n < 0 || n > MO_CALL_MAX_OPERANDS || (n > 0 && !operands))
        return false;
    for (int i = 0; i < n; i++)
        if (!is_index(operands[i], plan->n_values) ||
            plan->values[operands[i]].device != device)
            return false;
    return true;
}

/* Operand 0 of an epilogue is what the call computes. */
static bool is_epilogue(const mo_call *call)
{
    int extra = call->n_in - call->first_extra;

    return call->first_extra >= 0 && extra >= 0 &&
           (call->after
                ? call->n_out >= 1 && call->after->n_operands == extra + 1
                : extra == 0);
}

static mo_status check_call(const mo_exec_plan *plan, int c, mo_error *err)
{
    const mo_plan_call *it = &plan->calls[c];
    const mo_call *call = &it->call;

    if (!is_index(it->device, plan->n_devices) ||
        !is_index(it->item, plan->n_items) ||
        !is_index(it->timed_as, plan->n_items) ||
        plan->items[it->item].device != it->device)
        return fail_call(plan, c, err, "is not on the device of its item");
    if ((unsigned) call->kind >= MO_CALL_KINDS || call->kind == MO_CALL_VIEW)
        return fail_call(plan, c, err, "is nothing that a device can do");
    if (!are_operands(plan, call->in, call->n_in, it->device) ||
        !are_operands(plan, call->out, call->n_out, it->device))
        return fail_call(plan, c, err,
                         "has operands that are not on its device");
    if (!is_epilogue(call))
        return fail_call(plan, c, err, "has an epilogue of other operands");
    if (call->kind == MO_CALL_ATTENTION && !mo_verify_attention(plan, call))
        return fail_call(plan, c, err, "is attention beyond its operands");
    return MO_OK;
}

mo_status mo_verify_calls(const mo_exec_plan *plan, mo_error *err)
{
    mo_status status = MO_OK;

    for (int c = 0; c < plan->n_calls && status == MO_OK; c++)
        status = check_call(plan, c, err);
    return status;
}
