/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translators of attentions as ONNX Runtime writes them (domain com.microsoft),
 * in decoders of its generators and in transformers that its optimizer fused.
 */
#include <string.h>

#include "ingest/infer/dims.h"
#include "ingest/onnx/attention.h"
#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

/* A mask to add: 0 where the condition holds, otherwise the filter value of the
 * node. */
static mo_onnx_ref filter(mo_onnx_op *op, mo_onnx_ref condition,
                          const char *dtype)
{
    mo_onnx_builder *b = op->b;
    double value = mo_onnx_attr_real(op, "mask_filter_value", -10000);

    return mo_onnx_select(b, condition, mo_onnx_number(b, 0, dtype),
                          mo_onnx_number(b, value, dtype));
}

/* The mask of keys in input i, so that it broadcasts over [batch, heads,
 * queries, keys]: numbers of keys by batch, their ends and begins, or marks. */
static mo_onnx_ref key_mask(mo_onnx_op *op, int i, int64_t batch, int64_t keys,
                            const char *dtype)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref mask = mo_onnx_in(op, i), column, inside;
    mo_shape shape = *mo_onnx_shape(b, mask);

    if (!mo_onnx_is(mask))
        return mask;
    mask = mo_onnx_convert(b, mask, "i64");
    if (shape.rank == 1) {
        mo_shape each = { .rank = 4, .dims = { batch, 1, 1, 1 } };

        if (shape.dims[0] != batch && shape.dims[0] != 2 * batch)
            return mo_onnx_refuse(b, "has a mask of %lld numbers",
                                  (long long) shape.dims[0]);
        column = mo_onnx_count_along(b, 0, keys, 3, 4);
        inside = mo_onnx_binary(
            b, "Less", column,
            mo_onnx_reshape(b, mo_onnx_cut(b, mask, 0, 0, batch), &each),
            "boolean");
        if (shape.dims[0] == 2 * batch)
            inside = mo_onnx_binary(
                b, "LogicalAnd", inside,
                mo_onnx_binary(
                    b, "GreaterEqual", column,
                    mo_onnx_reshape(
                        b, mo_onnx_cut(b, mask, 0, batch, 2 * batch), &each),
                    "boolean"),
                NULL);
        return filter(op, inside, dtype);
    }
    if (shape.rank != 2 && shape.rank != 3)
        return mo_onnx_refuse(b, "has a mask of %d dimensions", shape.rank);
    shape = (mo_shape){ .rank = 4,
                        .dims = { shape.dims[0], 1,
                                  shape.rank == 3 ? shape.dims[1] : 1,
                                  shape.dims[shape.rank - 1] } };
    return filter(op,
                  mo_onnx_binary(b, "Greater", mo_onnx_reshape(b, mask, &shape),
                                 mo_onnx_number(b, 0, "i64"), "boolean"),
                  dtype);
}

static mo_onnx_ref sum(mo_onnx_builder *b, mo_onnx_ref x, mo_onnx_ref y)
{
    return !mo_onnx_is(x)   ? y
           : !mo_onnx_is(y) ? x
                            : mo_onnx_binary(b, "Add", x, y, NULL);
}

/* The mask of keys in one input and the numbers to add in another. */
static mo_onnx_ref join_masks(mo_onnx_op *op, const mo_onnx_attention *a,
                              int mask, int added)
{
    mo_onnx_builder *b = op->b;

    return sum(b,
               key_mask(op, mask, mo_onnx_shape(b, a->q)->dims[0],
                        mo_onnx_shape(b, a->k)->dims[2],
                        mo_onnx_dtype(b, a->q)),
               mo_onnx_in(op, added));
}

/* Keys or values behind those of the past, if there are any. */
static mo_onnx_ref behind(mo_onnx_builder *b, mo_onnx_ref past, mo_onnx_ref x)
{
    return mo_onnx_is(past) ? mo_onnx_concat(b, MO_ONNX_REFS(past, x), 2, 2)
                            : x;
}

static void require_inputs(mo_onnx_op *op, int from, int to)
{
    for (int i = from; i <= to; i++)
        if (!mo_onnx_has(op, i))
            mo_onnx_wrong(op->b, "has no input %d", i);
}

static void refuse_inputs(mo_onnx_op *op, int from, int to)
{
    for (int i = from; i <= to; i++)
        if (mo_onnx_has(op, i))
            mo_onnx_refuse(op->b, "has an input %d", i);
}

/* One of the parts that lie side by side in an axis of x, which is removed. */
static mo_onnx_ref part(mo_onnx_builder *b, mo_onnx_ref x, int axis, int i)
{
    bool marks[MO_MAX_RANK] = { false };

    if (axis >= MO_MAX_RANK || mo_onnx_shape(b, x)->rank <= axis)
        return mo_onnx_wrong(b, "has packed values of %d dimensions",
                             mo_onnx_shape(b, x)->rank);
    marks[axis] = true;
    return mo_onnx_squeeze(b, mo_onnx_cut(b, x, axis, i, i + 1), marks);
}

/* Adds the part of a bias from *at on that belongs to x, which has not been
 * divided into heads. */
static mo_onnx_ref add_bias(mo_onnx_op *op, mo_onnx_ref x, int input,
                            int64_t *at)
{
    mo_onnx_builder *b = op->b;
    int64_t width = mo_onnx_shape(b, x)->dims[2], from = *at;

    if (!mo_onnx_has(op, input) || mo_onnx_shape(b, x)->rank != 3)
        return x;
    *at += width;
    return mo_onnx_binary(
        b, "Add", x, mo_onnx_cut(b, mo_onnx_in(op, input), 0, from, *at), NULL);
}

void mo_onnx_op_multi_head(mo_onnx_op *op)
{
    enum { BIAS = 3, PADDING, ADDED, PAST_KEY, PAST_VALUE };
    mo_onnx_builder *b = op->b;
    int64_t heads = mo_onnx_attr_int(op, "num_heads", 0), at = 0;
    mo_onnx_ref x[3], y;
    mo_onnx_attention a = { .causal =
                                mo_onnx_attr_int(op, "unidirectional", 0) != 0,
                            .left = -1,
                            .right = -1,
                            .lengths = MO_ONNX_NONE,
                            .scale = mo_onnx_attr_real(op, "scale", 0) };

    if (!mo_onnx_has(op, 1) || !mo_onnx_has(op, 2))
        mo_onnx_refuse(b, "has packed keys or values");
    refuse_inputs(op, PAST_VALUE + 1, PAST_VALUE + 2);
    for (int i = 0; i < 3; i++) {
        x[i] = add_bias(op, mo_onnx_in(op, i), BIAS, &at);
    }
    a.q = mo_onnx_split_heads(op, x[0], heads);
    a.k = behind(b, mo_onnx_in(op, PAST_KEY),
                 mo_onnx_split_heads(op, x[1], heads));
    a.v = behind(b, mo_onnx_in(op, PAST_VALUE),
                 mo_onnx_split_heads(op, x[2], heads));
    if (mo_onnx_has(op, PAST_KEY))
        a.before = mo_onnx_shape(b, mo_onnx_in(op, PAST_KEY))->dims[2];
    a.mask = join_masks(op, &a, PADDING, ADDED);
    y = mo_onnx_attend(op, &a);
    mo_onnx_out(op, mo_onnx_join_heads(b, y));
    if (mo_onnx_uses(op, 1))
        op->outputs[1] = a.k;
    if (mo_onnx_uses(op, 2))
        op->outputs[2] = a.v;
}

/* Keys, then values. */
static mo_onnx_ref stack(mo_onnx_builder *b, mo_onnx_ref k, mo_onnx_ref v)
{
    mo_shape s = *mo_onnx_shape(b, k);

    for (int d = 4; d > 0; d--)
        s.dims[d] = s.dims[d - 1];
    s.dims[0] = 1;
    s.rank = 5;
    return mo_onnx_concat(
        b, MO_ONNX_REFS(mo_onnx_reshape(b, k, &s), mo_onnx_reshape(b, v, &s)),
        2, 0);
}

/* Attention of com.microsoft: the projections belong to it. */
void mo_onnx_op_projected_attention(mo_onnx_op *op)
{
    enum { INPUT, WEIGHTS, BIAS, MASK, PAST, ADDED };
    mo_onnx_builder *b = op->b;
    int64_t heads = mo_onnx_attr_int(op, "num_heads", 0), at = 0, columns;
    mo_onnx_list sizes = mo_onnx_attr_ints(op, "qkv_hidden_sizes");
    mo_onnx_ref all = mo_onnx_matmul(b, mo_onnx_in(op, INPUT),
                                     mo_onnx_in(op, WEIGHTS), false, false);
    mo_onnx_ref past = mo_onnx_in(op, PAST), x[3], y;
    mo_onnx_attention a = { .causal =
                                mo_onnx_attr_int(op, "unidirectional", 0) != 0,
                            .left = -1,
                            .right = -1,
                            .lengths = MO_ONNX_NONE,
                            .scale = mo_onnx_attr_real(op, "scale", 0) };

    refuse_inputs(op, ADDED + 1, ADDED + 1);
    if (mo_onnx_attr_int(op, "do_rotary", 0) != 0)
        mo_onnx_refuse(b, "has do_rotary");
    all = sum(b, all, mo_onnx_in(op, BIAS));
    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    if (mo_onnx_shape(b, all)->rank != 3) {
        mo_onnx_wrong(b, "has an input of no 3 dimensions");
        return;
    }
    columns = mo_onnx_shape(b, all)->dims[2];
    for (int i = 0; i < 3; i++) {
        int64_t size = sizes.n == 3 ? sizes.at[i] : columns / 3;

        if (size < 1 || size > columns - at ||
            (i == 2 && at + size != columns)) {
            mo_onnx_wrong(b, "has qkv_hidden_sizes that do not sum up to %lld",
                          (long long) columns);
            return;
        }
        x[i] = mo_onnx_split_heads(op, mo_onnx_cut(b, all, 2, at, at + size),
                                   heads);
        at += size;
    }
    a.q = x[0];
    a.k = behind(b, mo_onnx_is(past) ? part(b, past, 0, 0) : past, x[1]);
    a.v = behind(b, mo_onnx_is(past) ? part(b, past, 0, 1) : past, x[2]);
    if (mo_onnx_is(past))
        a.before = mo_onnx_shape(b, past)->dims[3];
    a.mask = join_masks(op, &a, MASK, ADDED);
    y = mo_onnx_attend(op, &a);
    mo_onnx_out(op, mo_onnx_join_heads(b, y));
    if (mo_onnx_uses(op, 1))
        op->outputs[1] = stack(b, a.k, a.v);
}

/* RotaryEmbedding of com.microsoft: positions come first, and may be one number
 * to begin with. */
void mo_onnx_op_ort_rotary(mo_onnx_op *op)
{
    enum { INPUT, POSITIONS, COSINES, SINES };
    mo_onnx_builder *b = op->b;
    const mo_shape *shape = mo_onnx_shape(b, mo_onnx_in(op, INPUT));
    mo_onnx_rotary r = { .x = mo_onnx_in(op, INPUT),
                         .cosines = mo_onnx_in(op, COSINES),
                         .sines = mo_onnx_in(op, SINES),
                         .positions = mo_onnx_in(op, POSITIONS),
                         .heads = mo_onnx_attr_int(op, "num_heads", 0),
                         .width =
                             mo_onnx_attr_int(op, "rotary_embedding_dim", 0),
                         .neighbours =
                             mo_onnx_attr_int(op, "interleaved", 0) != 0 };
    const mo_shape *angles = mo_onnx_shape(b, r.cosines);

    if (mo_onnx_attr_int(op, "is_packed_batching", 0) != 0)
        mo_onnx_refuse(b, "has is_packed_batching");
    if (r.heads == 0 && shape->rank == 3 && angles->rank == 2 &&
        angles->dims[1] > 0)
        r.heads = shape->dims[2] / (2 * angles->dims[1]);
    if (mo_onnx_shape(b, r.positions)->rank == 1 && shape->rank >= 3) {
        int64_t steps = shape->dims[shape->rank - 2];
        mo_shape all = { .rank = 2, .dims = { shape->dims[0], steps } };

        r.positions = mo_onnx_broadcast(
            b,
            mo_onnx_binary(b, "Add", mo_onnx_count_along(b, 0, steps, 1, 2),
                           mo_onnx_convert(b, r.positions, "i64"), NULL),
            &all);
    }
    mo_onnx_out(op, mo_onnx_rotate(b, &r));
}

/* GroupQueryAttention: what its caches and masks depend on. */
typedef struct grouped {
    int64_t batch, steps, past, total;
    bool first;       /* there are no steps before these */
    bool in_front;    /* all of the past is in front of the new keys */
    mo_onnx_ref ends; /* number of keys by batch, i64[batch] */
} grouped;

/* New keys or values in the cache. */
static mo_onnx_ref cached(mo_onnx_op *op, const grouped *g, mo_onnx_ref past,
                          mo_onnx_ref x)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref inputs[3] = { past, x, MO_ONNX_NONE }, made = MO_ONNX_NONE;
    mo_onnx_op scatter = *op;
    mo_shape more = *mo_onnx_shape(b, x);

    if (g->past == 0 || g->in_front)
        return g->past == 0 ? x : behind(b, past, x);
    more.dims[2] = g->total - g->past;
    if (g->total > g->past)
        inputs[0] =
            behind(b, past,
                   mo_onnx_broadcast(
                       b, mo_onnx_number(b, 0, mo_onnx_dtype(b, x)), &more));
    if (!g->first)
        inputs[2] =
            mo_onnx_with_number(b, "Subtract", g->ends, (double) g->steps);
    scatter.inputs = inputs;
    scatter.n_inputs = 3;
    scatter.outputs = &made;
    scatter.n_outputs = 1;
    mo_onnx_op_tensor_scatter(&scatter);
    return made;
}

/* Positions of the new steps, i64[batch, steps]. */
static mo_onnx_ref positions(mo_onnx_op *op, const grouped *g, int input)
{
    mo_onnx_builder *b = op->b;
    mo_shape all = { .rank = 2, .dims = { g->batch, g->steps } };
    mo_shape each = { .rank = 2, .dims = { g->batch, 1 } };
    mo_onnx_ref at;

    if (mo_onnx_has(op, input)) {
        at = mo_onnx_in(op, input);
        /* Of a first prompt ONNX Runtime reads only the first position. */
        if (!g->first || mo_onnx_shape(b, at)->rank != 2)
            return at;
        at = mo_onnx_cut(b, mo_onnx_cut(b, at, 0, 0, 1), 1, 0, 1);
        at = mo_onnx_binary(b, "Add", at,
                            mo_onnx_count_along(b, 0, g->steps, 1, 2), NULL);
    } else if (g->first || g->in_front)
        at = mo_onnx_count_along(b, g->first ? 0 : g->past, g->steps, 1, 2);
    else
        at = mo_onnx_binary(b, "Add",
                            mo_onnx_count_along(b, -g->steps, g->steps, 1, 2),
                            mo_onnx_reshape(b, g->ends, &each), NULL);
    return mo_onnx_broadcast(b, at, &all);
}

/* Inputs of GroupQueryAttention. */
enum {
    Q,
    K,
    V,
    PAST_KEY,
    PAST_VALUE,
    LAST,
    TOTAL,
    COSINES,
    SINES,
    AT,
    ADDED,
    SINK,
    N_INPUTS = 14
};

/* Queries, keys and values side by side in one input. */
static void split_packed(mo_onnx_op *op, int64_t heads, int64_t kv_heads,
                         mo_onnx_ref x[3])
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref all = mo_onnx_in(op, Q);
    const mo_shape *shape = mo_onnx_shape(b, all);
    int64_t width = shape->dims[2] / (heads + 2 * kv_heads);
    int64_t keys = heads * width, values = keys + kv_heads * width;
    int64_t end = values + kv_heads * width;

    if (end != shape->dims[2])
        mo_onnx_wrong(b, "has %lld and %lld heads of %s", (long long) heads,
                      (long long) kv_heads, mo_dims_format(shape).text);
    x[0] = mo_onnx_cut(b, all, 2, 0, keys);
    x[1] = mo_onnx_cut(b, all, 2, keys, values);
    x[2] = mo_onnx_cut(b, all, 2, values, end);
}

/* Rotary embedding of queries and keys. */
static void rotate(mo_onnx_op *op, const grouped *g, int64_t heads,
                   int64_t kv_heads, mo_onnx_ref x[3])
{
    mo_onnx_rotary r = { .x = x[0],
                         .cosines = mo_onnx_in(op, COSINES),
                         .sines = mo_onnx_in(op, SINES),
                         .positions = positions(op, g, AT),
                         .heads = heads,
                         .neighbours = mo_onnx_attr_int(
                                           op, "rotary_interleaved", 0) != 0 };

    r.width = 2 * mo_onnx_shape(op->b, r.cosines)->dims[1];
    x[0] = mo_onnx_rotate(op->b, &r);
    r.x = x[1];
    r.heads = kv_heads;
    x[1] = mo_onnx_rotate(op->b, &r);
}

void mo_onnx_op_group_query(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    int64_t heads = mo_onnx_attr_int(op, "num_heads", 0);
    int64_t kv_heads = mo_onnx_attr_int(op, "kv_num_heads", 0);
    int64_t window = mo_onnx_attr_int(op, "local_window_size", -1);
    mo_onnx_ref x[3] = { mo_onnx_in(op, Q), mo_onnx_in(op, K),
                         mo_onnx_in(op, V) };
    mo_shape shape = *mo_onnx_shape(b, x[0]), list = { .rank = 1 };
    grouped g = { .batch = shape.dims[0], .steps = shape.dims[1] };
    mo_onnx_attention a = { .mask = mo_onnx_in(op, ADDED),
                            .causal = true,
                            .left = window > 0 ? window - 1 : -1,
                            .right = -1,
                            .scale = mo_onnx_attr_real(op, "scale", 0),
                            .softcap = mo_onnx_attr_real(op, "softcap", 0) };

    require_inputs(op, LAST, TOTAL);
    refuse_inputs(op, SINK, N_INPUTS - 1);
    if (mo_onnx_attr_int(op, "smooth_softmax", 0) > 0 || mo_onnx_uses(op, 3) ||
        mo_onnx_attr_int(op, "kv_cache_bit_width", 0) != 0)
        mo_onnx_refuse(b, "has a smooth softmax, a quantized cache or scores");
    if (shape.rank != 3 || heads < 1 || kv_heads < 1 || heads > shape.dims[2] ||
        kv_heads > shape.dims[2]) {
        mo_onnx_wrong(b, "has %lld and %lld heads of %s", (long long) heads,
                      (long long) kv_heads, mo_dims_format(&shape).text);
        return;
    }
    g.total = mo_onnx_in_int(op, TOTAL, "total_sequence_length", 0);
    g.past = mo_onnx_has(op, PAST_KEY)
                 ? mo_onnx_shape(b, mo_onnx_in(op, PAST_KEY))->dims[2]
                 : 0;
    g.first = g.past == 0 || g.total == g.steps;
    g.in_front = !g.first && g.batch == 1 && g.total == g.past + g.steps;
    list.dims[0] = g.batch;
    g.ends = mo_onnx_with_number(
        b, "Add",
        mo_onnx_reshape(b, mo_onnx_convert(b, mo_onnx_in(op, LAST), "i64"),
                        &list),
        1);
    if (!mo_onnx_is(x[1]))
        split_packed(op, heads, kv_heads, x);
    if (mo_onnx_attr_int(op, "do_rotary", 0) != 0)
        rotate(op, &g, heads, kv_heads, x);
    a.q = mo_onnx_split_heads(op, x[0], heads);
    a.k = cached(op, &g, mo_onnx_in(op, PAST_KEY),
                 mo_onnx_split_heads(op, x[1], kv_heads));
    a.v = cached(op, &g, mo_onnx_in(op, PAST_VALUE),
                 mo_onnx_split_heads(op, x[2], kv_heads));
    a.before = g.in_front ? g.past : 0;
    a.lengths = g.first || g.in_front ? MO_ONNX_NONE : g.ends;
    mo_onnx_out(op, mo_onnx_join_heads(b, mo_onnx_attend(op, &a)));
    if (mo_onnx_uses(op, 1))
        op->outputs[1] = a.k;
    if (mo_onnx_uses(op, 2))
        op->outputs[2] = a.v;
}
