/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules of ROIAlign and GridSample, which sample regions of an image. */
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

/* An image's channels, pooled to a fixed size for each region. */
mo_status mo_infer_shape_roi_align(const mo_infer_rule_op *op,
                                   mo_shape *outputs, mo_error *err)
{
    int64_t height, width;
    mo_status status = mo_infer_arg_rank(op, 0, 4, 4, err);

    if (status == MO_OK)
        status = mo_infer_arg_rank(op, 1, 2, 2, err);
    if (status == MO_OK)
        status = mo_infer_arg_int(op, "pooled_h", 1, &height, err);
    if (status == MO_OK)
        status = mo_infer_arg_int(op, "pooled_w", 1, &width, err);
    if (status != MO_OK)
        return status;
    outputs[0] =
        (mo_shape){ .rank = 4,
                    .dims = { op->inputs[1].shape.dims[0],
                              op->inputs[0].shape.dims[1], height, width } };
    return MO_OK;
}

/* data N,C,... sampled at grid N,...,k. */
mo_status mo_infer_shape_grid_sample(const mo_infer_rule_op *op,
                                     mo_shape *outputs, mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape, *grid = &op->inputs[1].shape;
    mo_status status = mo_infer_arg_rank(op, 0, 4, 5, err);

    if (status == MO_OK)
        status = mo_infer_arg_rank(op, 1, data->rank, data->rank, err);
    if (status != MO_OK)
        return status;
    if (data->dims[0] != grid->dims[0] ||
        grid->dims[grid->rank - 1] != data->rank - 2)
        return mo_fail(err, MO_E_INPUT, "grid %s does not fit data %s",
                       mo_dims_format(grid).text, mo_dims_format(data).text);
    outputs[0] = *data;
    for (int d = 2; d < data->rank; d++)
        outputs[0].dims[d] = grid->dims[d - 1];
    return MO_OK;
}
