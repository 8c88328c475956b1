/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/lower/lowerings.h"

#include "exec/op/axes.h"
#include "exec/op/copy_builder.h"

mo_status mo_lower_add_norm(const mo_call_norm *norm, int in, int out,
                            int n_extra, mo_arena *arena,
                            mo_lower_result *lowered, mo_call **call,
                            mo_error *err)
{
    mo_status status = mo_lower_add_call(lowered, arena, MO_CALL_NORM,
                                         1 + n_extra, 1, call, err);

    if (status != MO_OK)
        return status;
    (*call)->in[0] = in;
    (*call)->out[0] = out;
    (*call)->first_extra = 1;
    (*call)->u.norm = *norm;
    return MO_OK;
}

/* --------------------------------------------------------------- softmax -- */

/* The axis is "axis", or "dim" where PyTorch speaks. */
static mo_status add_softmax(const mo_op_site *site, bool log, mo_arena *arena,
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
        status = mo_lower_add_call(lowered, arena, MO_CALL_SOFTMAX, 1, 1, &call,
                                   err);
    if (status != MO_OK)
        return status;
    call->in[0] = 0;
    call->out[0] = site->n_in;
    call->u.softmax =
        (mo_call_softmax){ split.outer, split.count, split.inner, log };
    return MO_OK;
}

mo_status mo_lower_softmax(const mo_op_site *site, mo_arena *arena,
                           mo_lower_result *lowered, mo_error *err)
{
    return add_softmax(site, false, arena, lowered, err);
}

mo_status mo_lower_log_softmax(const mo_op_site *site, mo_arena *arena,
                               mo_lower_result *lowered, mo_error *err)
{
    return add_softmax(site, true, arena, lowered, err);
}

/* ------------------------------------------------- over any dimensions -- */

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

/* Moves a tensor between its own order of dimensions and another one. */
static mo_status add_turn(const mo_shape *shape, const int *order, bool back,
                          int in, int out, mo_arena *arena,
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
    return mo_lower_copy_add_box(&box, in, out, arena, lowered, err);
}

/* A NORM of input 0 over the marked dimensions: they must be the last ones, so
 * where they are not the tensor is turned before and turned back behind. */
static mo_status norm_over(const mo_op_site *site, mo_call_norm norm,
                           const bool *marks, mo_arena *arena,
                           mo_lower_result *lowered, mo_error *err)
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
        status =
            mo_lower_add_temp(lowered, arena, site, &site->in[0], &in, err);
    if (status == MO_OK && turn)
        status =
            mo_lower_add_temp(lowered, arena, site, &site->in[0], &out, err);
    if (status == MO_OK && turn)
        status = add_turn(shape, order, false, 0, in, arena, lowered, err);
    if (status == MO_OK)
        status =
            mo_lower_add_norm(&norm, in, out, 0, arena, lowered, &call, err);
    if (status == MO_OK && turn)
        status =
            add_turn(shape, order, true, out, site->n_in, arena, lowered, err);
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

/* Before opset 6 attributes said over what. */
static void mark_channels(const mo_op_site *site, bool *marks)
{
    int first = mo_op_site_attr_bool(site, "across_channels", false) ? 1 : 2;

    for (int d = 0; d < MO_MAX_RANK; d++)
        marks[d] = d >= first && d < site->in[0].shape.rank;
}

mo_status mo_lower_mvn(const mo_op_site *site, mo_arena *arena,
                       mo_lower_result *lowered, mo_error *err)
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
    if (site->n_in == 1)
        mark_channels(site, marks);
    norm.scale = mo_op_site_attr_bool(site, "normalize_variance", true);
    norm.eps_outside = mo_op_site_attr_equals(site, "eps_mode", "outside_sqrt");
    return norm_over(site, norm, marks, arena, lowered, err);
}

mo_status mo_lower_normalize_l2(const mo_op_site *site, mo_arena *arena,
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
    return norm_over(site, norm, marks, arena, lowered, err);
}
