/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluation of arithmetic on small known tensors: the shape subgraphs that
 * exporters write (ShapeOf, Gather, Multiply, Concat, Reshape).  The scalar
 * functions of an operator stand in the column VALUE of operators.def; an
 * operator without a result (division by zero, overflow) fails with
 * MO_E_SUPPORT.
 */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "ingest/infer/dims.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/rule_fns.h"
#include "ingest/operator_id.h"

/* Scalar functions; those on integers return false without a result */

static bool int_same(int64_t a, int64_t *result)
{
    *result = a;
    return true;
}

static bool int_negate(int64_t a, int64_t *result)
{
    if (a == INT64_MIN)
        return false;
    *result = -a;
    return true;
}

static bool int_abs(int64_t a, int64_t *result)
{
    return a < 0 ? int_negate(a, result) : int_same(a, result);
}

static bool int_sign(int64_t a, int64_t *result)
{
    *result = (a > 0) - (a < 0);
    return true;
}

static bool int_relu(int64_t a, int64_t *result)
{
    *result = a > 0 ? a : 0;
    return true;
}

static bool int_not(int64_t a, int64_t *result)
{
    *result = !a;
    return true;
}

static double real_negate(double a)
{
    return -a;
}

static double real_sign(double a)
{
    return a > 0 ? 1 : a < 0 ? -1 : a;
}

static double real_relu(double a)
{
    return a < 0 ? 0 : a;
}

static bool int_subtract(int64_t a, int64_t b, int64_t *result)
{
    return b != INT64_MIN && mo_int64_add(a, -b, result);
}

/* INT64_MIN / -1 is the one quotient of two integers that overflows. */
static bool is_quotient(int64_t a, int64_t b)
{
    return b != 0 && (a != INT64_MIN || b != -1);
}

/* The sign of the remainder is the divisor's. */
static bool int_floor_mod(int64_t a, int64_t b, int64_t *result)
{
    if (!is_quotient(a, b))
        return false;
    *result = a % b;
    if (*result != 0 && (*result < 0) != (b < 0))
        *result += b;
    return true;
}

/* As Python divides: towards minus infinity. */
static bool int_divide(int64_t a, int64_t b, int64_t *result)
{
    if (!is_quotient(a, b))
        return false;
    *result = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return true;
}

/* As C divides: towards zero. */
static bool int_quotient(int64_t a, int64_t b, int64_t *result)
{
    if (!is_quotient(a, b))
        return false;
    *result = a / b;
    return true;
}

static bool int_mod(int64_t a, int64_t b, int64_t *result)
{
    if (!is_quotient(a, b))
        return false;
    *result = a % b;
    return true;
}

static bool int_power(int64_t a, int64_t b, int64_t *result)
{
    int64_t square = a;

    *result = 1;
    if (b < 0)
        return false;
    for (; b > 0; b >>= 1) {
        if ((b & 1) && !mo_int64_mul(*result, square, result))
            return false;
        if (b > 1 && !mo_int64_mul(square, square, &square))
            return false;
    }
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

/* A NaN is the result, as in IEEE 754-2019 maximum and minimum. */
static double real_maximum(double a, double b)
{
    return a < b || isnan(b) ? b : a;
}

static double real_minimum(double a, double b)
{
    return b < a || isnan(b) ? b : a;
}

static double real_squared_difference(double a, double b)
{
    return (a - b) * (a - b);
}

/* How two numbers stand to each other, as a bit. */
enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

/* What an operator does to scalars; NULL where it is not defined. */
typedef struct arithmetic {
    bool (*int_unary)(int64_t a, int64_t *result);
    double (*real_unary)(double a);
    bool (*int_binary)(int64_t a, int64_t b, int64_t *result);
    double (*real_binary)(double a, double b);
    int relations; /* of a comparison: those in which it is true */
} arithmetic;

/* Words of the column VALUE. */
#define VALUE_NONE                .relations = 0
#define VALUE_EVAL(f, inputs)     .relations = 0
#define VALUE_COMPARE(set)        .relations = set
#define VALUE_UNARY(ints, reals)  .int_unary = ints, .real_unary = reals
#define VALUE_BINARY(ints, reals) .int_binary = ints, .real_binary = reals
#define VALUE_REDUCE(ints, reals) .int_binary = ints, .real_binary = reals

static const arithmetic *find_arithmetic(const mo_infer_rule_op *op)
{
    static const arithmetic table[MO_OPERATORS] = {
#define OPERATOR(name, class, flops, shape, value, lowering) { VALUE_##value },
#include "ingest/operators.def"
    };

    return &table[mo_operator_id_of(op->type)];
}

static mo_status fail_mixed(mo_error *err)
{
    return mo_fail(err, MO_E_SUPPORT, "mixes integers and floats");
}

/* Fails unless the first n inputs broadcast to the shape of value as numpy
 * does; any other way is too rare among shapes to be supported. */
static mo_status check_broadcast(const mo_infer_rule_op *op, int n,
                                 const mo_infer_value *value, mo_error *err)
{
    mo_shape shape = op->inputs[0].shape;
    bool match = true;

    for (int k = 1; match && k < n; k++)
        match = mo_dims_broadcast(&shape, &op->inputs[k].shape, &shape);
    if (!match || !mo_shape_equal(&shape, &value->shape))
        return mo_fail(err, MO_E_SUPPORT, "does not broadcast as numpy does");
    return MO_OK;
}

/* Returns the item of from that is broadcast to item i of to. */
static mo_infer_scalar item_at(const mo_infer_value *from,
                               const mo_infer_value *to, int64_t i)
{
    mo_infer_view view = mo_infer_view_broadcast(&from->shape, &to->shape);

    return from->items[mo_infer_view_at(&view, &to->shape, i)];
}

static bool apply_unary(const arithmetic *f, mo_infer_scalar from,
                        const mo_infer_value *to, mo_infer_scalar *result)
{
    int64_t number;

    if (to->real && f->real_unary) {
        *result = mo_infer_value_fit_real(f->real_unary(from.r), to->dtype);
        return true;
    }
    if (to->real || !f->int_unary || !f->int_unary(from.i, &number))
        return false;
    *result = mo_infer_value_fit_int(number, to->dtype);
    return true;
}

mo_status mo_infer_eval_unary(const mo_infer_rule_op *op, int output,
                              mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *from = op->inputs[0].value;
    const arithmetic *f = find_arithmetic(op);

    mo_status status = mo_infer_arg_check_int64(op, 1, err);

    (void) output;
    if (status != MO_OK)
        return status;
    if (from->real != value->real)
        return fail_mixed(err);
    for (int64_t i = 0; i < value->count; i++)
        if (!apply_unary(f, from->items[i], value, &value->items[i]))
            return mo_fail(err, MO_E_SUPPORT, "overflows or is not defined");
    return MO_OK;
}

mo_status mo_infer_eval_convert(const mo_infer_rule_op *op, int output,
                                mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *from = op->inputs[0].value;

    (void) output;
    for (int64_t i = 0; i < value->count; i++) {
        double number = mo_infer_value_number(from, i);

        if (from->real && !value->real &&
            strcmp(value->dtype, "boolean") != 0 &&
            !(number >= -0x1p63 && number < 0x1p63))
            return mo_fail(err, MO_E_SUPPORT, "converts what is no int64");
        value->items[i] =
            mo_infer_value_cast(from->items[i], from->dtype, value->dtype);
    }
    return MO_OK;
}

/* *result = f(a, b), a real or an int64. */
static mo_status apply_binary(const arithmetic *f, mo_infer_scalar a,
                              mo_infer_scalar b, bool real,
                              mo_infer_scalar *result, mo_error *err)
{
    if (real && f->real_binary)
        result->r = f->real_binary(a.r, b.r);
    else if (real || !f->int_binary(a.i, b.i, &result->i))
        return mo_fail(err, MO_E_SUPPORT, "divides by zero or overflows");
    return MO_OK;
}

/* Wraps or rounds a result to the type of the value. */
static mo_infer_scalar fit_result(mo_infer_scalar result,
                                  const mo_infer_value *to)
{
    return to->real ? mo_infer_value_fit_real(result.r, to->dtype)
                    : mo_infer_value_fit_int(result.i, to->dtype);
}

mo_status mo_infer_eval_binary(const mo_infer_rule_op *op, int output,
                               mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *a = op->inputs[0].value, *b = op->inputs[1].value;
    arithmetic f = *find_arithmetic(op);
    mo_status status = check_broadcast(op, 2, value, err);

    (void) output;
    if (f.int_binary == int_divide &&
        !mo_infer_arg_bool(op, "m_pythondiv", true))
        f.int_binary = int_quotient;
    if (status == MO_OK && (a->real != value->real || b->real != value->real))
        status = fail_mixed(err);
    if (status == MO_OK)
        status = mo_infer_arg_check_int64(op, 2, err);
    for (int64_t i = 0; status == MO_OK && i < value->count; i++) {
        mo_infer_scalar *item = &value->items[i];

        status = apply_binary(&f, item_at(a, value, i), item_at(b, value, i),
                              value->real, item, err);
        if (status == MO_OK)
            *item = fit_result(*item, value);
    }
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
                            mo_infer_scalar *item, mo_error *err)
{
    const mo_infer_scalar *items = op->inputs[0].value->items;
    mo_infer_scalar result = items[box];
    const arithmetic *f = find_arithmetic(op);
    int64_t n = mo_shape_elements(&split->reduced);
    mo_status status = MO_OK;

    for (int64_t i = 1; status == MO_OK && i < n; i++) {
        int64_t at = box + mo_infer_view_at(&split->in_box, &split->reduced, i);

        status = apply_binary(f, result, items[at], to->real, &result, err);
    }
    /* The mean of integers is truncated, as a division in C. */
    if (mo_operator_id_of(op->type) == MO_OPERATOR_ReduceMean && to->real)
        result.r /= (double) n;
    else if (mo_operator_id_of(op->type) == MO_OPERATOR_ReduceMean)
        result.i /= n;
    *item = fit_result(result, to);
    return status;
}

mo_status mo_infer_eval_reduce(const mo_infer_rule_op *op, int output,
                               mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *from = op->inputs[0].value;
    bool marks[MO_MAX_RANK];
    mo_status status = mo_infer_arg_marks(op, 1, from->shape.rank, marks, err);
    boxes split;

    (void) output;
    if (status != MO_OK)
        return status;
    status = mo_infer_arg_check_int64(op, 1, err);
    if (status != MO_OK)
        return status;
    if (from->real != value->real)
        return fail_mixed(err);
    split = split_axes(&from->shape, marks);
    if (mo_shape_elements(&split.reduced) == 0)
        return mo_fail(err, MO_E_SUPPORT, "reduces nothing");
    for (int64_t i = 0; status == MO_OK && i < value->count; i++)
        status = reduce_box(op, &split,
                            mo_infer_view_at(&split.to_box, &split.kept, i),
                            value, &value->items[i], err);
    return status;
}

static int compare_scalars(mo_infer_scalar a, mo_infer_scalar b, bool real)
{
    if (!real)
        return a.i < b.i ? LESS : a.i > b.i ? GREATER : EQUAL;
    if (isnan(a.r) || isnan(b.r))
        return UNORDERED;
    return a.r < b.r ? LESS : a.r > b.r ? GREATER : EQUAL;
}

mo_status mo_infer_eval_compare(const mo_infer_rule_op *op, int output,
                                mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *a = op->inputs[0].value, *b = op->inputs[1].value;
    mo_status status = check_broadcast(op, 2, value, err);
    int relations = find_arithmetic(op)->relations;

    (void) output;
    if (status == MO_OK)
        status = mo_infer_arg_check_int64(op, 2, err);
    if (status != MO_OK)
        return status;
    if (a->real != b->real || value->real)
        return fail_mixed(err);
    for (int64_t i = 0; i < value->count; i++) {
        int is = compare_scalars(item_at(a, value, i), item_at(b, value, i),
                                 a->real);

        value->items[i].i = (relations & is) != 0;
    }
    return MO_OK;
}

mo_status mo_infer_eval_select(const mo_infer_rule_op *op, int output,
                               mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *condition = op->inputs[0].value;
    mo_status status = check_broadcast(op, 3, value, err);

    (void) output;
    if (status != MO_OK)
        return status;
    if (condition->real || op->inputs[1].value->real != value->real ||
        op->inputs[2].value->real != value->real)
        return fail_mixed(err);
    for (int64_t i = 0; i < value->count; i++) {
        bool holds = item_at(condition, value, i).i != 0;

        value->items[i] = item_at(op->inputs[holds ? 1 : 2].value, value, i);
    }
    return MO_OK;
}
