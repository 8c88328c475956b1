/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/infer/value_arith.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "ingest/infer/rule_args.h"

/* What a binary operator does to two integers (false: there is no result) and
 * to two floats. */
typedef struct binary {
    const char *type;
    bool (*ints)(int64_t a, int64_t b, int64_t *result);
    double (*reals)(double a, double b);
} binary;

static bool int_subtract(int64_t a, int64_t b, int64_t *result)
{
    return b != INT64_MIN && mo_int64_add(a, -b, result);
}

/* INT64_MIN / -1 is the one quotient of two integers that is none. */
static bool divides(int64_t a, int64_t b)
{
    return b != 0 && (a != INT64_MIN || b != -1);
}

/* The sign of the remainder is the divisor's. */
static bool int_floor_mod(int64_t a, int64_t b, int64_t *result)
{
    if (!divides(a, b))
        return false;
    *result = a % b;
    if (*result != 0 && (*result < 0) != (b < 0))
        *result += b;
    return true;
}

/* As Python divides: towards minus infinity. */
static bool int_divide(int64_t a, int64_t b, int64_t *result)
{
    if (!divides(a, b))
        return false;
    *result = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return true;
}

static bool int_mod(int64_t a, int64_t b, int64_t *result)
{
    if (!divides(a, b))
        return false;
    *result = a % b;
    return true;
}

static bool int_power(int64_t a, int64_t b, int64_t *result)
{
    double power = pow((double) a, (double) b);

    if (!(fabs(power) < 0x1p63))
        return false;
    *result = (int64_t) power;
    return true;
}

static bool int_maximum(int64_t a, int64_t b, int64_t *result)
{
    *result = a > b ? a : b;
    return true;
}

static bool int_minimum(int64_t a, int64_t b, int64_t *result)
{
    *result = a < b ? a : b;
    return true;
}

static bool int_squared_difference(int64_t a, int64_t b, int64_t *result)
{
    int64_t difference;

    return int_subtract(a, b, &difference) &&
           mo_int64_mul(difference, difference, result);
}

static bool int_and(int64_t a, int64_t b, int64_t *result)
{
    *result = a && b;
    return true;
}

static bool int_or(int64_t a, int64_t b, int64_t *result)
{
    *result = a || b;
    return true;
}

static bool int_xor(int64_t a, int64_t b, int64_t *result)
{
    *result = !a != !b;
    return true;
}

static double real_add(double a, double b)
{
    return a + b;
}

static double real_subtract(double a, double b)
{
    return a - b;
}

static double real_multiply(double a, double b)
{
    return a * b;
}

static double real_divide(double a, double b)
{
    return a / b;
}

static double real_floor_mod(double a, double b)
{
    double rest = fmod(a, b);

    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static double real_squared_difference(double a, double b)
{
    return (a - b) * (a - b);
}

static const binary binaries[] = {
    { "Add", mo_int64_add, real_add },
    { "Subtract", int_subtract, real_subtract },
    { "Multiply", mo_int64_mul, real_multiply },
    { "Divide", int_divide, real_divide },
    { "FloorMod", int_floor_mod, real_floor_mod },
    { "Mod", int_mod, fmod },
    { "Power", int_power, pow },
    { "Maximum", int_maximum, fmax },
    { "Minimum", int_minimum, fmin },
    { "SquaredDifference", int_squared_difference, real_squared_difference },
    { "LogicalAnd", int_and, NULL },
    { "LogicalOr", int_or, NULL },
    { "LogicalXor", int_xor, NULL },
    { "ReduceSum", mo_int64_add, real_add },
    { "ReduceMean", mo_int64_add, real_add },
    { "ReduceProd", mo_int64_mul, real_multiply },
    { "ReduceMax", int_maximum, fmax },
    { "ReduceMin", int_minimum, fmin },
    { "ReduceLogicalAnd", int_and, NULL },
    { "ReduceLogicalOr", int_or, NULL },
};

static const binary *find_binary(const char *type)
{
    const binary *operator= binaries;

    while (strcmp(operator->type, type) != 0)
        operator++;
    return operator;
}

/* *result = a operator b, all three of the type of to. */
static mo_status apply(const binary *operator, mo_infer_scalar a,
                       mo_infer_scalar b, const mo_infer_value *to,
                       mo_infer_scalar *result, mo_error *err)
{
    int64_t number;

    if (to->real && operator->reals) {
        *result = mo_infer_value_fit_real(operator->reals(a.r, b.r), to->dtype);
        return MO_OK;
    }
    if (to->real || !operator->ints(a.i, b.i, &number))
        return mo_fail(err, MO_E_SUPPORT, "divides by zero or overflows");
    *result = mo_infer_value_fit_int(number, to->dtype);
    return MO_OK;
}

mo_status mo_infer_arith_binary(const mo_infer_rule_op *op, int output,
                                mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *a = op->inputs[0].value, *b = op->inputs[1].value;
    const binary *operator= find_binary(op->type);
    mo_status status = mo_infer_arith_check(op, 2, value, err);

    (void) output;
    if (status == MO_OK && (a->real != value->real || b->real != value->real))
        status = mo_infer_arith_fail_mixed(err);
    for (int64_t i = 0; status == MO_OK && i < value->count; i++)
        status = apply(operator, mo_infer_arith_item(a, value, i),
                       mo_infer_arith_item(b, value, i), value,
                       &value->items[i], err);
    return status;
}

/*
 * Every output item reduces a box of input items: one view leads to the first
 * item of the box, another from there to the rest.
 */
typedef struct boxes {
    mo_shape kept, reduced;
    mo_infer_view to_box, in_box;
} boxes;

static boxes split_axes(const mo_shape *shape, const bool *marks)
{
    mo_infer_view own = mo_infer_view_of(shape);
    boxes split = { 0 };

    for (int d = 0; d < shape->rank; d++) {
        mo_shape *side = marks[d] ? &split.reduced : &split.kept;
        mo_infer_view *view = marks[d] ? &split.in_box : &split.to_box;

        view->stride[side->rank] = own.stride[d];
        side->dims[side->rank++] = shape->dims[d];
    }
    return split;
}

static mo_status reduce_box(const mo_infer_rule_op *op, const boxes *split,
                            int64_t box, const mo_infer_value *to,
                            mo_infer_scalar *result, mo_error *err)
{
    const mo_infer_scalar *items = op->inputs[0].value->items;
    const binary *operator= find_binary(op->type);
    int64_t n = mo_shape_elements(&split->reduced);
    mo_status status = MO_OK;

    *result = items[box];
    for (int64_t i = 1; status == MO_OK && i < n; i++) {
        int64_t at = box + mo_infer_view_at(&split->in_box, &split->reduced, i);

        status = apply(operator, * result, items[at], to, result, err);
    }
    if (strcmp(op->type, "ReduceMean") != 0)
        return status;
    /* The mean of integers is cut, as a division in C. */
    if (to->real)
        *result = mo_infer_value_fit_real(result->r / (double) n, to->dtype);
    else
        result->i /= n;
    return status;
}

mo_status mo_infer_arith_reduce(const mo_infer_rule_op *op, int output,
                                mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *from = op->inputs[0].value;
    bool marks[MO_MAX_RANK];
    mo_status status = mo_infer_arg_marks(op, 1, from->shape.rank, marks, err);
    boxes split;

    (void) output;
    if (status != MO_OK)
        return status;
    if (from->real != value->real)
        return mo_infer_arith_fail_mixed(err);
    split = split_axes(&from->shape, marks);
    if (mo_shape_elements(&split.reduced) == 0)
        return mo_fail(err, MO_E_SUPPORT, "reduces nothing");
    for (int64_t i = 0; status == MO_OK && i < value->count; i++)
        status = reduce_box(op, &split,
                            mo_infer_view_at(&split.to_box, &split.kept, i),
                            value, &value->items[i], err);
    return status;
}
