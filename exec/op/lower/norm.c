/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of softmax and of normalizations: MVN, NormalizeL2, layer, RMS,
 * group, instance and batch normalization.
 */
#include "exec/op/axes.h"
#include "exec/op/copy_builder.h"
#include "exec/op/lower/lowerings.h"
#include "exec/op/point_builder.h"

/* Adds a NORM of tensor in, row by row, to tensor out, with n_extra operands
 * for an epilogue. */
static mo_status add_norm(const mo_call_norm *norm, int in, int out,
                          int n_extra, mo_lower_result *lowered, mo_call **call,
                          mo_error *err)
{
    mo_status status =
        mo_lower_add_call(lowered, MO_CALL_NORM, 1 + n_extra, 1, call, err);

    if (status != MO_OK)
        return status;
    (*call)->in[0] = in;
    (*call)->out[0] = out;
    (*call)->first_extra = 1;
    (*call)->u.norm = *norm;
    return MO_OK;
}

/* The axis is "axis", or PyTorch's "dim". */
static mo_status add_softmax(const mo_op_site *site, bool log,
                             mo_lower_result *lowered, mo_error *err)
{
    const char *key = mo_op_site_has_attr(site, "axis") ? "axis" : "dim";
    int64_t axis = 0;
    mo_lower_axis_split split;
    mo_call *call;
    mo_status status = mo_op_site_attr_int(site, key, 1, &axis, err);

    if (status == MO_OK && (!mo_elem_is_float(site->in[0].elem) ||
                            !mo_tensor_desc_equal(&site->in[0], &site->out[0])))
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "makes reals of reals, of one shape and type");
    if (status == MO_OK)
        status = mo_lower_axis_split_at(site, axis, &split, err);
    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_SOFTMAX, 1, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = 0;
    call->out[0] = site->n_in;
    call->u.softmax =
        (mo_call_softmax){ split.outer, split.count, split.inner, log };
    return MO_OK;
}

mo_status mo_lower_softmax(const mo_op_site *site, mo_lower_result *lowered,
                           mo_error *err)
{
    return add_softmax(site, false, lowered, err);
}

mo_status mo_lower_log_softmax(const mo_op_site *site, mo_lower_result *lowered,
                               mo_error *err)
{
    return add_softmax(site, true, lowered, err);
}

/* Dimensions that are not marked first, then those that are. */
static int sort_dims(const mo_shape *shape, const bool *marks, int *order)
{
    int n = 0, kept;

    for (int d = 0; d < shape->rank; d++)
        if (!marks[d])
            order[n++] = d;
    kept = n;
    for (int d = 0; d < shape->rank; d++)
        if (marks[d])
            order[n++] = d;
    return kept;
}

/* Adds a transposition from a tensor's own order of dimensions to another one,
 * or back. */
static mo_status add_transpose(const mo_shape *shape, const int *order,
                               bool back, int in, int out,
                               mo_lower_result *lowered, mo_error *err)
{
    mo_call_copy_box box = { .rank = shape->rank };
    int64_t own[MO_MAX_RANK], turned = 1;

    mo_lower_copy_strides(shape, own);
    for (int at = shape->rank; at-- > 0;) {
        int d = order[at];

        box.extent[at] = shape->dims[d];
        box.in_stride[at] = back ? turned : own[d];
        box.out_stride[at] = back ? own[d] : turned;
        turned *= shape->dims[d];
    }
    return mo_lower_copy_add_box(&box, in, out, lowered, err);
}

/* Adds a NORM of input 0 over the marked dimensions: they must be the last
 * ones; where they are not, the tensor is transposed before and behind. */
static mo_status add_norm_over(const mo_op_site *site, mo_call_norm norm,
                               const bool *marks, mo_lower_result *lowered,
                               mo_error *err)
{
    const mo_shape *shape = &site->in[0].shape;
    int order[MO_MAX_RANK], kept = sort_dims(shape, marks, order);
    int in = 0, out = site->n_in;
    bool turn = false;
    mo_call *call;
    mo_status status = MO_OK;

    norm.groups = norm.count = 1;
    for (int at = 0; at < shape->rank; at++) {
        *(at < kept ? &norm.groups : &norm.count) *= shape->dims[order[at]];
        turn = turn || order[at] != at;
    }
    if (turn)
        status = mo_lower_add_temp(lowered, site, &site->in[0], &in, err);
    if (status == MO_OK && turn)
        status = mo_lower_add_temp(lowered, site, &site->in[0], &out, err);
    if (status == MO_OK && turn)
        status = add_transpose(shape, order, false, 0, in, lowered, err);
    if (status == MO_OK)
        status = add_norm(&norm, in, out, 0, lowered, &call, err);
    if (status == MO_OK && turn)
        status =
            add_transpose(shape, order, true, out, site->n_in, lowered, err);
    return status;
}

static mo_status check_reals(const mo_op_site *site, mo_error *err)
{
    if (mo_elem_is_float(site->in[0].elem) &&
        mo_tensor_desc_equal(&site->in[0], &site->out[0]))
        return MO_OK;
    return mo_op_site_fail(site, MO_E_INPUT, err,
                           "makes reals of reals, of one shape and type");
}

mo_status mo_lower_mvn(const mo_op_site *site, mo_lower_result *lowered,
                       mo_error *err)
{
    bool marks[MO_MAX_RANK];
    mo_call_norm norm = { .center = true };
    mo_status status = check_reals(site, err);

    if (status == MO_OK)
        status = mo_op_site_attr_real(site, "eps", 1e-9, &norm.eps, err);
    if (status == MO_OK && site->n_in > 1)
        status = mo_lower_axes_mask(site, marks, err);
    if (status != MO_OK)
        return status;
    if (site->n_in == 1) {
        /* Before opset 6 an attribute gave the dimensions. */
        int first =
            mo_op_site_attr_bool(site, "across_channels", false) ? 1 : 2;

        for (int d = 0; d < MO_MAX_RANK; d++)
            marks[d] = d >= first && d < site->in[0].shape.rank;
    }
    norm.scale = mo_op_site_attr_bool(site, "normalize_variance", true);
    norm.eps_outside = mo_op_site_attr_equals(site, "eps_mode", "outside_sqrt");
    return add_norm_over(site, norm, marks, lowered, err);
}

mo_status mo_lower_normalize_l2(const mo_op_site *site,
                                mo_lower_result *lowered, mo_error *err)
{
    bool marks[MO_MAX_RANK];
    mo_call_norm norm = { .scale = true, .sum = true };
    mo_status status = mo_op_site_check_arity(site, 2, 2, 1, err);

    if (status == MO_OK)
        status = check_reals(site, err);
    if (status == MO_OK)
        status = mo_op_site_attr_real(site, "eps", 1e-9, &norm.eps, err);
    if (status == MO_OK)
        status = mo_lower_axes_mask(site, marks, err);
    if (status != MO_OK)
        return status;
    norm.max_eps = mo_op_site_attr_equals(site, "eps_mode", "max");
    return add_norm_over(site, norm, marks, lowered, err);
}

static mo_status check_operands(const mo_op_site *site, int min_in, int max_in,
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

/* "epsilon", or PyTorch's "eps". */
static mo_status read_eps(const mo_op_site *site, double *eps, mo_error *err)
{
    const char *key = mo_op_site_has_attr(site, "epsilon") ? "epsilon" : "eps";

    return mo_op_site_attr_real(site, key, 1e-5, eps, err);
}

static mo_status lower_scaled(const mo_op_site *site, mo_call_norm norm,
                              int axis, mo_lower_result *lowered, mo_error *err)
{
    mo_call *call;
    mo_status status = read_eps(site, &norm.eps, err);

    if (status == MO_OK)
        status =
            add_norm(&norm, 0, site->n_in, site->n_in - 1, lowered, &call, err);
    if (status != MO_OK)
        return status;

    /* Epilogue: times input 1, plus input 2, as far as they exist; each
     * broadcast from axis on, or as numpy does when axis is -1. */
    mo_point_builder builder = mo_point_builder_init(site);
    int regs[3], result;

    if (site->n_in == 1)
        return MO_OK;
    regs[0] = mo_point_builder_operand(&builder, 0, &site->out[0]);
    for (int i = 1; i < site->n_in && i < 3; i++)
        regs[i] = axis < 0 ? mo_point_builder_operand(&builder, i, &site->in[i])
                           : mo_point_builder_operand_along(&builder, i,
                                                            &site->in[i], axis);
    result =
        mo_point_builder_binary(&builder, MO_POINT_MULTIPLY, regs[0],
                                mo_point_builder_to_real(&builder, regs[1]));
    if (site->n_in > 2)
        result = mo_point_builder_binary(
            &builder, MO_POINT_ADD, result,
            mo_point_builder_to_real(&builder, regs[2]));
    mo_point_builder_store(&builder, result);
    return mo_point_builder_finish_epilogue(&builder, lowered->arena, call,
                                            err);
}

/* The first normalized dimension: "axis"; without it, as many as the scale
 * has. */
static mo_status first_normalized_dim(const mo_op_site *site, int *at,
                                      mo_error *err)
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
                            mo_lower_result *lowered, mo_error *err)
{
    const mo_shape *shape = &site->in[0].shape;
    mo_call_norm norm = {
        .groups = 1, .count = 1, .center = center, .scale = true
    };
    int at = 0;
    mo_status status = check_operands(site, 1, 3, err);

    if (status == MO_OK)
        status = first_normalized_dim(site, &at, err);
    if (status != MO_OK)
        return status;
    for (int d = 0; d < shape->rank; d++)
        *(d < at ? &norm.groups : &norm.count) *= shape->dims[d];
    return lower_scaled(site, norm, -1, lowered, err);
}

mo_status mo_lower_layer_norm(const mo_op_site *site, mo_lower_result *lowered,
                              mo_error *err)
{
    return lower_last(site, true, lowered, err);
}

mo_status mo_lower_rms_norm(const mo_op_site *site, mo_lower_result *lowered,
                            mo_error *err)
{
    return lower_last(site, false, lowered, err);
}

/* Normalization over groups of neighbouring channels, the second dimension. */
static mo_status lower_groups(const mo_op_site *site, int64_t groups,
                              mo_lower_result *lowered, mo_error *err)
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
    return lower_scaled(site, norm, 1, lowered, err);
}

mo_status mo_lower_group_norm(const mo_op_site *site, mo_lower_result *lowered,
                              mo_error *err)
{
    int64_t groups = 0;
    mo_status status = check_operands(site, 1, 3, err);

    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "num_groups", 0, &groups, err);
    if (status != MO_OK)
        return status;
    return lower_groups(site, groups, lowered, err);
}

/* Every channel is a group of its own. */
mo_status mo_lower_instance_norm(const mo_op_site *site,
                                 mo_lower_result *lowered, mo_error *err)
{
    mo_status status = check_operands(site, 1, 3, err);

    if (status != MO_OK)
        return status;
    return lower_groups(
        site, site->in[0].shape.rank > 1 ? site->in[0].shape.dims[1] : 0,
        lowered, err);
}

/* Inputs by what they are; opset 1 had the data third. */
typedef struct batch_inputs {
    int data, gamma, beta, mean, variance;
} batch_inputs;

/* (data - mean) * scale + beta. */
static mo_status add_batch_norm(const mo_op_site *site, const batch_inputs *in,
                                int scale, mo_lower_result *lowered,
                                mo_error *err)
{
    mo_point_builder builder = mo_point_builder_init(site);
    const mo_tensor_desc *channels = &site->in[in->gamma];
    int x = mo_point_builder_operand(&builder, in->data, &site->in[in->data]);
    int s = mo_point_builder_operand_along(&builder, scale, channels, 1);
    int m = mo_point_builder_operand_along(&builder, in->mean,
                                           &site->in[in->mean], 1);
    int b = mo_point_builder_operand_along(&builder, in->beta,
                                           &site->in[in->beta], 1);

    x = mo_point_builder_binary(&builder, MO_POINT_SUBTRACT, x, m);
    x = mo_point_builder_binary(&builder, MO_POINT_MULTIPLY, x, s);
    mo_point_builder_store(
        &builder, mo_point_builder_binary(&builder, MO_POINT_ADD, x, b));
    return mo_point_builder_finish_call(&builder, lowered, err);
}

mo_status mo_lower_batch_norm(const mo_op_site *site, mo_lower_result *lowered,
                              mo_error *err)
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
        status =
            mo_lower_add_temp(lowered, site, &site->in[in->gamma], &scale, err);
    if (status == MO_OK) {
        /* gamma / sqrt(variance + eps), for every channel. */
        mo_point_builder builder =
            mo_point_builder_init_for(site, scale, &site->in[in->gamma]);
        int gamma =
            mo_point_builder_operand(&builder, in->gamma, &site->in[in->gamma]);
        int deviation = mo_point_builder_operand(&builder, in->variance,
                                                 &site->in[in->variance]);

        deviation = mo_point_builder_unary_params(&builder, MO_POINT_AFFINE,
                                                  deviation, 1, eps);
        deviation = mo_point_builder_unary(&builder, MO_POINT_SQRT, deviation);
        mo_point_builder_store(
            &builder, mo_point_builder_binary(&builder, MO_POINT_DIVIDE, gamma,
                                              deviation));
        status = mo_point_builder_finish_call(&builder, lowered, err);
    }
    if (status == MO_OK)
        status = add_batch_norm(site, in, scale, lowered, err);
    return status;
}
