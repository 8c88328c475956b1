/* SPDX-License-Identifier: Apache-2.0 */
/* Verifier: def before use on every device, and in-place concatenation. */
#include <stdlib.h>

#include "exec/plan/ir/value_table.h"
#include "exec/plan/verify/verify_internal.h"

/* State of a buffer, by the value that owns it. */
enum { NOTHING, ARRIVING, DATA };

typedef struct flow {
    const mo_exec_plan *plan;
    unsigned char *buffer_state;
} flow;

static unsigned char *buffer_state(const flow *f, int value)
{
    return &f->buffer_state[mo_plan_value_root(f->plan->values, value)];
}

static const char *value_name(const mo_exec_plan *plan, int value)
{
    return mo_verify_name(plan->values[value].name);
}

static mo_status check_read(const flow *f, int device, int step, int value,
                            mo_error *err)
{
    unsigned char state = *buffer_state(f, value);

    if (state == DATA)
        return MO_OK;
    return mo_verify_fail(f->plan, device, step, err,
                          state == ARRIVING
                              ? "reads '%.160s' before its transfer was awaited"
                              : "reads '%.160s' before it is written",
                          value_name(f->plan, value));
}

/* Views are read-only. */
static mo_status check_write(flow *f, int device, int step, int value,
                             unsigned char state, mo_error *err)
{
    const mo_plan_value *written = &f->plan->values[value];

    if (written->view_of != MO_PLAN_NONE || f->buffer_state[value] != NOTHING)
        return mo_verify_fail(f->plan, device, step, err,
                              "writes '%.160s', which is there already",
                              value_name(f->plan, value));
    if (state == DATA && written->transfer != MO_PLAN_NONE)
        return mo_verify_fail(f->plan, device, step, err,
                              "writes '%.160s', which a transfer brings",
                              value_name(f->plan, value));
    f->buffer_state[value] = state;
    return MO_OK;
}

static mo_status check_step_flow(flow *f, int device, int step, mo_error *err)
{
    const mo_plan_step *it = &f->plan->devices[device].steps[step];
    const mo_plan_transfer *transfer;

    if (it->kind == MO_PLAN_STEP_COMPUTE) {
        int number = f->plan->devices[device].steps[step].what;
        const mo_call *call = &f->plan->calls[number].call;
        mo_status status = MO_OK;

        for (int i = 0; i < call->n_in && status == MO_OK; i++)
            status = check_read(f, device, step, call->in[i], err);
        for (int i = 0; i < call->n_out && status == MO_OK; i++)
            status = check_write(f, device, step, call->out[i], DATA, err);
        return status;
    }
    transfer = &f->plan->transfers[it->what];
    if (it->kind == MO_PLAN_STEP_SEND)
        return check_read(f, device, step, transfer->from_value, err);
    if (it->kind == MO_PLAN_STEP_RECEIVE)
        return check_write(f, device, step, transfer->to_value, ARRIVING, err);
    if (transfer->to == device)
        f->buffer_state[transfer->to_value] = DATA;
    return MO_OK;
}

/* Devices are checked one by one: a value belongs to one device, and other
 * devices affect it only through transfers that this one posts and awaits. */
mo_status mo_verify_dataflow(const mo_exec_plan *plan, mo_error *err)
{
    flow f = { plan,
               calloc((size_t) plan->n_values + 1, sizeof *f.buffer_state) };
    mo_status status = f.buffer_state ? MO_OK : mo_fail_memory(err);

    for (int v = 0; v < plan->n_values && status == MO_OK; v++)
        if (plan->values[v].constant || plan->values[v].input != MO_PLAN_NONE)
            f.buffer_state[v] = DATA;
    for (int d = 0; d < plan->n_devices; d++)
        for (int i = 0; i < plan->devices[d].n_steps && status == MO_OK; i++)
            status = check_step_flow(&f, d, i, err);
    for (int i = 0; i < plan->n_outputs && status == MO_OK; i++)
        if (*buffer_state(&f, plan->outputs[i].value) != DATA)
            status = mo_fail(err, MO_E_INPUT,
                             "plan: output %d '%.160s' is made by nobody", i,
                             value_name(plan, plan->outputs[i].value));
    free(f.buffer_state);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* In-place concatenation (exec/plan/passes/concat_inplace.c): each part is
 * written by a call with a pitch, and read by the one call that completes the
 * whole, where nothing else writes its channels. */
#include <stdlib.h>

#include "base/array.h"
#include "exec/plan/passes/nhwc_strides.h"
#include "exec/plan/verify/verify_internal.h"

static mo_status fail_part(const mo_exec_plan *plan, int v, mo_error *err,
                           const char *what)
{
    return mo_fail(err, MO_E_INPUT, "plan: value %d '%.160s' %s", v,
                   mo_verify_name(plan->values[v].name), what);
}

static bool is_made_elsewhere(const mo_plan_value *value)
{
    return value->constant || value->view_of != MO_PLAN_NONE ||
           value->input != MO_PLAN_NONE || value->transfer != MO_PLAN_NONE;
}

static mo_status check_part(const mo_exec_plan *plan, int v, mo_error *err)
{
    const mo_plan_value *value = &plan->values[v], *whole;
    const mo_plan_slice *part = value->part;
    int64_t offset;

    if (part->of < 0 || part->of >= plan->n_values)
        return fail_part(plan, v, err, "refers to what does not exist");
    whole = &plan->values[part->of];
    if (whole->part || is_made_elsewhere(value) || is_made_elsewhere(whole) ||
        !mo_pass_channels_fit(value, part->at, whole))
        return fail_part(plan, v, err, "is no part of what it lies in");
    if (plan->devices[value->device].n_streams > 1)
        return fail_part(plan, v, err,
                         "is a part where calls run side by side");
    if (!mo_int64_add(whole->offset,
                      part->at * (int64_t) mo_elem_size(value->desc.elem),
                      &offset) ||
        value->offset != offset)
        return fail_part(plan, v, err, "is not where its part is");
    return MO_OK;
}

static bool is_conv_into(const mo_call *call, int64_t pitch)
{
    const mo_call_conv *conv = &call->u.conv;

    return call->kind == MO_CALL_CONV && conv->pitch == pitch &&
           (pitch == 0 ||
            (conv->channels_last && !conv->transposed && conv->groups == 1));
}

/* Channels must come behind those already claimed. */
static bool claim_channels(mo_pass_channel_range channels, int64_t *end)
{
    if (channels.first < *end)
        return false;
    *end = channels.end;
    return true;
}

/* Boxes from b on that begin before a channel. */
static bool claim_boxes(const mo_exec_plan *plan, const mo_call *call,
                        int64_t before, int *b, int64_t *end)
{
    const mo_call_copy *copy = &call->u.copy;
    const mo_shape *to = &plan->values[call->out[0]].desc.shape;

    for (; *b < copy->n_boxes; (*b)++) {
        mo_pass_channel_range channels;

        if (!mo_pass_box_channel_range(&copy->boxes[*b], to, &channels))
            return false;
        if (channels.first >= before)
            return true;
        if (!claim_channels(channels, end))
            return false;
    }
    return true;
}

/* Parts in the order of operands, and boxes in theirs, share no channel. */
static bool is_concat(const mo_exec_plan *plan, const mo_call *call)
{
    int64_t end = 0;
    int b = 0;

    for (int i = 0; i < call->n_in; i++) {
        const mo_plan_value *value = &plan->values[call->in[i]];
        mo_pass_channel_range channels;

        if (!value->part)
            continue;
        channels.first = value->part->at;
        channels.end = channels.first + value->desc.shape.dims[1];
        if (!claim_boxes(plan, call, channels.first, &b, &end) ||
            !claim_channels(channels, &end))
            return false;
    }
    return claim_boxes(plan, call, INT64_MAX, &b, &end);
}

static bool is_moved(const mo_call_copy *copy, int operand)
{
    for (int b = 0; b < copy->n_boxes; b++)
        if (copy->boxes[b].from == operand)
            return true;
    return copy->fill_in == operand;
}

/* reads: by value, the number of reads of a part. */
static mo_status check_reads(const mo_exec_plan *plan, const mo_call *call,
                             int *reads, mo_error *err)
{
    int n_parts = 0;

    for (int i = 0; i < call->n_in; i++) {
        int v = call->in[i];
        const mo_plan_slice *part = plan->values[v].part;

        if (!part)
            continue;
        n_parts++;
        if (call->kind != MO_CALL_COPY || call->n_out != 1 ||
            call->out[0] != part->of || is_moved(&call->u.copy, i) ||
            reads[v]++ > 0)
            return fail_part(plan, v, err, "is read where it is a part");
    }
    if (n_parts > 0 && !is_concat(plan, call))
        return fail_part(plan, call->out[0], err, "has parts that meet");
    return MO_OK;
}

mo_status mo_verify_concat_inplace(const mo_exec_plan *plan, mo_error *err)
{
    int *reads = calloc((size_t) plan->n_values + 1, sizeof *reads);
    mo_status status = reads ? MO_OK : mo_fail_memory(err);

    for (int v = 0; v < plan->n_values && status == MO_OK; v++)
        if (plan->values[v].part)
            status = check_part(plan, v, err);
    for (int c = 0; c < plan->n_calls && status == MO_OK; c++) {
        const mo_call *call = &plan->calls[c].call;

        status = check_reads(plan, call, reads, err);
        for (int i = 0; i < call->n_out && status == MO_OK; i++) {
            const mo_plan_slice *part = plan->values[call->out[i]].part;
            int64_t pitch =
                part ? plan->values[part->of].desc.shape.dims[1] : (int64_t) 0;

            if ((part || call->kind == MO_CALL_CONV) &&
                !is_conv_into(call, pitch))
                status = fail_part(plan, call->out[i], err,
                                   "is made as if it lay elsewhere");
        }
    }
    free(reads);
    if (status != MO_OK)
        return status;

    /* No other call may access a part. */
    for (int v = 0; v < plan->n_values; v++)
        if (plan->values[v].view_of != MO_PLAN_NONE &&
            plan->values[plan->values[v].view_of].part)
            return fail_part(plan, v, err, "is a view of a part");
    for (int t = 0; t < plan->n_transfers; t++)
        if (plan->values[plan->transfers[t].from_value].part)
            return fail_part(plan, plan->transfers[t].from_value, err,
                             "is sent where it is a part");
    for (int i = 0; i < plan->n_outputs; i++)
        if (plan->values[plan->outputs[i].value].part)
            return fail_part(plan, plan->outputs[i].value, err,
                             "is given out where it is a part");
    return MO_OK;
}
