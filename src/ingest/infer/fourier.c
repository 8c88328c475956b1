/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape rules of Fourier transforms. A complex tensor has a last dimension of
 * 2, which its axes do not count.
 */
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

/* data, axes, perhaps the signal's size along each (-1: as it is). */
typedef struct transform {
    mo_shape shape; /* without the pairs of complex numbers */
    int last;       /* axis; -1 when there is none */
    bool sized;     /* the last axis was given a size */
} transform;

static mo_status read_transform(const mo_infer_rule_op *op, bool complex_in,
                                transform *t, mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    mo_infer_arg_list axes, sizes = { 0 };
    mo_status status = mo_infer_arg_list_of(op, 1, &axes, err);

    if (status == MO_OK && op->n_inputs > 2)
        status = mo_infer_arg_exactly(op, 2, axes.count, &sizes, err);
    if (status == MO_OK)
        status = mo_infer_arg_rank(op, 0, complex_in ? 2 : 1, MO_MAX_RANK, err);
    if (status == MO_OK && complex_in && data->dims[data->rank - 1] != 2)
        return mo_fail(err, MO_E_INPUT,
                       "%s is not complex: its last dimension is not 2",
                       mo_dims_format(data).text);
    *t = (transform){ .shape = *data, .last = -1 };
    t->shape.rank -= complex_in;
    for (int i = 0; status == MO_OK && i < axes.count; i++) {
        status = mo_infer_arg_axis(axes.at[i], t->shape.rank, &t->last, err);
        t->sized = i < sizes.count && sizes.at[i] != -1;
        if (status == MO_OK && t->sized)
            t->shape.dims[t->last] = sizes.at[i];
    }
    return status;
}

mo_status mo_infer_shape_dft(const mo_infer_rule_op *op, mo_shape *outputs,
                             mo_error *err)
{
    transform t;
    mo_status status = read_transform(op, true, &t, err);

    if (status != MO_OK)
        return status;
    outputs[0] = t.shape;
    mo_dims_push(outputs, 2);
    return MO_OK;
}

/* Real signals have symmetric spectra: half of the last axis is enough. */
mo_status mo_infer_shape_rdft(const mo_infer_rule_op *op, mo_shape *outputs,
                              mo_error *err)
{
    transform t;
    mo_status status = read_transform(op, false, &t, err);

    if (status != MO_OK)
        return status;
    if (t.last >= 0 && t.shape.dims[t.last] > 0)
        t.shape.dims[t.last] = t.shape.dims[t.last] / 2 + 1;
    outputs[0] = t.shape;
    mo_dims_push(outputs, 2);
    return MO_OK;
}

mo_status mo_infer_shape_irdft(const mo_infer_rule_op *op, mo_shape *outputs,
                               mo_error *err)
{
    transform t;
    mo_status status = read_transform(op, true, &t, err);

    if (status != MO_OK)
        return status;
    if (t.last >= 0 && !t.sized)
        t.shape.dims[t.last] = 2 * (t.shape.dims[t.last] - 1);
    outputs[0] = t.shape;
    return MO_OK;
}

/* signal, window, frame size, frame step: pairs by frame and bin. */
mo_status mo_infer_shape_stft(const mo_infer_rule_op *op, mo_shape *outputs,
                              mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    int64_t size, step, length, frames;
    bool by_bin = mo_infer_arg_bool(op, "transpose_frames", false);
    mo_status status = mo_infer_arg_rank(op, 0, 1, 2, err);

    if (status == MO_OK)
        status = mo_infer_arg_scalar(op, 2, &size, err);
    if (status == MO_OK)
        status = mo_infer_arg_scalar(op, 3, &step, err);
    if (status != MO_OK)
        return status;
    length = data->dims[data->rank - 1];
    if (size < 1 || step < 1 || size > length)
        return mo_fail(err, MO_E_INPUT,
                       "no frames of %lld elements, %lld apart, are in %s",
                       (long long) size, (long long) step,
                       mo_dims_format(data).text);
    frames = (length - size) / step + 1;
    outputs[0] = *data;
    outputs[0].rank = data->rank - 1;
    mo_dims_push(outputs, by_bin ? size / 2 + 1 : frames);
    mo_dims_push(outputs, by_bin ? frames : size / 2 + 1);
    mo_dims_push(outputs, 2);
    return MO_OK;
}
