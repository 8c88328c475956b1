/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/point_builder.h"
#include "exec/op/lower/lowerings.h"

static mo_status check(const mo_op_site *site, int min_in, int max_in,
                       mo_error *err)
{
    mo_status status = mo_op_site_check_arity(site, min_in, max_in, 1, err);

    if (status != MO_OK)
        return status;
    if (!mo_shape_equal(&site->in[0].shape, &site->out[0].shape) ||
        site->in[0].elem != site->out[0].elem ||
        !mo_elem_is_float(site->in[0].elem))
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "makes reals of reals, of one shape and type");
    return MO_OK;
}

/* "epsilon", or "eps" where PyTorch speaks. */
static mo_status read_eps(const mo_op_site *site, double *eps, mo_error *err)
{
    const char *key = mo_op_site_has_attr(site, "epsilon") ? "epsilon" : "eps";

    return mo_op_site_attr_real(site, key, 1e-5, eps, err);
}

/* What is computed, times input 1, plus input 2, as far as they are there; each
 * broadcast from axis on, or as numpy does when axis is -1. */
static mo_status end_scaled(const mo_op_site *site, int axis, mo_arena *arena,
                            mo_call *call, mo_error *err)
{
    mo_point_builder draft = mo_point_builder_init(site);
    int regs[3], result;

    if (site->n_in == 1)
        return MO_OK;
    regs[0] = mo_point_builder_operand(&draft, 0, &site->out[0]);
    for (int i = 1; i < site->n_in && i < 3; i++)
        regs[i] = axis < 0 ? mo_point_builder_operand(&draft, i, &site->in[i])
                           : mo_point_builder_operand_along(&draft, i,
                                                            &site->in[i], axis);
    result = mo_point_builder_binary(&draft, MO_POINT_MULTIPLY, regs[0],
                                     mo_point_builder_to_real(&draft, regs[1]));
    if (site->n_in > 2)
        result =
            mo_point_builder_binary(&draft, MO_POINT_ADD, result,
                                    mo_point_builder_to_real(&draft, regs[2]));
    mo_point_builder_store(&draft, result);
    return mo_point_builder_finish_epilogue(&draft, arena, call, err);
}

static mo_status lower_scaled(const mo_op_site *site, mo_call_norm norm,
                              int axis, mo_arena *arena,
                              mo_lower_result *lowered, mo_error *err)
{
    mo_call *call;
    mo_status status = read_eps(site, &norm.eps, err);

    if (status == MO_OK)
        status = mo_lower_add_norm(&norm, 0, site->n_in, site->n_in - 1, arena,
                                   lowered, &call, err);
    if (status != MO_OK)
        return status;
    return end_scaled(site, axis, arena, call, err);
}

/* The first of the dimensions that are normalised: "axis"; where nothing is
 * said, as many as the scale has. */
static mo_status first_dim(const mo_op_site *site, int *at, mo_error *err)
{
    int rank = site->in[0].shape.rank;
    int64_t axis = -1;
    mo_status status;

    if (!mo_op_site_has_attr(site, "axis") && site->n_in > 1)
        axis = -(int64_t) site->in[1].shape.rank;
    status = mo_op_site_attr_int(site, "axis", axis, &axis, err);
    return status == MO_OK
               ? mo_op_site_normalize_axis(site, axis, rank, at, err)
               : status;
}

static mo_status lower_last(const mo_op_site *site, bool center,
                            mo_arena *arena, mo_lower_result *lowered,
                            mo_error *err)
{
    const mo_shape *shape = &site->in[0].shape;
    mo_call_norm norm = {
        .groups = 1, .count = 1, .center = center, .scale = true
    };
    int at = 0;
    mo_status status = check(site, 1, 3, err);

    if (status == MO_OK)
        status = first_dim(site, &at, err);
    if (status != MO_OK)
        return status;
    for (int d = 0; d < shape->rank; d++)
        *(d < at ? &norm.groups : &norm.count) *= shape->dims[d];
    return lower_scaled(site, norm, -1, arena, lowered, err);
}

mo_status mo_lower_layer_norm(const mo_op_site *site, mo_arena *arena,
                              mo_lower_result *lowered, mo_error *err)
{
    return lower_last(site, true, arena, lowered, err);
}

mo_status mo_lower_rms_norm(const mo_op_site *site, mo_arena *arena,
                            mo_lower_result *lowered, mo_error *err)
{
    return lower_last(site, false, arena, lowered, err);
}

/* Channels, the second dimension, in groups of neighbours. */
static mo_status lower_groups(const mo_op_site *site, int64_t groups,
                              mo_arena *arena, mo_lower_result *lowered,
                              mo_error *err)
{
    const mo_shape *shape = &site->in[0].shape;
    mo_call_norm norm = { .center = true, .scale = true, .count = 1 };

    if (shape->rank < 2 || groups < 1 || shape->dims[1] % groups != 0)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "its channels are not %lld groups",
                               (long long) groups);
    norm.groups = shape->dims[0] * groups;
    norm.count = shape->dims[1] / groups;
    for (int d = 2; d < shape->rank; d++)
        norm.count *= shape->dims[d];
    return lower_scaled(site, norm, 1, arena, lowered, err);
}

mo_status mo_lower_group_norm(const mo_op_site *site, mo_arena *arena,
                              mo_lower_result *lowered, mo_error *err)
{
    int64_t groups = 0;
    mo_status status = check(site, 1, 3, err);

    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "num_groups", 0, &groups, err);
    if (status != MO_OK)
        return status;
    return lower_groups(site, groups, arena, lowered, err);
}

/* Every channel is a group of its own. */
mo_status mo_lower_instance_norm(const mo_op_site *site, mo_arena *arena,
                                 mo_lower_result *lowered, mo_error *err)
{
    mo_status status = check(site, 1, 3, err);

    if (status != MO_OK)
        return status;
    return lower_groups(
        site, site->in[0].shape.rank > 1 ? site->in[0].shape.dims[1] : 0, arena,
        lowered, err);
}

/* ------------------------------------------------- batch normalisation -- */

/* Inputs by what they are; opset 1 had the data third. */
typedef struct batch_inputs {
    int data, gamma, beta, mean, variance;
} batch_inputs;

/* gamma / sqrt(variance + eps), for every channel. */
static mo_status add_scale(const mo_op_site *site, const batch_inputs *in,
                           double eps, int scale, mo_arena *arena,
                           mo_lower_result *lowered, mo_error *err)
{
    mo_point_builder draft =
        mo_point_builder_init_for(site, scale, &site->in[in->gamma]);
    int gamma =
        mo_point_builder_operand(&draft, in->gamma, &site->in[in->gamma]);
    int deviation =
        mo_point_builder_operand(&draft, in->variance, &site->in[in->variance]);

    deviation = mo_point_builder_unary_params(&draft, MO_POINT_AFFINE,
                                              deviation, 1, eps);
    deviation = mo_point_builder_unary(&draft, MO_POINT_SQRT, deviation);
    mo_point_builder_store(
        &draft,
        mo_point_builder_binary(&draft, MO_POINT_DIVIDE, gamma, deviation));
    return mo_point_builder_finish_call(&draft, arena, lowered, err);
}

/* (data - mean) * scale + beta. */
static mo_status add_batch_norm(const mo_op_site *site, const batch_inputs *in,
                                int scale, mo_arena *arena,
                                mo_lower_result *lowered, mo_error *err)
{
    mo_point_builder draft = mo_point_builder_init(site);
    const mo_tensor_desc *channels = &site->in[in->gamma];
    int x = mo_point_builder_operand(&draft, in->data, &site->in[in->data]);
    int s = mo_point_builder_operand_along(&draft, scale, channels, 1);
    int m = mo_point_builder_operand_along(&draft, in->mean,
                                           &site->in[in->mean], 1);
    int b = mo_point_builder_operand_along(&draft, in->beta,
                                           &site->in[in->beta], 1);

    x = mo_point_builder_binary(&draft, MO_POINT_SUBTRACT, x, m);
    x = mo_point_builder_binary(&draft, MO_POINT_MULTIPLY, x, s);
    mo_point_builder_store(&draft,
                           mo_point_builder_binary(&draft, MO_POINT_ADD, x, b));
    return mo_point_builder_finish_call(&draft, arena, lowered, err);
}

mo_status mo_lower_batch_norm(const mo_op_site *site, mo_arena *arena,
                              mo_lower_result *lowered, mo_error *err)
{
    static const batch_inputs now = { 0, 1, 2, 3, 4 }, once = { 2, 0, 1, 3, 4 };
    const batch_inputs *in = mo_op_site_opset(site) < 5 ? &once : &now;
    int scale = 0;
    double eps = 0;
    mo_status status = mo_op_site_check_arity(site, 5, 5, 1, err);

    for (int i = 0; status == MO_OK && i < 5; i++)
        if (!mo_elem_is_float(site->in[i].elem))
            status =
                mo_op_site_fail(site, MO_E_INPUT, err, "is for reals only");
    if (status == MO_OK)
        status = read_eps(site, &eps, err);
    if (status == MO_OK)
        status = mo_lower_add_temp(lowered, arena, site, &site->in[in->gamma],
                                   &scale, err);
    if (status == MO_OK)
        status = add_scale(site, in, eps, scale, arena, lowered, err);
    if (status == MO_OK)
        status = add_batch_norm(site, in, scale, arena, lowered, err);
    return status;
}
