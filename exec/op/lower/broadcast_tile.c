/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of Broadcast and Tile.
 */
#include "exec/op/copy_builder.h"
#include "exec/op/lower/lowerings.h"

/* on[d] = the output's dimension of the input's dimension d: the last ones,
 * PaddlePaddle's from a given one on. */
static mo_status align_in_order(const mo_op_site *site, int on[MO_MAX_RANK],
                                mo_error *err)
{
    int rank = site->in[0].shape.rank, room = site->out[0].shape.rank - rank;
    int64_t first = -1;
    mo_status status = MO_OK;

    if (mo_op_site_attr_equals(site, "mode", "pdpd"))
        status = mo_op_site_attr_int(site, "axis", -1, &first, err);
    if (status != MO_OK)
        return status;
    if (first < 0)
        first = room;
    if (first < 0 || first > room)
        return mo_op_site_fail(
            site, MO_E_INPUT, err,
            "cannot lay %d dimensions on %d from the %lldth on", rank,
            site->out[0].shape.rank, (long long) first);
    for (int d = 0; d < rank; d++)
        on[d] = (int) first + d;
    return MO_OK;
}

mo_status mo_lower_broadcast(const mo_op_site *site, mo_lower_result *lowered,
                             mo_error *err)
{
    const mo_shape *in = &site->in[0].shape;
    mo_call_copy_box box = mo_lower_copy_box_init(&site->out[0].shape);
    int64_t strides[MO_MAX_RANK];
    int on[MO_MAX_RANK];
    mo_status status = mo_op_site_check_arity(site, 2, 3, 1, err);

    if (status == MO_OK)
        status = mo_lower_copy_check_types(site, err);
    if (status != MO_OK)
        return status;
    if (mo_op_site_attr_equals(site, "mode", "explicit") ||
        mo_op_site_attr_equals(site, "mode", "none")) {
        /* mode "explicit": the third input gives on[d]. */
        int64_t axes[MO_MAX_RANK];
        int rank = site->in[0].shape.rank, count = 0;
        status = mo_op_site_const_ints(site, 2, axes, MO_MAX_RANK, &count, err);

        if (status == MO_OK && count < rank)
            status =
                mo_op_site_fail(site, MO_E_INPUT, err,
                                "names %d axes for %d dimensions", count, rank);
        else {
            for (int d = 0; status == MO_OK && d < rank; d++)
                status = mo_op_site_normalize_axis(
                    site, axes[d], site->out[0].shape.rank, &on[d], err);
        }
    } else
        status = align_in_order(site, on, err);
    if (status != MO_OK)
        return status;
    mo_lower_copy_strides(in, strides);
    for (int d = 0; d < in->rank; d++) {
        if (in->dims[d] != 1 && in->dims[d] != box.extent[on[d]])
            return mo_op_site_fail(
                site, MO_E_INPUT, err, "cannot stretch %lld to %lld",
                (long long) in->dims[d], (long long) box.extent[on[d]]);
        if (in->dims[d] != 1)
            box.in_stride[on[d]] = strides[d];
    }
    return mo_lower_copy_add_box(&box, 0, site->n_in, lowered, err);
}

/* Appends a dimension of size elements, repeated; each part where it is more
 * than one. */
static bool push_tiled(mo_call_copy_box *box, int64_t size, int64_t repeats,
                       int64_t in_stride, int64_t out_stride)
{
    if (box->rank + 2 > MO_MAX_RANK && size != 1 && repeats != 1)
        return false;
    if (repeats != 1)
        mo_lower_copy_box_push(box, repeats, 0, size * out_stride);
    if (size != 1)
        mo_lower_copy_box_push(box, size, in_stride, out_stride);
    return true;
}

mo_status mo_lower_tile(const mo_op_site *site, mo_lower_result *lowered,
                        mo_error *err)
{
    const mo_shape *in = &site->in[0].shape, *out = &site->out[0].shape;
    int64_t in_strides[MO_MAX_RANK], out_strides[MO_MAX_RANK];
    int lead = out->rank - in->rank;
    mo_call_copy_box box = { 0 };
    mo_status status = mo_op_site_check_arity(site, 2, 2, 1, err);

    if (status == MO_OK)
        status = mo_lower_copy_check_types(site, err);
    if (status != MO_OK)
        return status;
    mo_lower_copy_strides(in, in_strides);
    mo_lower_copy_strides(out, out_strides);
    for (int d = 0; d < out->rank; d++) {
        int64_t size = d < lead ? 1 : in->dims[d - lead];
        int64_t repeats = size > 0 ? out->dims[d] / size : 0;

        if (lead < 0 || size * repeats != out->dims[d])
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "its output is not made of whole tiles");
        if (!push_tiled(&box, size, repeats,
                        d < lead ? 0 : in_strides[d - lead], out_strides[d]))
            return mo_op_site_fail(site, MO_E_SUPPORT, err,
                                   "repeats more than %d dimensions",
                                   MO_MAX_RANK / 2);
    }
    return mo_lower_copy_add_box(&box, 0, site->n_in, lowered, err);
}
