/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering of reductions, CumSum, TopK, ArgMax and ArgMin. */
#include <string.h>

#include "exec/op/axes.h"
#include "exec/op/lower/lowerings.h"

static mo_status check_result(const mo_op_site *site, const bool *reduced,
                              mo_error *err)
{
    const mo_shape *from = &site->in[0].shape;
    mo_shape kept = { 0 };

    for (int d = 0; d < from->rank; d++)
        if (!reduced[d])
            kept.dims[kept.rank++] = from->dims[d];
    if (mo_shape_elements(&kept) != mo_tensor_desc_elements(&site->out[0]) ||
        site->out[0].elem != site->in[0].elem)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "its output is not what remains of its input");
    return MO_OK;
}

mo_status mo_lower_reduce(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    bool reduced[MO_MAX_RANK];
    mo_call *call;
    mo_status status = mo_op_site_check_arity(site, 1, 2, 1, err);

    if (status == MO_OK)
        status = mo_lower_axes_mask(site, reduced, err);
    if (status == MO_OK)
        status = check_result(site, reduced, err);
    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_REDUCE, 1, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = 0;
    call->out[0] = site->n_in;
    call->u.reduce.op = mo_lower_entry_find(site->type)->reduce;
    memcpy(call->u.reduce.reduced, reduced, sizeof reduced);

    /* Kept dimensions have in the result the order they have in the input. */
    const mo_shape *from = &site->in[0].shape;
    mo_call_reduce *reduce = &call->u.reduce;
    int64_t in = 1, out = 1;

    reduce->rank = from->rank;
    for (int d = from->rank; d-- > 0;) {
        reduce->extent[d] = from->dims[d];
        reduce->in_stride[d] = in;
        in *= from->dims[d];
        if (reduce->reduced[d])
            continue;
        reduce->out_stride[d] = out;
        out *= from->dims[d];
    }
    return MO_OK;
}

/* Input 1 is the axis; the default is the first one. */
mo_status mo_lower_cumsum(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    int64_t axis = 0;
    int count = 0;
    mo_call *call;
    mo_lower_axis_split split;
    mo_status status = mo_op_site_check_arity(site, 1, 2, 1, err);

    if (status == MO_OK && site->n_in > 1)
        status = mo_op_site_const_ints(site, 1, &axis, 1, &count, err);
    else if (status == MO_OK)
        status = mo_op_site_attr_int(site, "axis", 0, &axis, err);
    if (status == MO_OK)
        status = mo_lower_axis_split_at(site, axis, &split, err);
    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_CUMSUM, 1, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = 0;
    call->out[0] = site->n_in;
    call->u.cumsum =
        (mo_call_cumsum){ split.outer, split.count, split.inner,
                          mo_op_site_attr_bool(site, "exclusive", false),
                          mo_op_site_attr_bool(site, "reverse", false) };
    return MO_OK;
}

/* Adds a TOPK with operands for its values and indices. */
static mo_status add_topk(const mo_op_site *site, const mo_call_topk *topk,
                          int values, int indices, mo_lower_result *lowered,
                          mo_error *err)
{
    mo_call *call;
    mo_status status;

    if (topk->k > topk->count)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "wants %lld of %lld elements",
                               (long long) topk->k, (long long) topk->count);
    status = mo_lower_add_call(lowered, MO_CALL_TOPK, 1, 2, &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = 0;
    call->out[0] = values;
    call->out[1] = indices;
    call->u.topk = *topk;
    return MO_OK;
}

static mo_status check_topk(const mo_op_site *site, int at, mo_error *err)
{
    const mo_shape *from = &site->in[0].shape;
    mo_shape made = *from;

    made.dims[at] = site->out[0].shape.rank == from->rank
                        ? site->out[0].shape.dims[at]
                        : -1;
    for (int i = 0; i < site->n_out; i++)
        if (!mo_shape_equal(&site->out[i].shape, &made))
            return mo_op_site_fail(
                site, MO_E_INPUT, err,
                "its outputs have not the shape of its input");
    if (site->out[0].elem != site->in[0].elem)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "its values have not the type of its input");
    if (site->n_out > 1 && site->out[1].elem != MO_ELEM_I64 &&
        site->out[1].elem != MO_ELEM_I32)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "its indices are neither i32 nor i64");
    return MO_OK;
}

/* k is given by the output's shape. */
mo_status mo_lower_topk(const mo_op_site *site, mo_lower_result *lowered,
                        mo_error *err)
{
    int indices = site->n_in + 1;
    int64_t axis = 0;
    mo_lower_axis_split split;
    mo_status status = mo_op_site_attr_int(site, "axis", -1, &axis, err);

    if (status == MO_OK)
        status = mo_lower_axis_split_at(site, axis, &split, err);
    if (status == MO_OK)
        status = check_topk(site, split.at, err);
    if (status == MO_OK && site->n_out == 1) {
        mo_tensor_desc desc = { MO_ELEM_I64, site->out[0].shape };
        status = mo_lower_add_temp(lowered, site, &desc, &indices, err);
    }
    if (status != MO_OK)
        return status;
    return add_topk(site,
                    &(mo_call_topk){
                        .outer = split.outer,
                        .count = split.count,
                        .inner = split.inner,
                        .k = site->out[0].shape.dims[split.at],
                        .largest = !mo_op_site_attr_equals(site, "mode", "min"),
                        .sort = mo_op_site_attr_equals(site, "sort", "index")
                                    ? MO_CALL_TOPK_BY_INDEX
                                    : MO_CALL_TOPK_BY_VALUE },
                    site->n_in, indices, lowered, err);
}

/* ONNX: the index of the first maximum, or minimum. */
static mo_status add_arg(const mo_op_site *site, bool largest,
                         mo_lower_result *lowered, mo_error *err)
{
    int64_t axis = 0;
    int values = 0;
    mo_lower_axis_split split;
    mo_tensor_desc desc = site->in[0];
    mo_status status = mo_op_site_attr_int(site, "axis", 0, &axis, err);

    if (status == MO_OK)
        status = mo_lower_axis_split_at(site, axis, &split, err);
    if (status != MO_OK)
        return status;
    desc.shape.dims[split.at] = 1;
    if (mo_op_site_attr_bool(site, "select_last_index", false) ||
        (site->out[0].elem != MO_ELEM_I64 &&
         site->out[0].elem != MO_ELEM_I32) ||
        mo_tensor_desc_elements(&site->out[0]) !=
            mo_tensor_desc_elements(&desc))
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "only the first index along one axis is found");
    status = mo_lower_add_temp(lowered, site, &desc, &values, err);
    if (status != MO_OK)
        return status;
    return add_topk(site,
                    &(mo_call_topk){ .outer = split.outer,
                                     .count = split.count,
                                     .inner = split.inner,
                                     .k = 1,
                                     .largest = largest },
                    values, site->n_in, lowered, err);
}

mo_status mo_lower_argmax(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    return add_arg(site, true, lowered, err);
}

mo_status mo_lower_argmin(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    return add_arg(site, false, lowered, err);
}
