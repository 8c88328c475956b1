/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape rule of Interpolate in its three forms: opset 1 (axes are an
 * attribute), opset 4 (sizes and scales are both inputs), opset 11 (one of
 * them is).
 */
#include "graph/op_attrs.h"
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

/* The axes that are resized: an input, or all of them. */
static mo_status read_axes(const mo_infer_rule_op *op, int input,
                           mo_infer_arg_list *axes, mo_error *err)
{
    int rank = op->inputs[0].shape.rank;
    mo_status status = MO_OK;

    axes->count = rank;
    for (int d = 0; d < rank; d++)
        axes->at[d] = d;
    if (op->n_inputs > input)
        status = mo_infer_arg_list_of(op, input, axes, err);
    for (int i = 0; status == MO_OK && i < axes->count; i++) {
        int at;

        status = mo_infer_arg_axis(axes->at[i], rank, &at, err);
        if (status == MO_OK)
            axes->at[i] = at;
    }
    return status;
}

/* pads_begin and pads_end may be shorter than the rank: the rest is 0. */
static void add_pads(const mo_infer_rule_op *op, const char *key,
                     mo_shape *shape)
{
    int64_t pads[MO_MAX_RANK];
    int n = mo_attr_ints(op->attrs, key, pads, MO_MAX_RANK);

    for (int d = 0; d < n && d < shape->rank; d++)
        if (pads[d] > -MO_INFER_ARG_LIMIT && pads[d] < MO_INFER_ARG_LIMIT)
            shape->dims[d] += pads[d];
}

static mo_status set_sizes(const mo_infer_rule_op *op, int input,
                           const mo_infer_arg_list *axes, mo_shape *shape,
                           mo_error *err)
{
    mo_infer_arg_list sizes;
    mo_status status = mo_infer_arg_list_of(op, input, &sizes, err);

    if (status != MO_OK)
        return status;
    if (sizes.count < axes->count)
        return mo_fail(err, MO_E_INPUT, "has %d sizes for %d axes", sizes.count,
                       axes->count);
    for (int i = 0; i < axes->count; i++)
        shape->dims[axes->at[i]] = sizes.at[i];
    return MO_OK;
}

/* In single precision and with OpenVINO's own epsilon, so that 3 times 1/3 is
 * 1 here and there. */
static bool scale_dim(int64_t *dim, double by)
{
    float factor = (float) by, scaled;

    if (factor == 1.0f)
        return true;
    factor += 1.0e-6f;
    scaled = (float) *dim * factor;
    if (!(scaled >= 0 && scaled <= (float) MO_MAX_ELEMENTS))
        return false;
    *dim = (int64_t) scaled;
    return true;
}

static mo_status apply_scales(const mo_infer_rule_op *op, int input,
                              const mo_infer_arg_list *axes, mo_shape *shape,
                              mo_error *err)
{
    const mo_infer_value *scales;
    mo_status status = mo_infer_arg_value(op, input, &scales, err);

    if (status != MO_OK)
        return status;
    if (scales->count < axes->count)
        return mo_fail(err, MO_E_INPUT, "has %lld scales for %d axes",
                       (long long) scales->count, axes->count);
    for (int i = 0; i < axes->count; i++) {
        mo_infer_scalar item = scales->items[i];

        if (!scale_dim(&shape->dims[axes->at[i]],
                       scales->real ? item.r : (double) item.i))
            return mo_fail(err, MO_E_INPUT, "scale %d is out of range", i);
    }
    return MO_OK;
}

static mo_status infer_by_attributes(const mo_infer_rule_op *op,
                                     mo_shape *outputs, mo_error *err)
{
    int rank = op->inputs[0].shape.rank;
    mo_infer_arg_list axes;
    mo_status status = MO_OK;

    axes.count =
        op->attrs ? mo_attr_ints(op->attrs, "axes", axes.at, MO_MAX_RANK) : 0;
    if (axes.count < 0 || axes.count > rank)
        return mo_fail(err, MO_E_INPUT, "attribute 'axes' does not fit %s",
                       mo_dims_format(&op->inputs[0].shape).text);
    for (int i = 0; status == MO_OK && i < axes.count; i++) {
        int at = 0;

        status = mo_infer_arg_axis(axes.at[i], rank, &at, err);
        axes.at[i] = at;
    }
    if (status != MO_OK)
        return status;
    outputs[0] = op->inputs[0].shape;
    return set_sizes(op, 1, &axes, outputs, err);
}

mo_status mo_infer_shape_interpolate(const mo_infer_rule_op *op,
                                     mo_shape *outputs, mo_error *err)
{
    bool both =
        mo_infer_arg_opset(op) < 11; /* sizes and scales are both inputs */
    bool scales = mo_infer_arg_is(op, "shape_calculation_mode", "scales");
    int input = both && scales ? 2 : 1;
    mo_infer_arg_list axes;
    mo_status status;

    if (mo_infer_arg_opset(op) < 4)
        return infer_by_attributes(op, outputs, err);
    if (op->n_inputs <= input)
        return mo_fail(err, MO_E_INPUT, "has %d inputs, at least %d are needed",
                       op->n_inputs, input + 1);
    status = read_axes(op, both ? 3 : 2, &axes, err);
    if (status != MO_OK)
        return status;
    outputs[0] = op->inputs[0].shape;
    add_pads(op, "pads_begin", outputs);
    add_pads(op, "pads_end", outputs);
    if (scales)
        return apply_scales(op, input, &axes, outputs, err);
    return set_sizes(op, input, &axes, outputs, err);
}
