/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering of operators that generate tensors: ShapeOf, Range, Eye, OneHot. */
#include "exec/op/copy_builder.h"
#include "exec/op/lower/lowerings.h"

mo_status mo_lower_shape_of(const mo_op_site *site, mo_lower_result *lowered,
                            mo_error *err)
{
    mo_shape one = { .rank = 1, .dims = { 1 } };
    mo_shape made = { .rank = 1 };
    mo_call *call;
    mo_status status = mo_op_site_check_arity(site, 1, 1, 1, err);

    if (status != MO_OK)
        return status;
    made.dims[0] = site->in[0].shape.rank;
    status = mo_op_site_check_output(site, 0, &made, err);
    if (status == MO_OK)
        status =
            mo_lower_copy_add_call(site, 0, made.dims[0], lowered, &call, err);
    for (int d = 0; status == MO_OK && d < made.dims[0]; d++) {
        mo_call_copy_box box = mo_lower_copy_box_init(&one);

        box.from = MO_CALL_COPY_FILL;
        box.fill = (double) site->in[0].shape.dims[d];
        box.out_offset = d;
        call->u.copy.boxes[d] = box;
    }
    return status;
}

/* Its inputs may be computed at run time; the size of its output is known. */
mo_status mo_lower_range(const mo_op_site *site, mo_lower_result *lowered,
                         mo_error *err)
{
    mo_call *call;
    mo_status status = mo_op_site_check_arity(site, 3, 3, 1, err);

    for (int i = 0; status == MO_OK && i < 3; i++)
        if (mo_tensor_desc_elements(&site->in[i]) != 1)
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "input %d is not one number", i);
    if (status == MO_OK && site->out[0].shape.rank != 1)
        return mo_op_site_fail(site, MO_E_INPUT, err, "makes one row only");
    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_RANGE, 3, 1, &call, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < 3; i++)
        call->in[i] = i;
    call->out[0] = site->n_in;
    return MO_OK;
}

mo_status mo_lower_eye(const mo_op_site *site, mo_lower_result *lowered,
                       mo_error *err)
{
    const mo_shape *shape = &site->out[0].shape;
    mo_call *call;
    int64_t shift;
    mo_status status = mo_op_site_check_arity(site, 3, 4, 1, err);

    if (status == MO_OK)
        status = mo_op_site_const_ints_exact(site, 2, &shift, 1, err);
    if (status != MO_OK)
        return status;
    if (shape->rank < 2 || shift > MO_MAX_ELEMENTS || shift < -MO_MAX_ELEMENTS)
        return mo_op_site_fail(
            site, MO_E_INPUT, err,
            "makes matrices with a diagonal within them only");
    status = mo_lower_copy_add_call(site, 0, 2, lowered, &call, err);
    if (status != MO_OK)
        return status;
    call->u.copy.boxes[0] = mo_lower_copy_box_init(shape);
    call->u.copy.boxes[0].from = MO_CALL_COPY_FILL;

    /* The ones of Eye: a diagonal of each matrix, shifted to the right. */
    int64_t rows = shape->dims[shape->rank - 2];
    int64_t columns = shape->dims[shape->rank - 1];
    int64_t row = shift < 0 ? -shift : 0, column = shift > 0 ? shift : 0;
    mo_call_copy_box box = mo_lower_copy_box_init(shape);
    int64_t length = rows - row;

    if (columns - column < length)
        length = columns - column;
    box.from = MO_CALL_COPY_FILL;
    box.fill = 1;
    box.rank--;
    box.extent[box.rank - 1] = length > 0 ? length : 0;
    box.out_stride[box.rank - 1] = columns + 1;
    box.out_offset = length > 0 ? row * columns + column : 0;
    call->u.copy.boxes[1] = box;
    return MO_OK;
}

mo_status mo_lower_add_counter(const mo_op_site *site, int64_t start,
                               const mo_tensor_desc *desc,
                               mo_lower_result *lowered, int *temp,
                               mo_error *err)
{
    mo_call *call;
    mo_status status = mo_lower_add_temp(lowered, site, desc, temp, err);

    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_RANGE, 0, 1, &call, err);
    if (status != MO_OK)
        return status;
    call->out[0] = *temp;
    call->u.range = (mo_call_range){ start, 1 };
    return MO_OK;
}

static mo_status check_one_hot(const mo_op_site *site, int *axis, mo_error *err)
{
    const mo_shape *indices = &site->in[0].shape;
    mo_shape made = { .rank = 0 };
    int64_t given, depth;
    mo_status status = mo_op_site_check_arity(site, 4, 4, 1, err);

    if (status == MO_OK)
        status = mo_op_site_const_ints_exact(site, 1, &depth, 1, err);
    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "axis", -1, &given, err);
    if (status == MO_OK)
        status = mo_op_site_normalize_axis(site, given, indices->rank + 1, axis,
                                           err);
    if (status != MO_OK)
        return status;
    if (indices->rank == MO_MAX_RANK || mo_elem_is_float(site->in[0].elem) ||
        mo_tensor_desc_elements(&site->in[2]) != 1 ||
        mo_tensor_desc_elements(&site->in[3]) != 1 ||
        site->in[2].elem != site->out[0].elem ||
        site->in[3].elem != site->out[0].elem)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "needs integers, and two numbers of its type");
    made.rank = indices->rank + 1;
    for (int d = 0; d < made.rank; d++)
        made.dims[d] = d == *axis ? depth : indices->dims[d - (d > *axis)];
    return mo_op_site_check_output(site, 0, &made, err);
}

/* Operands: indices, on, off, and one or two counts along axis. */
static void fill_one_hot(const mo_op_site *site, int axis, int n_counts,
                         mo_point_program *point)
{
    const mo_shape *out = &site->out[0].shape;
    mo_point_operand *operands = point->operands;
    int64_t strides[MO_MAX_RANK];

    point->n_operands = 3 + n_counts;
    point->out = mo_point_access_dense(out);
    operands[0].elem = site->in[0].elem;
    mo_lower_copy_strides(&site->in[0].shape, strides);
    for (int d = 0; d < out->rank; d++)
        if (d != axis)
            operands[0].access.stride[d] = strides[d - (d > axis)];
    operands[1].elem = operands[2].elem = site->out[0].elem;
    for (int i = 3; i < point->n_operands; i++) {
        operands[i].elem = MO_ELEM_I64;
        operands[i].access.stride[axis] = 1;
    }

    /* index == count (or, from the end, index == count - depth) ? on : off */
    bool real = mo_elem_is_float(operands[1].elem);
    int equal = mo_point_push_step(
        point, (mo_point_step){ .op = MO_POINT_I_EQUAL, .a = 0, .b = 3 });

    if (n_counts == 2) {
        int other = mo_point_push_step(
            point, (mo_point_step){ .op = MO_POINT_I_EQUAL, .a = 0, .b = 4 });

        equal = mo_point_push_step(
            point,
            (mo_point_step){ .op = MO_POINT_I_OR, .a = equal, .b = other });
    }
    point->result = mo_point_push_step(
        point,
        (mo_point_step){ .op = real ? MO_POINT_SELECT : MO_POINT_I_SELECT,
                         .a = equal,
                         .b = 1,
                         .c = 2 });
}

mo_status mo_lower_one_hot(const mo_op_site *site, mo_lower_result *lowered,
                           mo_error *err)
{
    bool normalizes =
        mo_op_site_attr_equals(site, "negative_indices_mode", "normalize");
    int n_counts = normalizes && site->in[0].elem != MO_ELEM_U64 ? 2 : 1;
    int axis = 0, counts[2];
    mo_call *call;
    mo_status status = check_one_hot(site, &axis, err);

    for (int i = 0; status == MO_OK && i < n_counts; i++) {
        int64_t depth = site->out[0].shape.dims[axis];
        mo_tensor_desc counted = { MO_ELEM_I64,
                                   { .rank = 1, .dims = { depth } } };

        status = mo_lower_add_counter(site, i == 0 ? 0 : -depth, &counted,
                                      lowered, &counts[i], err);
    }
    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_POINT, 3 + n_counts, 1,
                                   &call, err);
    if (status != MO_OK)
        return status;
    call->in[0] = 0;
    call->in[1] = 2;
    call->in[2] = 3;
    for (int i = 0; i < n_counts; i++)
        call->in[3 + i] = counts[i];
    call->out[0] = site->n_in;
    fill_one_hot(site, axis, n_counts, &call->u.point);
    return MO_OK;
}
