/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules of gathers, embeddings, one-hot and top-k. */
#include "base/array.h"
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

/* Appends the dimensions of from in [first, end). */
static void push_dims(mo_shape *shape, const mo_shape *from, int first, int end)
{
    for (int d = first; d < end; d++)
        mo_dims_push(shape, from->dims[d]);
}

/* Number of leading dimensions that data and indices share. */
static mo_status batch_dims(const mo_infer_rule_op *op, int *batch,
                            mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    const mo_shape *indices = &op->inputs[1].shape;
    int64_t given;
    mo_status status = mo_infer_arg_int(op, "batch_dims", 0, &given, err);

    if (status != MO_OK)
        return status;
    if (given < 0)
        given += indices->rank;
    if (given < 0 || given > indices->rank || given > data->rank)
        return mo_fail(err, MO_E_INPUT,
                       "shares %lld dimensions between %s and %s",
                       (long long) given, mo_dims_format(data).text,
                       mo_dims_format(indices).text);
    *batch = (int) given;
    for (int d = 0; d < *batch; d++)
        if (data->dims[d] != indices->dims[d])
            return mo_fail(err, MO_E_INPUT,
                           "%s and %s differ in their first %d dimensions",
                           mo_dims_format(data).text,
                           mo_dims_format(indices).text, *batch);
    return MO_OK;
}

mo_status mo_infer_shape_gather(const mo_infer_rule_op *op, mo_shape *outputs,
                                mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    const mo_shape *indices = &op->inputs[1].shape;
    int axis, batch = 0;
    mo_status status = mo_infer_arg_axis_of(op, 2, data->rank, &axis, err);

    if (status == MO_OK)
        status = batch_dims(op, &batch, err);
    if (status != MO_OK)
        return status;
    if (batch > axis)
        return mo_fail(err, MO_E_INPUT,
                       "gathers along axis %d of %d shared dimensions", axis,
                       batch);
    outputs[0] = (mo_shape){ 0 };
    push_dims(outputs, data, 0, axis);
    push_dims(outputs, indices, batch, indices->rank);
    push_dims(outputs, data, axis + 1, data->rank);
    return MO_OK;
}

mo_status mo_infer_eval_gather(const mo_infer_rule_op *op, int output,
                               mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *data = op->inputs[0].value,
                         *indices = op->inputs[1].value;
    int64_t row, inner;
    int axis, batch = 0;
    mo_status status =
        mo_infer_arg_axis_of(op, 2, data->shape.rank, &axis, err);

    (void) output;
    if (status == MO_OK)
        status = batch_dims(op, &batch, err);
    if (status != MO_OK)
        return status;
    if (batch > 0 || indices->real)
        return mo_fail(err, MO_E_SUPPORT, "gathers in batches");
    row = data->shape.dims[axis];
    inner = mo_infer_view_of(&data->shape).stride[axis];
    for (int64_t i = 0; i < value->count; i++) {
        int64_t which = indices->items[i / inner % indices->count].i;
        int64_t outer = i / inner / indices->count;

        which = which < 0 ? which + row : which;
        if (which < 0 || which >= row)
            return mo_fail(err, MO_E_SUPPORT, "gathers item %lld of %lld",
                           (long long) which, (long long) row);
        value->items[i] =
            data->items[(outer * row + which) * inner + i % inner];
    }
    return MO_OK;
}

mo_status mo_infer_shape_gather_elements(const mo_infer_rule_op *op,
                                         mo_shape *outputs, mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    const mo_shape *indices = &op->inputs[1].shape;
    int64_t given;
    int axis;
    mo_status status = mo_infer_arg_int(op, "axis", 0, &given, err);

    if (status == MO_OK)
        status = mo_infer_arg_axis(given, data->rank, &axis, err);
    if (status != MO_OK)
        return status;
    if (!mo_shape_equal_but(data, indices, axis))
        return mo_fail(
            err, MO_E_INPUT, "cannot gather %s from %s along axis %d",
            mo_dims_format(indices).text, mo_dims_format(data).text, axis);
    outputs[0] = *indices;
    return MO_OK;
}

/* One index for each value. */
mo_status mo_infer_shape_search_sorted(const mo_infer_rule_op *op,
                                       mo_shape *outputs, mo_error *err)
{
    (void) err;
    outputs[0] = op->inputs[1].shape;
    return MO_OK;
}

/* Until opset 8 the shared dimensions came out as one. */
static void fuse_batch(mo_shape *shape, int batch)
{
    mo_shape fused = { .rank = 1, .dims = { 1 } };

    for (int d = 0; d < batch; d++)
        fused.dims[0] *= shape->dims[d];
    push_dims(&fused, shape, batch, shape->rank);
    *shape = fused;
}

mo_status mo_infer_shape_gather_nd(const mo_infer_rule_op *op,
                                   mo_shape *outputs, mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    const mo_shape *indices = &op->inputs[1].shape;
    int64_t depth;
    int batch = 0;
    mo_status status = mo_infer_arg_rank(op, 1, 1, MO_MAX_RANK, err);

    if (status == MO_OK)
        status = batch_dims(op, &batch, err);
    if (status != MO_OK)
        return status;
    depth = indices->dims[indices->rank - 1];
    if (batch >= indices->rank || depth > data->rank - batch)
        return mo_fail(err, MO_E_INPUT, "indices of %s do not lead into %s",
                       mo_dims_format(indices).text, mo_dims_format(data).text);
    outputs[0] = (mo_shape){ 0 };
    push_dims(outputs, indices, 0, indices->rank - 1);
    push_dims(outputs, data, batch + (int) depth, data->rank);
    if (batch > 1 && mo_infer_arg_opset(op) < 8 &&
        outputs[0].rank <= MO_MAX_RANK)
        fuse_batch(outputs, batch);
    return MO_OK;
}

mo_status mo_infer_shape_one_hot(const mo_infer_rule_op *op, mo_shape *outputs,
                                 mo_error *err)
{
    const mo_shape *indices = &op->inputs[0].shape;
    int64_t depth, given;
    int axis;
    mo_status status = mo_infer_arg_scalar(op, 1, &depth, err);

    if (status == MO_OK)
        status = mo_infer_arg_int(op, "axis", -1, &given, err);
    if (status == MO_OK)
        status = mo_infer_arg_axis(given, indices->rank + 1, &axis, err);
    if (status != MO_OK)
        return status;
    outputs[0] = (mo_shape){ 0 };
    push_dims(outputs, indices, 0, axis);
    mo_dims_push(outputs, depth);
    push_dims(outputs, indices, axis, indices->rank);
    return MO_OK;
}

mo_status mo_infer_shape_topk(const mo_infer_rule_op *op, mo_shape *outputs,
                              mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    int64_t k, given;
    int axis;
    mo_status status = mo_infer_arg_scalar(op, 1, &k, err);

    if (status == MO_OK)
        status = mo_infer_arg_int(op, "axis", -1, &given, err);
    if (status == MO_OK)
        status = mo_infer_arg_axis(given, data->rank, &axis, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < op->n_outputs; i++) {
        outputs[i] = *data;
        outputs[i].dims[axis] = k;
    }
    return MO_OK;
}

/* rows rows of an embedding table. */
static mo_status embedding_rows(const mo_infer_rule_op *op, int64_t rows,
                                mo_shape *outputs, mo_error *err)
{
    const mo_shape *table = &op->inputs[0].shape;
    mo_status status = mo_infer_arg_rank(op, 0, 1, MO_MAX_RANK, err);

    if (status != MO_OK)
        return status;
    outputs[0] = *table;
    outputs[0].dims[0] = rows;
    return MO_OK;
}

mo_status mo_infer_shape_embedding_bag_offsets(const mo_infer_rule_op *op,
                                               mo_shape *outputs, mo_error *err)
{
    mo_status status = mo_infer_arg_rank(op, 2, 1, 1, err);

    return status == MO_OK
               ? embedding_rows(op, op->inputs[2].shape.dims[0], outputs, err)
               : status;
}

mo_status mo_infer_shape_embedding_bag_packed(const mo_infer_rule_op *op,
                                              mo_shape *outputs, mo_error *err)
{
    mo_status status = mo_infer_arg_rank(op, 1, 2, 2, err);

    return status == MO_OK
               ? embedding_rows(op, op->inputs[1].shape.dims[0], outputs, err)
               : status;
}

mo_status mo_infer_shape_embedding_segments(const mo_infer_rule_op *op,
                                            mo_shape *outputs, mo_error *err)
{
    int64_t segments;
    mo_status status = mo_infer_arg_scalar(op, 3, &segments, err);

    return status == MO_OK ? embedding_rows(op, segments, outputs, err)
                           : status;
}
