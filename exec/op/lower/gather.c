/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering of gathers: operators that read elements by index. */
#include "base/array.h"
#include "exec/op/lower/lowerings.h"

/* Products of the dimensions from first to before end. */
static int64_t multiply_dims(const mo_shape *shape, int first, int end)
{
    int64_t elements = 1;

    for (int d = first; d < end; d++)
        elements *= shape->dims[d];
    return elements;
}

static mo_status check_operands(const mo_op_site *site, int max_in,
                                mo_error *err)
{
    mo_status status = mo_op_site_check_arity(site, 2, max_in, 1, err);

    if (status == MO_OK && (site->out[0].elem != site->in[0].elem ||
                            mo_elem_is_float(site->in[1].elem)))
        return mo_op_site_fail(
            site, MO_E_INPUT, err, "picks %s from %s by indices of %s",
            mo_elem_name(site->out[0].elem), mo_elem_name(site->in[0].elem),
            mo_elem_name(site->in[1].elem));
    return status;
}

/* Number of leading dimensions that data and indices share. */
static mo_status read_batch(const mo_op_site *site, int *batch, mo_error *err)
{
    const mo_shape *data = &site->in[0].shape, *indices = &site->in[1].shape;
    int64_t given;
    mo_status status = mo_op_site_attr_int(site, "batch_dims", 0, &given, err);

    if (status != MO_OK)
        return status;
    if (given < 0)
        given += indices->rank;
    *batch = (int) given;
    for (int d = 0; d < *batch && d < MO_MAX_RANK; d++)
        if (d >= data->rank || d >= indices->rank ||
            data->dims[d] != indices->dims[d])
            given = -1;
    if (given < 0 || given > MO_MAX_RANK)
        return mo_op_site_fail(
            site, MO_E_INPUT, err,
            "its data and indices do not share their first %d "
            "dimensions",
            *batch);
    return MO_OK;
}

static mo_status add_gather(const mo_op_site *site,
                            const mo_call_gather *gather,
                            mo_lower_result *lowered, mo_error *err)
{
    mo_call *call;
    mo_status status =
        mo_lower_add_call(lowered, MO_CALL_GATHER, 2, 1, &call, err);

    if (status != MO_OK)
        return status;
    call->in[0] = 0;
    call->in[1] = 1;
    call->out[0] = site->n_in;
    call->u.gather = *gather;
    return MO_OK;
}

/* data[:axis] + indices[batch:] + data[axis + 1:] */
static mo_status check_gathered(const mo_op_site *site, int axis, int batch,
                                mo_error *err)
{
    const mo_shape *data = &site->in[0].shape, *indices = &site->in[1].shape;
    int n_picked = indices->rank - batch;
    mo_shape made = { .rank = data->rank - 1 + n_picked };

    if (batch > axis || made.rank > MO_MAX_RANK)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "cannot gather along axis %d behind %d shared "
                               "dimensions",
                               axis, batch);
    for (int d = 0; d < made.rank; d++)
        if (d < axis)
            made.dims[d] = data->dims[d];
        else if (d < axis + n_picked)
            made.dims[d] = indices->dims[batch + d - axis];
        else
            made.dims[d] = data->dims[d - n_picked + 1];
    return mo_op_site_check_output(site, 0, &made, err);
}

mo_status mo_lower_gather(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    const mo_shape *data = &site->in[0].shape, *indices = &site->in[1].shape;
    mo_call_gather gather = { .kind = MO_CALL_GATHER_AXIS };
    int axis, batch;
    mo_status status = check_operands(site, 3, err);

    if (status == MO_OK) {
        /* The third input, or an attribute where there is none. */
        int64_t given;
        status = site->n_in > 2
                     ? mo_op_site_const_ints_exact(site, 2, &given, 1, err)
                     : mo_op_site_attr_int(site, "axis", 0, &given, err);

        if (status == MO_OK) {
            status = mo_op_site_normalize_axis(
                site, given, site->in[0].shape.rank, &axis, err);
        }
    }
    if (status == MO_OK)
        status = read_batch(site, &batch, err);
    if (status == MO_OK)
        status = check_gathered(site, axis, batch, err);
    if (status != MO_OK)
        return status;
    gather.batch = multiply_dims(data, 0, batch);
    gather.outer = multiply_dims(data, batch, axis);
    gather.axis = data->dims[axis];
    gather.inner = multiply_dims(data, axis + 1, data->rank);
    gather.count = multiply_dims(indices, batch, indices->rank);
    return add_gather(site, &gather, lowered, err);
}

mo_status mo_lower_gather_elements(const mo_op_site *site,
                                   mo_lower_result *lowered, mo_error *err)
{
    mo_call_gather gather = { .kind = MO_CALL_GATHER_ELEMENTS,
                              .data = site->in[0].shape,
                              .result = site->out[0].shape };
    int64_t given;
    mo_status status = check_operands(site, 2, err);

    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "axis", 0, &given, err);
    if (status == MO_OK)
        status = mo_op_site_normalize_axis(site, given, gather.data.rank,
                                           &gather.at, err);
    if (status == MO_OK)
        status = mo_op_site_check_output(site, 0, &site->in[1].shape, err);
    if (status != MO_OK)
        return status;
    for (int d = 0; d < gather.data.rank; d++)
        if (gather.result.rank != gather.data.rank ||
            (d != gather.at && gather.result.dims[d] > gather.data.dims[d]))
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "its indices are not within its data");
    return add_gather(site, &gather, lowered, err);
}

mo_status mo_lower_gather_nd(const mo_op_site *site, mo_lower_result *lowered,
                             mo_error *err)
{
    const mo_shape *data = &site->in[0].shape, *indices = &site->in[1].shape;
    mo_call_gather gather = { .kind = MO_CALL_GATHER_ND };
    int64_t depth, n_picked;
    int batch;
    mo_status status = check_operands(site, 2, err);

    if (status == MO_OK)
        status = read_batch(site, &batch, err);
    if (status != MO_OK)
        return status;
    depth = indices->rank > 0 ? indices->dims[indices->rank - 1] : 0;
    if (batch >= indices->rank || depth > data->rank - batch)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "its indices do not lead into its data");
    gather.depth = (int) depth;
    gather.batch = multiply_dims(data, 0, batch);
    gather.count = multiply_dims(indices, batch, indices->rank - 1);
    for (int d = 0; d < gather.depth; d++)
        gather.dims[d] = data->dims[batch + d];
    gather.inner = multiply_dims(data, batch + gather.depth, data->rank);
    if (!mo_int64_mul(gather.batch * gather.count, gather.inner, &n_picked) ||
        n_picked != mo_tensor_desc_elements(&site->out[0]))
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "its output has not the size of what is picked");
    return add_gather(site, &gather, lowered, err);
}
