/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/copy_builder.h"

#include <assert.h>

void mo_lower_copy_strides(const mo_shape *shape, int64_t strides[MO_MAX_RANK])
{
    int64_t stride = 1;

    for (int d = shape->rank; d-- > 0;) {
        strides[d] = stride;
        stride *= shape->dims[d];
    }
}

mo_call_copy_box mo_lower_copy_box_init(const mo_shape *shape)
{
    mo_call_copy_box box = { .rank = shape->rank };

    for (int d = 0; d < shape->rank; d++)
        box.extent[d] = shape->dims[d];
    mo_lower_copy_strides(shape, box.out_stride);
    return box;
}

void mo_lower_copy_box_push(mo_call_copy_box *box, int64_t extent,
                            int64_t in_stride, int64_t out_stride)
{
    assert(box->rank < MO_MAX_RANK);
    box->extent[box->rank] = extent;
    box->in_stride[box->rank] = in_stride;
    box->out_stride[box->rank++] = out_stride;
}

mo_status mo_lower_copy_add_call(const mo_op_site *site, int n_in,
                                 int64_t n_boxes, mo_lower_result *lowered,
                                 mo_call **call, mo_error *err)
{
    mo_status status;

    if (n_boxes > MO_LOWER_COPY_MAX_BOXES)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "it would move more than %d blocks",
                               MO_LOWER_COPY_MAX_BOXES);
    status =
        mo_lower_add_call(lowered, MO_CALL_COPY, n_in, site->n_out, call, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < n_in; i++)
        (*call)->in[i] = i;
    for (int i = 0; i < site->n_out; i++)
        (*call)->out[i] = site->n_in + i;
    (*call)->u.copy.fill_in = -1;
    (*call)->u.copy.n_boxes = (int) n_boxes;
    (*call)->u.copy.boxes = mo_arena_array(lowered->arena, (size_t) n_boxes,
                                           sizeof(mo_call_copy_box));
    return (*call)->u.copy.boxes ? MO_OK : mo_fail_memory(err);
}

mo_status mo_lower_copy_add_box(const mo_call_copy_box *box, int from, int to,
                                mo_lower_result *lowered, mo_error *err)
{
    mo_call *call;
    mo_status status =
        mo_lower_add_call(lowered, MO_CALL_COPY, 1, 1, &call, err);

    if (status != MO_OK)
        return status;
    call->in[0] = from;
    call->out[0] = to;
    call->u.copy.fill_in = -1;
    call->u.copy.n_boxes = 1;
    call->u.copy.boxes = mo_arena_alloc(lowered->arena, sizeof *box);
    if (!call->u.copy.boxes)
        return mo_fail_memory(err);
    call->u.copy.boxes[0] = *box;
    return MO_OK;
}

mo_status mo_lower_copy_check_types(const mo_op_site *site, mo_error *err)
{
    for (int i = 0; i < site->n_out; i++)
        if (site->out[i].elem != site->in[0].elem)
            return mo_op_site_fail(site, MO_E_INPUT, err,
                                   "its output %d is %s, its data %s", i,
                                   mo_elem_name(site->out[i].elem),
                                   mo_elem_name(site->in[0].elem));
    return MO_OK;
}
