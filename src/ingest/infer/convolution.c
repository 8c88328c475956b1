/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape rules of convolutions, ordinary, grouped, deformable and transposed.
 */
#include "base/array.h"
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"
#include "ingest/infer/sliding_window.h"

/* A filter's shape, whatever the order of its dimensions. */
typedef struct filter {
    int input;       /* where it comes in */
    int lead;        /* dimensions in front of the kernel's */
    int64_t in, out; /* channels it takes and gives */
} filter;

static mo_status check_filter(const mo_infer_rule_op *op, const filter *f,
                              mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    const mo_shape *shape = &op->inputs[f->input].shape;

    if (shape->rank - f->lead == data->rank - 2 && data->dims[1] == f->in)
        return MO_OK;
    return mo_fail(err, MO_E_INPUT, "a filter of %s does not fit data of %s",
                   mo_dims_format(shape).text, mo_dims_format(data).text);
}

/* Both ranks, so that every dimension used below exists. */
static mo_status check_ranks(const mo_infer_rule_op *op, int input, int lead,
                             mo_error *err)
{
    mo_status status =
        mo_infer_arg_rank(op, 0, 3, 2 + MO_INFER_WINDOW_MAX, err);

    if (status != MO_OK)
        return status;
    return mo_infer_arg_rank(op, input, lead + 1, lead + MO_INFER_WINDOW_MAX,
                             err);
}

static mo_status convolution_shape(const mo_infer_rule_op *op, const filter *f,
                                   mo_shape *outputs, mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    const mo_shape *shape = &op->inputs[f->input].shape;
    mo_infer_window window;
    mo_status status = check_filter(op, f, err);

    if (status == MO_OK)
        status = mo_infer_window_read(op, data->rank - 2, &window, err);
    if (status != MO_OK)
        return status;
    outputs[0] = *data;
    outputs[0].dims[1] = f->out;
    for (int d = 0; status == MO_OK && d < window.n; d++)
        status = mo_infer_window_count(&window, d, data->dims[2 + d],
                                       shape->dims[f->lead + d],
                                       &outputs[0].dims[2 + d], err);
    return status;
}

/* ONNX's filter, out, in / group, kernel..., in input. */
static mo_status onnx_shape(const mo_infer_rule_op *op, int input,
                            mo_shape *outputs, mo_error *err)
{
    const int64_t *dims = op->inputs[input].shape.dims;
    filter f = { .input = input, .lead = 2 };
    int64_t groups = 1;
    mo_status status = check_ranks(op, input, 2, err);

    if (status == MO_OK)
        status = mo_infer_arg_int(op, "group", 1, &groups, err);
    if (status != MO_OK)
        return status;
    f.out = dims[0];
    if (!mo_int64_mul(dims[1], groups, &f.in))
        f.in = -1;
    return convolution_shape(op, &f, outputs, err);
}

mo_status mo_infer_shape_onnx_conv(const mo_infer_rule_op *op,
                                   mo_shape *outputs, mo_error *err)
{
    return onnx_shape(op, 1, outputs, err);
}

/* Each factor is followed by its scale and its zero point. */
mo_status mo_infer_shape_qlinear_conv(const mo_infer_rule_op *op,
                                      mo_shape *outputs, mo_error *err)
{
    return onnx_shape(op, 3, outputs, err);
}

/* The filter is out, in, kernel... */
mo_status mo_infer_shape_convolution(const mo_infer_rule_op *op,
                                     mo_shape *outputs, mo_error *err)
{
    const int64_t *dims = op->inputs[1].shape.dims;
    mo_status status = check_ranks(op, 1, 2, err);
    filter f = { 1, 2, dims[1], dims[0] };

    return status == MO_OK ? convolution_shape(op, &f, outputs, err) : status;
}

/* groups, out, in, kernel... */
mo_status mo_infer_shape_group_convolution(const mo_infer_rule_op *op,
                                           mo_shape *outputs, mo_error *err)
{
    const int64_t *dims = op->inputs[1].shape.dims;
    mo_status status = check_ranks(op, 1, 3, err);
    filter f = { 1, 3, 0, 0 };

    if (status != MO_OK)
        return status;
    f.in = dims[0] * dims[2];
    f.out = dims[0] * dims[1];
    return convolution_shape(op, &f, outputs, err);
}

/* data, offsets, filter (out, in / group, kernel...), perhaps a mask. */
mo_status mo_infer_shape_deformable_convolution(const mo_infer_rule_op *op,
                                                mo_shape *outputs,
                                                mo_error *err)
{
    const int64_t *dims = op->inputs[2].shape.dims;
    int64_t groups;
    filter f = { 2, 2, 0, 0 };
    mo_status status = check_ranks(op, 2, 2, err);

    if (status == MO_OK)
        status = mo_infer_arg_int(op, "group", 1, &groups, err);
    if (status != MO_OK)
        return status;
    f.out = dims[0];
    if (!mo_int64_mul(dims[1], groups, &f.in))
        return mo_fail(err, MO_E_LIMIT, "has too many groups");
    return convolution_shape(op, &f, outputs, err);
}

/* Output size of a transposed convolution of dim items: without a given size,
 * "same" pads nothing. */
static mo_status transposed_size(const mo_infer_window *window, int d,
                                 int64_t dim, int64_t kernel, int64_t extra,
                                 int64_t *out, mo_error *err)
{
    int64_t size, span;
    mo_status status = mo_infer_window_span(window, d, kernel, &span, err);

    if (status != MO_OK)
        return status;
    if (!mo_int64_mul(dim - 1, window->stride[d], &size) ||
        size >= MO_MAX_ELEMENTS)
        return mo_fail(err, MO_E_LIMIT, "its output is too large");
    size += span + extra;
    if (window->pad == MO_INFER_PAD_EXPLICIT)
        size -= window->begin[d] + window->end[d];
    *out = size;
    return MO_OK;
}

static mo_status transposed_shape(const mo_infer_rule_op *op, const filter *f,
                                  mo_shape *outputs, mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    int64_t extra[MO_INFER_WINDOW_MAX];
    mo_infer_arg_list wanted = { 0 };
    mo_infer_window w;
    mo_status status = check_filter(op, f, err);

    if (status == MO_OK)
        status = mo_infer_window_read(op, data->rank - 2, &w, err);
    if (status == MO_OK)
        status = mo_infer_arg_ints(op, "output_padding", 0, extra, w.n, err);
    if (status == MO_OK && op->n_inputs > 2)
        status = mo_infer_arg_exactly(op, 2, w.n, &wanted, err);
    if (status != MO_OK)
        return status;
    outputs[0] = *data;
    outputs[0].dims[1] = f->out;
    for (int d = 0; status == MO_OK && d < w.n; d++)
        if (wanted.count > 0)
            outputs[0].dims[2 + d] = wanted.at[d];
        else
            status =
                transposed_size(&w, d, data->dims[2 + d],
                                op->inputs[f->input].shape.dims[f->lead + d],
                                extra[d], &outputs[0].dims[2 + d], err);
    return status;
}

/* in, out, kernel... */
mo_status mo_infer_shape_conv_transpose(const mo_infer_rule_op *op,
                                        mo_shape *outputs, mo_error *err)
{
    const int64_t *dims = op->inputs[1].shape.dims;
    mo_status status = check_ranks(op, 1, 2, err);
    filter f = { 1, 2, dims[0], dims[1] };

    return status == MO_OK ? transposed_shape(op, &f, outputs, err) : status;
}

/* groups, in, out, kernel... */
mo_status mo_infer_shape_group_conv_transpose(const mo_infer_rule_op *op,
                                              mo_shape *outputs, mo_error *err)
{
    const int64_t *dims = op->inputs[1].shape.dims;
    mo_status status = check_ranks(op, 1, 3, err);
    filter f = { 1, 3, 0, 0 };

    if (status != MO_OK)
        return status;
    f.in = dims[0] * dims[1];
    f.out = dims[0] * dims[2];
    return transposed_shape(op, &f, outputs, err);
}
