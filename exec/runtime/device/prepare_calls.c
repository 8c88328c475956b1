/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "exec/plan/ir/value_table.h"
#include "exec/runtime/device/device_run_internal.h"

void mo_run_error_add_op_name(const mo_run_device *d, int call, mo_error *err)
{
    int number = d->plan->calls[call].timed_as;
    const mo_plan_item *item;
    mo_error why;

    /* Plans made by hand may have no items. */
    if (!err || number >= d->plan->n_items)
        return;
    item = &d->plan->items[number];
    why = *err;
    mo_fail(err, why.status, "op '%.160s' (%.80s): %s", item->name, item->type,
            why.text);
}

static mo_status prepare_call(mo_run_device *d, mo_run_action *action,
                              mo_error *err)
{
    const mo_call *call = &d->plan->calls[action->what].call;
    size_t n_in = (size_t) call->n_in, n_out = (size_t) call->n_out;
    mo_backend_operand *in = mo_arena_array(d->arena, n_in, sizeof *in);
    mo_tensor_desc *out = mo_arena_array(d->arena, n_out, sizeof *out);

    action->in = mo_arena_array(d->arena, n_in, sizeof *action->in);
    action->out = mo_arena_array(d->arena, n_out, sizeof *action->out);
    if (!in || !out || !action->in || !action->out)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n_in; i++) {
        in[i].desc = d->plan->values[call->in[i]].desc;
        in[i].constant = d->constants[call->in[i]];
    }
    for (size_t i = 0; i < n_out; i++)
        out[i] = d->plan->values[call->out[i]].desc;
    return d->backend->prepare(d->unit, call, in, out, &action->kernel,
                               &action->workspace_bytes, err);
}

static mo_status prepare_step(mo_run_device *d, const mo_plan_step *step,
                              mo_run_action *action, mo_error *err)
{
    const mo_plan_transfer *transfer;
    mo_status status = MO_OK;

    action->kind = step->kind;
    action->what = step->what;
    if (step->kind != MO_PLAN_STEP_COMPUTE) {
        transfer = &d->plan->transfers[step->what];
        action->sending = transfer->from == d->device;
        action->bytes = (size_t) transfer->bytes;
        return MO_OK;
    }
    status = prepare_call(d, action, err);
    if (status != MO_OK)
        mo_run_error_add_op_name(d, action->what, err);
    return status;
}

static int count_calls(const mo_run_device *d)
{
    int n = 0;

    for (int i = 0; i < d->n_actions; i++)
        n += d->actions[i].kind == MO_PLAN_STEP_COMPUTE;
    return n;
}

static mo_status settle(mo_run_device *d, mo_error *err)
{
    size_t room = (size_t) count_calls(d) + 1;
    mo_backend_kernel **kernels =
        mo_arena_array(d->arena, room, sizeof *kernels);
    size_t *bytes = mo_arena_array(d->arena, room, sizeof *bytes);
    mo_status status;
    int n = 0;

    if (!kernels || !bytes)
        return mo_fail_memory(err);
    for (int i = 0; i < d->n_actions; i++)
        if (d->actions[i].kind == MO_PLAN_STEP_COMPUTE)
            kernels[n++] = d->actions[i].kernel;
    status = d->backend->settle(d->unit, kernels, n, bytes, err);
    n = 0;
    for (int i = 0; i < d->n_actions && status == MO_OK; i++)
        if (d->actions[i].kind == MO_PLAN_STEP_COMPUTE)
            d->actions[i].workspace_bytes = bytes[n++];
    return status;
}

mo_status mo_run_prepare_kernels(mo_run_device *d, mo_error *err)
{
    const mo_plan_device *planned = &d->plan->devices[d->device];
    mo_status status = MO_OK;

    d->actions = mo_arena_array(d->arena, (size_t) planned->n_steps + 1,
                                sizeof *d->actions);
    if (!d->actions)
        return mo_fail_memory(err);
    for (int i = 0; i < planned->n_steps && status == MO_OK; i++) {
        d->n_actions = i + 1;
        status = prepare_step(d, &planned->steps[i], &d->actions[i], err);
    }
    if (status != MO_OK)
        return status;
    mo_run_report_progress(d, "prepared");
    if (d->backend->settle)
        status = settle(d, err);
    if (status == MO_OK && d->backend->settle)
        mo_run_report_progress(d, "settled (compiled, ways chosen)");
    return status;
}

void mo_run_workspace_bytes(const mo_run_device *d,
                            int64_t bytes[MO_PLAN_MAX_STREAMS])
{
    for (int i = 0; i < MO_PLAN_MAX_STREAMS; i++)
        bytes[i] = 0;
    for (int i = 0; i < d->n_actions; i++) {
        const mo_run_action *a = &d->actions[i];
        int64_t *most;

        if (a->kind != MO_PLAN_STEP_COMPUTE)
            continue;
        most = &bytes[d->plan->calls[a->what].stream];
        if ((int64_t) a->workspace_bytes > *most)
            *most = (int64_t) a->workspace_bytes;
    }
}

static void bind_call(const mo_run_device *d, mo_run_action *a)
{
    const mo_call *call = &d->plan->calls[a->what].call;

    for (int k = 0; k < call->n_in; k++)
        a->in[k] = d->where[call->in[k]];
    for (int k = 0; k < call->n_out; k++)
        a->out[k] = d->where[call->out[k]];
}

static void bind_transfer(const mo_run_device *d, mo_run_action *a)
{
    const mo_plan_transfer *transfer = &d->plan->transfers[a->what];

    a->value = d->where[a->sending ? transfer->from_value : transfer->to_value];
    a->data = a->value;
}

void mo_run_bind_operands(mo_run_device *d)
{
    for (int i = 0; i < d->n_actions; i++)
        if (d->actions[i].kind == MO_PLAN_STEP_COMPUTE)
            bind_call(d, &d->actions[i]);
        else
            bind_transfer(d, &d->actions[i]);
}
