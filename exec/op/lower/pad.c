/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of Pad. In the coordinates of the input, the output runs from
 * -begin to size + end; either may be negative and crops.
 */
#include <string.h>

#include "exec/op/lower/lowerings.h"
#include "exec/op/copy_regions.h"

typedef enum pad_mode { CONSTANT, EDGE, REFLECT, SYMMETRIC } pad_mode;

typedef struct pads {
    pad_mode mode;
    int64_t begin[MO_MAX_RANK], end[MO_MAX_RANK];
} pads;

static mo_status read_mode(const mo_op_site *site, pad_mode *mode,
                           mo_error *err)
{
    static const char *const names[] = {
        [CONSTANT] = "constant",
        [EDGE] = "edge",
        [REFLECT] = "reflect",
        [SYMMETRIC] = "symmetric",
    };

    *mode = CONSTANT;
    if (!mo_op_site_has_attr(site, "pad_mode"))
        return MO_OK;
    for (int i = CONSTANT; i <= SYMMETRIC; i++)
        if (mo_op_site_attr_equals(site, "pad_mode", names[i])) {
            *mode = (pad_mode) i;
            return MO_OK;
        }
    return mo_op_site_fail(site, MO_E_SUPPORT, err, "has an unknown pad_mode");
}

static mo_status read_pads(const mo_op_site *site, pads *p, mo_error *err)
{
    const mo_shape *in = &site->in[0].shape;
    mo_shape made = { .rank = in->rank };
    mo_status status = read_mode(site, &p->mode, err);

    if (status == MO_OK)
        status = mo_op_site_const_ints_exact(site, 1, p->begin, in->rank, err);
    if (status == MO_OK)
        status = mo_op_site_const_ints_exact(site, 2, p->end, in->rank, err);
    for (int d = 0; status == MO_OK && d < in->rank; d++) {
        if (p->begin[d] > MO_MAX_ELEMENTS || p->begin[d] < -MO_MAX_ELEMENTS ||
            p->end[d] > MO_MAX_ELEMENTS || p->end[d] < -MO_MAX_ELEMENTS)
            return mo_op_site_fail(site, MO_E_LIMIT, err,
                                   "its pads are too large");
        made.dims[d] = p->begin[d] + in->dims[d] + p->end[d];
    }
    return status == MO_OK ? mo_op_site_check_output(site, 0, &made, err)
                           : status;
}

/* The part from first to before last of the input's coordinates that is within
 * from and to, as a region without a source. */
static mo_lower_copy_region clip_region(const pads *p, int d, int64_t size,
                                        int64_t from, int64_t to)
{
    int64_t first = -p->begin[d], last = size + p->end[d];

    first = first > from ? first : from;
    last = last < to ? last : to;
    return (mo_lower_copy_region){ .count = last - first,
                                   .in_first = first,
                                   .out_first = first + p->begin[d],
                                   .step = 1 };
}

/* Source coordinate of place: itself, the nearest element, or a mirror image,
 * the mirror lying on the edge or behind it. */
static int64_t source_of(pad_mode mode, int64_t size, int64_t place)
{
    int64_t shift = mode == SYMMETRIC;

    if (mode == EDGE)
        return place < 0 ? 0 : size - 1;
    return place < 0 ? -place - shift : 2 * (size - 1) - place + shift;
}

/* Sets the source of a region outside of the input; false when it does not
 * exist. */
static bool mirror_region(pad_mode mode, int64_t size,
                          mo_lower_copy_region *zone)
{
    int64_t last = zone->in_first + zone->count - 1;

    if (zone->count <= 0)
        return true;
    zone->step = mode == EDGE ? 0 : -1;
    zone->in_first = source_of(mode, size, zone->in_first);
    last = source_of(mode, size, last);
    return zone->in_first >= 0 && zone->in_first < size && last >= 0 &&
           last < size;
}

static mo_status pad_with_images(const mo_op_site *site, const pads *p,
                                 mo_lower_result *lowered, mo_error *err)
{
    mo_lower_copy_regions zones[MO_MAX_RANK] = { 0 };

    for (int d = 0; d < site->in[0].shape.rank; d++) {
        int64_t size = site->in[0].shape.dims[d];
        mo_lower_copy_region before = clip_region(p, d, size, INT64_MIN, 0);
        mo_lower_copy_region behind = clip_region(p, d, size, size, INT64_MAX);

        if (!mirror_region(p->mode, size, &before) ||
            !mirror_region(p->mode, size, &behind))
            return mo_op_site_fail(
                site, MO_E_INPUT, err,
                "cannot mirror %lld and %lld of %lld elements",
                (long long) p->begin[d], (long long) p->end[d],
                (long long) size);
        mo_lower_copy_regions_push(&zones[d], before);
        mo_lower_copy_regions_push(&zones[d], clip_region(p, d, size, 0, size));
        mo_lower_copy_regions_push(&zones[d], behind);
    }
    return mo_lower_copy_regions_add_call(site, zones, lowered, err);
}

/*
 * Each dimension adds a slab before and one behind what the dimensions before
 * it leave in the middle:
 *
 *     0 0 0 0 0
 *     1 . . . 1
 *     1 . . . 1
 *     0 0 0 0 0
 *
 * Returns the number of boxes.
 */
static int place_slabs(const mo_op_site *site, const pads *p,
                       mo_call_copy_box *boxes)
{
    mo_call_copy_box rest = mo_lower_copy_box_init(&site->out[0].shape);
    int64_t strides[MO_MAX_RANK], in_offset = 0;
    int n = 0;

    mo_lower_copy_strides(&site->in[0].shape, strides);
    rest.from = MO_CALL_COPY_FILL;
    for (int d = 0; d < rest.rank; d++) {
        int64_t size = site->in[0].shape.dims[d], stride = rest.out_stride[d];
        mo_lower_copy_region kept = clip_region(p, d, size, 0, size);
        int64_t end = kept.out_first + kept.count;
        mo_call_copy_box slab = rest;

        if (kept.count <= 0) { /* nothing of the input is left */
            boxes[n++] = rest;
            return n;
        }
        slab.extent[d] = kept.out_first;
        boxes[n++] = slab;
        slab.out_offset += end * stride;
        slab.extent[d] = rest.extent[d] - end;
        boxes[n++] = slab;
        rest.extent[d] = kept.count;
        rest.out_offset += kept.out_first * stride;
        in_offset += kept.in_first * strides[d];
    }
    rest.from = 0;
    rest.in_offset = in_offset;
    memcpy(rest.in_stride, strides, (size_t) rest.rank * sizeof *strides);
    boxes[n++] = rest;
    return n;
}

/* The number may be computed, too: the call reads it at run time. */
static mo_status pad_with_number(const mo_op_site *site, const pads *p,
                                 mo_lower_result *lowered, mo_error *err)
{
    bool has_number = site->n_in > 3;
    mo_call *call;
    mo_status status;

    if (has_number && (mo_tensor_desc_elements(&site->in[3]) != 1 ||
                       site->in[3].elem != site->out[0].elem))
        return mo_op_site_fail(
            site, MO_E_INPUT, err,
            "is not given one number of its type to pad with");
    status = mo_lower_copy_add_call(site, has_number ? 2 : 1,
                                    2 * site->in[0].shape.rank + 1, lowered,
                                    &call, err);
    if (status != MO_OK)
        return status;
    if (has_number) {
        call->in[1] = 3;
        call->u.copy.fill_in = 1;
    }
    call->u.copy.n_boxes = place_slabs(site, p, call->u.copy.boxes);
    return MO_OK;
}

mo_status mo_lower_pad(const mo_op_site *site, mo_lower_result *lowered,
                       mo_error *err)
{
    pads p = { .mode = CONSTANT };
    mo_status status = mo_op_site_check_arity(site, 3, 4, 1, err);

    if (status == MO_OK)
        status = mo_lower_copy_check_types(site, err);
    if (status == MO_OK)
        status = read_pads(site, &p, err);
    if (status != MO_OK)
        return status;
    return p.mode == CONSTANT ? pad_with_number(site, &p, lowered, err)
                              : pad_with_images(site, &p, lowered, err);
}
