/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape rules of Transpose, Tile and Broadcast.
 */
#include "base/array.h"
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

/* order[d] = the input dimension that becomes dimension d. */
static mo_status transpose_order(const mo_infer_rule_op *op,
                                 int order[MO_MAX_RANK], mo_error *err)
{
    int rank = op->inputs[0].shape.rank;
    bool taken[MO_MAX_RANK] = { false };
    mo_infer_arg_list list;
    mo_status status = mo_infer_arg_list_of(op, 1, &list, err);

    if (status == MO_OK && list.count == 0) /* the default: reversed */
        for (int d = 0; d < rank; d++)
            list.at[list.count++] = rank - 1 - d;
    for (int d = 0; status == MO_OK && d < list.count; d++) {
        status = mo_infer_arg_axis(list.at[d], rank, &order[d], err);
        if (status == MO_OK && taken[order[d]])
            return mo_fail(err, MO_E_INPUT, "its order names axis %d twice",
                           order[d]);
        if (status == MO_OK)
            taken[order[d]] = true;
    }
    if (status == MO_OK && list.count != rank)
        return mo_fail(err, MO_E_INPUT, "its order has %d axes for %s",
                       list.count, mo_dims_format(&op->inputs[0].shape).text);
    return status;
}

mo_status mo_infer_shape_transpose(const mo_infer_rule_op *op,
                                   mo_shape *outputs, mo_error *err)
{
    const mo_shape *from = &op->inputs[0].shape;
    int order[MO_MAX_RANK];
    mo_status status = transpose_order(op, order, err);

    if (status != MO_OK)
        return status;
    outputs[0].rank = from->rank;
    for (int d = 0; d < from->rank; d++)
        outputs[0].dims[d] = from->dims[order[d]];
    return MO_OK;
}

mo_status mo_infer_eval_transpose(const mo_infer_rule_op *op, int output,
                                  mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *from = op->inputs[0].value;
    mo_infer_view own = mo_infer_view_of(&from->shape), view = { 0 };
    int order[MO_MAX_RANK];
    mo_status status = transpose_order(op, order, err);

    (void) output;
    if (status != MO_OK)
        return status;
    for (int d = 0; d < from->shape.rank; d++)
        view.stride[d] = own.stride[order[d]];
    mo_infer_value_take(value, from, &view);
    return MO_OK;
}

/* *repeats = how often each dimension of the output's rank is repeated; 0 for
 * counts below 1, which make the output empty. */
static mo_status tile_repeats(const mo_infer_rule_op *op, mo_shape *repeats,
                              mo_error *err)
{
    int rank = op->inputs[0].shape.rank;
    mo_infer_arg_list list;
    mo_status status = mo_infer_arg_list_of(op, 1, &list, err);

    if (status != MO_OK)
        return status;
    *repeats = (mo_shape){ 0 };
    for (int d = list.count; d < rank; d++)
        mo_dims_push(repeats, 1);
    for (int d = 0; d < list.count; d++)
        mo_dims_push(repeats, list.at[d] > 0 ? list.at[d] : 0);
    return MO_OK;
}

mo_status mo_infer_shape_tile(const mo_infer_rule_op *op, mo_shape *outputs,
                              mo_error *err)
{
    const mo_shape *from = &op->inputs[0].shape;
    int lead;
    mo_status status = tile_repeats(op, outputs, err);

    if (status != MO_OK)
        return status;
    lead = outputs[0].rank - from->rank;
    for (int d = 0; d < from->rank; d++) {
        int64_t *dim = &outputs[0].dims[lead + d];

        if (!mo_int64_mul(*dim, from->dims[d], dim))
            return mo_fail(err, MO_E_LIMIT, "its output is too large");
    }
    return MO_OK;
}

mo_status mo_infer_eval_tile(const mo_infer_rule_op *op, int output,
                             mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *from = op->inputs[0].value;
    mo_infer_view own = mo_infer_view_of(&from->shape);
    int lead = value->shape.rank - from->shape.rank;

    (void) output;
    (void) err;
    for (int64_t i = 0; i < value->count; i++) {
        int64_t rest = i, at = 0;

        for (int d = value->shape.rank - 1; d >= lead; d--) {
            int64_t place = rest % value->shape.dims[d];

            at += place % from->shape.dims[d - lead] * own.stride[d - lead];
            rest /= value->shape.dims[d];
        }
        value->items[i] = from->items[at];
    }
    return MO_OK;
}

/* The target dimension of each input dimension. */
typedef struct layout {
    mo_shape target;
    int on[MO_MAX_RANK];
} layout;

/* mode "explicit": the third input names the dimensions. */
static mo_status align_by_axes(const mo_infer_rule_op *op, layout *l,
                               mo_error *err)
{
    int rank = op->inputs[0].shape.rank;
    mo_infer_arg_list axes;
    mo_status status;

    if (op->n_inputs < 3)
        return mo_fail(err, MO_E_INPUT, "lacks the axes of its mode");
    status = mo_infer_arg_list_of(op, 2, &axes, err);
    if (status == MO_OK && axes.count < rank)
        return mo_fail(err, MO_E_INPUT, "names %d axes for %d dimensions",
                       axes.count, rank);
    for (int d = 0; status == MO_OK && d < rank; d++)
        status = mo_infer_arg_axis(axes.at[d], l->target.rank, &l->on[d], err);
    return status;
}

/* The other modes align the input with the target's last dimensions,
 * PaddlePaddle's from a given one on. */
static mo_status align_in_order(const mo_infer_rule_op *op, layout *l,
                                mo_error *err)
{
    int rank = op->inputs[0].shape.rank;
    int64_t first = -1;
    mo_status status = MO_OK;

    if (mo_infer_arg_is(op, "mode", "pdpd"))
        status = mo_infer_arg_int(op, "axis", -1, &first, err);
    if (status != MO_OK)
        return status;
    if (first < 0)
        first = l->target.rank - rank;
    if (first < 0 || first + rank > l->target.rank)
        return mo_dims_fail_broadcast(err, &op->inputs[0].shape, &l->target);
    for (int d = 0; d < rank; d++)
        l->on[d] = (int) first + d;
    return MO_OK;
}

static mo_status align_input(const mo_infer_rule_op *op, layout *l,
                             mo_error *err)
{
    const mo_shape *from = &op->inputs[0].shape;
    mo_infer_arg_list target;
    mo_status status = mo_infer_arg_list_of(op, 1, &target, err);

    if (status != MO_OK)
        return status;
    l->target = (mo_shape){ 0 };
    for (int d = 0; d < target.count; d++)
        mo_dims_push(&l->target, target.at[d]);
    if (mo_infer_arg_is(op, "mode", "bidirectional") &&
        !mo_dims_broadcast(from, &l->target, &l->target))
        return mo_dims_fail_broadcast(err, from, &l->target);
    if (mo_infer_arg_is(op, "mode", "explicit") ||
        mo_infer_arg_is(op, "mode", "none"))
        return align_by_axes(op, l, err);
    return align_in_order(op, l, err);
}

mo_status mo_infer_shape_broadcast(const mo_infer_rule_op *op,
                                   mo_shape *outputs, mo_error *err)
{
    const mo_shape *from = &op->inputs[0].shape;
    layout l;
    mo_status status = align_input(op, &l, err);

    if (status != MO_OK)
        return status;
    for (int d = 0; d < from->rank; d++)
        if (from->dims[d] != 1 && from->dims[d] != l.target.dims[l.on[d]])
            return mo_dims_fail_broadcast(err, from, &l.target);
    outputs[0] = l.target;
    return MO_OK;
}

mo_status mo_infer_eval_broadcast(const mo_infer_rule_op *op, int output,
                                  mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *from = op->inputs[0].value;
    mo_infer_view own = mo_infer_view_of(&from->shape), view = { 0 };
    layout l;
    mo_status status = align_input(op, &l, err);

    (void) output;
    if (status != MO_OK)
        return status;
    for (int d = 0; d < from->shape.rank; d++)
        if (from->shape.dims[d] != 1)
            view.stride[l.on[d]] = own.stride[d];
    mo_infer_value_take(value, from, &view);
    return MO_OK;
}
