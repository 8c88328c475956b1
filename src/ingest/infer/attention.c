/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rule of scaled dot-product attention. */
#include "ingest/infer/rule_fns.h"
#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"

static int64_t dim_from_end(const mo_shape *shape, int back)
{
    return shape->dims[shape->rank - back];
}

/* The dimensions in front of the last two, merged into batch. */
static bool merge_batch(mo_shape *batch, const mo_shape *shape)
{
    mo_shape own = *shape;

    own.rank -= 2;
    return mo_dims_broadcast(batch, &own, batch);
}

/* Two lengths that must be equal, or one of them 1. */
static bool lengths_match(int64_t a, int64_t b)
{
    return a == b || a == 1 || b == 1;
}

static bool mask_fits(const mo_shape *mask, int64_t queries, int64_t keys,
                      mo_shape *batch)
{
    if (mask->rank == 0)
        return true;
    return mask->rank >= 2 && lengths_match(dim_from_end(mask, 2), queries) &&
           lengths_match(dim_from_end(mask, 1), keys) &&
           merge_batch(batch, mask);
}

/*
 * query [..., L, E], key [..., S, E], value [..., S, Ev], perhaps a mask
 * [..., L, S] and a scale -> [..., L, Ev].
 */
mo_status mo_infer_shape_attention(const mo_infer_rule_op *op,
                                   mo_shape *outputs, mo_error *err)
{
    const mo_shape *query = &op->inputs[0].shape, *key = &op->inputs[1].shape;
    const mo_shape *value = &op->inputs[2].shape;
    bool masked = op->n_inputs > 3 && !mo_infer_arg_bool(op, "causal", false);
    mo_shape batch = { 0 };
    mo_status status = MO_OK;

    for (int i = 0; status == MO_OK && i < 3; i++)
        status = mo_infer_arg_rank(op, i, 2, MO_MAX_RANK, err);
    if (status != MO_OK)
        return status;
    if (!merge_batch(&batch, query) || !merge_batch(&batch, key) ||
        !merge_batch(&batch, value) ||
        dim_from_end(query, 1) != dim_from_end(key, 1) ||
        dim_from_end(key, 2) != dim_from_end(value, 2))
        return mo_fail(err, MO_E_INPUT,
                       "query %s, key %s and value %s do not fit together",
                       mo_dims_format(query).text, mo_dims_format(key).text,
                       mo_dims_format(value).text);
    if (masked && !mask_fits(&op->inputs[3].shape, dim_from_end(query, 2),
                             dim_from_end(key, 2), &batch))
        return mo_fail(err, MO_E_INPUT, "mask %s does not fit query %s",
                       mo_dims_format(&op->inputs[3].shape).text,
                       mo_dims_format(query).text);
    outputs[0] = batch;
    mo_dims_push(outputs, dim_from_end(query, 2));
    mo_dims_push(outputs, dim_from_end(value, 1));
    return MO_OK;
}
