/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of operators that permute elements: Transpose, ShuffleChannels,
 * Reverse, ReverseSequence, Roll.
 */
#include "exec/op/copy_builder.h"
#include "exec/op/lower/lowerings.h"
#include "exec/op/copy_regions.h"

/* Fails unless there are n_in inputs and one output of input 0's
 * type. */
static mo_status check_operands(const mo_op_site *site, int n_in, mo_error *err)
{
    mo_status status = mo_op_site_check_arity(site, n_in, n_in, 1, err);

    return status == MO_OK ? mo_lower_copy_check_types(site, err) : status;
}

static mo_status check_same(const mo_op_site *site, int n_in, mo_error *err)
{
    mo_status status = check_operands(site, n_in, err);

    if (status == MO_OK)
        status = mo_op_site_check_output(site, 0, &site->in[0].shape, err);
    return status;
}

/* order[d] = the input's dimension that becomes dimension d. */
static mo_status read_order(const mo_op_site *site, int order[MO_MAX_RANK],
                            mo_error *err)
{
    int rank = site->in[0].shape.rank, count = 0;
    bool taken[MO_MAX_RANK] = { false };
    int64_t axes[MO_MAX_RANK];
    mo_status status =
        mo_op_site_const_ints(site, 1, axes, MO_MAX_RANK, &count, err);

    if (status == MO_OK && count == 0) /* the default: reversed */
        for (int d = rank; d-- > 0;)
            axes[count++] = d;
    if (status == MO_OK && count != rank)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "its order has %d axes, not %d", count, rank);
    for (int d = 0; status == MO_OK && d < rank; d++) {
        status = mo_op_site_normalize_axis(site, axes[d], rank, &order[d], err);
        if (status == MO_OK && taken[order[d]])
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "its order names axis %d twice", order[d]);
        if (status == MO_OK)
            taken[order[d]] = true;
    }
    return status;
}

mo_status mo_lower_transpose(const mo_op_site *site, mo_lower_result *lowered,
                             mo_error *err)
{
    const mo_shape *in = &site->in[0].shape;
    mo_shape turned = { .rank = in->rank };
    int64_t strides[MO_MAX_RANK];
    int order[MO_MAX_RANK];
    mo_call_copy_box box;
    mo_status status = check_operands(site, 2, err);

    if (status == MO_OK)
        status = read_order(site, order, err);
    for (int d = 0; status == MO_OK && d < in->rank; d++)
        turned.dims[d] = in->dims[order[d]];
    if (status == MO_OK)
        status = mo_op_site_check_output(site, 0, &turned, err);
    if (status != MO_OK)
        return status;
    box = mo_lower_copy_box_init(&turned);
    mo_lower_copy_strides(in, strides);
    for (int d = 0; d < in->rank; d++)
        box.in_stride[d] = strides[order[d]];
    return mo_lower_copy_add_box(&box, 0, site->n_in, lowered, err);
}

/* Channels [groups][depth] become [depth][groups]. */
mo_status mo_lower_shuffle_channels(const mo_op_site *site,
                                    mo_lower_result *lowered, mo_error *err)
{
    const mo_shape *shape = &site->in[0].shape;
    mo_call_copy_box whole = mo_lower_copy_box_init(shape), box = { 0 };
    int64_t given, groups;
    int axis;
    mo_status status = check_same(site, 1, err);

    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "axis", 1, &given, err);
    if (status == MO_OK)
        status =
            mo_op_site_normalize_axis(site, given, shape->rank, &axis, err);
    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "group", 1, &groups, err);
    if (status != MO_OK)
        return status;
    if (groups < 1 || shape->dims[axis] % groups != 0 ||
        shape->rank == MO_MAX_RANK)
        return mo_op_site_fail(
            site, MO_E_INPUT, err, "%lld groups do not divide %lld channels",
            (long long) groups, (long long) shape->dims[axis]);
    for (int d = 0; d < shape->rank; d++) {
        int64_t stride = whole.out_stride[d], depth = shape->dims[d] / groups;

        if (d != axis) {
            mo_lower_copy_box_push(&box, shape->dims[d], stride, stride);
            continue;
        }
        mo_lower_copy_box_push(&box, depth, stride, groups * stride);
        mo_lower_copy_box_push(&box, groups, depth * stride, stride);
    }
    return mo_lower_copy_add_box(&box, 0, site->n_in, lowered, err);
}

/* Axes, or a mask with a mark for each. */
static mo_status read_reversed(const mo_op_site *site,
                               bool reversed[MO_MAX_RANK], mo_error *err)
{
    int rank = site->in[0].shape.rank, count = 0, at;
    int64_t list[MO_MAX_RANK];
    mo_status status =
        mo_op_site_const_ints(site, 1, list, MO_MAX_RANK, &count, err);

    if (status == MO_OK && mo_op_site_attr_equals(site, "mode", "mask")) {
        if (count != rank)
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "its mask has %d marks, not %d", count,
                                   rank);
        for (int d = 0; d < rank; d++)
            reversed[d] = list[d] != 0;
        return MO_OK;
    }
    for (int i = 0; status == MO_OK && i < count; i++) {
        status = mo_op_site_normalize_axis(site, list[i], rank, &at, err);
        if (status == MO_OK)
            reversed[at] = true;
    }
    return status;
}

/* Reverses dimension d of what is read: from the last element backwards. */
static void reverse_dim(mo_call_copy_box *box, int d)
{
    box->in_offset += (box->extent[d] - 1) * box->in_stride[d];
    box->in_stride[d] = -box->in_stride[d];
}

mo_status mo_lower_reverse(const mo_op_site *site, mo_lower_result *lowered,
                           mo_error *err)
{
    bool reversed[MO_MAX_RANK] = { false };
    mo_call_copy_box box = mo_lower_copy_box_init(&site->in[0].shape);
    mo_status status = check_same(site, 2, err);

    if (status == MO_OK)
        status = read_reversed(site, reversed, err);
    if (status != MO_OK)
        return status;
    mo_lower_copy_strides(&site->in[0].shape, box.in_stride);
    for (int d = 0; d < box.rank; d++)
        if (reversed[d])
            reverse_dim(&box, d);
    return mo_lower_copy_add_box(&box, 0, site->n_in, lowered, err);
}

typedef struct sequence {
    int batch, along; /* axes */
} sequence;

static mo_status read_sequence(const mo_op_site *site, sequence *s,
                               mo_error *err)
{
    int rank = site->in[0].shape.rank;
    int64_t batch, along;
    mo_status status = mo_op_site_attr_int(site, "batch_axis", 0, &batch, err);

    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "seq_axis", 1, &along, err);
    if (status == MO_OK)
        status = mo_op_site_normalize_axis(site, batch, rank, &s->batch, err);
    if (status == MO_OK)
        status = mo_op_site_normalize_axis(site, along, rank, &s->along, err);
    if (status == MO_OK && s->batch == s->along)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "reverses along the axis of its batches");
    if (status == MO_OK && mo_tensor_desc_elements(&site->in[1]) !=
                               site->in[0].shape.dims[s->batch])
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "needs one length for each of %lld batches",
                               (long long) site->in[0].shape.dims[s->batch]);
    return status;
}

/* Batch b: the first length elements are reversed, the others stay. */
static void place_sequence(const mo_call_copy_box *whole, const sequence *s,
                           int64_t b, int64_t length, mo_call_copy_box boxes[2])
{
    int64_t stride = whole->in_stride[s->along];

    boxes[0] = *whole;
    boxes[0].extent[s->batch] = 1;
    boxes[0].in_offset = boxes[0].out_offset = b * whole->in_stride[s->batch];
    boxes[1] = boxes[0];
    boxes[0].extent[s->along] = length;
    reverse_dim(&boxes[0], s->along);
    boxes[1].extent[s->along] -= length;
    boxes[1].in_offset += length * stride;
    boxes[1].out_offset += length * stride;
}

mo_status mo_lower_reverse_sequence(const mo_op_site *site,
                                    mo_lower_result *lowered, mo_error *err)
{
    mo_call_copy_box whole = mo_lower_copy_box_init(&site->in[0].shape);
    sequence s = { 0 };
    mo_call *call;
    mo_status status = check_same(site, 2, err);

    if (status == MO_OK)
        status = read_sequence(site, &s, err);
    if (status == MO_OK)
        status = mo_lower_copy_add_call(site, 1, 2 * whole.extent[s.batch],
                                        lowered, &call, err);
    mo_lower_copy_strides(&site->in[0].shape, whole.in_stride);
    for (int64_t b = 0; status == MO_OK && b < whole.extent[s.batch]; b++) {
        double length = mo_tensor_get_double(site->value[1], b);

        if (!(length >= 0 && length <= (double) whole.extent[s.along]))
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "reverses %g of %lld elements", length,
                                   (long long) whole.extent[s.along]);
        place_sequence(&whole, &s, b, (int64_t) length,
                       call->u.copy.boxes + 2 * b);
    }
    return status;
}

/* Shift of each dimension, from 0 to less than its size. One number may serve
 * all axes, and an axis may occur more than once. */
static mo_status read_shifts(const mo_op_site *site,
                             int64_t shifts[MO_MAX_RANK], mo_error *err)
{
    enum { MAX_SHIFTS = 256 };
    const mo_shape *shape = &site->in[0].shape;
    int64_t by[MAX_SHIFTS], axes[MAX_SHIFTS];
    int n_by = 0, n_axes = 0, at;
    mo_status status =
        mo_op_site_const_ints(site, 1, by, MAX_SHIFTS, &n_by, err);

    if (status == MO_OK)
        status = mo_op_site_const_ints(site, 2, axes, MAX_SHIFTS, &n_axes, err);
    if (status == MO_OK && n_by != n_axes && n_by != 1)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "has %d shifts for %d axes", n_by, n_axes);
    for (int i = 0; status == MO_OK && i < n_axes; i++) {
        status =
            mo_op_site_normalize_axis(site, axes[i], shape->rank, &at, err);
        if (status == MO_OK && shape->dims[at] > 0) {
            int64_t size = shape->dims[at], shift = by[n_by == 1 ? 0 : i];

            shifts[at] = ((shifts[at] + shift % size) % size + size) % size;
        }
    }
    return status;
}

mo_status mo_lower_roll(const mo_op_site *site, mo_lower_result *lowered,
                        mo_error *err)
{
    const mo_shape *shape = &site->in[0].shape;
    int64_t shifts[MO_MAX_RANK] = { 0 };
    mo_lower_copy_regions zones[MO_MAX_RANK] = { 0 };
    mo_status status = check_same(site, 3, err);

    if (status == MO_OK)
        status = read_shifts(site, shifts, err);
    if (status != MO_OK)
        return status;
    for (int d = 0; d < shape->rank; d++) {
        int64_t size = shape->dims[d], by = shifts[d];

        mo_lower_copy_regions_push(
            &zones[d], (mo_lower_copy_region){ by, size - by, 0, 1 });
        mo_lower_copy_regions_push(
            &zones[d], (mo_lower_copy_region){ size - by, 0, by, 1 });
    }
    return mo_lower_copy_regions_add_call(site, zones, lowered, err);
}
