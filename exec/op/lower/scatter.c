/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of scatters: ScatterUpdate, ScatterElementsUpdate, ScatterNDUpdate
 * write into a copy of their data at indices.
 */
#include "base/array.h"
#include "exec/op/lower/lowerings.h"

static mo_status check_operands(const mo_op_site *site, int n_in, mo_error *err)
{
    mo_elem elem = site->out[0].elem;
    mo_status status = mo_op_site_check_arity(site, n_in, n_in, 1, err);

    if (status == MO_OK &&
        (site->in[0].elem != elem || site->in[2].elem != elem ||
         mo_elem_is_float(site->in[1].elem)))
        return mo_op_site_fail(
            site, MO_E_INPUT, err,
            "its data, updates and output must be of one type, "
            "its indices integers");
    if (status == MO_OK)
        status = mo_op_site_check_output(site, 0, &site->in[0].shape, err);
    return status;
}

static mo_status read_op(const mo_op_site *site, mo_call_scatter_op *op,
                         mo_error *err)
{
    static const char *const names[] = {
        [MO_CALL_SCATTER_SET] = "none",  [MO_CALL_SCATTER_SUM] = "sum",
        [MO_CALL_SCATTER_PROD] = "prod", [MO_CALL_SCATTER_MIN] = "min",
        [MO_CALL_SCATTER_MAX] = "max",   [MO_CALL_SCATTER_MEAN] = "mean",
        [MO_CALL_SCATTER_SUB] = "sub",
    };

    *op = MO_CALL_SCATTER_SET;
    if (!mo_op_site_has_attr(site, "reduction"))
        return MO_OK;
    for (int i = MO_CALL_SCATTER_SET; i <= MO_CALL_SCATTER_SUB; i++)
        if (mo_op_site_attr_equals(site, "reduction", names[i])) {
            *op = (mo_call_scatter_op) i;
            return MO_OK;
        }
    return mo_op_site_fail(site, MO_E_SUPPORT, err, "has an unknown reduction");
}

static mo_status read_axis(const mo_op_site *site, int *axis, mo_error *err)
{
    int64_t given;
    mo_status status = mo_op_site_const_ints_exact(site, 3, &given, 1, err);

    if (status != MO_OK)
        return status;
    return mo_op_site_normalize_axis(site, given, site->in[0].shape.rank, axis,
                                     err);
}

static mo_status fail_updates(const mo_op_site *site, mo_error *err)
{
    char data[MO_TENSOR_DESC_TEXT_SIZE], indices[MO_TENSOR_DESC_TEXT_SIZE];
    char updates[MO_TENSOR_DESC_TEXT_SIZE];

    return mo_op_site_fail(site, MO_E_INPUT, err,
                           "data %s, indices %s and updates %s do not fit",
                           mo_tensor_desc_format(&site->in[0], data),
                           mo_tensor_desc_format(&site->in[1], indices),
                           mo_tensor_desc_format(&site->in[2], updates));
}

static mo_status add_scatter(const mo_op_site *site,
                             const mo_call_scatter *scatter,
                             mo_lower_result *lowered, mo_error *err)
{
    mo_call *call;
    mo_status status =
        mo_lower_add_call(lowered, MO_CALL_SCATTER, 3, 1, &call, err);

    if (status != MO_OK)
        return status;
    for (int i = 0; i < 3; i++)
        call->in[i] = i;
    call->out[0] = site->n_in;
    call->u.scatter = *scatter;
    return MO_OK;
}

/* data[:axis] + indices + data[axis + 1:] */
static bool slices_fit(const mo_op_site *site, int axis)
{
    const mo_shape *data = &site->in[0].shape, *indices = &site->in[1].shape;
    mo_shape made = { .rank = data->rank - 1 + indices->rank };

    if (made.rank > MO_MAX_RANK)
        return false;
    for (int d = 0; d < made.rank; d++)
        if (d < axis)
            made.dims[d] = data->dims[d];
        else if (d < axis + indices->rank)
            made.dims[d] = indices->dims[d - axis];
        else
            made.dims[d] = data->dims[d - indices->rank + 1];
    return mo_shape_equal(&made, &site->in[2].shape);
}

mo_status mo_lower_scatter_update(const mo_op_site *site,
                                  mo_lower_result *lowered, mo_error *err)
{
    const mo_shape *data = &site->in[0].shape;
    mo_call_scatter scatter = {
        .kind = MO_CALL_GATHER_AXIS, .use_init = true, .outer = 1, .inner = 1
    };
    int axis;
    mo_status status = check_operands(site, 4, err);

    if (status == MO_OK)
        status = read_axis(site, &axis, err);
    if (status == MO_OK)
        status = read_op(site, &scatter.op, err);
    if (status != MO_OK)
        return status;
    if (!slices_fit(site, axis))
        return fail_updates(site, err);
    for (int d = 0; d < axis; d++)
        scatter.outer *= data->dims[d];
    scatter.axis = data->dims[axis];
    for (int d = axis + 1; d < data->rank; d++)
        scatter.inner *= data->dims[d];
    scatter.count = mo_tensor_desc_elements(&site->in[1]);
    return add_scatter(site, &scatter, lowered, err);
}

mo_status mo_lower_scatter_elements(const mo_op_site *site,
                                    mo_lower_result *lowered, mo_error *err)
{
    mo_call_scatter scatter = { .kind = MO_CALL_GATHER_ELEMENTS,
                                .data = site->in[0].shape,
                                .updates = site->in[2].shape };
    mo_status status = check_operands(site, 4, err);

    if (status == MO_OK)
        status = read_axis(site, &scatter.at, err);
    if (status == MO_OK)
        status = read_op(site, &scatter.op, err);
    if (status != MO_OK)
        return status;
    scatter.use_init = mo_op_site_attr_bool(site, "use_init_val", true);
    if (!mo_shape_equal(&site->in[1].shape, &scatter.updates) ||
        scatter.updates.rank != scatter.data.rank)
        return fail_updates(site, err);
    for (int d = 0; d < scatter.data.rank; d++)
        if (d != scatter.at && scatter.updates.dims[d] > scatter.data.dims[d])
            return fail_updates(site, err);
    return add_scatter(site, &scatter, lowered, err);
}

/* The last dimension of the indices is one index; the others enumerate them. */
mo_status mo_lower_scatter_nd(const mo_op_site *site, mo_lower_result *lowered,
                              mo_error *err)
{
    const mo_shape *data = &site->in[0].shape, *indices = &site->in[1].shape;
    mo_call_scatter scatter = {
        .kind = MO_CALL_GATHER_ND, .use_init = true, .inner = 1, .count = 1
    };
    int64_t n_updates;
    mo_status status = check_operands(site, 3, err);

    if (status == MO_OK)
        status = read_op(site, &scatter.op, err);
    if (status != MO_OK)
        return status;
    if (indices->rank == 0 || indices->dims[indices->rank - 1] > data->rank)
        return fail_updates(site, err);
    scatter.depth = (int) indices->dims[indices->rank - 1];
    for (int d = 0; d < indices->rank - 1; d++)
        scatter.count *= indices->dims[d];
    for (int d = 0; d < data->rank; d++)
        if (d < scatter.depth)
            scatter.dims[d] = data->dims[d];
        else
            scatter.inner *= data->dims[d];
    if (!mo_int64_mul(scatter.count, scatter.inner, &n_updates) ||
        n_updates != mo_tensor_desc_elements(&site->in[2]))
        return fail_updates(site, err);
    return add_scatter(site, &scatter, lowered, err);
}
