/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preparation of a device's kernels, operand addresses, recorded programs and
 * staging buffers.
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

/* Returns the first input that is the same value as input i. */
static int first_input_of(const mo_call *call, int i)
{
    int first = 0;

    while (call->in[first] != call->in[i])
        first++;
    return first;
}

/* Copies a weight and drops it from the mapping on the way, so that memory
 * holds it once. */
static void copy_mapped(char *to, const char *from, size_t bytes)
{
    enum { PART_BYTES = 1 << 22 };

    for (size_t at = 0; at < bytes; at += PART_BYTES) {
        size_t n = mo_min_size(bytes - at, PART_BYTES);

        memcpy(to + at, from + at, n);
        mo_mmap_file_release(from + at, n);
    }
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
        first = first_input_of(call, i);
        if (first == i) {
            copies[i] = malloc(bytes + 1);
            if (!copies[i])
                return mo_fail_memory(err);
            copy_mapped(copies[i], in[i].constant, bytes);
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

/* Frees the copies of what the kernel has packed; the device keeps others. */
static void release_copies(mo_run_device *d, const mo_run_action *action,
                           const mo_call *call, void **copies, bool prepared)
{
    for (int i = 0; i < call->n_in; i++) {
        if (!copies[i])
            continue;
        if (!prepared || is_packed(d, action, call, i)) {
            free(copies[i]);
            continue;
        }
        d->constants[call->in[i]] = copies[i];
        d->copies[d->n_copies++] = copies[i];
    }
}

/* Weights that the kernel has packed need not stay in memory as mapped files,
 * too. */
static void release_packed(const mo_run_device *d, const mo_run_action *action,
                           const mo_call *call)
{
    for (int i = 0; i < call->n_in; i++)
        if (d->constants[call->in[i]] && is_packed(d, action, call, i))
            mo_mmap_file_release(d->constants[call->in[i]],
                                 (size_t) mo_tensor_desc_bytes(
                                     &d->plan->values[call->in[i]].desc));
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
    if (status == MO_OK)
        release_packed(d, action, call);
    release_copies(d, action, call, copies, status == MO_OK);
    return status;
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

static mo_status settle_kernels(mo_run_device *d, mo_error *err)
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
        d->n_actions = i + 1;
        status = prepare_step(d, &planned->steps[i], &d->actions[i], err);
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

/*
 * Partition into programs (CUDA graphs): calls between two transfers are one
 * program:
 *
 *     compute a   compute b   send x   compute c   await x   compute d
 *     |------ program 0 ----|          | prog. 1 |           | prog. 2 |
 */
static int count_programs(const mo_run_device *d)
{
    int n = 0;

    for (int i = 0; i < d->n_actions; i++)
        n += d->actions[i].kind == MO_PLAN_STEP_COMPUTE &&
             (i == 0 || d->actions[i - 1].kind != MO_PLAN_STEP_COMPUTE);
    return n;
}

/* Dependencies on calls of earlier programs are met when this one begins.
 * position: by call of the plan, its index in the program, from first on. */
static mo_status fill_call(mo_run_device *d, const mo_run_program *p, int i,
                           const int *position, mo_error *err)
{
    const mo_run_action *a = &d->actions[p->first + i];
    const mo_plan_call *planned = &d->plan->calls[a->what];
    int *waits = mo_arena_array(d->arena, (size_t) planned->n_depends_on + 1,
                                sizeof *waits);
    int n = 0;

    if (!waits)
        return mo_fail_memory(err);
    for (int k = 0; k < planned->n_depends_on; k++)
        if (position[planned->depends_on[k]] >= p->first)
            waits[n++] = position[planned->depends_on[k]] - p->first;
    p->calls[i] =
        (mo_backend_program_call){ .kernel = a->kernel,
                                   .in = a->in,
                                   .out = a->out,
                                   .workspace = d->workspaces[planned->stream],
                                   .stream = planned->stream,
                                   .deps = waits,
                                   .n_deps = n };
    return MO_OK;
}

static mo_status fill_program(mo_run_device *d, mo_run_program *p,
                              int *position, mo_error *err)
{
    mo_status status = MO_OK;

    p->calls = mo_arena_array(d->arena, (size_t) p->n, sizeof *p->calls);
    if (!p->calls)
        return mo_fail_memory(err);
    for (int i = 0; i < p->n; i++)
        position[d->actions[p->first + i].what] = p->first + i;
    for (int i = 0; i < p->n && status == MO_OK; i++)
        status = fill_call(d, p, i, position, err);
    return status;
}

mo_status mo_run_partition_programs(mo_run_device *d, mo_error *err)
{
    size_t room = (size_t) count_programs(d) + 1;
    int *position = mo_arena_array(d->arena, (size_t) d->plan->n_calls + 1,
                                   sizeof *position);
    mo_status status = MO_OK;

    d->programs = mo_arena_array(d->arena, room, sizeof *d->programs);
    if (!d->programs || !position)
        return mo_fail_memory(err);
    for (int c = 0; c < d->plan->n_calls; c++)
        position[c] = -1;
    for (int i = 0; i < d->n_actions && status == MO_OK; i++) {
        mo_run_program *p = &d->programs[d->n_programs];

        if (d->actions[i].kind != MO_PLAN_STEP_COMPUTE)
            continue;
        p->first = i;
        while (i < d->n_actions && d->actions[i].kind == MO_PLAN_STEP_COMPUTE)
            i++;
        p->n = i - p->first;
        d->n_programs++;
        status = fill_program(d, p, position, err);
    }
    return status;
}

mo_status mo_run_record_programs(mo_run_device *d, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < d->n_programs && status == MO_OK; i++) {
        mo_run_program *p = &d->programs[i];

        status = d->backend->record(d->unit, p->calls, p->n, &p->recorded, err);
    }
    d->are_recorded = status == MO_OK;
    return status;
}

void mo_run_free_programs(mo_run_device *d)
{
    for (int i = 0; i < d->n_programs; i++)
        if (d->programs[i].recorded)
            d->backend->free_program(d->unit, d->programs[i].recorded);
}

/* Returns whether the action posts a transfer that is staged through host
 * memory. */
static bool posts_staged_transfer(const mo_run_device *d,
                                  const mo_run_action *a)
{
    return (a->kind == MO_PLAN_STEP_SEND || a->kind == MO_PLAN_STEP_RECEIVE) &&
           !(d->carried && d->carried[a->what]);
}

static int find_await(const mo_run_device *d, int begin)
{
    int i = begin + 1;

    while (i < d->n_actions && (d->actions[i].kind != MO_PLAN_STEP_AWAIT ||
                                d->actions[i].what != d->actions[begin].what))
        i++;
    return i;
}

/* A buffer for each transfer, live from its post to its await. */
static int collect_buffers(const mo_run_device *d, mo_plan_buffer *buffers)
{
    int n = 0;

    for (int i = 0; i < d->n_actions; i++)
        if (posts_staged_transfer(d, &d->actions[i]))
            buffers[n++] =
                (mo_plan_buffer){ .owner = i,
                                  .begin = i,
                                  .end = find_await(d, i),
                                  .bytes = (int64_t) d->actions[i].bytes };
    return n;
}

mo_status mo_run_alloc_staging(mo_run_device *d, mo_error *err)
{
    mo_plan_buffer *buffers =
        mo_arena_array(d->arena, (size_t) d->n_actions + 1, sizeof *buffers);
    mo_plan_arena_size packed = { 0 };
    mo_status status;
    void *near = NULL;
    int n;

    if (!buffers)
        return mo_fail_memory(err);
    n = collect_buffers(d, buffers);
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
