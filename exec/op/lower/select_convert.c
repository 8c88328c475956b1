/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of elementwise selection, type conversion, classification of reals
 * (IsNaN, ...) and FakeQuantize.
 */
#include "exec/op/point_builder.h"
#include "exec/op/lower/lowerings.h"

/* Converts to the type of the output; ConvertLike has a second input for it. */
mo_status mo_lower_convert(const mo_op_site *site, mo_lower_result *lowered,
                           mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);

    mo_point_builder_store(&builder, mo_point_builder_input(&builder, 0));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

/* Selects between two registers, converted to reals if one is. */
static int select_register(mo_point_builder *builder, int condition, int yes,
                           int no)
{
    if (!mo_point_builder_is_real(builder, yes) &&
        !mo_point_builder_is_real(builder, no))
        return mo_point_builder_ternary(builder, MO_POINT_I_SELECT, condition,
                                        yes, no);
    yes = mo_point_builder_to_real(builder, yes);
    return mo_point_builder_ternary(builder, MO_POINT_SELECT, condition, yes,
                                    mo_point_builder_to_real(builder, no));
}

mo_status mo_lower_select(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    mo_status status = mo_op_site_check_arity(site, 3, 3, 1, err);
    mo_point_builder builder = mo_point_builder_init(site);
    int condition, yes, no;

    if (status != MO_OK)
        return status;
    condition = mo_point_builder_input(&builder, 0);
    yes = mo_point_builder_input(&builder, 1);
    no = mo_point_builder_input(&builder, 2);
    condition = mo_point_builder_to_bool(&builder, condition);
    mo_point_builder_store(&builder,
                           select_register(&builder, condition, yes, no));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

/* A number where the mask is true: input 2, or attribute "value". */
mo_status mo_lower_masked_fill(const mo_op_site *site, mo_lower_result *lowered,
                               mo_error *err)
{
    mo_status status = mo_op_site_check_arity(site, 2, 3, 1, err);
    mo_point_builder builder = mo_point_builder_init(site);
    double value = 0;
    int x, mask, fill;

    if (status == MO_OK && site->n_in == 2)
        status = mo_op_site_attr_real(site, "value", 0, &value, err);
    if (status != MO_OK)
        return status;
    x = mo_point_builder_input(&builder, 0);
    mask = mo_point_builder_input(&builder, 1);
    fill = site->n_in > 2 ? mo_point_builder_input(&builder, 2) : x;
    mask = mo_point_builder_to_bool(&builder, mask);
    if (site->n_in == 2)
        fill = mo_point_builder_unary_params(
            &builder,
            mo_point_builder_is_real(&builder, x) ? MO_POINT_CLAMP
                                                  : MO_POINT_I_CLAMP,
            x, value, value);
    mo_point_builder_store(&builder, select_register(&builder, mask, fill, x));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

static mo_status add_classify(const mo_op_site *site, mo_point_op op,
                              mo_lower_result *lowered, mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    int x =
        mo_point_builder_to_real(&builder, mo_point_builder_input(&builder, 0));

    mo_point_builder_store(&builder, mo_point_builder_unary(&builder, op, x));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

mo_status mo_lower_is_nan(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    return add_classify(site, MO_POINT_IS_NAN, lowered, err);
}

mo_status mo_lower_is_finite(const mo_op_site *site, mo_lower_result *lowered,
                             mo_error *err)
{
    return add_classify(site, MO_POINT_IS_FINITE, lowered, err);
}

/* Infinite, but only with the signs to detect. */
mo_status mo_lower_is_inf(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    bool below = mo_op_site_attr_bool(site, "detect_negative", true);
    bool above = mo_op_site_attr_bool(site, "detect_positive", true);
    mo_point_builder builder = mo_point_builder_init(site);
    int x =
        mo_point_builder_to_real(&builder, mo_point_builder_input(&builder, 0));
    int infinite = mo_point_builder_unary(&builder, MO_POINT_IS_INF, x);

    if (!below && !above) {
        infinite = mo_point_builder_unary_params(&builder, MO_POINT_I_CLAMP,
                                                 infinite, 0, 0);
    } else if (!below || !above) {
        int zero =
            mo_point_builder_unary_params(&builder, MO_POINT_CLAMP, x, 0, 0);
        int side = mo_point_builder_binary(
            &builder, below ? MO_POINT_LESS : MO_POINT_GREATER, x, zero);

        infinite =
            mo_point_builder_binary(&builder, MO_POINT_I_AND, infinite, side);
    }
    mo_point_builder_store(&builder, infinite);
    return mo_point_builder_finish_call(&builder, lowered, err);
}

/* Position of x between the input bounds, rounded to whole levels, scaled to
 * the output bounds. */
static int quantize_register(mo_point_builder *builder, const int in[5],
                             double levels)
{
    int width =
        mo_point_builder_binary(builder, MO_POINT_SUBTRACT, in[2], in[1]);
    int out_width =
        mo_point_builder_binary(builder, MO_POINT_SUBTRACT, in[4], in[3]);
    int level =
        mo_point_builder_binary(builder, MO_POINT_SUBTRACT, in[0], in[1]);

    level = mo_point_builder_binary(builder, MO_POINT_DIVIDE, level, width);
    level = mo_point_builder_unary_params(builder, MO_POINT_AFFINE, level,
                                          levels - 1, 0);
    level = mo_point_builder_unary(builder, MO_POINT_ROUND_EVEN, level);
    level = mo_point_builder_unary_params(builder, MO_POINT_AFFINE, level,
                                          1 / (levels - 1), 0);
    level =
        mo_point_builder_binary(builder, MO_POINT_MULTIPLY, level, out_width);
    return mo_point_builder_binary(builder, MO_POINT_ADD, level, in[3]);
}

mo_status mo_lower_fake_quantize(const mo_op_site *site,
                                 mo_lower_result *lowered, mo_error *err)
{
    mo_status status = mo_op_site_check_arity(site, 5, 5, 1, err);
    mo_point_builder builder = mo_point_builder_init(site);
    int64_t levels = 0;
    int in[5], low, high, result;

    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "levels", 0, &levels, err);
    if (status != MO_OK)
        return status;
    if (levels < 2)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "has less than two levels");
    for (int i = 0; i < 5; i++)
        in[i] = mo_point_builder_input(&builder, i);
    for (int i = 0; i < 5; i++)
        in[i] = mo_point_builder_to_real(&builder, in[i]);
    result = quantize_register(&builder, in, (double) levels);
    low = mo_point_builder_binary(&builder, MO_POINT_MINIMUM, in[1], in[2]);
    low = mo_point_builder_binary(&builder, MO_POINT_LESS_EQUAL, in[0], low);
    high = mo_point_builder_binary(&builder, MO_POINT_MAXIMUM, in[1], in[2]);
    high = mo_point_builder_binary(&builder, MO_POINT_GREATER, in[0], high);
    result = mo_point_builder_ternary(&builder, MO_POINT_SELECT, high, in[4],
                                      result);
    result =
        mo_point_builder_ternary(&builder, MO_POINT_SELECT, low, in[3], result);
    mo_point_builder_store(&builder, result);
    return mo_point_builder_finish_call(&builder, lowered, err);
}
