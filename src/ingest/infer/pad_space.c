/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape rules of operators that pad or rearrange space: Pad, depth and space,
 * batch and space.
 */
#include "base/array.h"
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

static mo_status fail_size(mo_error *err)
{
    return mo_fail(err, MO_E_LIMIT, "its output is too large");
}

/* *dim += begin + end, either of which may be negative. */
static bool pad_dim(int64_t *dim, int64_t begin, int64_t end)
{
    return mo_int64_add(*dim, begin, dim) && mo_int64_add(*dim, end, dim);
}

/* Limits of mirror padding: at most the whole dimension, without its edge in
 * mode "reflect". */
static mo_status check_mirror(const mo_infer_rule_op *op, int64_t dim,
                              int64_t begin, int64_t end, mo_error *err)
{
    int64_t most;

    if (mo_infer_arg_is(op, "pad_mode", "reflect"))
        most = dim - 1;
    else if (mo_infer_arg_is(op, "pad_mode", "symmetric"))
        most = dim;
    else
        return MO_OK;
    if (begin <= most && end <= most)
        return MO_OK;
    return mo_fail(err, MO_E_INPUT, "cannot mirror %lld and %lld of %lld items",
                   (long long) begin, (long long) end, (long long) dim);
}

mo_status mo_infer_shape_pad(const mo_infer_rule_op *op, mo_shape *outputs,
                             mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    mo_infer_arg_list begin, end;
    mo_status status = mo_infer_arg_exactly(op, 1, data->rank, &begin, err);

    if (status == MO_OK)
        status = mo_infer_arg_exactly(op, 2, data->rank, &end, err);
    if (status != MO_OK)
        return status;
    outputs[0] = *data;
    for (int d = 0; status == MO_OK && d < data->rank; d++) {
        status = check_mirror(op, data->dims[d], begin.at[d], end.at[d], err);
        if (!pad_dim(&outputs[0].dims[d], begin.at[d], end.at[d]))
            return fail_size(err);
    }
    return status;
}

/* *block = the block's edge, *volume = its items in dims dimensions. */
static mo_status read_block(const mo_infer_rule_op *op, int dims,
                            int64_t *block, int64_t *volume, mo_error *err)
{
    mo_status status = mo_infer_arg_int(op, "block_size", 1, block, err);

    if (status != MO_OK)
        return status;
    if (*block < 1)
        return mo_fail(err, MO_E_INPUT, "its block size is less than 1");
    *volume = 1;
    for (int d = 0; d < dims; d++)
        if (!mo_int64_mul(*volume, *block, volume))
            return fail_size(err);
    return MO_OK;
}

static mo_status fail_block(mo_error *err, const mo_shape *data, int64_t block)
{
    return mo_fail(err, MO_E_INPUT, "blocks of %lld do not divide %s",
                   (long long) block, mo_dims_format(data).text);
}

mo_status mo_infer_shape_depth_to_space(const mo_infer_rule_op *op,
                                        mo_shape *outputs, mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    int64_t block, volume;
    mo_status status = mo_infer_arg_rank(op, 0, 3, MO_MAX_RANK, err);

    if (status == MO_OK)
        status = read_block(op, data->rank - 2, &block, &volume, err);
    if (status != MO_OK)
        return status;
    if (data->dims[1] % volume != 0)
        return fail_block(err, data, block);
    outputs[0] = *data;
    outputs[0].dims[1] /= volume;
    for (int d = 2; d < data->rank; d++)
        if (!mo_int64_mul(data->dims[d], block, &outputs[0].dims[d]))
            return fail_size(err);
    return MO_OK;
}

mo_status mo_infer_shape_space_to_depth(const mo_infer_rule_op *op,
                                        mo_shape *outputs, mo_error *err)
{
    const mo_shape *data = &op->inputs[0].shape;
    int64_t block, volume;
    mo_status status = mo_infer_arg_rank(op, 0, 3, MO_MAX_RANK, err);

    if (status == MO_OK)
        status = read_block(op, data->rank - 2, &block, &volume, err);
    if (status != MO_OK)
        return status;
    outputs[0] = *data;
    if (!mo_int64_mul(data->dims[1], volume, &outputs[0].dims[1]))
        return fail_size(err);
    for (int d = 2; d < data->rank; d++) {
        if (data->dims[d] % block != 0)
            return fail_block(err, data, block);
        outputs[0].dims[d] /= block;
    }
    return MO_OK;
}

/* data, the block's edge for each dimension, and what is added to (or cut off)
 * both ends. */
typedef struct blocks {
    mo_infer_arg_list edge, begin, end;
    int64_t volume;
} blocks;

static mo_status read_blocks(const mo_infer_rule_op *op, blocks *b,
                             mo_error *err)
{
    int rank = op->inputs[0].shape.rank;
    mo_status status = mo_infer_arg_rank(op, 0, 1, MO_MAX_RANK, err);

    if (status == MO_OK)
        status = mo_infer_arg_exactly(op, 1, rank, &b->edge, err);
    if (status == MO_OK)
        status = mo_infer_arg_exactly(op, 2, rank, &b->begin, err);
    if (status == MO_OK)
        status = mo_infer_arg_exactly(op, 3, rank, &b->end, err);
    if (status != MO_OK)
        return status;
    b->volume = 1;
    for (int d = 0; d < rank; d++)
        if (b->edge.at[d] < 1 || b->begin.at[d] < 0 || b->end.at[d] < 0 ||
            !mo_int64_mul(b->volume, b->edge.at[d], &b->volume))
            return mo_fail(err, MO_E_INPUT, "its blocks are out of range");
    return MO_OK;
}

mo_status mo_infer_shape_space_to_batch(const mo_infer_rule_op *op,
                                        mo_shape *outputs, mo_error *err)
{
    blocks b;
    mo_status status = read_blocks(op, &b, err);
    mo_shape *out = &outputs[0];

    if (status != MO_OK)
        return status;
    *out = op->inputs[0].shape;
    if (!mo_int64_mul(out->dims[0], b.volume, &out->dims[0]))
        return fail_size(err);
    for (int d = 1; d < out->rank; d++) {
        if (!pad_dim(&out->dims[d], b.begin.at[d], b.end.at[d]))
            return fail_size(err);
        if (out->dims[d] % b.edge.at[d] != 0)
            return fail_block(err, out, b.edge.at[d]);
        out->dims[d] /= b.edge.at[d];
    }
    return MO_OK;
}

mo_status mo_infer_shape_batch_to_space(const mo_infer_rule_op *op,
                                        mo_shape *outputs, mo_error *err)
{
    blocks b;
    mo_status status = read_blocks(op, &b, err);
    mo_shape *out = &outputs[0];

    if (status != MO_OK)
        return status;
    *out = op->inputs[0].shape;
    if (out->dims[0] % b.volume != 0)
        return fail_block(err, out, b.volume);
    out->dims[0] /= b.volume;
    for (int d = 1; d < out->rank; d++)
        if (!mo_int64_mul(out->dims[d], b.edge.at[d], &out->dims[d]) ||
            !pad_dim(&out->dims[d], -b.begin.at[d], -b.end.at[d]))
            return fail_size(err);
    return MO_OK;
}
