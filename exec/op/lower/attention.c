/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lowering of ScaledDotProductAttention: query [..., L, E], key [..., S, E],
 * value [..., S, Ev], perhaps a mask that broadcasts to [..., L, S], a scale,
 * and sinks that broadcast to [..., L, 1].
 */
#include <math.h>
#include <string.h>

#include "exec/op/lower/lowerings.h"

/* Fills the strides of a tensor, with that many dimensions before its last
 * two, over the batches of the result. */
static bool fill_batch_strides(const mo_shape *shape,
                               const mo_call_attention *c,
                               int64_t strides[MO_CALL_MATMUL_MAX_BATCH])
{
    mo_point_access rows = mo_point_access_dense(shape);
    int own = shape->rank - 2, missing = c->n_batch - own;

    memset(strides, 0, MO_CALL_MATMUL_MAX_BATCH * sizeof *strides);
    for (int d = 0; d < own; d++) {
        if (missing + d < 0) {
            if (shape->dims[d] != 1)
                return false;
            continue;
        }
        if (shape->dims[d] != 1 && shape->dims[d] != c->extent[missing + d])
            return false;
        if (shape->dims[d] != 1)
            strides[missing + d] = rows.stride[d];
    }
    return true;
}

static int64_t from_end(const mo_shape *shape, int back)
{
    return shape->dims[shape->rank - back];
}

static bool fill_shapes(const mo_op_site *site, mo_call_attention *c)
{
    const mo_shape *q = &site->in[0].shape, *k = &site->in[1].shape;
    const mo_shape *v = &site->in[2].shape, *out = &site->out[0].shape;

    if (q->rank < 2 || k->rank < 2 || v->rank < 2 || out->rank < 2)
        return false;
    c->n_batch = out->rank - 2;
    memcpy(c->extent, out->dims, sizeof c->extent);
    c->queries = from_end(q, 2);
    c->width = from_end(q, 1);
    c->keys = from_end(k, 2);
    c->v_width = from_end(v, 1);
    c->q_row = c->k_row = c->width;
    c->v_row = c->out_row = c->v_width;
    return from_end(k, 1) == c->width && from_end(v, 2) == c->keys &&
           from_end(out, 2) == c->queries && from_end(out, 1) == c->v_width &&
           fill_batch_strides(q, c, c->q_batch) &&
           fill_batch_strides(k, c, c->k_batch) &&
           fill_batch_strides(v, c, c->v_batch) &&
           fill_batch_strides(out, c, c->out_batch);
}

/* A mask of one number, whatever its rank, changes nothing unless it is
 * infinite: it is repeated like any other. */
static bool fill_mask(const mo_shape *mask, mo_call_attention *c)
{
    mo_shape whole = *mask;
    int64_t rows, columns;

    while (whole.rank < 2) {
        memmove(whole.dims + 1, whole.dims, sizeof whole.dims[0]);
        whole.dims[0] = 1;
        whole.rank++;
    }
    rows = from_end(&whole, 2);
    columns = from_end(&whole, 1);
    c->has_mask = true;
    c->mask_row = rows == 1 ? 0 : columns;
    c->mask_column = columns == 1 ? 0 : 1;
    return (rows == 1 || rows == c->queries) &&
           (columns == 1 || columns == c->keys) &&
           fill_batch_strides(&whole, c, c->mask_batch);
}

static bool fill_sinks(const mo_shape *sinks, mo_call_attention *c)
{
    if (sinks->rank < 2 || from_end(sinks, 1) != 1)
        return false;
    c->has_sinks = true;
    c->sink_row = from_end(sinks, 2) == 1 ? 0 : 1;
    return (c->sink_row == 0 || from_end(sinks, 2) == c->queries) &&
           fill_batch_strides(sinks, c, c->sink_batch);
}

mo_status mo_lower_attention(const mo_op_site *site, mo_lower_result *lowered,
                             mo_error *err)
{
    mo_call_attention attention = { .zero_if_masked = true };
    mo_call *call;
    mo_status status = mo_op_site_check_arity(site, 3, 6, 1, err);

    if (status != MO_OK)
        return status;
    attention.causal = mo_op_site_attr_bool(site, "causal", false) ||
                       mo_op_site_attr_bool(site, "is_causal", false);
    if (!fill_shapes(site, &attention) ||
        (site->n_in > 3 && !attention.causal &&
         !fill_mask(&site->in[3].shape, &attention)) ||
        (site->n_in > 5 && !fill_sinks(&site->in[5].shape, &attention)))
        return mo_op_site_fail(site, MO_E_INPUT, err,
                               "query, key, value, mask, sinks and result do "
                               "not fit together");

    attention.scale =
        attention.width > 0 ? 1 / sqrt((double) attention.width) : 1;
    status = site->n_in > 4
                 ? mo_op_site_const_number(site, 4, &attention.scale, err)
                 : mo_op_site_attr_real(site, "scale", attention.scale,
                                        &attention.scale, err);
    if (status == MO_OK)
        status = mo_lower_add_call(lowered, MO_CALL_ATTENTION,
                                   3 + attention.has_mask + attention.has_sinks,
                                   1, &call, err);
    if (status != MO_OK)
        return status;
    for (int i = 0; i < call->n_in; i++)
        call->in[i] = i;
    if (attention.has_sinks)
        call->in[call->n_in - 1] = 5;
    call->out[0] = site->n_in;
    call->u.attention = attention;
    return MO_OK;
}
