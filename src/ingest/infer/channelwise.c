/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape rules of operators that keep the shape of data N, C, ... and treat its
 * channels separately.
 */
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

/* Fails unless every other input has one number for each channel of the
 * data. */
static mo_status check_channels(const mo_infer_rule_op *op, int data,
                                mo_error *err)
{
    const mo_shape *shape = &op->inputs[data].shape;
    mo_status status = mo_infer_arg_rank(op, data, 2, MO_MAX_RANK, err);

    for (int i = 0; status == MO_OK && i < op->n_inputs; i++) {
        const mo_shape *own = &op->inputs[i].shape;

        if (i != data && (own->rank != 1 || own->dims[0] != shape->dims[1]))
            return mo_fail(
                err, MO_E_INPUT, "%s does not fit the channels of %s",
                mo_dims_format(own).text, mo_dims_format(shape).text);
    }
    return status;
}

/* The first opset had the data behind the scale and the shift. */
mo_status mo_infer_shape_batch_norm(const mo_infer_rule_op *op,
                                    mo_shape *outputs, mo_error *err)
{
    int data = mo_infer_arg_opset(op) < 5 ? 2 : 0;

    outputs[0] = op->inputs[data].shape;
    return check_channels(op, data, err);
}

static mo_status check_groups(const mo_infer_rule_op *op, const char *key,
                              int axis, mo_error *err)
{
    const mo_shape *shape = &op->inputs[0].shape;
    int64_t groups;
    mo_status status = mo_infer_arg_int(op, key, 1, &groups, err);

    if (status == MO_OK && (groups < 1 || shape->dims[axis] % groups != 0))
        return mo_fail(err, MO_E_INPUT,
                       "%lld groups do not divide %s along axis %d",
                       (long long) groups, mo_dims_format(shape).text, axis);
    return status;
}

mo_status mo_infer_shape_group_norm(const mo_infer_rule_op *op,
                                    mo_shape *outputs, mo_error *err)
{
    mo_status status = check_channels(op, 0, err);

    outputs[0] = op->inputs[0].shape;
    return status == MO_OK ? check_groups(op, "num_groups", 1, err) : status;
}

mo_status mo_infer_shape_shuffle_channels(const mo_infer_rule_op *op,
                                          mo_shape *outputs, mo_error *err)
{
    int64_t given;
    int axis;
    mo_status status = mo_infer_arg_int(op, "axis", 1, &given, err);

    if (status == MO_OK)
        status = mo_infer_arg_axis(given, op->inputs[0].shape.rank, &axis, err);
    outputs[0] = op->inputs[0].shape;
    return status == MO_OK ? check_groups(op, "group", axis, err) : status;
}
