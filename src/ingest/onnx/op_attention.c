/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX's attentions. */
#include <math.h>
#include <string.h>

#include "ingest/infer/dims.h"
#include "ingest/onnx/attention.h"
#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

mo_onnx_ref mo_onnx_split_heads(mo_onnx_op *op, mo_onnx_ref x, int64_t heads)
{
    const mo_shape *old = mo_onnx_shape(op->b, x);
    static const int64_t order[] = { 0, 2, 1, 3 };
    mo_shape shape = { .rank = 4 };

    if (old->rank == 4)
        return x;
    if (old->rank != 3 || heads < 1 || old->dims[2] % heads != 0)
        return mo_onnx_wrong(op->b, "has %lld heads of %s", (long long) heads,
                             mo_dims_format(old).text);
    shape.dims[0] = old->dims[0];
    shape.dims[1] = old->dims[1];
    shape.dims[2] = heads;
    shape.dims[3] = old->dims[2] / heads;
    return mo_onnx_transpose(op->b, mo_onnx_reshape(op->b, x, &shape), order);
}

/* Heads of keys and values that several heads of queries share. */
static mo_onnx_ref repeat_heads(mo_onnx_op *op, mo_onnx_ref x, int64_t heads)
{
    mo_shape s = *mo_onnx_shape(op->b, x);
    mo_shape narrow = {
        .rank = 5, .dims = { s.dims[0], s.dims[1], 1, s.dims[2], s.dims[3] }
    };
    mo_shape wide = narrow, whole = s;

    if (s.rank != 4 || s.dims[1] == heads)
        return x;
    if (s.dims[1] < 1 || heads % s.dims[1] != 0)
        return mo_onnx_wrong(op->b, "has %lld heads for %lld",
                             (long long) s.dims[1], (long long) heads);
    wide.dims[2] = heads / s.dims[1];
    whole.dims[1] = heads;
    x = mo_onnx_broadcast(op->b, mo_onnx_reshape(op->b, x, &narrow), &wide);
    return mo_onnx_reshape(op->b, x, &whole);
}

static mo_onnx_ref both(mo_onnx_builder *b, mo_onnx_ref x, mo_onnx_ref y)
{
    return !mo_onnx_is(x)   ? y
           : !mo_onnx_is(y) ? x
                            : mo_onnx_binary(b, "LogicalAnd", x, y, NULL);
}

/* Keys that position and length allow, [..., queries, keys]; MO_ONNX_NONE: all
 * of them. */
static mo_onnx_ref allowed_keys(mo_onnx_builder *b, const mo_onnx_attention *m)
{
    int64_t queries = mo_onnx_shape(b, m->q)->dims[2];
    int64_t keys = mo_onnx_shape(b, m->k)->dims[2];
    mo_onnx_ref lengths = m->lengths, allowed = MO_ONNX_NONE, row, column, gap;
    int rank = mo_onnx_is(lengths) ? 4 : 2;

    if (!m->causal && m->left < 0 && m->right < 0 && rank == 2)
        return allowed;
    column = mo_onnx_count_along(b, 0, keys, rank - 1, rank);
    row = mo_onnx_count_along(b, m->before, queries, rank - 2, rank);
    if (rank == 4) {
        mo_shape batch = {
            .rank = 4, .dims = { mo_onnx_shape(b, lengths)->dims[0], 1, 1, 1 }
        };

        lengths =
            mo_onnx_reshape(b, mo_onnx_convert(b, lengths, "i64"), &batch);
        row = mo_onnx_binary(b, "Add", row, lengths, NULL);
        row = mo_onnx_with_number(b, "Subtract", row, (double) queries);
        allowed = mo_onnx_binary(b, "Less", column, lengths, "boolean");
    }
    if (m->causal)
        allowed = both(b, allowed,
                       mo_onnx_binary(b, "LessEqual", column, row, "boolean"));
    gap = mo_onnx_binary(b, "Subtract", row, column, NULL);
    if (m->left >= 0)
        allowed = both(b, allowed,
                       mo_onnx_binary(b, "LessEqual", gap,
                                      mo_onnx_int(b, m->left), "boolean"));
    if (m->right >= 0)
        allowed = both(b, allowed,
                       mo_onnx_binary(b, "GreaterEqual", gap,
                                      mo_onnx_int(b, -m->right), "boolean"));
    return allowed;
}

/* The mask of the node; one that ends before the keys masks the rest. */
static mo_onnx_ref extend_mask(mo_onnx_builder *b, mo_onnx_ref mask,
                               int64_t keys)
{
    mo_onnx_ref rest;
    mo_shape shape = *mo_onnx_shape(b, mask);
    const char *dtype = mo_onnx_dtype(b, mask);
    int last = shape.rank - 1;

    if (!mo_onnx_is(mask) || last < 0 || shape.dims[last] >= keys ||
        shape.dims[last] == 1)
        return mask;
    shape.dims[last] = keys - shape.dims[last];
    rest =
        mo_onnx_number(b, strcmp(dtype, "boolean") == 0 ? 0 : -INFINITY, dtype);
    return mo_onnx_concat(
        b, MO_ONNX_REFS(mask, mo_onnx_broadcast(b, rest, &shape)), 2, last);
}

/* Both masks as one: of booleans, or of numbers to add. */
static mo_onnx_ref join_masks(mo_onnx_builder *b, mo_onnx_ref mask,
                              mo_onnx_ref allowed)
{
    if (!mo_onnx_is(mask) || !mo_onnx_is(allowed) ||
        strcmp(mo_onnx_dtype(b, mask), "boolean") == 0)
        return both(b, mask, allowed);
    return mo_onnx_select(b, allowed, mask,
                          mo_onnx_number(b, -INFINITY, mo_onnx_dtype(b, mask)));
}

/* Zeros where the mask leaves a query no key. */
static mo_onnx_ref clear_masked(mo_onnx_builder *b, mo_onnx_ref y,
                                mo_onnx_ref mask)
{
    int rank = mo_onnx_shape(b, mask)->rank;
    const char *dtype = mo_onnx_dtype(b, mask);
    bool marks[MO_MAX_RANK] = { false };
    mo_onnx_ref any;

    if (!mo_onnx_is(mask) || !mo_onnx_is(y) || rank == 0)
        return y;
    marks[rank - 1] = true;
    if (strcmp(dtype, "boolean") == 0)
        any = mo_onnx_reduce(b, "ReduceLogicalOr", mask, marks, true);
    else
        any = mo_onnx_binary(b, "Greater",
                             mo_onnx_reduce(b, "ReduceMax", mask, marks, true),
                             mo_onnx_number(b, -INFINITY, dtype), "boolean");
    return mo_onnx_select(b, any, y, mo_onnx_number(b, 0, mo_onnx_dtype(b, y)));
}

/* Scores, softmax and product one after the other: what no fused attention
 * has. Output 3 is the scores, after the step of its mode. */
static mo_onnx_ref attend_by_steps(mo_onnx_op *op, const mo_onnx_attention *a,
                                   mo_onnx_ref mask)
{
    mo_onnx_builder *b = op->b;
    int64_t mode = mo_onnx_attr_int(op, "qk_matmul_output_mode", 0);
    const char *dtype = mo_onnx_dtype(b, a->q);
    mo_onnx_ref scores = mo_onnx_matmul(b, a->q, a->k, false, true), steps[4];

    scores = steps[0] = mo_onnx_with_number(b, "Multiply", scores, a->scale);
    if (a->softcap > 0) {
        scores = mo_onnx_with_number(b, "Divide", scores, a->softcap);
        scores = mo_onnx_unary(b, "Tanh", scores, NULL);
        scores = mo_onnx_with_number(b, "Multiply", scores, a->softcap);
    }
    steps[1] = scores;
    if (mo_onnx_is(mask) && strcmp(mo_onnx_dtype(b, mask), "boolean") == 0)
        scores = mo_onnx_select(b, mask, scores,
                                mo_onnx_number(b, -INFINITY, dtype));
    else if (mo_onnx_is(mask))
        scores = mo_onnx_binary(b, "Add", scores, mask, NULL);
    steps[2] = scores;
    scores = mo_onnx_softmax(b, "SoftMax", scores, 3);
    scores = steps[3] = clear_masked(b, scores, mask);
    if (a->scores)
        op->outputs[3] = steps[mode >= 0 && mode < 4 ? mode : 0];
    return mo_onnx_is(scores) ? mo_onnx_matmul(b, scores, a->v, false, false)
                              : scores;
}

/* softmax(Q K' scale + mask) V, fused; 0 where the mask leaves a query no key.
 */
static mo_onnx_ref attend_fused(mo_onnx_builder *b, const mo_onnx_attention *a,
                                mo_onnx_ref mask, bool causal)
{
    const char *dtype = mo_onnx_dtype(b, a->q);

    mo_onnx_set_bool(b, "causal", causal);
    return mo_onnx_add(
        b, "ScaledDotProductAttention",
        MO_ONNX_REFS(a->q, a->k, a->v,
                     mo_onnx_is(mask) ? mask : mo_onnx_number(b, 0, dtype),
                     mo_onnx_number(b, a->scale, dtype)),
        5, NULL);
}

mo_onnx_ref mo_onnx_attend(mo_onnx_op *op, const mo_onnx_attention *given)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_attention a = *given;
    const mo_shape *shape = mo_onnx_shape(b, a.q);
    mo_onnx_ref mask;
    bool plain;

    if (mo_onnx_builder_status(b) != MO_OK)
        return MO_ONNX_NONE;
    if (shape->rank != 4 || mo_onnx_shape(b, a.k)->rank != 4 ||
        mo_onnx_shape(b, a.v)->rank != 4)
        return mo_onnx_wrong(b, "has queries or keys of no 3 or 4 dimensions");
    if (a.scale == 0)
        a.scale = 1 / sqrt((double) shape->dims[3]);
    mask = extend_mask(b, a.mask, mo_onnx_shape(b, a.k)->dims[2]);
    plain = a.causal && a.left < 0 && a.right < 0 && !mo_onnx_is(mask) &&
            a.before == 0 && !mo_onnx_is(a.lengths);
    if (!plain)
        mask = join_masks(b, mask, allowed_keys(b, &a));
    a.k = repeat_heads(op, a.k, shape->dims[1]);
    a.v = repeat_heads(op, a.v, shape->dims[1]);
    if (a.softcap == 0 && !a.scores)
        return attend_fused(b, &a, mask, plain);
    /* Without a fused attention the causal mask is one of its own. */
    return attend_by_steps(op, &a, plain ? allowed_keys(b, &a) : mask);
}

mo_onnx_ref mo_onnx_join_heads(mo_onnx_builder *b, mo_onnx_ref y)
{
    static const int64_t order[] = { 0, 2, 1, 3 };
    const mo_shape *s = mo_onnx_shape(b, y);
    mo_shape whole = {
        .rank = 3, .dims = { s->dims[0], s->dims[2], s->dims[1] * s->dims[3] }
    };

    return mo_onnx_is(y)
               ? mo_onnx_reshape(b, mo_onnx_transpose(b, y, order), &whole)
               : y;
}

/* Attention since opset 23: past keys and values are in front. */
void mo_onnx_op_attention(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    bool flat = mo_onnx_shape(b, mo_onnx_in(op, 0))->rank == 3;
    int64_t kv_heads = mo_onnx_attr_int(op, "kv_num_heads", 0);
    mo_onnx_attention a = {
        .q = mo_onnx_split_heads(op, mo_onnx_in(op, 0),
                                 mo_onnx_attr_int(op, "q_num_heads", 0)),
        .k = mo_onnx_split_heads(op, mo_onnx_in(op, 1), kv_heads),
        .v = mo_onnx_split_heads(op, mo_onnx_in(op, 2), kv_heads),
        .mask = mo_onnx_in(op, 3),
        .before = mo_onnx_has(op, 4)
                      ? mo_onnx_shape(b, mo_onnx_in(op, 4))->dims[2]
                      : 0,
        .lengths = mo_onnx_in(op, 6),
        .causal = mo_onnx_attr_int(op, "is_causal", 0) != 0,
        .left = mo_onnx_attr_int(op, "left_window_size", -1),
        .right = mo_onnx_attr_int(op, "right_window_size", -1),
        .scale = mo_onnx_attr_real(op, "scale", 0),
        .softcap = mo_onnx_attr_real(op, "softcap", 0),
        .scores = mo_onnx_uses(op, 3)
    };
    mo_onnx_ref y;

    if (mo_onnx_has(op, 4))
        a.k = mo_onnx_concat(b, MO_ONNX_REFS(mo_onnx_in(op, 4), a.k), 2, 2);
    if (mo_onnx_has(op, 5))
        a.v = mo_onnx_concat(b, MO_ONNX_REFS(mo_onnx_in(op, 5), a.v), 2, 2);
    if (mo_onnx_uses(op, 1))
        op->outputs[1] = a.k;
    if (mo_onnx_uses(op, 2))
        op->outputs[2] = a.v;
    y = mo_onnx_attend(op, &a);
    mo_onnx_out(op, flat ? mo_onnx_join_heads(b, y) : y);
}
