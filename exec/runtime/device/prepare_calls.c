/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preparation of a device's kernels, operand addresses and staging buffers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "exec/plan/ir/value_table.h"
#include "exec/plan/schedule/offsets.h"
#include "exec/runtime/device/device_run_internal.h"
#include "exec/tensor/mmap_file.h"

void mo_run_error_add_op_name(const mo_run_device *d, int call, mo_error *err)
{
    int number = d->plan->calls[call].timed_as;
    const mo_plan_item *item;
    mo_error why;

    /* Plans of tests may have no items. */
    if (!err || number >= d->plan->n_items)
        return;
    item = &d->plan->items[number];
    why = *err;
    mo_fail(err, why.status, "op '%.160s' (%.80s): %s", item->name, item->type,
            why.text);
}

/* Aligned copies of the unaligned constants of a call, one for each value, at
 * its first input; copies[i] is NULL where input i needs none. */
static mo_status copy_unaligned(const mo_run_device *d, const mo_call *call,
                                mo_backend_operand *in, void **copies,
                                mo_error *err)
{
    for (int i = 0; i < call->n_in; i++) {
        size_t bytes = (size_t) mo_tensor_desc_bytes(&in[i].desc);
        int first;

        if (!in[i].constant || !mo_run_is_copied_late(d, call->in[i]) ||
            (uintptr_t) in[i].constant % mo_elem_size(in[i].desc.elem) == 0)
            continue;
        first = 0;
        while (call->in[first] != call->in[i])
            first++;
        if (first == i) {
            copies[i] = malloc(bytes + 1);
            if (!copies[i])
                return mo_fail_memory(err);

            /* Copies a weight and drops it from the mapping on the way, so that
             * memory holds it once. */
            const char *from = in[i].constant;
            char *to = copies[i];
            enum { PART_BYTES = 1 << 22 };

            for (size_t at = 0; at < bytes; at += PART_BYTES) {
                size_t n = mo_min_size(bytes - at, PART_BYTES);

                memcpy(to + at, from + at, n);
                mo_mmap_file_release(from + at, n);
            }
        }
        in[i].constant = copies[first];
    }
    return MO_OK;
}

/* Returns whether the kernel has packed all inputs that are the value of input
 * i. */
static bool is_packed(const mo_run_device *d, const mo_run_action *action,
                      const mo_call *call, int i)
{
    for (int k = i; k < call->n_in; k++)
        if (call->in[k] == call->in[i] &&
            !d->backend->consumed(action->kernel, k))
            return false;
    return true;
}

static mo_status prepare_call(mo_run_device *d, mo_run_action *action,
                              mo_error *err)
{
    const mo_call *call = &d->plan->calls[action->what].call;
    size_t n_in = (size_t) call->n_in, n_out = (size_t) call->n_out;
    mo_backend_operand *in = mo_arena_array(d->arena, n_in, sizeof *in);
    mo_tensor_desc *out = mo_arena_array(d->arena, n_out, sizeof *out);
    void **copies = mo_arena_array(d->arena, n_in, sizeof *copies);
    mo_status status;

    action->in = mo_arena_array(d->arena, n_in, sizeof *action->in);
    action->out = mo_arena_array(d->arena, n_out, sizeof *action->out);
    if (!in || !out || !action->in || !action->out || !copies)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n_in; i++) {
        in[i].desc = d->plan->values[call->in[i]].desc;
        in[i].constant = d->constants[call->in[i]];
    }
    for (size_t i = 0; i < n_out; i++)
        out[i] = d->plan->values[call->out[i]].desc;
    status = copy_unaligned(d, call, in, copies, err);
    if (status == MO_OK)
        status = d->backend->prepare(d->unit, call, in, out, &action->kernel,
                                     &action->workspace_bytes, err);
    /* Weights that the kernel has packed need not stay in memory as mapped
     * files, too. */
    for (size_t i = 0; i < n_in && status == MO_OK; i++)
        if (d->constants[call->in[i]] && is_packed(d, action, call, (int) i))
            mo_mmap_file_release(d->constants[call->in[i]],
                                 (size_t) mo_tensor_desc_bytes(&in[i].desc));

    /* Frees the copies of what the kernel has packed; the device keeps others.
     */
    for (int i = 0; i < call->n_in; i++) {
        if (!copies[i])
            continue;
        if (status != MO_OK || is_packed(d, action, call, i)) {
            free(copies[i]);
            continue;
        }
        d->constants[call->in[i]] = copies[i];
        d->copies[d->n_copies++] = copies[i];
    }
    return status;
}

static mo_status settle_kernels(mo_run_device *d, mo_error *err)
{
    size_t room = (size_t) d->n_actions + 1;
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
    status = d->backend->finalize(d->unit, kernels, n, bytes, err);
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
        const mo_plan_step *step = &planned->steps[i];
        mo_run_action *action = &d->actions[i];

        d->n_actions = i + 1;
        action->kind = step->kind;
        action->what = step->what;
        if (step->kind != MO_PLAN_STEP_COMPUTE) {
            const mo_plan_transfer *transfer = &d->plan->transfers[step->what];

            action->sending = transfer->from == d->device;
            action->bytes = (size_t) transfer->bytes;
            continue;
        }
        status = prepare_call(d, action, err);
        if (status != MO_OK)
            mo_run_error_add_op_name(d, action->what, err);
    }
    if (status != MO_OK)
        return status;
    mo_run_report_progress(d, "prepared");
    if (d->backend->finalize)
        status = settle_kernels(d, err);
    if (status == MO_OK && d->backend->finalize)
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

void mo_run_bind_operands(mo_run_device *d)
{
    for (int i = 0; i < d->n_actions; i++)
        if (d->actions[i].kind == MO_PLAN_STEP_COMPUTE) {
            const mo_call *call = &d->plan->calls[d->actions[i].what].call;

            for (int k = 0; k < call->n_in; k++)
                d->actions[i].in[k] = d->where[call->in[k]];
            for (int k = 0; k < call->n_out; k++)
                d->actions[i].out[k] = d->where[call->out[k]];
        } else {
            const mo_plan_transfer *transfer =
                &d->plan->transfers[d->actions[i].what];

            d->actions[i].value =
                d->where[d->actions[i].sending ? transfer->from_value
                                               : transfer->to_value];
            d->actions[i].data = d->actions[i].value;
        }
}

mo_status mo_run_alloc_staging(mo_run_device *d, mo_error *err)
{
    mo_plan_buffer *buffers =
        mo_arena_array(d->arena, (size_t) d->n_actions + 1, sizeof *buffers);
    mo_plan_arena_size packed = { 0 };
    mo_status status;
    void *near = NULL;
    int n = 0;

    if (!buffers)
        return mo_fail_memory(err);
    /* A buffer for each transfer through host memory, live from its post to its
     * await. */
    for (int i = 0; i < d->n_actions; i++) {
        const mo_run_action *a = &d->actions[i];
        int end = i + 1;

        if ((a->kind != MO_PLAN_STEP_SEND && a->kind != MO_PLAN_STEP_RECEIVE) ||
            (d->carried && d->carried[a->what]))
            continue;
        while (end < d->n_actions &&
               (d->actions[end].kind != MO_PLAN_STEP_AWAIT ||
                d->actions[end].what != a->what))
            end++;
        buffers[n++] = (mo_plan_buffer){
            .owner = i, .begin = i, .end = end, .bytes = (int64_t) a->bytes
        };
    }
    status = mo_plan_assign_offsets(buffers, n, &packed, err);
    if (status == MO_OK && n > 0)
        status = d->backend->alloc_pinned(
            d->unit, (size_t) packed.bytes + MO_PLAN_BUFFER_ALIGN, &near, err);
    d->staging = near;
    for (int i = 0; i < n && status == MO_OK; i++) {
        d->actions[buffers[i].owner].data = d->staging + buffers[i].offset;
        if (buffers[i].end < d->n_actions)
            d->actions[buffers[i].end].data = d->staging + buffers[i].offset;
    }
    return status;
}
