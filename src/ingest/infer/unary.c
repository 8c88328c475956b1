/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "ingest/infer/value_arith.h"

/* What a unary operator does to an integer (false: it overflows) and to a
 * float; NULL where it is not defined. */
typedef struct unary {
    const char *type;
    bool (*ints)(int64_t a, int64_t *result);
    double (*reals)(double a);
} unary;

static bool int_same(int64_t a, int64_t *result)
{
    *result = a;
    return true;
}

static bool int_negative(int64_t a, int64_t *result)
{
    if (a == INT64_MIN)
        return false;
    *result = -a;
    return true;
}

static bool int_abs(int64_t a, int64_t *result)
{
    return a < 0 ? int_negative(a, result) : int_same(a, result);
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

static double real_negative(double a)
{
    return -a;
}

static double real_sign(double a)
{
    return (a > 0) - (a < 0);
}

static double real_relu(double a)
{
    return a > 0 ? a : 0;
}

static const unary unaries[] = {
    { "Abs", int_abs, fabs },
    { "Negative", int_negative, real_negative },
    { "Floor", int_same, floor },
    { "Ceiling", int_same, ceil },
    { "Sqrt", NULL, sqrt },
    { "Exp", NULL, exp },
    { "Log", NULL, log },
    { "Sign", int_sign, real_sign },
    { "ReLU", int_relu, real_relu },
    { "LogicalNot", int_not, NULL },
};

static bool apply(const unary *operator, mo_infer_scalar from,
                  const mo_infer_value *to, mo_infer_scalar *result)
{
    int64_t number;

    if (to->real && operator->reals) {
        *result = mo_infer_value_fit_real(operator->reals(from.r), to->dtype);
        return true;
    }
    if (to->real || !operator->ints || !operator->ints(from.i, &number))
        return false;
    *result = mo_infer_value_fit_int(number, to->dtype);
    return true;
}

mo_status mo_infer_arith_unary(const mo_infer_rule_op *op, int output,
                               mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *from = op->inputs[0].value;
    const unary *operator= unaries;

    (void) output;
    if (from->real != value->real)
        return mo_infer_arith_fail_mixed(err);
    while (strcmp(operator->type, op->type) != 0)
        operator++;
    for (int64_t i = 0; i < value->count; i++)
        if (!apply(operator, from->items[i], value, &value->items[i]))
            return mo_fail(err, MO_E_SUPPORT, "overflows or is not defined");
    return MO_OK;
}

mo_status mo_infer_arith_convert(const mo_infer_rule_op *op, int output,
                                 mo_infer_value *value, mo_error *err)
{
    const mo_infer_value *from = op->inputs[0].value;

    (void) output;
    (void) err;
    for (int64_t i = 0; i < value->count; i++)
        value->items[i] =
            mo_infer_value_cast(from->items[i], from->real, value->dtype);
    return MO_OK;
}
