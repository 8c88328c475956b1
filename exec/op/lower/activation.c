/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of activations and other unary operators: one step on one tensor,
 * with or without parameters.
 */
#include <math.h>

#include "exec/op/point_builder.h"
#include "exec/op/lower/lowerings.h"

mo_status mo_lower_unary(const mo_op_site *site, mo_lower_result *lowered,
                         mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    const mo_lower_entry *op = mo_lower_entry_find(site->type);
    int x = mo_point_builder_input(&builder, 0);

    if (mo_point_builder_is_real(&builder, x))
        x = mo_point_builder_unary(&builder, op->on_reals, x);
    else if (op->on_integers == MO_POINT_AS_REAL)
        x = mo_point_builder_unary(
            &builder, MO_POINT_ROUND_AWAY,
            mo_point_builder_unary(&builder, op->on_reals,
                                   mo_point_builder_to_real(&builder, x)));
    else if (op->on_integers != MO_POINT_KEEP)
        x = mo_point_builder_unary(&builder, (mo_point_op) op->on_integers, x);
    mo_point_builder_store(&builder, x);
    return mo_point_builder_finish_call(&builder, lowered, err);
}

/* Reads a parameter: input i, or an attribute where there is no such input. */
static double read_parameter(mo_point_builder *builder, int i, const char *key,
                             double fallback)
{
    const mo_op_site *site = builder->site;
    double value = fallback;
    mo_error err = { 0 };
    mo_status status =
        i < site->n_in
            ? mo_op_site_const_number(site, i, &value, &err)
            : mo_op_site_attr_real(site, key, fallback, &value, &err);

    mo_point_builder_fail(builder, status, &err);
    return value;
}

static double read_attribute(mo_point_builder *builder, const char *key,
                             double fallback)
{
    return read_parameter(builder, builder->site->n_in, key, fallback);
}

/* One step with two parameters on input 0, as a real. */
static mo_status finish_step(mo_point_builder *builder, mo_point_op op,
                             double x, double y, mo_lower_result *lowered,
                             mo_error *err)
{
    int in =
        mo_point_builder_to_real(builder, mo_point_builder_input(builder, 0));

    mo_point_builder_store(
        builder, mo_point_builder_unary_params(builder, op, in, x, y));
    return mo_point_builder_finish_call(builder, lowered, err);
}

/* Fails when the bounds are out of order. */
static mo_status finish_clamp(mo_point_builder *builder, double least,
                              double most, mo_lower_result *lowered,
                              mo_error *err)
{
    int x = mo_point_builder_input(builder, 0);
    bool real = mo_point_builder_is_real(builder, x);

    if (!(least <= most))
        return mo_op_site_fail(builder->site, MO_E_INPUT, err,
                               "clamps to an empty range");
    x = mo_point_builder_unary_params(
        builder, real ? MO_POINT_CLAMP : MO_POINT_I_CLAMP, x, least, most);
    mo_point_builder_store(builder, x);
    return mo_point_builder_finish_call(builder, lowered, err);
}

mo_status mo_lower_clamp(const mo_op_site *site, mo_lower_result *lowered,
                         mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    double least = read_attribute(&builder, "min", -INFINITY);
    double most = read_attribute(&builder, "max", INFINITY);

    return finish_clamp(&builder, least, most, lowered, err);
}

mo_status mo_lower_relu6(const mo_op_site *site, mo_lower_result *lowered,
                         mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);

    return finish_clamp(&builder, 0, 6, lowered, err);
}

mo_status mo_lower_round(const mo_op_site *site, mo_lower_result *lowered,
                         mo_error *err)
{
    bool away = mo_op_site_attr_equals(site, "mode", "half_away_from_zero");
    mo_point_builder builder = mo_point_builder_init(site);
    int x = mo_point_builder_input(&builder, 0);

    if (mo_point_builder_is_real(&builder, x))
        x = mo_point_builder_unary(
            &builder, away ? MO_POINT_ROUND_AWAY : MO_POINT_ROUND_EVEN, x);
    mo_point_builder_store(&builder, x);
    return mo_point_builder_finish_call(&builder, lowered, err);
}

mo_status mo_lower_elu(const mo_op_site *site, mo_lower_result *lowered,
                       mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    double alpha = read_attribute(&builder, "alpha", 1);

    return finish_step(&builder, MO_POINT_ELU, alpha, 0, lowered, err);
}

/* OpenVINO gives the parameters as inputs; the defaults are those of the paper
 * (Klambauer et al., 2017). */
mo_status mo_lower_selu(const mo_op_site *site, mo_lower_result *lowered,
                        mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    double alpha = read_parameter(&builder, 1, "alpha", 1.6732632423543772);
    double lambda = read_parameter(&builder, 2, "gamma", 1.0507009873554805);

    return finish_step(&builder, MO_POINT_SELU, alpha, lambda, lowered, err);
}

mo_status mo_lower_leaky_relu(const mo_op_site *site, mo_lower_result *lowered,
                              mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    const char *key = mo_op_site_has_attr(site, "negative_slope")
                          ? "negative_slope"
                          : "alpha";
    double slope = read_attribute(&builder, key, 0.01);

    return finish_step(&builder, MO_POINT_LEAKY_RELU, slope, 0, lowered, err);
}

mo_status mo_lower_swish(const mo_op_site *site, mo_lower_result *lowered,
                         mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    double beta = read_parameter(&builder, 1, "beta", 1);

    return finish_step(&builder, MO_POINT_SWISH, beta, 0, lowered, err);
}

mo_status mo_lower_gelu(const mo_op_site *site, mo_lower_result *lowered,
                        mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    bool tanh = mo_op_site_attr_equals(site, "approximation_mode", "tanh") ||
                mo_op_site_attr_equals(site, "approximate", "tanh");

    return finish_step(&builder, tanh ? MO_POINT_GELU_TANH : MO_POINT_GELU_ERF,
                       0, 0, lowered, err);
}

mo_status mo_lower_hard_sigmoid(const mo_op_site *site,
                                mo_lower_result *lowered, mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    double alpha = read_parameter(&builder, 1, "alpha", 0.2);
    double beta = read_parameter(&builder, 2, "beta", 0.5);

    return finish_step(&builder, MO_POINT_HARD_SIGMOID, alpha, beta, lowered,
                       err);
}

mo_status mo_lower_rsqrt(const mo_op_site *site, mo_lower_result *lowered,
                         mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    int x =
        mo_point_builder_to_real(&builder, mo_point_builder_input(&builder, 0));

    x = mo_point_builder_unary(&builder, MO_POINT_SQRT, x);
    mo_point_builder_store(
        &builder, mo_point_builder_unary(&builder, MO_POINT_RECIPROCAL, x));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

mo_status mo_lower_square(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    int x = mo_point_builder_input(&builder, 0);
    bool real = mo_point_builder_is_real(&builder, x);

    mo_point_builder_store(
        &builder,
        mo_point_builder_binary(
            &builder, real ? MO_POINT_MULTIPLY : MO_POINT_I_MULTIPLY, x, x));
    return mo_point_builder_finish_call(&builder, lowered, err);
}
