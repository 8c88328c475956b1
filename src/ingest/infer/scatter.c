/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules of scatters, which write into a copy of their data. */
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

static mo_status fail_updates(const mo_infer_rule_op *op, mo_error *err)
{
    return mo_fail(err, MO_E_INPUT,
                   "data of %s, indices of %s and updates of %s do not fit "
                   "together",
                   mo_dims_format(&op->inputs[0].shape).text,
                   mo_dims_format(&op->inputs[1].shape).text,
                   mo_dims_format(&op->inputs[2].shape).text);
}

/* One update for each index. */
mo_status mo_infer_shape_scatter_elements(const mo_infer_rule_op *op,
                                          mo_shape *outputs, mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    const mo_shape *indices = &op->inputs[1].shape;

    outputs[0] = *data;
    if (indices->rank != data->rank ||
        !mo_shape_equal(indices, &op->inputs[2].shape))
        return fail_updates(op, err);
    return MO_OK;
}

/* A slice for each index. */
mo_status mo_infer_shape_scatter_slices(const mo_infer_rule_op *op,
                                        mo_shape *outputs, mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    const mo_shape *indices = &op->inputs[1].shape;

    outputs[0] = *data;
    if (op->inputs[2].shape.rank != data->rank + indices->rank - 1)
        return fail_updates(op, err);
    return MO_OK;
}

/* A slice for each tuple of indices: those lie along the last dimension. */
mo_status mo_infer_shape_scatter_nd(const mo_infer_rule_op *op,
                                    mo_shape *outputs, mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    const mo_shape *indices = &op->inputs[1].shape;
    mo_shape updates = *indices;
    mo_status status = mo_infer_arg_rank(op, 1, 1, MO_MAX_RANK, err);

    if (status != MO_OK)
        return status;
    outputs[0] = *data;
    updates.rank--;
    if (indices->dims[updates.rank] > data->rank)
        return fail_updates(op, err);
    for (int d = (int) indices->dims[updates.rank]; d < data->rank; d++)
        mo_dims_push(&updates, data->dims[d]);
    if (updates.rank > MO_MAX_RANK ||
        !mo_shape_equal(&updates, &op->inputs[2].shape))
        return fail_updates(op, err);
    return MO_OK;
}

mo_status mo_infer_shape_slice_scatter(const mo_infer_rule_op *op,
                                       mo_shape *outputs, mo_error *err)
{
    outputs[0] = op->inputs[0].shape;
    if (op->inputs[1].shape.rank != outputs[0].rank)
        return fail_updates(op, err);
    return MO_OK;
}
