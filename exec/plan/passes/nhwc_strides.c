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

static bool is_within(const dim_range *r, int64_t extent, int64_t dim)
{
    int64_t last = r->first + r->step * (extent - 1);

    return r->first >= 0 && r->first < dim && last >= 0 && last < dim;
}

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

        if (dim == 0 || extent[d] < 1)
            return false;
        runs[d].first = offset / plain % dim;
        runs[d].step = extent[d] == 1 ? 0 : stride[d] / plain;
        if (extent[d] > 1 && stride[d] % plain != 0)
            return false;
        if (!is_within(&runs[d], extent[d], dim))
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
