/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/copy_box.h"

#include <string.h>

#include "base/array.h"

/* Returns whether all elements at offset plus strides are in 0 .. elements -
 * 1. */
static bool is_within(const mo_call_copy_box *box, int64_t offset,
                      const int64_t *stride, int64_t elements)
{
    int64_t low = offset, high = offset;

    for (int d = 0; d < box->rank; d++) {
        int64_t way;

        if (!mo_int64_mul(box->extent[d] - 1, stride[d], &way) ||
            !mo_int64_add(way < 0 ? low : high, way, way < 0 ? &low : &high))
            return false;
    }
    return low >= 0 && high < elements;
}

int64_t mo_backend_copy_box_elements(const mo_call_copy_box *box)
{
    int64_t elements = 1;

    for (int d = 0; d < box->rank; d++)
        if (box->extent[d] <= 0)
            return 0;
    for (int d = 0; d < box->rank; d++)
        if (!mo_int64_mul(elements, box->extent[d], &elements))
            return INT64_MAX;
    return elements;
}

static mo_status check_box(const mo_call_copy_box *box,
                           const mo_backend_operand *in,
                           const mo_tensor_desc *out, mo_error *err)
{
    const mo_tensor_desc *to = &out[box->to];
    const mo_tensor_desc *from = box->from < 0 ? NULL : &in[box->from].desc;

    if (mo_backend_copy_box_elements(box) == 0)
        return MO_OK;
    if (!is_within(box, box->out_offset, box->out_stride,
                   mo_tensor_desc_elements(to)) ||
        (from && !is_within(box, box->in_offset, box->in_stride,
                            mo_tensor_desc_elements(from))))
        return mo_fail(err, MO_E_INPUT, "a copy leaves its tensors");
    if (from && mo_elem_size(from->elem) != mo_elem_size(to->elem))
        return mo_fail(err, MO_E_INPUT, "a copy cannot turn %s into %s",
                       mo_elem_name(from->elem), mo_elem_name(to->elem));
    return MO_OK;
}

static bool has_filler(const mo_call *call, const mo_backend_operand *in,
                       const mo_tensor_desc *to)
{
    int from = call->u.copy.fill_in;

    return from < 0 ||
           (from < call->n_in && mo_tensor_desc_elements(&in[from].desc) >= 1 &&
            mo_elem_size(in[from].desc.elem) == mo_elem_size(to->elem));
}

mo_status mo_backend_copy_check(const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out, mo_error *err)
{
    const mo_call_copy *copy = &call->u.copy;
    mo_status status = MO_OK;

    for (int i = 0; status == MO_OK && i < copy->n_boxes; i++) {
        const mo_call_copy_box *box = &copy->boxes[i];

        if (box->to < 0 || box->to >= call->n_out || box->from >= call->n_in)
            return mo_fail(err, MO_E_INPUT, "a copy has no such operand");
        if (box->from < 0 && !has_filler(call, in, &out[box->to]))
            return mo_fail(err, MO_E_INPUT,
                           "a copy has no number to fill with");
        status = check_box(box, in, out, err);
    }
    return status;
}

bool mo_backend_copy_boxes_disjoint(const mo_call *call,
                                    const mo_tensor_desc *out)
{
    int64_t left = 0;

    for (int i = 0; i < call->n_out; i++)
        left += mo_tensor_desc_elements(&out[i]);
    for (int i = 0; left >= 0 && i < call->u.copy.n_boxes; i++)
        left -= mo_backend_copy_box_elements(&call->u.copy.boxes[i]);
    return left >= 0;
}

uint64_t mo_backend_copy_fill_bits(const mo_call_copy_box *box, mo_elem elem)
{
    uint64_t filler = 0;

    mo_tensor_set_double(&(mo_tensor_dense){ { elem, { 0 } }, &filler, false },
                         0, box->fill);
    return filler;
}

void mo_backend_copy_dims_remove(mo_backend_copy_dims *dims, int i)
{
    dims->n--;
    memmove(dims->at + i, dims->at + i + 1,
            (size_t) (dims->n - i) * sizeof *dims->at);
}

void mo_backend_copy_dims_insert(mo_backend_copy_dims *dims, int i,
                                 mo_backend_copy_dim dim)
{
    memmove(dims->at + i + 1, dims->at + i,
            (size_t) (dims->n - i) * sizeof *dims->at);
    dims->at[i] = dim;
    dims->n++;
}

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

mo_backend_copy_dims mo_backend_copy_dims_collapse(const mo_call_copy_box *box,
                                                   int64_t width)
{
    mo_backend_copy_dims dims = { 0 };

    /* The order of dimensions does not change the result of a copy. */
    for (int d = 0; d < box->rank; d++) {
        mo_backend_copy_dim one = { .extent = box->extent[d] };
        int i = dims.n;

        if (one.extent == 1)
            continue;
        one.in = box->from < 0 ? 0 : box->in_stride[d] * width;
        one.out = box->out_stride[d] * width;
        while (i > 0 && magnitude(dims.at[i - 1].out) < magnitude(one.out))
            i--;
        mo_backend_copy_dims_insert(&dims, i, one);
    }
    for (int i = dims.n - 1; i > 0; i--) {
        mo_backend_copy_dim *outer = &dims.at[i - 1], *inner = &dims.at[i];

        if (outer->in != inner->in * inner->extent ||
            outer->out != inner->out * inner->extent)
            continue;
        inner->extent *= outer->extent;
        mo_backend_copy_dims_remove(&dims, i - 1);
    }
    return dims;
}
