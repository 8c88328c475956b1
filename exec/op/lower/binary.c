/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering of binary and variadic elementwise operators. */
#include "exec/op/point_builder.h"
#include "exec/op/lower/lowerings.h"

/* Combines two registers; both are converted to reals if one is. */
static int combine_registers(mo_point_builder *builder, mo_point_op on_reals,
                             mo_point_op on_integers, int a, int b)
{
    if (!mo_point_builder_is_real(builder, a) &&
        !mo_point_builder_is_real(builder, b))
        return mo_point_builder_binary(builder, on_integers, a, b);
    a = mo_point_builder_to_real(builder, a);
    return mo_point_builder_binary(builder, on_reals, a,
                                   mo_point_builder_to_real(builder, b));
}

/* Combines the inputs, min to max of them, from left to right. */
static mo_status combine_inputs(const mo_op_site *site, mo_point_op on_integers,
                                int min, int max, mo_lower_result *lowered,
                                mo_error *err)
{
    mo_status status = mo_op_site_check_arity(site, min, max, 1, err);
    mo_point_builder builder = mo_point_builder_init(site);
    mo_point_op on_reals = mo_lower_entry_find(site->type)->on_reals;
    int result = 0;

    if (status != MO_OK)
        return status;
    for (int i = 0; i < site->n_in; i++)
        mo_point_builder_input(&builder, i);
    for (int i = 1; i < builder.point.n_operands; i++)
        result = combine_registers(&builder, on_reals, on_integers, result, i);
    mo_point_builder_store(&builder, result);
    return mo_point_builder_finish_call(&builder, lowered, err);
}

static mo_point_op integer_step(const mo_op_site *site)
{
    return (mo_point_op) mo_lower_entry_find(site->type)->on_integers;
}

mo_status mo_lower_binary(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    return combine_inputs(site, integer_step(site), 2, 2, lowered, err);
}

/* Sums, products, maxima and minima may be of more than two. */
mo_status mo_lower_variadic(const mo_op_site *site, mo_lower_result *lowered,
                            mo_error *err)
{
    return combine_inputs(site, integer_step(site), 1, MO_POINT_MAX_OPERANDS,
                          lowered, err);
}

mo_status mo_lower_divide(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    mo_point_op on_integers = integer_step(site);

    if (!mo_op_site_attr_bool(site, "m_pythondiv", true))
        on_integers = MO_POINT_I_DIVIDE;
    return combine_inputs(site, on_integers, 2, 2, lowered, err);
}

mo_status mo_lower_logical_not(const mo_op_site *site, mo_lower_result *lowered,
                               mo_error *err)
{
    mo_status status = mo_op_site_check_arity(site, 1, 1, 1, err);
    mo_point_builder builder = mo_point_builder_init(site);
    int a;

    if (status != MO_OK)
        return status;
    a = mo_point_builder_to_bool(&builder, mo_point_builder_input(&builder, 0));
    mo_point_builder_store(&builder,
                           mo_point_builder_unary(&builder, MO_POINT_I_NOT, a));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

mo_status mo_lower_logical(const mo_op_site *site, mo_lower_result *lowered,
                           mo_error *err)
{
    mo_status status = mo_op_site_check_arity(site, 2, 2, 1, err);
    mo_point_builder builder = mo_point_builder_init(site);
    int a, b;

    if (status != MO_OK)
        return status;
    a = mo_point_builder_input(&builder, 0);
    b = mo_point_builder_input(&builder, 1);
    a = mo_point_builder_to_bool(&builder, a);
    b = mo_point_builder_to_bool(&builder, b);
    mo_point_builder_store(
        &builder, mo_point_builder_binary(&builder, integer_step(site), a, b));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

static mo_status check_bits(const mo_op_site *site, int n_in, mo_error *err)
{
    mo_status status = mo_op_site_check_arity(site, n_in, n_in, 1, err);

    if (status == MO_OK && mo_elem_is_float(site->in[0].elem))
        return mo_op_site_fail(site, MO_E_INPUT, err, "is for integers only");
    return status;
}

/* Of booleans, the bitwise negation is the logical one. */
mo_status mo_lower_bitwise_not(const mo_op_site *site, mo_lower_result *lowered,
                               mo_error *err)
{
    mo_status status = check_bits(site, 1, err);
    mo_point_builder builder = mo_point_builder_init(site);
    int a;

    if (status != MO_OK)
        return status;
    a = mo_point_builder_input(&builder, 0);
    a = mo_point_builder_unary(
        &builder,
        site->in[0].elem == MO_ELEM_BOOL ? MO_POINT_I_NOT : MO_POINT_I_BITS_NOT,
        a);
    mo_point_builder_store(&builder, a);
    return mo_point_builder_finish_call(&builder, lowered, err);
}

mo_status mo_lower_bitwise(const mo_op_site *site, mo_lower_result *lowered,
                           mo_error *err)
{
    mo_status status = check_bits(site, 2, err);
    mo_point_builder builder = mo_point_builder_init(site);
    int a, b;

    if (status != MO_OK)
        return status;
    a = mo_point_builder_input(&builder, 0);
    b = mo_point_builder_input(&builder, 1);
    b = mo_point_builder_to_integer(&builder, b);
    mo_point_builder_store(
        &builder, mo_point_builder_binary(&builder, integer_step(site), a, b));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

/* Powers without a logarithm. Returns false when exponent is none of them. */
static bool plain_power(mo_point_builder *builder, int x, double exponent,
                        int *result)
{
    int square;

    if (exponent == 1)
        *result = x;
    else if (exponent == 2)
        *result = mo_point_builder_binary(builder, MO_POINT_MULTIPLY, x, x);
    else if (exponent == 3) {
        square = mo_point_builder_binary(builder, MO_POINT_MULTIPLY, x, x);
        *result =
            mo_point_builder_binary(builder, MO_POINT_MULTIPLY, square, x);
    } else if (exponent == 0.5)
        *result = mo_point_builder_unary(builder, MO_POINT_SQRT, x);
    else if (exponent == -1)
        *result = mo_point_builder_unary(builder, MO_POINT_RECIPROCAL, x);
    else if (exponent == -0.5)
        *result = mo_point_builder_unary(
            builder, MO_POINT_RECIPROCAL,
            mo_point_builder_unary(builder, MO_POINT_SQRT, x));
    else
        return false;
    return true;
}

/* A constant exponent may have a cheaper program. */
mo_status mo_lower_power(const mo_op_site *site, mo_lower_result *lowered,
                         mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    mo_status status = mo_op_site_check_arity(site, 2, 2, 1, err);
    int x, result;

    if (status != MO_OK)
        return status;
    if (!site->value[1] || mo_tensor_desc_elements(&site->in[1]) != 1 ||
        !mo_elem_is_float(site->in[0].elem))
        return mo_lower_binary(site, lowered, err);
    x = mo_point_builder_input(&builder, 0);
    if (!plain_power(&builder, x, mo_tensor_get_double(site->value[1], 0),
                     &result))
        return mo_lower_binary(site, lowered, err);
    mo_point_builder_store(&builder, result);
    return mo_point_builder_finish_call(&builder, lowered, err);
}

/* A list of slopes is one for each channel, which is the second dimension. */
mo_status mo_lower_prelu(const mo_op_site *site, mo_lower_result *lowered,
                         mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    mo_status status = mo_op_site_check_arity(site, 2, 2, 1, err);
    const mo_tensor_desc *slope = &site->in[1];
    int x, y;

    if (status != MO_OK)
        return status;
    x = mo_point_builder_input(&builder, 0);
    if (slope->shape.rank == 1 && slope->shape.dims[0] != 1)
        y = mo_point_builder_operand_along(&builder, 1, slope,
                                           site->in[0].shape.rank > 1);
    else
        y = mo_point_builder_operand(&builder, 1, slope);
    x = mo_point_builder_to_real(&builder, x);
    mo_point_builder_store(&builder, combine_registers(&builder, MO_POINT_PRELU,
                                                       MO_POINT_PRELU, x, y));
    return mo_point_builder_finish_call(&builder, lowered, err);
}
