/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering of DepthToSpace, SpaceToDepth, BatchToSpace and SpaceToBatch. */
#include <string.h>

#include "base/array.h"
#include "exec/op/copy_builder.h"
#include "exec/op/lower/lowerings.h"

/*
 * DepthToSpace and SpaceToDepth convert between a deep tensor, with the places
 * in a block among its channels, and a wide one:
 *
 *     deep [n][place, c][y][x]       wide [n][c][y, place y][x, place x]
 */
typedef struct blocks {
    const mo_shape *deep, *wide;
    int64_t edge;
    bool depth_first; /* deep channels are [c][place] */
} blocks;

static mo_status read_blocks(const mo_op_site *site, const mo_shape *deep,
                             const mo_shape *wide, blocks *b, mo_error *err)
{
    mo_status status = mo_op_site_check_arity(site, 1, 1, 1, err);

    *b = (blocks){ .deep = deep, .wide = wide };
    if (status == MO_OK)
        status = mo_lower_copy_check_types(site, err);
    if (status == MO_OK)
        status = mo_op_site_attr_int(site, "block_size", 1, &b->edge, err);
    if (status != MO_OK)
        return status;
    if (b->edge < 1 || deep->rank < 3 || deep->rank != wide->rank)
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "needs channels, space and a block");
    if (2 * deep->rank - 2 > MO_MAX_RANK)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "has more than %d dimensions",
                               MO_MAX_RANK / 2 + 1);
    b->depth_first = mo_op_site_attr_equals(site, "mode", "depth_first");
    if (!b->depth_first && mo_op_site_has_attr(site, "mode") &&
        !mo_op_site_attr_equals(site, "mode", "blocks_first"))
        return mo_op_site_fail(site, MO_E_SUPPORT, err, "has an unknown mode");
    return MO_OK;
}

/* Returns true when the two have the same elements. */
static bool blocks_fit(const blocks *b)
{
    int64_t channels = b->wide->dims[1];

    for (int d = 2; d < b->deep->rank; d++)
        if (!mo_int64_mul(channels, b->edge, &channels) ||
            b->wide->dims[d] % b->edge != 0 ||
            b->wide->dims[d] / b->edge != b->deep->dims[d])
            return false;
    return b->deep->dims[0] == b->wide->dims[0] && b->deep->dims[1] == channels;
}

/* From deep to wide. */
static mo_call_copy_box box_to_wide(const blocks *b)
{
    int64_t deep[MO_MAX_RANK], wide[MO_MAX_RANK];
    int64_t channels = b->wide->dims[1], place;
    mo_call_copy_box box = { 0 };

    mo_lower_copy_strides(b->deep, deep);
    mo_lower_copy_strides(b->wide, wide);
    place = b->deep->dims[1] * deep[1]; /* of the places counted so far */
    if (b->depth_first && channels > 0)
        place /= channels;
    mo_lower_copy_box_push(&box, b->wide->dims[0], deep[0], wide[0]);
    mo_lower_copy_box_push(&box, channels, b->depth_first ? place : deep[1],
                           wide[1]);
    for (int d = 2; d < b->deep->rank; d++) {
        place /= b->edge;
        mo_lower_copy_box_push(&box, b->deep->dims[d], deep[d],
                               b->edge * wide[d]);
        mo_lower_copy_box_push(&box, b->edge, place, wide[d]);
    }
    return box;
}

static mo_status read_box(const mo_op_site *site, const mo_shape *deep,
                          const mo_shape *wide, mo_call_copy_box *box,
                          mo_error *err)
{
    blocks b;
    mo_status status = read_blocks(site, deep, wide, &b, err);

    if (status != MO_OK)
        return status;
    if (!blocks_fit(&b))
        return mo_op_site_fail(site, MO_E_INPUT, err, "its blocks do not fit");
    *box = box_to_wide(&b);
    return MO_OK;
}

mo_status mo_lower_depth_to_space(const mo_op_site *site,
                                  mo_lower_result *lowered, mo_error *err)
{
    mo_call_copy_box box;
    mo_status status =
        read_box(site, &site->in[0].shape, &site->out[0].shape, &box, err);

    if (status != MO_OK)
        return status;
    return mo_lower_copy_add_box(&box, 0, site->n_in, lowered, err);
}

/* Returns the inverse box, with source and target exchanged. */
static mo_call_copy_box inverse_box(const mo_call_copy_box *box)
{
    mo_call_copy_box turned = *box;

    turned.in_offset = box->out_offset;
    turned.out_offset = box->in_offset;
    memcpy(turned.in_stride, box->out_stride, sizeof box->out_stride);
    memcpy(turned.out_stride, box->in_stride, sizeof box->in_stride);
    return turned;
}

mo_status mo_lower_space_to_depth(const mo_op_site *site,
                                  mo_lower_result *lowered, mo_error *err)
{
    mo_call_copy_box box;
    mo_status status =
        read_box(site, &site->out[0].shape, &site->in[0].shape, &box, err);

    if (status != MO_OK)
        return status;
    box = inverse_box(&box);
    return mo_lower_copy_add_box(&box, 0, site->n_in, lowered, err);
}

/*
 * SpaceToBatch and BatchToSpace convert between a large batch, with the places
 * in a block, and a wide tensor without its ends:
 *
 *     batches [place, n][y][x]       wide [n][y, place y][x, place x]
 */
typedef struct batches {
    const mo_shape *many; /* the shape with the large batch */
    const mo_shape *few;  /* the other one, without its ends */
    mo_shape wide;        /* and with them */
    int64_t edge[MO_MAX_RANK], begin[MO_MAX_RANK], end[MO_MAX_RANK];
} batches;

/* The dimension of batches is not cut, and grows by all blocks. */
static bool batches_fit(batches *b)
{
    int64_t batch = b->few->dims[0];

    b->wide = *b->few;
    if (b->edge[0] != 1 || b->begin[0] != 0 || b->end[0] != 0)
        return false;
    for (int d = 1; d < b->many->rank; d++)
        if (!(b->edge[d] >= 1 && b->begin[d] >= 0 && b->end[d] >= 0 &&
              b->begin[d] <= MO_MAX_ELEMENTS && b->end[d] <= MO_MAX_ELEMENTS &&
              mo_int64_mul(b->many->dims[d], b->edge[d], &b->wide.dims[d]) &&
              b->wide.dims[d] == b->few->dims[d] + b->begin[d] + b->end[d]) ||
            !mo_int64_mul(batch, b->edge[d], &batch))
            return false;
    return batch == b->many->dims[0] && mo_shape_fits(&b->wide);
}

static mo_status read_batches(const mo_op_site *site, batches *b, mo_error *err)
{
    int rank = b->many->rank;
    mo_status status = mo_op_site_check_arity(site, 4, 4, 1, err);

    if (status == MO_OK)
        status = mo_lower_copy_check_types(site, err);
    if (status == MO_OK)
        status = mo_op_site_const_ints_exact(site, 1, b->edge, rank, err);
    if (status == MO_OK)
        status = mo_op_site_const_ints_exact(site, 2, b->begin, rank, err);
    if (status == MO_OK)
        status = mo_op_site_const_ints_exact(site, 3, b->end, rank, err);
    if (status != MO_OK)
        return status;
    if (rank < 2 || rank != b->few->rank || !batches_fit(b))
        return mo_op_site_fail(site, MO_E_INPUT, err, "its blocks do not fit");
    if (2 * rank - 1 > MO_MAX_RANK)
        return mo_op_site_fail(site, MO_E_SUPPORT, err,
                               "has more than %d dimensions", MO_MAX_RANK / 2);
    return MO_OK;
}

/* Reads the parameters, and adds a temporary for the wide tensor. */
static mo_status prepare_batches(const mo_op_site *site, batches *b,
                                 mo_lower_result *lowered, int *temp,
                                 mo_error *err)
{
    mo_tensor_desc wide = { .elem = site->in[0].elem };
    mo_status status = read_batches(site, b, err);

    if (status != MO_OK)
        return status;
    wide.shape = b->wide;
    return mo_lower_add_temp(lowered, site, &wide, temp, err);
}

/* From many batches to wide ones. */
static mo_call_copy_box box_to_batches(const batches *b)
{
    int64_t many[MO_MAX_RANK], wide[MO_MAX_RANK];
    int64_t place = b->many->dims[0]; /* batches that a place counts for */
    mo_call_copy_box box = { 0 };

    mo_lower_copy_strides(b->many, many);
    mo_lower_copy_strides(&b->wide, wide);
    mo_lower_copy_box_push(&box, b->wide.dims[0], many[0], wide[0]);
    for (int d = 1; d < b->many->rank; d++) {
        place /= b->edge[d];
        mo_lower_copy_box_push(&box, b->many->dims[d], many[d],
                               b->edge[d] * wide[d]);
        mo_lower_copy_box_push(&box, b->edge[d], place * many[0], wide[d]);
    }
    return box;
}

/* The part of wide that is few; from wide to few. */
static mo_call_copy_box crop_box(const batches *b)
{
    mo_call_copy_box box = mo_lower_copy_box_init(b->few);

    mo_lower_copy_strides(&b->wide, box.in_stride);
    for (int d = 0; d < box.rank; d++)
        box.in_offset += b->begin[d] * box.in_stride[d];
    return box;
}

mo_status mo_lower_batch_to_space(const mo_op_site *site,
                                  mo_lower_result *lowered, mo_error *err)
{
    batches b = { .many = &site->in[0].shape, .few = &site->out[0].shape };
    mo_call_copy_box box;
    int temp;
    mo_status status = prepare_batches(site, &b, lowered, &temp, err);

    if (status != MO_OK)
        return status;
    box = box_to_batches(&b);
    status = mo_lower_copy_add_box(&box, 0, temp, lowered, err);
    if (status != MO_OK)
        return status;
    box = crop_box(&b);
    return mo_lower_copy_add_box(&box, temp, site->n_in, lowered, err);
}

/* Fills the result with zeros, and copies the data into the middle. */
static mo_status add_margins(const mo_op_site *site, const batches *b, int temp,
                             mo_lower_result *lowered, mo_error *err)
{
    mo_call_copy_box box = crop_box(b);
    mo_call *call;
    mo_status status = mo_lower_copy_add_call(site, 1, 2, lowered, &call, err);

    if (status != MO_OK)
        return status;
    call->out[0] = temp;
    call->u.copy.boxes[0] = mo_lower_copy_box_init(&b->wide);
    call->u.copy.boxes[0].from = MO_CALL_COPY_FILL;
    call->u.copy.boxes[1] = inverse_box(&box);
    return MO_OK;
}

mo_status mo_lower_space_to_batch(const mo_op_site *site,
                                  mo_lower_result *lowered, mo_error *err)
{
    batches b = { .many = &site->out[0].shape, .few = &site->in[0].shape };
    mo_call_copy_box box;
    int temp;
    mo_status status = prepare_batches(site, &b, lowered, &temp, err);

    if (status == MO_OK)
        status = add_margins(site, &b, temp, lowered, err);
    if (status != MO_OK)
        return status;
    box = box_to_batches(&b);
    box = inverse_box(&box);
    return mo_lower_copy_add_box(&box, temp, site->n_in, lowered, err);
}
