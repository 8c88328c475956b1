/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In-place concatenation: convolutions write directly into
 * the buffer of the concatenated result.
 *
 *     a = conv x             [aaaa] \                  a and b are parts of c:
 *     b = conv x             [bb]   -> c [aaaabb]      each place of c has
 *     c = copy a, b                                    a's channels, then b's
 *
 * The copy call stays, with the boxes of other operands: it marks the point at
 * which all of c is complete.
 */
#include <assert.h>
#include <stdlib.h>

#include "exec/plan/passes/nhwc_strides.h"
#include "exec/plan/passes/def_use.h"
#include "exec/plan/passes/passes.h"

enum { CHANNELS = 1 }; /* the dimension */

typedef struct concat_pass {
    mo_exec_plan *plan;
    mo_pass_def_use uses;
} concat_pass;

/* Returns whether the call is a concatenation: every box writes a range of
 * channels, in ascending order. */
static bool is_concat(const concat_pass *n, const mo_call *call)
{
    const mo_call_copy *copy = &call->u.copy;
    const mo_plan_value *out;
    int64_t end = 0;

    if (call->kind != MO_CALL_COPY || call->n_out != 1 || copy->fill_in >= 0)
        return false;
    out = &n->plan->values[call->out[0]];
    if (!out->channels_last || out->view_of != MO_PLAN_NONE)
        return false;
    for (int b = 0; b < copy->n_boxes; b++) {
        mo_pass_channel_range channels;

        if (!mo_pass_box_channel_range(&copy->boxes[b], &out->desc.shape,
                                       &channels) ||
            channels.first < end)
            return false;
        end = channels.end;
    }
    return true;
}

/* Returns whether the box reads a whole value in order. */
static bool reads_whole(const mo_call_copy_box *box, const mo_shape *from)
{
    mo_point_access last = mo_pass_nhwc_access(from);

    if (box->rank != from->rank || box->in_offset != 0)
        return false;
    for (int d = 0; d < from->rank; d++)
        if (box->extent[d] != from->dims[d] ||
            (box->extent[d] > 1 && box->in_stride[d] != last.stride[d]))
            return false;
    return true;
}

/* The convolution that produces a float value without other readers, if it can
 * write with a pitch; or NULL. */
static mo_call_conv *find_convolution(const concat_pass *n, int value)
{
    const mo_plan_value *it = &n->plan->values[value];
    int maker = n->uses.maker[value];
    mo_plan_call *call;

    if (maker == MO_PLAN_NONE || n->uses.reads[value] != 1 || it->part ||
        it->desc.elem != MO_ELEM_F32)
        return NULL;
    call = &n->plan->calls[maker];
    if (call->device != it->device || call->call.kind != MO_CALL_CONV ||
        call->call.u.conv.transposed || call->call.u.conv.groups != 1 ||
        !call->call.u.conv.channels_last)
        return NULL;
    return &call->call.u.conv;
}

static mo_status place_in_result(concat_pass *n, const mo_call *call,
                                 const mo_call_copy_box *box, bool *nests,
                                 mo_error *err)
{
    int whole = call->out[0], value = box->from;
    mo_plan_value *values = n->plan->values;
    mo_plan_slice *part;
    mo_call_conv *conv;

    *nests = false;
    if (value == MO_CALL_COPY_FILL)
        return MO_OK;
    value = call->in[value];
    conv = find_convolution(n, value);
    if (!conv || !reads_whole(box, &values[value].desc.shape) ||
        !mo_pass_channels_fit(&values[value], box->out_offset, &values[whole]))
        return MO_OK;
    part = mo_arena_alloc(n->plan->arena, sizeof *part);
    if (!part)
        return mo_fail_memory(err);
    *part = (mo_plan_slice){ whole, box->out_offset };
    values[value].part = part;
    conv->pitch = values[whole].desc.shape.dims[CHANNELS];
    *nests = true;
    return MO_OK;
}

mo_status mo_pass_concat_inplace(const bool *enabled, mo_exec_plan *plan,
                                 mo_error *err)
{
    concat_pass n = { .plan = plan };
    mo_status status;

    assert(plan->n_transfers == 0);
    if (!enabled)
        return MO_OK;
    status = mo_pass_def_use_build(plan, &n.uses, err);
    for (int c = 0; c < plan->n_calls && status == MO_OK; c++)
        if (enabled[plan->calls[c].device] &&
            is_concat(&n, &plan->calls[c].call)) {
            /* Makes producers write into the result and removes the boxes that
             * became superfluous. */
            mo_call *call = &plan->calls[c].call;
            mo_call_copy *copy = &call->u.copy;
            mo_call_copy_box *boxes = mo_arena_array(
                n.plan->arena, (size_t) copy->n_boxes, sizeof *boxes);
            status = boxes ? MO_OK : mo_fail_memory(err);
            int kept = 0;

            for (int b = 0; b < copy->n_boxes && status == MO_OK; b++) {
                bool nests;

                status =
                    place_in_result(&n, call, &copy->boxes[b], &nests, err);
                if (!nests)
                    boxes[kept++] = copy->boxes[b];
            }
            copy->boxes = boxes;
            copy->n_boxes = kept;
        }
    mo_pass_def_use_clear(&n.uses);
    return status;
}
