/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape rules of Concat and its inverses, Split and VariadicSplit.
 */
#include "base/array.h"
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

static mo_status concat_axis(const mo_infer_rule_op *op, int *axis,
                             mo_error *err)
{
    int64_t given;
    mo_status status = mo_infer_arg_int(op, "axis", 0, &given, err);

    if (status != MO_OK)
        return status;
    return mo_infer_arg_axis(given, op->inputs[0].shape.rank, axis, err);
}

mo_status mo_infer_shape_concat(const mo_infer_rule_op *op, mo_shape *outputs,
                                mo_error *err)
{
    const mo_shape *first = &op->inputs[0].shape;
    int axis;
    mo_status status = concat_axis(op, &axis, err);

    if (status != MO_OK)
        return status;
    outputs[0] = *first;
    for (int i = 1; i < op->n_inputs; i++) {
        const mo_shape *next = &op->inputs[i].shape;

        if (!mo_shape_equal_but(first, next, axis))
            return mo_fail(
                err, MO_E_INPUT, "cannot join %s and %s along axis %d",
                mo_dims_format(first).text, mo_dims_format(next).text, axis);
        if (!mo_int64_add(outputs[0].dims[axis], next->dims[axis],
                          &outputs[0].dims[axis]))
            return mo_fail(err, MO_E_LIMIT, "its output is too large");
    }
    return MO_OK;
}

mo_status mo_infer_eval_concat(const mo_infer_rule_op *op, int output,
                               mo_infer_value *value, mo_error *err)
{
    mo_infer_view view = mo_infer_view_of(&value->shape);
    int axis;
    mo_status status = concat_axis(op, &axis, err);

    (void) output;
    for (int i = 0; status == MO_OK && i < op->n_inputs; i++) {
        mo_infer_value_put(value, op->inputs[i].value, &view);
        view.base += op->inputs[i].shape.dims[axis] * view.stride[axis];
    }
    return status;
}

mo_status mo_infer_shape_split(const mo_infer_rule_op *op, mo_shape *outputs,
                               mo_error *err)
{
    const mo_shape *from = &op->inputs[0].shape;
    int64_t parts;
    int axis;
    mo_status status = mo_infer_arg_axis_of(op, 1, from->rank, &axis, err);

    if (status == MO_OK)
        status = mo_infer_arg_int(op, "num_splits", op->n_outputs, &parts, err);
    if (status != MO_OK)
        return status;
    if (parts != op->n_outputs || from->dims[axis] % parts != 0)
        return mo_fail(err, MO_E_INPUT,
                       "cannot split %s along axis %d into %lld equal parts "
                       "for %d outputs",
                       mo_dims_format(from).text, axis, (long long) parts,
                       op->n_outputs);
    for (int i = 0; i < op->n_outputs; i++) {
        outputs[i] = *from;
        outputs[i].dims[axis] /= parts;
    }
    return MO_OK;
}

/* Replaces the one length of -1 by what the others leave of size; false when
 * they do not add up to it. */
static bool fill_lengths(const mo_infer_value *lengths, int64_t size, int axis,
                         mo_shape *outputs)
{
    int free = -1;

    for (int i = 0; i < lengths->count; i++) {
        int64_t length = lengths->items[i].i;

        if (length == -1 && free < 0)
            free = i;
        else if (length < 0 || length > size)
            return false;
        else
            size -= length;
        outputs[i].dims[axis] = length;
    }
    if (free >= 0)
        outputs[free].dims[axis] = size;
    return free >= 0 || size == 0;
}

mo_status mo_infer_shape_variadic_split(const mo_infer_rule_op *op,
                                        mo_shape *outputs, mo_error *err)
{
    const mo_shape *from = &op->inputs[0].shape;
    const mo_infer_value *lengths;
    int axis;
    mo_status status = mo_infer_arg_axis_of(op, 1, from->rank, &axis, err);

    if (status == MO_OK)
        status = mo_infer_arg_value(op, 2, &lengths, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < op->n_outputs; i++)
        outputs[i] = *from;
    if (lengths->real || lengths->count != op->n_outputs ||
        !fill_lengths(lengths, from->dims[axis], axis, outputs))
        return mo_fail(err, MO_E_INPUT,
                       "its lengths do not split %s along axis %d into %d "
                       "outputs",
                       mo_dims_format(from).text, axis, op->n_outputs);
    return MO_OK;
}

/* Where a part of VariadicSplit begins: behind those before it, or, when one of
 * them is as long as the others leave it, in front of those after it. */
static int64_t part_start(const mo_infer_value *lengths, int part, int64_t size,
                          int64_t own)
{
    int64_t before = 0, after = size - own;
    bool free = false;

    for (int i = 0; i < part; i++) {
        before += lengths->items[i].i;
        free = free || lengths->items[i].i == -1;
    }
    for (int i = part + 1; i < lengths->count; i++)
        after -= lengths->items[i].i;
    return free ? after : before;
}

mo_status mo_infer_eval_split(const mo_infer_rule_op *op, int output,
                              mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *from = op->inputs[0].value;
    mo_infer_view view = mo_infer_view_of(&from->shape);
    int64_t start, length;
    int axis;
    mo_status status =
        mo_infer_arg_axis_of(op, 1, from->shape.rank, &axis, err);

    if (status != MO_OK)
        return status;
    length = value->shape.dims[axis];
    if (op->n_inputs == 2)
        start = output * length;
    else
        start = part_start(op->inputs[2].value, output, from->shape.dims[axis],
                           length);
    view.base = start * view.stride[axis];
    mo_infer_value_take(value, from, &view);
    return MO_OK;
}
