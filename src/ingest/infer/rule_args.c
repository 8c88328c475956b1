/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/infer/rule_args.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "graph/op_attrs.h"
#include "ingest/infer/dims.h"

int mo_infer_arg_opset(const mo_infer_rule_op *op)
{
    static const char prefix[] = "opset";
    size_t length = sizeof prefix - 1;
    long number;

    if (!op->version || strncmp(op->version, prefix, length) != 0)
        return INT_MAX;
    number = strtol(op->version + length, NULL, 10);
    return number >= 0 && number < INT_MAX ? (int) number : INT_MAX;
}

mo_status mo_infer_arg_ints(const mo_infer_rule_op *op, const char *key,
                            int64_t fallback, int64_t *values, int n,
                            mo_error *err)
{
    int count = mo_attr_ints(op->attrs, key, values, n);

    if (count == 0 || !mo_attr_find(op->attrs, key)) {
        for (int i = 0; i < n; i++)
            values[i] = fallback;
        return MO_OK;
    }
    if (count < 0)
        return mo_fail(err, MO_E_INPUT, "attribute '%s' is not integers", key);
    if (count != n)
        return mo_fail(err, MO_E_INPUT, "attribute '%s' has %d numbers, not %d",
                       key, count, n);
    for (int i = 0; i < n; i++)
        if (values[i] >= MO_INFER_ARG_LIMIT || values[i] <= -MO_INFER_ARG_LIMIT)
            return mo_fail(err, MO_E_LIMIT, "attribute '%s' is too large", key);
    return MO_OK;
}

mo_status mo_infer_arg_int(const mo_infer_rule_op *op, const char *key,
                           int64_t fallback, int64_t *value, mo_error *err)
{
    return mo_infer_arg_ints(op, key, fallback, value, 1, err);
}

bool mo_infer_arg_bool(const mo_infer_rule_op *op, const char *key,
                       bool fallback)
{
    return mo_attr_bool(op->attrs, key, fallback);
}

bool mo_infer_arg_is(const mo_infer_rule_op *op, const char *key,
                     const char *text)
{
    return mo_attr_equals(op->attrs, key, text);
}

mo_status mo_infer_arg_axis(int64_t axis, int rank, int *at, mo_error *err)
{
    if (axis < -rank || axis >= rank)
        return mo_fail(err, MO_E_INPUT, "axis %lld is outside of %d dimensions",
                       (long long) axis, rank);
    *at = (int) (axis < 0 ? axis + rank : axis);
    return MO_OK;
}

mo_status mo_infer_arg_value(const mo_infer_rule_op *op, int input,
                             const mo_infer_value **value, mo_error *err)
{
    const mo_infer_rule_input *in = &op->inputs[input];

    if (!in->value)
        return mo_fail(err, MO_E_SUPPORT,
                       "needs the value of its input %d, but %s", input,
                       in->unknown ? in->unknown : "it is not known");
    *value = in->value;
    return MO_OK;
}

mo_status mo_infer_arg_list_of(const mo_infer_rule_op *op, int input,
                               mo_infer_arg_list *list, mo_error *err)
{
    const mo_infer_value *value = NULL;
    mo_status status = mo_infer_arg_value(op, input, &value, err);

    if (status != MO_OK)
        return status;
    if (value->shape.rank > 1 || value->count > MO_MAX_RANK || value->real)
        return mo_fail(err, MO_E_INPUT,
                       "input %d (%s of %s) is not a list of at most %d "
                       "integers",
                       input, mo_dims_format(&value->shape).text, value->dtype,
                       MO_MAX_RANK);
    list->count = (int) value->count;
    for (int i = 0; i < list->count; i++)
        list->at[i] = value->items[i].i;
    return MO_OK;
}

mo_status mo_infer_arg_exactly(const mo_infer_rule_op *op, int input, int n,
                               mo_infer_arg_list *list, mo_error *err)
{
    mo_status status = mo_infer_arg_list_of(op, input, list, err);

    if (status == MO_OK && list->count != n)
        return mo_fail(err, MO_E_INPUT, "input %d lists %d numbers, not %d",
                       input, list->count, n);
    return status;
}

mo_status mo_infer_arg_scalar(const mo_infer_rule_op *op, int input,
                              int64_t *value, mo_error *err)
{
    mo_infer_arg_list list = { 0 };
    mo_status status = mo_infer_arg_exactly(op, input, 1, &list, err);

    if (status == MO_OK)
        *value = list.at[0];
    return status;
}

mo_status mo_infer_arg_axis_of(const mo_infer_rule_op *op, int input, int rank,
                               int *at, mo_error *err)
{
    int64_t axis;
    mo_status status = mo_infer_arg_scalar(op, input, &axis, err);

    return status == MO_OK ? mo_infer_arg_axis(axis, rank, at, err) : status;
}

mo_status mo_infer_arg_marks(const mo_infer_rule_op *op, int input, int rank,
                             bool marks[MO_MAX_RANK], mo_error *err)
{
    mo_infer_arg_list axes;
    mo_status status = mo_infer_arg_list_of(op, input, &axes, err);

    memset(marks, 0, MO_MAX_RANK * sizeof *marks);
    for (int i = 0; status == MO_OK && i < axes.count; i++) {
        int at = 0;

        status = mo_infer_arg_axis(axes.at[i], rank, &at, err);
        marks[at] = true;
    }
    return status;
}

mo_status mo_infer_arg_rank(const mo_infer_rule_op *op, int input, int min,
                            int max, mo_error *err)
{
    const mo_shape *shape = &op->inputs[input].shape;

    if (shape->rank >= min && shape->rank <= max)
        return MO_OK;
    if (min == max)
        return mo_fail(err, MO_E_INPUT, "input %d (%s) must have %d dimensions",
                       input, mo_dims_format(shape).text, min);
    return mo_fail(err, MO_E_INPUT,
                   "input %d (%s) must have %d to %d dimensions", input,
                   mo_dims_format(shape).text, min, max);
}

mo_status mo_infer_arg_check_int64(const mo_infer_rule_op *op, int n,
                                   mo_error *err)
{
    for (int k = 0; k < n; k++) {
        const mo_infer_value *value = op->inputs[k].value;

        if (strcmp(value->dtype, "u64") != 0)
            continue;
        for (int64_t i = 0; i < value->count; i++)
            if (value->items[i].i < 0)
                return mo_fail(err, MO_E_SUPPORT, "has an input above 2^63-1");
    }
    return MO_OK;
}
