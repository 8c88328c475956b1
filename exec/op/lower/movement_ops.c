/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that leave every element as it is: those that change only how they
 * are counted, slices, and the table of the others.
 */
#include "exec/op/lower/movement_ops.h"

#include "exec/op/copy_builder.h"
#include "exec/op/shape_check.h"
#include "ingest/infer/slice.h"

enum { MANY = MO_CALL_MAX_OPERANDS };

/* What the new shape is follows from attributes and inputs that need not be
 * looked at: it is known. */
static mo_status lower_view(const mo_op_site *site, mo_arena *arena,
                            mo_lower_result *lowered, mo_error *err)
{
    char from[MO_TENSOR_DESC_TEXT_SIZE], to[MO_TENSOR_DESC_TEXT_SIZE];
    mo_call *call;
    mo_status status = mo_op_site_check_arity(site, 1, MANY, 1, err);

    if (status == MO_OK)
        status = mo_lower_copy_check_types(site, err);
    if (status != MO_OK)
        return status;
    if (mo_tensor_desc_elements(&site->in[0]) !=
        mo_tensor_desc_elements(&site->out[0]))
        return mo_op_site_fail(site, MO_E_INPUT, err, "cannot turn %s into %s",
                               mo_tensor_desc_format(&site->in[0], from),
                               mo_tensor_desc_format(&site->out[0], to));
    status = mo_lower_add_call(lowered, arena, MO_CALL_VIEW, 1, 1, &call, err);
    if (status == MO_OK) {
        call->in[0] = 0;
        call->out[0] = site->n_in;
    }
    return status;
}

static mo_status lower_cut(const mo_op_site *site, mo_arena *arena,
                           mo_lower_result *lowered, mo_error *err)
{
    mo_error why = { 0 };
    mo_call_copy_box box;
    mo_infer_rule_op op;
    mo_infer_slice cut;
    mo_status status = mo_op_site_check_arity(site, 3, 5, 1, err);

    if (status == MO_OK)
        status = mo_lower_copy_check_types(site, err);
    if (status == MO_OK)
        status = mo_op_site_rule_op(
            site, MO_INFER_RULE_ALL & ~MO_INFER_RULE_INPUT(0), arena, &op, err);
    if (status != MO_OK)
        return status;
    status = mo_infer_slice_read(&op, &cut, &why);
    if (status != MO_OK)
        return mo_op_site_fail(site, status, err, "%s", why.text);
    status = mo_op_site_check_output(site, 0, &cut.shape, err);
    if (status != MO_OK)
        return status;
    box = mo_lower_copy_box_init(&cut.shape);
    box.in_offset = cut.view.base;
    for (int d = 0; d < box.rank; d++)
        box.in_stride[d] = cut.view.stride[d];
    return mo_lower_copy_add_box(&box, 0, site->n_in, arena, lowered, err);
}

#define VALUE(i) MO_LOWER_INPUT(i)

const mo_lower_entry mo_lower_movement_ops[] = {
    { "Reshape", lower_view, 0 },
    { "Squeeze", lower_view, 0 },
    { "Unsqueeze", lower_view, 0 },
    { "Identity", lower_view, 0 },
    { "Copy", lower_view, 0 },

    { "Slice", lower_cut, MO_LOWER_ALL_INPUTS & ~VALUE(0) },
    { "StridedSlice", lower_cut, MO_LOWER_ALL_INPUTS & ~VALUE(0) },

    { "Concat", mo_lower_concat, 0 },
    { "Split", mo_lower_split, VALUE(1) },
    { "VariadicSplit", mo_lower_split, VALUE(1) | VALUE(2) },

    { "Transpose", mo_lower_transpose, VALUE(1) },
    { "ShuffleChannels", mo_lower_shuffle_channels, 0 },
    { "Reverse", mo_lower_reverse, VALUE(1) },
    { "ReverseSequence", mo_lower_reverse_sequence, VALUE(1) },
    { "Roll", mo_lower_roll, VALUE(1) | VALUE(2) },

    { "Broadcast", mo_lower_broadcast, VALUE(1) | VALUE(2) },
    { "Tile", mo_lower_tile, VALUE(1) },
    { "Pad", mo_lower_pad, VALUE(1) | VALUE(2) },

    { "DepthToSpace", mo_lower_depth_to_space, 0 },
    { "SpaceToDepth", mo_lower_space_to_depth, 0 },
    { "SpaceToBatch", mo_lower_space_to_batch, VALUE(1) | VALUE(2) | VALUE(3) },
    { "BatchToSpace", mo_lower_batch_to_space, VALUE(1) | VALUE(2) | VALUE(3) },
    { NULL, NULL, 0 },
};
