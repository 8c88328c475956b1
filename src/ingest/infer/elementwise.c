/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape rules of elementwise operators with broadcasting, and of reductions.
 */
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

/*
 * PaddlePaddle's broadcasting: b is aligned with a from dimension axis on (-1:
 * at the end) and stretched, never a.
 */
static bool broadcast_pdpd(const mo_shape *a, const mo_shape *b, int64_t axis,
                           mo_shape *merged)
{
    if (axis == -1)
        axis = a->rank - b->rank;
    if (axis < 0 || axis + b->rank > a->rank)
        return false;
    for (int d = 0; d < b->rank; d++)
        if (b->dims[d] != 1 && b->dims[d] != a->dims[axis + d])
            return false;
    *merged = *a;
    return true;
}

/* *merged = a and b under the operator's auto_broadcast. */
static mo_status merge_shapes(const mo_infer_rule_op *op, const mo_shape *a,
                              const mo_shape *b, mo_shape *merged,
                              mo_error *err)
{
    int64_t axis;
    mo_status status;
    bool match;

    if (mo_infer_arg_is(op, "auto_broadcast", "pdpd")) {
        status = mo_infer_arg_int(op, "axis", -1, &axis, err);
        if (status != MO_OK)
            return status;
        match = broadcast_pdpd(a, b, axis, merged);
    } else if (mo_infer_arg_is(op, "auto_broadcast", "none") ||
               mo_infer_arg_is(op, "auto_broadcast", "explicit")) {
        match = mo_shape_equal(a, b);
        *merged = *a;
    } else {
        match = mo_dims_broadcast(a, b, merged);
    }
    return match ? MO_OK : mo_dims_fail_broadcast(err, a, b);
}

mo_status mo_infer_shape_broadcast_binary(const mo_infer_rule_op *op,
                                          mo_shape *outputs, mo_error *err)
{
    return merge_shapes(op, &op->inputs[0].shape, &op->inputs[1].shape, outputs,
                        err);
}

/* The condition comes last: it is the one that PaddlePaddle may stretch. */
mo_status mo_infer_shape_select(const mo_infer_rule_op *op, mo_shape *outputs,
                                mo_error *err)
{
    mo_shape choices;
    mo_status status = merge_shapes(op, &op->inputs[1].shape,
                                    &op->inputs[2].shape, &choices, err);

    if (status != MO_OK)
        return status;
    return merge_shapes(op, &choices, &op->inputs[0].shape, outputs, err);
}

/* The limits of a quantization broadcast to the data, which keeps its shape. */
mo_status mo_infer_shape_fake_quantize(const mo_infer_rule_op *op,
                                       mo_shape *outputs, mo_error *err)
{
    mo_shape all = op->inputs[0].shape;

    for (int i = 1; i < op->n_inputs; i++)
        if (!mo_dims_broadcast(&all, &op->inputs[i].shape, &all))
            return mo_dims_fail_broadcast(err, &all, &op->inputs[i].shape);
    outputs[0] = op->inputs[0].shape;
    return MO_OK;
}

/* Activations, normalizations, and whatever keeps the shape of input 0. */
mo_status mo_infer_shape_same(const mo_infer_rule_op *op, mo_shape *outputs,
                              mo_error *err)
{
    (void) err;
    for (int i = 0; i < op->n_outputs; i++)
        outputs[i] = op->inputs[0].shape;
    return MO_OK;
}

mo_status mo_infer_shape_reduce(const mo_infer_rule_op *op, mo_shape *outputs,
                                mo_error *err)
{
    const mo_shape *from = &op->inputs[0].shape;
    bool marks[MO_MAX_RANK], keep = mo_infer_arg_bool(op, "keep_dims", false);
    mo_status status = mo_infer_arg_marks(op, 1, from->rank, marks, err);

    if (status != MO_OK)
        return status;
    outputs[0] = (mo_shape){ 0 };
    for (int d = 0; d < from->rank; d++)
        if (!marks[d])
            mo_dims_push(outputs, from->dims[d]);
        else if (keep)
            mo_dims_push(outputs, 1);
    return MO_OK;
}

/* The data, then one scale and one zero point. */
mo_status mo_infer_shape_dynamic_quantize(const mo_infer_rule_op *op,
                                          mo_shape *outputs, mo_error *err)
{
    (void) err;
    outputs[0] = op->inputs[0].shape;
    for (int i = 1; i < op->n_outputs; i++)
        outputs[i] = (mo_shape){ .rank = 0 };
    return MO_OK;
}
