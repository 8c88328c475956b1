/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules of pools and ExtractImagePatches. */
#include "base/array.h"
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/sliding_window.h"

mo_status mo_infer_shape_pool(const mo_infer_rule_op *op, mo_shape *outputs,
                              mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    int64_t kernel[MO_INFER_WINDOW_MAX];
    mo_infer_window w;
    mo_status status =
        mo_infer_arg_rank(op, 0, 3, 2 + MO_INFER_WINDOW_MAX, err);

    if (status == MO_OK)
        status = mo_infer_window_read(op, data->rank - 2, &w, err);
    if (status == MO_OK)
        status = mo_infer_arg_ints(op, "kernel", 1, kernel, w.n, err);
    if (status != MO_OK)
        return status;
    outputs[0] = *data;
    for (int d = 0; status == MO_OK && d < w.n; d++)
        status = mo_infer_window_count(&w, d, data->dims[2 + d], kernel[d],
                                       &outputs[0].dims[2 + d], err);
    for (int i = 1; i < op->n_outputs; i++)
        outputs[i] = outputs[0];
    return status;
}

/* Input 1 is the spatial size of the output. */
mo_status mo_infer_shape_adaptive_pool(const mo_infer_rule_op *op,
                                       mo_shape *outputs, mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    mo_infer_arg_list size;
    mo_status status =
        mo_infer_arg_rank(op, 0, 3, 2 + MO_INFER_WINDOW_MAX, err);

    if (status == MO_OK)
        status = mo_infer_arg_exactly(op, 1, data->rank - 2, &size, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < op->n_outputs; i++) {
        outputs[i] = *data;
        for (int d = 0; d < size.count; d++)
            outputs[i].dims[2 + d] = size.at[d];
    }
    return MO_OK;
}

/* Patches become channels. */
mo_status mo_infer_shape_image_patches(const mo_infer_rule_op *op,
                                       mo_shape *outputs, mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    int64_t sizes[2], channels;
    mo_infer_window w;
    mo_status status = mo_infer_arg_rank(op, 0, 4, 4, err);

    if (status == MO_OK)
        status = mo_infer_window_read(op, 2, &w, err);
    if (status == MO_OK)
        status = mo_infer_arg_ints(op, "sizes", 1, sizes, 2, err);
    if (status == MO_OK)
        status = mo_infer_arg_ints(op, "rates", 1, w.dilation, 2, err);
    if (status != MO_OK)
        return status;
    if (!mo_int64_mul(sizes[0] * sizes[1], data->dims[1], &channels) ||
        w.dilation[0] < 1 || w.dilation[1] < 1)
        return mo_fail(err, MO_E_INPUT, "its sizes or rates are out of range");
    outputs[0] = *data;
    outputs[0].dims[1] = channels;
    for (int d = 0; status == MO_OK && d < 2; d++)
        status = mo_infer_window_count(&w, d, data->dims[2 + d], sizes[d],
                                       &outputs[0].dims[2 + d], err);
    return status;
}
