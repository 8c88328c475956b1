/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape rules of operators that generate tensors (ShapeOf, Range, Eye,
 * RandomUniform), and of those with a data-dependent output size.
 */
#include <math.h>
#include <string.h>

#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

mo_status mo_infer_shape_shape_of(const mo_infer_rule_op *op, mo_shape *outputs,
                                  mo_error *err)
{
    (void) err;
    outputs[0] = (mo_shape){ .rank = 1, .dims = { op->inputs[0].shape.rank } };
    return MO_OK;
}

mo_status mo_infer_eval_shape(const mo_infer_rule_op *op, int output,
                              mo_infer_value *value, mo_error *err)
{
    const mo_shape *shape = &op->inputs[0].shape;

    (void) output;
    (void) err;
    for (int d = 0; d < shape->rank; d++)
        value->items[d] = mo_infer_value_cast(
            (mo_infer_scalar){ .i = shape->dims[d] }, "i64", value->dtype);
    return MO_OK;
}

static mo_status read_number(const mo_infer_rule_op *op, int input,
                             double *number, mo_error *err)
{
    const mo_infer_value *value;
    mo_status status = mo_infer_arg_value(op, input, &value, err);

    if (status != MO_OK)
        return status;
    if (value->count != 1)
        return mo_fail(err, MO_E_INPUT, "input %d (%s) is not one number",
                       input, mo_dims_format(&value->shape).text);
    *number = mo_infer_value_number(value, 0);
    if (!isfinite(*number))
        return mo_fail(err, MO_E_INPUT, "input %d is not a finite number",
                       input);
    return MO_OK;
}

/* Opset 4 names the type; before, it is the inputs'. */
static bool makes_integers(const mo_infer_rule_op *op)
{
    static const char *const types[] = { "i64", "i32", "i16", "i8",
                                         "u64", "u32", "u16", "u8" };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (mo_infer_arg_is(op, "output_type", types[i]))
            return true;
    return mo_infer_arg_opset(op) < 4 && !op->inputs[0].value->real;
}

typedef struct progression {
    double start, stop, step;
    bool whole; /* integers are given, whatever their size: */
    int64_t first, last, by;
} progression;

static mo_status read_range(const mo_infer_rule_op *op, progression *p,
                            mo_error *err)
{
    mo_status status = read_number(op, 0, &p->start, err);

    if (status == MO_OK)
        status = read_number(op, 1, &p->stop, err);
    if (status == MO_OK)
        status = read_number(op, 2, &p->step, err);
    if (status == MO_OK && makes_integers(op)) {
        p->start = trunc(p->start);
        p->stop = trunc(p->stop);
        p->step = trunc(p->step);
    }
    if (status == MO_OK && p->step == 0)
        return mo_fail(err, MO_E_INPUT, "has a step of 0");
    if (status != MO_OK)
        return status;
    p->whole = true;
    for (int k = 0; k < 3; k++) {
        const mo_infer_value *value = op->inputs[k].value;

        p->whole = p->whole && !value->real &&
                   (value->items[0].i >= 0 || strcmp(value->dtype, "u64") != 0);
    }
    if (p->whole) {
        p->first = op->inputs[0].value->items[0].i;
        p->last = op->inputs[1].value->items[0].i;
        p->by = op->inputs[2].value->items[0].i;
    }
    return MO_OK;
}

/* The number of steps, as a double, which is exact below 2^53. */
static double count_steps(const progression *p)
{
    uint64_t first = (uint64_t) p->first, last = (uint64_t) p->last;
    uint64_t by = (uint64_t) p->by, distance = last - first;

    if (!p->whole)
        return ceil((p->stop - p->start) / p->step);
    if (p->by > 0 ? p->first >= p->last : p->first <= p->last)
        return 0;
    if (p->by < 0) {
        distance = first - last;
        by = 0 - by;
    }
    return (double) (distance / by + (distance % by != 0));
}

mo_status mo_infer_shape_range(const mo_infer_rule_op *op, mo_shape *outputs,
                               mo_error *err)
{
    progression p;
    double count;
    mo_status status = read_range(op, &p, err);

    if (status != MO_OK)
        return status;
    count = count_steps(&p);
    if (count > (double) MO_MAX_ELEMENTS)
        return mo_fail(err, MO_E_LIMIT, "its output is too large");
    outputs[0] = (mo_shape){ .rank = 1 };
    outputs[0].dims[0] = count > 0 ? (int64_t) count : 0;
    return MO_OK;
}

mo_status mo_infer_eval_range(const mo_infer_rule_op *op, int output,
                              mo_infer_value *value, mo_error *err)
{
    progression p;
    mo_status status = read_range(op, &p, err);

    (void) output;
    for (int64_t i = 0; status == MO_OK && i < value->count; i++) {
        mo_infer_scalar item = { .r = p.start + (double) i * p.step };

        if (p.whole)
            item.i =
                (int64_t) ((uint64_t) p.first + (uint64_t) i * (uint64_t) p.by);
        value->items[i] =
            mo_infer_value_cast(item, p.whole ? "i64" : "f64", value->dtype);
    }
    return status;
}

mo_status mo_infer_shape_eye(const mo_infer_rule_op *op, mo_shape *outputs,
                             mo_error *err)
{
    int64_t rows, columns;
    mo_infer_arg_list batch = { 0 };
    mo_status status = mo_infer_arg_scalar(op, 0, &rows, err);

    if (status == MO_OK)
        status = mo_infer_arg_scalar(op, 1, &columns, err);
    if (status == MO_OK && op->n_inputs > 3)
        status = mo_infer_arg_list_of(op, 3, &batch, err);
    if (status != MO_OK)
        return status;
    outputs[0] = (mo_shape){ 0 };
    for (int d = 0; d < batch.count; d++)
        mo_dims_push(outputs, batch.at[d]);
    mo_dims_push(outputs, rows);
    mo_dims_push(outputs, columns);
    return MO_OK;
}

mo_status mo_infer_shape_random_uniform(const mo_infer_rule_op *op,
                                        mo_shape *outputs, mo_error *err)
{
    mo_infer_arg_list list;
    mo_status status = mo_infer_arg_list_of(op, 0, &list, err);

    if (status != MO_OK)
        return status;
    outputs[0] = (mo_shape){ 0 };
    for (int d = 0; d < list.count; d++)
        mo_dims_push(outputs, list.at[d]);
    return MO_OK;
}

mo_status mo_infer_shape_from_data(const mo_infer_rule_op *op,
                                   mo_shape *outputs, mo_error *err)
{
    (void) op;
    (void) outputs;
    return mo_fail(err, MO_E_SUPPORT,
                   "the size of its output depends on the data");
}
