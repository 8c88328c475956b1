/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/tensor/strided_view.h"

#include "base/array.h"

void mo_tensor_view_append_dim(mo_tensor_view *trail, int64_t extent,
                               int64_t stride)
{
    trail->extent[trail->rank] = extent;
    trail->stride[trail->rank++] = stride;
}

bool mo_tensor_view_is_dense(const mo_tensor_view *trail)
{
    int64_t stride = 1;

    for (int d = trail->rank; d-- > 0;) {
        if (trail->extent[d] != 1 && trail->stride[d] != stride)
            return false;
        if (!mo_int64_mul(stride, trail->extent[d], &stride))
            return false;
    }
    return trail->offset == 0;
}

bool mo_tensor_view_has_unit_stride(const mo_tensor_view *trail)
{
    int last = trail->rank - 1;

    return trail->extent[last] == 1 || trail->stride[last] == 1;
}

int64_t mo_tensor_view_elements(const mo_tensor_view *trail)
{
    int64_t steps = 1;

    for (int d = 0; d < trail->rank; d++)
        if (!mo_int64_mul(steps, trail->extent[d], &steps))
            return -1;
    return steps;
}

/* A dimension of a box, and how far a trail goes along it. */
typedef struct side {
    int64_t extent, from, to;
    int64_t first, last;
} side;

typedef struct sides {
    int n;
    side of[MO_MAX_RANK]; /* the slowest in what is written first */
    int64_t elements;
} sides;

/* Dimensions of one element say nothing. */
static void sort_sides(const mo_call_copy_box *box, sides *s)
{
    s->n = 0;
    for (int d = 0; d < box->rank; d++) {
        side one = { box->extent[d], box->in_stride[d], box->out_stride[d], 0,
                     0 };
        int at = s->n;

        if (one.extent == 1)
            continue;
        for (; at > 0 && s->of[at - 1].to < one.to; at--)
            s->of[at] = s->of[at - 1];
        s->of[at] = one;
        s->n++;
    }
}

/* Does the box write elements 0, 1, ..., each once? */
static bool are_whole(sides *s)
{
    s->elements = 1;
    for (int i = s->n; i-- > 0;)
        if (s->of[i].extent < 1 || s->of[i].to != s->elements ||
            !mo_int64_mul(s->elements, s->of[i].extent, &s->elements))
            return false;
    return true;
}

/* Neighbours that are one dimension on both sides become one. */
static void merge_sides(sides *s)
{
    int n = 0;

    for (int i = 0; i < s->n; i++) {
        side *last = n > 0 ? &s->of[n - 1] : NULL;

        if (last && last->from == s->of[i].extent * s->of[i].from) {
            last->extent *= s->of[i].extent;
            last->from = s->of[i].from;
            last->to = s->of[i].to;
        } else {
            s->of[n++] = s->of[i];
        }
    }
    s->n = n;
}

static bool read_box(const mo_call_copy_box *box, sides *s)
{
    if (box->out_offset != 0)
        return false;
    sort_sides(box, s);
    if (!are_whole(s))
        return false;
    merge_sides(s);
    return true;
}

/* Where the trail begins, side by side. */
static bool begin(sides *s, int64_t offset, int64_t *from)
{
    if (offset < 0 || offset >= s->elements)
        return false;
    for (int i = 0; i < s->n; i++) {
        side *at = &s->of[i];

        at->first = at->last = offset / at->to;
        offset %= at->to;
        *from += at->first * at->from;
    }
    return true;
}

/* One dimension of the trail stays within one side of the box. */
static bool go(sides *s, int64_t extent, int64_t *stride)
{
    int64_t far;

    if (extent == 1 || *stride == 0) {
        *stride = 0;
        return true;
    }
    for (int i = 0; i < s->n; i++) {
        side *at = &s->of[i];

        if (*stride < at->to)
            continue;
        if (*stride % at->to != 0 ||
            !mo_int64_mul(extent - 1, *stride / at->to, &far) ||
            !mo_int64_add(at->last, far, &at->last) || at->last >= at->extent)
            return false;
        *stride = *stride / at->to * at->from;
        return true;
    }
    return false;
}

bool mo_tensor_view_before_copy(mo_tensor_view *trail,
                                const mo_call_copy_box *box)
{
    mo_tensor_view there = *trail;
    sides s;

    there.offset = box->in_offset;
    if (!read_box(box, &s) || !begin(&s, trail->offset, &there.offset))
        return false;
    for (int d = 0; d < trail->rank; d++)
        if (trail->extent[d] < 1 || !go(&s, trail->extent[d], &there.stride[d]))
            return false;
    *trail = there;
    return true;
}

bool mo_tensor_view_after_copy(mo_tensor_view *trail,
                               const mo_call_copy_box *box)
{
    mo_call_copy_box back = *box;

    back.in_offset = box->out_offset;
    back.out_offset = box->in_offset;
    for (int d = 0; d < box->rank; d++) {
        back.in_stride[d] = box->out_stride[d];
        back.out_stride[d] = box->in_stride[d];
    }
    return mo_tensor_view_before_copy(trail, &back);
}
