/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "exec/op/point_builder.h"
#include "exec/op/lower/pointwise_ops.h"

typedef struct binary {
    const char *type;
    mo_point_op real, integer;
} binary;

static const binary binaries[] = {
    { "Add", MO_POINT_ADD, MO_POINT_I_ADD },
    { "Divide", MO_POINT_DIVIDE, MO_POINT_I_FLOOR_DIVIDE },
    { "Equal", MO_POINT_EQUAL, MO_POINT_I_EQUAL },
    { "FloorMod", MO_POINT_FLOOR_MOD, MO_POINT_I_FLOOR_MOD },
    { "Greater", MO_POINT_GREATER, MO_POINT_I_GREATER },
    { "GreaterEqual", MO_POINT_GREATER_EQUAL, MO_POINT_I_GREATER_EQUAL },
    { "Less", MO_POINT_LESS, MO_POINT_I_LESS },
    { "LessEqual", MO_POINT_LESS_EQUAL, MO_POINT_I_LESS_EQUAL },
    { "Maximum", MO_POINT_MAXIMUM, MO_POINT_I_MAXIMUM },
    { "Minimum", MO_POINT_MINIMUM, MO_POINT_I_MINIMUM },
    { "Mod", MO_POINT_MOD, MO_POINT_I_MOD },
    { "Multiply", MO_POINT_MULTIPLY, MO_POINT_I_MULTIPLY },
    { "NotEqual", MO_POINT_NOT_EQUAL, MO_POINT_I_NOT_EQUAL },
    { "Power", MO_POINT_POWER, MO_POINT_I_POWER },
    { "SquaredDifference", MO_POINT_SQUARED_DIFFERENCE,
      MO_POINT_I_SQUARED_DIFFERENCE },
    { "Subtract", MO_POINT_SUBTRACT, MO_POINT_I_SUBTRACT },
};

static binary find_binary(const mo_op_site *site)
{
    int i = 0;

    while (strcmp(binaries[i].type, site->type) != 0)
        i++;
    return binaries[i];
}

/* Of two registers; both are reals if one is. */
static int combine(mo_point_builder *draft, const binary *op, int a, int b)
{
    if (!mo_point_builder_is_real(draft, a) &&
        !mo_point_builder_is_real(draft, b))
        return mo_point_builder_binary(draft, op->integer, a, b);
    a = mo_point_builder_to_real(draft, a);
    return mo_point_builder_binary(draft, op->real, a,
                                   mo_point_builder_to_real(draft, b));
}

/* Sums, products, maxima and minima may be of more than two. */
static bool takes_many(const mo_op_site *site)
{
    return strcmp(site->type, "Add") == 0 ||
           strcmp(site->type, "Multiply") == 0 ||
           strcmp(site->type, "Maximum") == 0 ||
           strcmp(site->type, "Minimum") == 0;
}

static mo_status check_inputs(const mo_op_site *site, mo_error *err)
{
    return mo_op_site_check_arity(site, takes_many(site) ? 1 : 2,
                                  takes_many(site) ? MO_POINT_MAX_OPERANDS : 2,
                                  1, err);
}

mo_status mo_lower_binary(const mo_op_site *site, mo_arena *arena,
                          mo_lower_result *lowered, mo_error *err)
{
    mo_status status = check_inputs(site, err);
    mo_point_builder draft = mo_point_builder_init(site);
    binary op = find_binary(site);
    int result;

    if (status != MO_OK)
        return status;
    if (strcmp(site->type, "Divide") == 0 &&
        !mo_op_site_attr_bool(site, "m_pythondiv", true))
        op.integer = MO_POINT_I_DIVIDE;
    for (int i = 0; i < site->n_in; i++)
        mo_point_builder_input(&draft, i);
    result = 0;
    for (int i = 1; i < draft.point.n_operands; i++)
        result = combine(&draft, &op, result, i);
    mo_point_builder_store(&draft, result);
    return mo_point_builder_finish_call(&draft, arena, lowered, err);
}

/* ----------------------------------------------------------- true, false -- */

static const struct {
    const char *type;
    mo_point_op op;
} bits[] = {
    { "LogicalAnd", MO_POINT_I_AND }, { "LogicalOr", MO_POINT_I_OR },
    { "LogicalXor", MO_POINT_I_XOR }, { "BitwiseAnd", MO_POINT_I_AND },
    { "BitwiseOr", MO_POINT_I_OR },   { "BitwiseXor", MO_POINT_I_XOR },
};

static mo_point_op find_bits(const mo_op_site *site)
{
    int i = 0;

    while (strcmp(bits[i].type, site->type) != 0)
        i++;
    return bits[i].op;
}

mo_status mo_lower_logical(const mo_op_site *site, mo_arena *arena,
                           mo_lower_result *lowered, mo_error *err)
{
    bool negates = strcmp(site->type, "LogicalNot") == 0;
    mo_status status =
        mo_op_site_check_arity(site, negates ? 1 : 2, negates ? 1 : 2, 1, err);
    mo_point_builder draft = mo_point_builder_init(site);
    int a, b = 0;

    if (status != MO_OK)
        return status;
    a = mo_point_builder_input(&draft, 0);
    if (!negates)
        b = mo_point_builder_input(&draft, 1);
    a = mo_point_builder_to_bool(&draft, a);
    a = negates ? mo_point_builder_unary(&draft, MO_POINT_I_NOT, a)
                : mo_point_builder_binary(&draft, find_bits(site), a,
                                          mo_point_builder_to_bool(&draft, b));
    mo_point_builder_store(&draft, a);
    return mo_point_builder_finish_call(&draft, arena, lowered, err);
}

/* Of booleans, bits are what is true. */
mo_status mo_lower_bitwise(const mo_op_site *site, mo_arena *arena,
                           mo_lower_result *lowered, mo_error *err)
{
    bool negates = strcmp(site->type, "BitwiseNot") == 0;
    mo_status status =
        mo_op_site_check_arity(site, negates ? 1 : 2, negates ? 1 : 2, 1, err);
    mo_point_builder draft = mo_point_builder_init(site);
    int a, b;

    if (status != MO_OK)
        return status;
    if (mo_elem_is_float(site->in[0].elem))
        return mo_op_site_fail(site, MO_E_INPUT, err, "is for integers only");
    a = mo_point_builder_input(&draft, 0);
    if (negates) {
        a = mo_point_builder_unary(&draft,
                                   site->in[0].elem == MO_ELEM_BOOL
                                       ? MO_POINT_I_NOT
                                       : MO_POINT_I_BITS_NOT,
                                   a);
    } else {
        b = mo_point_builder_input(&draft, 1);
        a = mo_point_builder_binary(&draft, find_bits(site), a,
                                    mo_point_builder_to_integer(&draft, b));
    }
    mo_point_builder_store(&draft, a);
    return mo_point_builder_finish_call(&draft, arena, lowered, err);
}

/* --------------------------------------------------------------- special -- */

/* Powers that need no logarithm.  Returns false when this is none. */
static bool plain_power(mo_point_builder *draft, int x, double exponent,
                        int *result)
{
    int square;

    if (exponent == 1)
        *result = x;
    else if (exponent == 2)
        *result = mo_point_builder_binary(draft, MO_POINT_MULTIPLY, x, x);
    else if (exponent == 3) {
        square = mo_point_builder_binary(draft, MO_POINT_MULTIPLY, x, x);
        *result = mo_point_builder_binary(draft, MO_POINT_MULTIPLY, square, x);
    } else if (exponent == 0.5)
        *result = mo_point_builder_unary(draft, MO_POINT_SQRT, x);
    else if (exponent == -1)
        *result = mo_point_builder_unary(draft, MO_POINT_RECIPROCAL, x);
    else if (exponent == -0.5)
        *result = mo_point_builder_unary(
            draft, MO_POINT_RECIPROCAL,
            mo_point_builder_unary(draft, MO_POINT_SQRT, x));
    else
        return false;
    return true;
}

/* With a constant exponent there may be a shorter way. */
mo_status mo_lower_power(const mo_op_site *site, mo_arena *arena,
                         mo_lower_result *lowered, mo_error *err)
{
    mo_point_builder draft = mo_point_builder_init(site);
    mo_status status = mo_op_site_check_arity(site, 2, 2, 1, err);
    int x, result;

    if (status != MO_OK)
        return status;
    if (!site->value[1] || mo_tensor_desc_elements(&site->in[1]) != 1 ||
        !mo_elem_is_float(site->in[0].elem))
        return mo_lower_binary(site, arena, lowered, err);
    x = mo_point_builder_input(&draft, 0);
    if (!plain_power(&draft, x, mo_tensor_get_double(site->value[1], 0),
                     &result))
        return mo_lower_binary(site, arena, lowered, err);
    mo_point_builder_store(&draft, result);
    return mo_point_builder_finish_call(&draft, arena, lowered, err);
}

/* A list of slopes is one for each channel, which is the second dimension. */
mo_status mo_lower_prelu(const mo_op_site *site, mo_arena *arena,
                         mo_lower_result *lowered, mo_error *err)
{
    static const binary prelu = { "PReLU", MO_POINT_PRELU, MO_POINT_PRELU };
    mo_point_builder draft = mo_point_builder_init(site);
    mo_status status = mo_op_site_check_arity(site, 2, 2, 1, err);
    const mo_tensor_desc *slope = &site->in[1];
    int x, y;

    if (status != MO_OK)
        return status;
    x = mo_point_builder_input(&draft, 0);
    if (slope->shape.rank == 1 && slope->shape.dims[0] != 1)
        y = mo_point_builder_operand_along(&draft, 1, slope,
                                           site->in[0].shape.rank > 1);
    else
        y = mo_point_builder_operand(&draft, 1, slope);
    x = mo_point_builder_to_real(&draft, x);
    mo_point_builder_store(&draft, combine(&draft, &prelu, x, y));
    return mo_point_builder_finish_call(&draft, arena, lowered, err);
}
