/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "exec/op/point_builder.h"
#include "exec/op/lower/pointwise_ops.h"

/* What is done to integers where it is not the same for them as for reals. */
enum { AS_REAL = -1, NOTHING = -2 };

static const struct {
    const char *type;
    mo_point_op op;
    int integer; /* mo_point_op, AS_REAL or NOTHING */
} unaries[] = {
    { "Abs", MO_POINT_ABS, MO_POINT_I_ABS },
    { "Acos", MO_POINT_ACOS, AS_REAL },
    { "Acosh", MO_POINT_ACOSH, AS_REAL },
    { "Asin", MO_POINT_ASIN, AS_REAL },
    { "Asinh", MO_POINT_ASINH, AS_REAL },
    { "Atan", MO_POINT_ATAN, AS_REAL },
    { "Atanh", MO_POINT_ATANH, AS_REAL },
    { "Ceiling", MO_POINT_CEILING, NOTHING },
    { "Cos", MO_POINT_COS, AS_REAL },
    { "Cosh", MO_POINT_COSH, AS_REAL },
    { "Erf", MO_POINT_ERF, AS_REAL },
    { "Exp", MO_POINT_EXP, AS_REAL },
    { "Floor", MO_POINT_FLOOR, NOTHING },
    { "HSigmoid", MO_POINT_HSIGMOID, AS_REAL },
    { "HSwish", MO_POINT_HSWISH, AS_REAL },
    { "Log", MO_POINT_LOG, AS_REAL },
    { "Mish", MO_POINT_MISH, AS_REAL },
    { "Negative", MO_POINT_NEGATE, MO_POINT_I_NEGATE },
    { "Reciprocal", MO_POINT_RECIPROCAL, AS_REAL },
    { "ReLU", MO_POINT_RELU, MO_POINT_I_RELU },
    { "Sigmoid", MO_POINT_SIGMOID, AS_REAL },
    { "Sign", MO_POINT_SIGN, MO_POINT_I_SIGN },
    { "Sin", MO_POINT_SIN, AS_REAL },
    { "Sinh", MO_POINT_SINH, AS_REAL },
    { "SoftPlus", MO_POINT_SOFTPLUS, AS_REAL },
    { "Softsign", MO_POINT_SOFTSIGN, AS_REAL },
    { "Sqrt", MO_POINT_SQRT, AS_REAL },
    { "Tan", MO_POINT_TAN, AS_REAL },
    { "Tanh", MO_POINT_TANH, AS_REAL },
};

/* A curve through integers gives the nearest ones. */
static int rounded(mo_point_builder *draft, mo_point_op op, int x)
{
    int curve =
        mo_point_builder_unary(draft, op, mo_point_builder_to_real(draft, x));

    return mo_point_builder_unary(draft, MO_POINT_ROUND_AWAY, curve);
}

mo_status mo_lower_unary(const mo_op_site *site, mo_arena *arena,
                         mo_lower_result *lowered, mo_error *err)
{
    mo_point_builder draft = mo_point_builder_init(site);
    int x = mo_point_builder_input(&draft, 0), i = 0;

    while (strcmp(unaries[i].type, site->type) != 0)
        i++;
    if (mo_point_builder_is_real(&draft, x))
        x = mo_point_builder_unary(&draft, unaries[i].op, x);
    else if (unaries[i].integer == AS_REAL)
        x = rounded(&draft, unaries[i].op, x);
    else if (unaries[i].integer != NOTHING)
        x = mo_point_builder_unary(&draft, (mo_point_op) unaries[i].integer, x);
    mo_point_builder_store(&draft, x);
    return mo_point_builder_finish_call(&draft, arena, lowered, err);
}
