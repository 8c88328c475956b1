/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX's attentions. */
#include <math.h>
#include <string.h>

#include "ingest/infer/dims.h"
#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

/* Batch, length, heads x width -> batch, heads, length, width. */
static mo_onnx_ref split_heads(mo_onnx_op *op, mo_onnx_ref x, int64_t heads)
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

/* An attention: what its masks depend on. */
typedef struct masking {
    int64_t queries, keys;
    mo_onnx_ref past, lengths; /* of keys by batch, or MO_ONNX_NONE */
    bool causal;
    int64_t left, right; /* window; -1: open */
} masking;

/* Keys that position and length allow, [..., queries, keys]; MO_ONNX_NONE: all
 * of them. */
static mo_onnx_ref allowed_keys(mo_onnx_op *op, const masking *m)
{
    mo_onnx_builder *b = op->b;
    int64_t before =
        mo_onnx_is(m->past) ? mo_onnx_shape(b, m->past)->dims[2] : 0;
    mo_onnx_ref lengths = m->lengths, allowed = MO_ONNX_NONE, row, column, gap;
    int rank = mo_onnx_is(lengths) ? 4 : 2;

    if (!m->causal && m->left < 0 && m->right < 0 && rank == 2)
        return allowed;
    column = mo_onnx_count_along(b, 0, m->keys, rank - 1, rank);
    row = mo_onnx_count_along(b, before, m->queries, rank - 2, rank);
    if (rank == 4) {
        mo_shape batch = {
            .rank = 4, .dims = { mo_onnx_shape(b, lengths)->dims[0], 1, 1, 1 }
        };

        lengths =
            mo_onnx_reshape(b, mo_onnx_convert(b, lengths, "i64"), &batch);
        row = mo_onnx_binary(b, "Add", row, lengths, NULL);
        row = mo_onnx_with_number(b, "Subtract", row, (double) m->queries);
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
static mo_onnx_ref given_mask(mo_onnx_op *op, int64_t keys)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref mask = mo_onnx_in(op, 3), rest;
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
static mo_onnx_ref attend_by_steps(mo_onnx_op *op, mo_onnx_ref q, mo_onnx_ref k,
                                   mo_onnx_ref v, mo_onnx_ref mask,
                                   double scale)
{
    mo_onnx_builder *b = op->b;
    double cap = mo_onnx_attr_real(op, "softcap", 0);
    int64_t mode = mo_onnx_attr_int(op, "qk_matmul_output_mode", 0);
    const char *dtype = mo_onnx_dtype(b, q);
    mo_onnx_ref scores = mo_onnx_matmul(b, q, k, false, true), steps[4];

    scores = steps[0] = mo_onnx_with_number(b, "Multiply", scores, scale);
    if (cap > 0) {
        scores = mo_onnx_with_number(b, "Divide", scores, cap);
        scores = mo_onnx_unary(b, "Tanh", scores, NULL);
        scores = mo_onnx_with_number(b, "Multiply", scores, cap);
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
    if (mo_onnx_uses(op, 3))
        op->outputs[3] = steps[mode >= 0 && mode < 4 ? mode : 0];
    return mo_onnx_is(scores) ? mo_onnx_matmul(b, scores, v, false, false)
                              : scores;
}

/* softmax(Q K' scale + mask) V, fused; 0 where the mask leaves a query no key.
 */
static mo_onnx_ref attend(mo_onnx_op *op, mo_onnx_ref q, mo_onnx_ref k,
                          mo_onnx_ref v, mo_onnx_ref mask, bool causal,
                          double scale)
{
    mo_onnx_builder *b = op->b;
    const char *dtype = mo_onnx_dtype(b, q);
    mo_onnx_ref zero = mo_onnx_number(b, 0, dtype);

    mo_onnx_set_bool(b, "causal", causal);
    return mo_onnx_add(b, "ScaledDotProductAttention",
                       MO_ONNX_REFS(q, k, v, mo_onnx_is(mask) ? mask : zero,
                                    mo_onnx_number(b, scale, dtype)),
                       5, NULL);
}

/* Attention since opset 23: past keys and values are in front. */
void mo_onnx_op_attention(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    bool flat = mo_onnx_shape(b, mo_onnx_in(op, 0))->rank == 3;
    int64_t kv_heads = mo_onnx_attr_int(op, "kv_num_heads", 0);
    mo_onnx_ref q = split_heads(op, mo_onnx_in(op, 0),
                                mo_onnx_attr_int(op, "q_num_heads", 0));
    mo_onnx_ref k = split_heads(op, mo_onnx_in(op, 1), kv_heads);
    mo_onnx_ref v = split_heads(op, mo_onnx_in(op, 2), kv_heads);
    masking m = { .past = mo_onnx_in(op, 4),
                  .lengths = mo_onnx_in(op, 6),
                  .causal = mo_onnx_attr_int(op, "is_causal", 0) != 0,
                  .left = mo_onnx_attr_int(op, "left_window_size", -1),
                  .right = mo_onnx_attr_int(op, "right_window_size", -1) };
    double scale = mo_onnx_attr_real(op, "scale", 0);
    mo_onnx_ref mask, y;
    const mo_shape *shape;
    bool plain;

    if (mo_onnx_has(op, 4))
        k = mo_onnx_concat(b, MO_ONNX_REFS(mo_onnx_in(op, 4), k), 2, 2);
    if (mo_onnx_has(op, 5))
        v = mo_onnx_concat(b, MO_ONNX_REFS(mo_onnx_in(op, 5), v), 2, 2);
    if (mo_onnx_uses(op, 1))
        op->outputs[1] = k;
    if (mo_onnx_uses(op, 2))
        op->outputs[2] = v;
    shape = mo_onnx_shape(b, q);
    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    if (shape->rank != 4 || mo_onnx_shape(b, k)->rank != 4) {
        mo_onnx_wrong(b, "has queries or keys of no 3 or 4 dimensions");
        return;
    }
    m.queries = shape->dims[2];
    m.keys = mo_onnx_shape(b, k)->dims[2];
    if (scale == 0)
        scale = 1 / sqrt((double) shape->dims[3]);
    k = repeat_heads(op, k, shape->dims[1]);
    v = repeat_heads(op, v, shape->dims[1]);
    mask = given_mask(op, m.keys);
    plain = m.causal && m.left < 0 && m.right < 0 && !mo_onnx_is(mask) &&
            !mo_onnx_is(m.past) && !mo_onnx_is(m.lengths);
    if (mo_onnx_attr_real(op, "softcap", 0) != 0 || mo_onnx_uses(op, 3))
        y = attend_by_steps(op, q, k, v,
                            join_masks(b, mask, allowed_keys(op, &m)), scale);
    else
        y = attend(op, q, k, v,
                   plain ? mask : join_masks(b, mask, allowed_keys(op, &m)),
                   plain, scale);
    if (flat && mo_onnx_is(y)) {
        static const int64_t order[] = { 0, 2, 1, 3 };
        mo_shape whole = *mo_onnx_shape(b, y);

        whole = (mo_shape){ .rank = 3,
                            .dims = { whole.dims[0], whole.dims[2],
                                      whole.dims[1] * whole.dims[3] } };
        y = mo_onnx_reshape(b, mo_onnx_transpose(b, y, order), &whole);
    }
    mo_onnx_out(op, y);
}

/* A linear attention: values by batch, head and step, and what updates the
 * state. */
typedef struct recurrence {
    mo_onnx_ref q, k, v;     /* [batch, heads, steps, width] */
    mo_onnx_ref decay, beta; /* MO_ONNX_NONE: the state is kept, the value is
                                added as it is */
    int64_t steps;
    int64_t kv_heads;
} recurrence;

/* Step t: state = decay state + k' v, with v = beta (v - k state) where there
 * is a beta. Returns q state; heads of queries that share a state are its
 * rows. */
static mo_onnx_ref linear_step(mo_onnx_builder *b, const recurrence *r,
                               int64_t t, mo_onnx_ref *state)
{
    mo_onnx_ref q = mo_onnx_cut(b, r->q, 2, t, t + 1);
    mo_onnx_ref k = mo_onnx_cut(b, r->k, 2, t, t + 1);
    mo_onnx_ref v = mo_onnx_cut(b, r->v, 2, t, t + 1);
    mo_shape heads = *mo_onnx_shape(b, q), result = heads;

    if (mo_onnx_is(r->decay))
        *state = mo_onnx_binary(b, "Multiply", *state,
                                mo_onnx_cut(b, r->decay, 3, t, t + 1), NULL);
    if (mo_onnx_is(r->beta)) {
        v = mo_onnx_binary(b, "Subtract", v,
                           mo_onnx_matmul(b, k, *state, false, false), NULL);
        v = mo_onnx_binary(b, "Multiply", v,
                           mo_onnx_cut(b, r->beta, 2, t, t + 1), NULL);
    }
    *state = mo_onnx_binary(b, "Add", *state,
                            mo_onnx_matmul(b, k, v, true, false), NULL);
    heads.dims[2] = heads.dims[1] / r->kv_heads;
    heads.dims[1] = r->kv_heads;
    result.dims[3] = mo_onnx_shape(b, *state)->dims[3];
    q = mo_onnx_matmul(b, mo_onnx_reshape(b, q, &heads), *state, false, false);
    return mo_onnx_reshape(b, q, &result);
}

/* Input i of heads as f32, [batch, heads, steps, width]. */
static mo_onnx_ref linear_input(mo_onnx_op *op, int i, int64_t heads)
{
    return mo_onnx_has(op, i)
               ? split_heads(op,
                             mo_onnx_convert(op->b, mo_onnx_in(op, i), "f32"),
                             heads)
               : MO_ONNX_NONE;
}

/* The state before the first step, in f32. */
static mo_onnx_ref first_state(mo_onnx_op *op, const recurrence *r)
{
    mo_shape shape = *mo_onnx_shape(op->b, r->k);

    shape.dims[2] = shape.dims[3];
    shape.dims[3] = mo_onnx_shape(op->b, r->v)->dims[3];
    return mo_onnx_has(op, 3)
               ? mo_onnx_convert(op->b, mo_onnx_in(op, 3), "f32")
               : mo_onnx_broadcast(op->b, mo_onnx_number(op->b, 0, "f32"),
                                   &shape);
}

/* Fills r from the inputs; false, and a failure, where they are wrong. */
static bool read_recurrence(mo_onnx_op *op, recurrence *r)
{
    static const int64_t order[] = { 0, 1, 3, 2 };
    const char *rule = mo_onnx_attr_text(op, "update_rule", "gated_delta");
    int64_t q_heads = mo_onnx_attr_int(op, "q_num_heads", 0);
    mo_onnx_ref beta = mo_onnx_in(op, 5);
    const mo_shape *q, *k, *v;

    r->kv_heads = mo_onnx_attr_int(op, "kv_num_heads", 0);
    if (r->kv_heads < 1 || q_heads < 1 || q_heads % r->kv_heads != 0 ||
        mo_onnx_has(op, 4) != (strncmp(rule, "gated", 5) == 0) ||
        mo_onnx_has(op, 5) != (strstr(rule, "delta") != NULL)) {
        mo_onnx_wrong(op->b, "has %lld and %lld heads, or not the inputs of %s",
                      (long long) q_heads, (long long) r->kv_heads, rule);
        return false;
    }
    r->q = linear_input(op, 0, q_heads);
    r->k = linear_input(op, 1, r->kv_heads);
    r->v = linear_input(op, 2, r->kv_heads);
    r->decay = linear_input(op, 4, r->kv_heads);
    if (mo_onnx_is(r->decay))
        r->decay = mo_onnx_transpose(
            op->b, mo_onnx_unary(op->b, "Exp", r->decay, NULL), order);
    r->beta = linear_input(
        op, 5, mo_onnx_is(beta) ? mo_onnx_shape(op->b, beta)->dims[2] : 0);
    q = mo_onnx_shape(op->b, r->q);
    k = mo_onnx_shape(op->b, r->k);
    v = mo_onnx_shape(op->b, r->v);
    if (mo_onnx_builder_status(op->b) != MO_OK)
        return false;
    r->steps = q->dims[2];
    if (q->rank != 4 || k->rank != 4 || v->rank != 4 ||
        q->dims[3] != k->dims[3] || k->dims[2] != r->steps ||
        v->dims[2] != r->steps)
        mo_onnx_wrong(op->b, "has queries, keys and values that do not fit");
    return mo_onnx_builder_status(op->b) == MO_OK;
}

/* LinearAttention since opset 27: a recurrence over the steps, unrolled. */
void mo_onnx_op_linear_attention(mo_onnx_op *op)
{
    enum { MAX_STEPS = 1024 };
    static const int64_t order[] = { 0, 2, 1, 3 };
    mo_onnx_builder *b = op->b;
    const char *dtype = mo_onnx_dtype(b, mo_onnx_in(op, 0));
    double scale = mo_onnx_attr_real(op, "scale", 0);
    recurrence r = { .steps = 0 };
    mo_onnx_ref outputs[MAX_STEPS], state, y;
    mo_shape shape;

    if (!read_recurrence(op, &r))
        return;
    if (r.steps < 1 || r.steps > MAX_STEPS) {
        mo_onnx_refuse(b, "has %lld steps, not 1 to %d", (long long) r.steps,
                       MAX_STEPS);
        return;
    }
    if (scale == 0)
        scale = 1 / sqrt((double) mo_onnx_shape(b, r.q)->dims[3]);
    r.q = mo_onnx_with_number(b, "Multiply", r.q, scale);
    state = first_state(op, &r);
    for (int64_t t = 0; t < r.steps && mo_onnx_builder_status(b) == MO_OK; t++)
        outputs[t] = linear_step(b, &r, t, &state);
    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    y = mo_onnx_transpose(b, mo_onnx_concat(b, outputs, (int) r.steps, 2),
                          order);
    shape = *mo_onnx_shape(b, y);
    shape = (mo_shape){ .rank = 3,
                        .dims = { shape.dims[0], shape.dims[1],
                                  shape.dims[2] * shape.dims[3] } };
    mo_onnx_out(op, mo_onnx_convert(b, mo_onnx_reshape(b, y, &shape), dtype));
    if (mo_onnx_uses(op, 1))
        op->outputs[1] = mo_onnx_convert(
            b, state,
            mo_onnx_has(op, 3) ? mo_onnx_dtype(b, mo_onnx_in(op, 3)) : dtype);
}
