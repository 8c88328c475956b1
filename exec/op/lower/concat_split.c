/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of Concat and its inverses, Split and VariadicSplit.
 */
#include "exec/op/copy_builder.h"
#include "exec/op/lower/lowerings.h"

enum { MANY = MO_CALL_MAX_OPERANDS };

/* The parts must make up the whole. */
static mo_status check_parts(const mo_op_site *site,
                             const mo_tensor_desc *whole,
                             const mo_tensor_desc *parts, int n_parts, int axis,
                             mo_error *err)
{
    int64_t rest = whole->shape.dims[axis];

    for (int i = 0; i < n_parts; i++) {
        if (parts[i].elem != whole->elem ||
            !mo_shape_equal_but(&whole->shape, &parts[i].shape, axis) ||
            parts[i].shape.dims[axis] > rest) {
            char of[MO_TENSOR_DESC_TEXT_SIZE], part[MO_TENSOR_DESC_TEXT_SIZE];

            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "%s is no part of %s along axis %d",
                                   mo_tensor_desc_format(&parts[i], part),
                                   mo_tensor_desc_format(whole, of), axis);
        }
        rest -= parts[i].shape.dims[axis];
    }
    if (rest > 0)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "its parts leave %lld over along axis %d",
                               (long long) rest, axis);
    return MO_OK;
}

mo_status mo_lower_concat(const mo_op_site *site, mo_lower_result *lowered,
                          mo_error *err)
{
    const mo_tensor_desc *out = site->out;
    int64_t given, place = 0;
    mo_call *call;
    int axis = 0;
    mo_status status = mo_op_site_check_arity(site, 1, MANY, 1, err);

    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "axis", 0, &given, err);
    if (status == MO_OK)
        status =
            mo_op_site_normalize_axis(site, given, out->shape.rank, &axis, err);
    if (status == MO_OK)
        status = check_parts(site, out, site->in, site->n_in, axis, err);
    if (status == MO_OK)
        status = mo_lower_copy_add_call(site, site->n_in, site->n_in, lowered,
                                        &call, err);
    for (int i = 0; status == MO_OK && i < site->n_in; i++) {
        mo_call_copy_box box = mo_lower_copy_box_init(&out->shape);

        mo_lower_copy_strides(&site->in[i].shape, box.in_stride);
        box.from = i;
        box.extent[axis] = site->in[i].shape.dims[axis];
        box.out_offset = place * box.out_stride[axis];
        place += box.extent[axis];
        call->u.copy.boxes[i] = box;
    }
    return status;
}

mo_status mo_lower_split(const mo_op_site *site, mo_lower_result *lowered,
                         mo_error *err)
{
    const mo_tensor_desc *in = site->in;
    int64_t place = 0;
    mo_call *call;
    int axis = 0;
    mo_status status = mo_op_site_check_arity(site, 2, 3, site->n_out, err);

    if (status == MO_OK) {
        int64_t given;
        status = mo_op_site_const_ints_exact(site, 1, &given, 1, err);

        if (status == MO_OK) {
            status = mo_op_site_normalize_axis(
                site, given, site->in[0].shape.rank, &axis, err);
        }
    }
    if (status == MO_OK)
        status = check_parts(site, in, site->out, site->n_out, axis, err);
    if (status == MO_OK)
        status =
            mo_lower_copy_add_call(site, 1, site->n_out, lowered, &call, err);
    for (int i = 0; status == MO_OK && i < site->n_out; i++) {
        mo_call_copy_box box = mo_lower_copy_box_init(&site->out[i].shape);

        mo_lower_copy_strides(&in->shape, box.in_stride);
        box.to = i;
        box.in_offset = place * box.in_stride[axis];
        place += box.extent[axis];
        call->u.copy.boxes[i] = box;
    }
    return status;
}
