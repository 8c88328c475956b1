/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/plan/passes/nhwc_strides.h"

#include <string.h>

bool mo_pass_nhwc_differs(const mo_shape *shape)
{
    int64_t places = 1;

    if (shape->rank < 3 || shape->rank > 2 + MO_CALL_MAX_SPATIAL)
        return false;
    for (int d = 2; d < shape->rank; d++)
        places *= shape->dims[d];
    return shape->dims[0] > 0 && shape->dims[1] > 1 && places > 1;
}

mo_point_access mo_pass_nhwc_access(const mo_shape *shape)
{
    mo_point_access access = { 0 };
    int64_t stride = shape->dims[1];

    access.stride[1] = shape->dims[1] == 1 ? 0 : 1;
    for (int d = shape->rank; d-- > 0;) {
        if (d == 1)
            continue;
        if (shape->dims[d] != 1)
            access.stride[d] = stride;
        stride *= shape->dims[d];
    }
    return access;
}

/* The elements of a box along one dimension. */
typedef struct dim_range {
    int64_t first, step;
} dim_range;

/* Decomposes offset and strides of a box along the dimensions of the shape. An
 * element has only one set of coordinates that all stay within their
 * dimensions, so every accepted decomposition is right. */
static bool decompose_box(const mo_shape *shape, int rank,
                          const int64_t *extent, int64_t offset,
                          const int64_t *stride, dim_range *runs)
{
    int64_t plain = 1;

    if (rank != shape->rank || offset < 0)
        return false;
    for (int d = rank; d-- > 0;) {
        int64_t dim = shape->dims[d];
        const dim_range *r = &runs[d];
        int64_t last;

        if (dim == 0 || extent[d] < 1)
            return false;
        runs[d].first = offset / plain % dim;
        runs[d].step = extent[d] == 1 ? 0 : stride[d] / plain;
        if (extent[d] > 1 && stride[d] % plain != 0)
            return false;
        last = r->first + r->step * (extent[d] - 1);
        if (r->first < 0 || r->first >= dim || last < 0 || last >= dim)
            return false;
        plain *= dim;
    }
    return offset < plain;
}

static bool convert_strides(const mo_shape *shape, int rank,
                            const int64_t *extent, int64_t *offset,
                            int64_t *stride)
{
    dim_range runs[MO_MAX_RANK];
    mo_point_access last;

    if (!decompose_box(shape, rank, extent, *offset, stride, runs))
        return false;
    last = mo_pass_nhwc_access(shape);
    *offset = 0;
    for (int d = 0; d < rank; d++) {
        *offset += runs[d].first * last.stride[d];
        stride[d] = runs[d].step * last.stride[d];
    }
    return true;
}

bool mo_pass_nhwc_box_input(mo_call_copy_box *box, const mo_shape *shape)
{
    return convert_strides(shape, box->rank, box->extent, &box->in_offset,
                           box->in_stride);
}

bool mo_pass_nhwc_box_output(mo_call_copy_box *box, const mo_shape *shape)
{
    return convert_strides(shape, box->rank, box->extent, &box->out_offset,
                           box->out_stride);
}

bool mo_pass_nhwc_reduce_input(mo_call_reduce *reduce, const mo_shape *shape)
{
    int64_t offset = 0;

    return memcmp(reduce->extent, shape->dims,
                  (size_t) shape->rank * sizeof *reduce->extent) == 0 &&
           convert_strides(shape, reduce->rank, reduce->extent, &offset,
                           reduce->in_stride);
}

enum { CHANNELS = 1 }; /* the dimension */

bool mo_pass_box_channel_range(const mo_call_copy_box *box, const mo_shape *to,
                               mo_pass_channel_range *channels)
{
    mo_point_access last = mo_pass_nhwc_access(to);

    if (box->rank != to->rank || to->rank <= CHANNELS)
        return false;
    for (int d = 0; d < to->rank; d++)
        if ((d != CHANNELS && box->extent[d] != to->dims[d]) ||
            (box->extent[d] > 1 && box->out_stride[d] != last.stride[d]))
            return false;
    if (box->out_offset < 0 || box->extent[CHANNELS] > to->dims[CHANNELS] ||
        box->out_offset > to->dims[CHANNELS] - box->extent[CHANNELS])
        return false;
    *channels =
        (mo_pass_channel_range){ box->out_offset,
                                 box->out_offset + box->extent[CHANNELS] };
    return true;
}

bool mo_pass_channels_fit(const mo_plan_value *part, int64_t at,
                          const mo_plan_value *whole)
{
    const mo_shape *a = &part->desc.shape, *b = &whole->desc.shape;

    if (part->desc.elem != whole->desc.elem || part->device != whole->device ||
        !part->channels_last || !whole->channels_last || a->rank != b->rank ||
        a->rank <= CHANNELS || at < 0 || at > b->dims[CHANNELS] ||
        a->dims[CHANNELS] > b->dims[CHANNELS] - at)
        return false;
    for (int d = 0; d < a->rank; d++)
        if (d != CHANNELS && a->dims[d] != b->dims[d])
            return false;
    return true;
}
