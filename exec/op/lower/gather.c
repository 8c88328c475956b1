/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering of gathers: operators that read elements by index. */
#include <string.h>

#include "base/array.h"
#include "exec/op/copy_builder.h"
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

/* Indices in a row of which every inner ones have the same distance, and so
 * have every outer ones: outer index a and inner index b are of first + a far +
 * b near. Rotations by halves or by pairs have such. */
typedef struct even_indices {
    int64_t first, far, near, outer, inner;
} even_indices;

enum { MOST_EVEN = 1024 };

static bool find_even(const int64_t *index, int n, int64_t axis,
                      even_indices *even)
{
    int inner = 1;

    for (int i = 0; i < n; i++)
        if (index[i] < 0 || index[i] >= axis)
            return false;
    while (inner < n && (inner == 1 || index[inner] - index[inner - 1] ==
                                           index[1] - index[0]))
        inner++;
    if (n < 1 || n % inner != 0)
        return false;
    *even = (even_indices){ .first = index[0],
                            .far = inner < n ? index[inner] - index[0] : 0,
                            .near = inner > 1 ? index[1] - index[0] : 0,
                            .outer = n / inner,
                            .inner = inner };
    for (int i = 0; i < n; i++)
        if (index[i] !=
            even->first + i / inner * even->far + i % inner * even->near)
            return false;
    return true;
}

/* The same by constant indices that are even: a copy, which costs nothing where
 * its readers read the data by strides. */
static mo_status add_even_gather(const mo_op_site *site,
                                 const mo_call_gather *gather, bool *added,
                                 mo_lower_result *lowered, mo_error *err)
{
    int64_t index[MOST_EVEN], width = gather->inner;
    const mo_tensor_dense *given = site->value[1];
    int n = (int) gather->count;
    mo_call_copy_box box = { .rank = 4 };
    even_indices even;

    *added = false;
    if (!given || given->desc.elem == MO_ELEM_U64 || gather->batch != 1 ||
        gather->count > MOST_EVEN ||
        mo_tensor_desc_elements(&site->out[0]) == 0)
        return MO_OK;
    for (int i = 0; i < n; i++) {
        index[i] = mo_tensor_get_int(given, i);
        index[i] += index[i] < 0 ? gather->axis : 0;
    }
    if (!find_even(index, n, gather->axis, &even))
        return MO_OK;
    *added = true;
    box.in_offset = even.first * width;
    memcpy(box.extent,
           (int64_t[]){ gather->outer, even.outer, even.inner, width },
           4 * sizeof *box.extent);
    memcpy(box.in_stride,
           (int64_t[]){ gather->axis * width, even.far * width,
                        even.near * width, 1 },
           4 * sizeof *box.in_stride);
    memcpy(box.out_stride,
           (int64_t[]){ n * width, even.inner * width, width, 1 },
           4 * sizeof *box.out_stride);
    return mo_lower_copy_add_box(&box, 0, site->n_in, lowered, err);
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
    bool added = false;
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
    status = add_even_gather(site, &gather, &added, lowered, err);
    return added || status != MO_OK ? status
                                    : add_gather(site, &gather, lowered, err);
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
