/* SPDX-License-Identifier: Apache-2.0 */
/* Translator of ONNX's attention. */
#include <math.h>
#include <string.h>

#include "ingest/infer/dims.h"
#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

#define REFS(...) ((const mo_onnx_ref[]){ __VA_ARGS__ })

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

/* Returns whether the node has attributes of a later opset. */
static bool has_others(mo_onnx_op *op)
{
    static const char *const known[] = {
        "is_causal",
        "kv_num_heads",
        "q_num_heads",
        "qk_matmul_output_mode",
        "scale",
        "softcap",
        "softmax_precision",
    };

    for (size_t i = 0; i < op->node->n_attributes; i++) {
        size_t k = 0, n = sizeof known / sizeof *known;

        while (k < n && strcmp(op->node->attributes[i].name, known[k]) != 0)
            k++;
        if (k == n)
            return true;
    }
    return false;
}

/* Zeros where a mask of booleans leaves a query no key. */
static mo_onnx_ref clear_masked(mo_onnx_op *op, mo_onnx_ref y)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref mask = mo_onnx_in(op, 3), any;
    int rank = mo_onnx_shape(b, mask)->rank;
    bool marks[MO_MAX_RANK] = { false };

    if (rank == 0 || strcmp(mo_onnx_dtype(b, mask), "boolean") != 0)
        return y;
    marks[rank - 1] = true;
    any = mo_onnx_reduce(b, "ReduceLogicalOr", mask, marks, true);
    return mo_onnx_select(b, any, y, mo_onnx_number(b, 0, mo_onnx_dtype(b, y)));
}

/* Attention of opset 23: softmax(Q K' scale + mask) V, past keys and values in
 * front. */
void mo_onnx_op_attention(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    bool flat = mo_onnx_shape(b, mo_onnx_in(op, 0))->rank == 3;
    mo_onnx_ref q = split_heads(op, mo_onnx_in(op, 0),
                                mo_onnx_attr_int(op, "q_num_heads", 0));
    int64_t kv_heads = mo_onnx_attr_int(op, "kv_num_heads", 0);
    mo_onnx_ref k = split_heads(op, mo_onnx_in(op, 1), kv_heads);
    mo_onnx_ref v = split_heads(op, mo_onnx_in(op, 2), kv_heads);
    mo_onnx_ref inputs[5], y;
    static const int64_t order[] = { 0, 2, 1, 3 };
    const mo_shape *shape;
    const char *dtype = mo_onnx_dtype(b, q);
    double scale = mo_onnx_attr_real(op, "scale", 0);

    if (mo_onnx_attr_real(op, "softcap", 0) != 0 || mo_onnx_has(op, 6) ||
        mo_onnx_uses(op, 3) || has_others(op) ||
        (mo_onnx_attr_int(op, "is_causal", 0) &&
         (mo_onnx_has(op, 3) || mo_onnx_has(op, 4)))) {
        mo_onnx_refuse(b, "has a softcap, padded keys, a causal mask beside "
                          "another or behind past keys, or its scores are "
                          "read");
        return;
    }
    if (mo_onnx_has(op, 4))
        k = mo_onnx_concat(b, REFS(mo_onnx_in(op, 4), k), 2, 2);
    if (mo_onnx_has(op, 5))
        v = mo_onnx_concat(b, REFS(mo_onnx_in(op, 5), v), 2, 2);
    if (mo_onnx_uses(op, 1))
        op->outputs[1] = k;
    if (mo_onnx_uses(op, 2))
        op->outputs[2] = v;
    shape = mo_onnx_shape(b, q);
    if (mo_onnx_builder_status(b) != MO_OK || shape->rank != 4)
        return;
    if (scale == 0)
        scale = 1 / sqrt((double) shape->dims[3]);
    inputs[0] = q;
    inputs[1] = repeat_heads(op, k, shape->dims[1]);
    inputs[2] = repeat_heads(op, v, shape->dims[1]);
    inputs[3] =
        mo_onnx_has(op, 3) ? mo_onnx_in(op, 3) : mo_onnx_number(b, 0, dtype);
    inputs[4] = mo_onnx_number(b, scale, dtype);
    mo_onnx_set_bool(b, "causal", mo_onnx_attr_int(op, "is_causal", 0) != 0);
    y = mo_onnx_add(b, "ScaledDotProductAttention", inputs, 5, NULL);
    if (mo_onnx_has(op, 3) && mo_onnx_is(y))
        y = clear_masked(op, y);
    if (flat && mo_onnx_is(y)) {
        mo_shape whole = *mo_onnx_shape(b, y);

        whole = (mo_shape){ .rank = 3,
                            .dims = { whole.dims[0], whole.dims[2],
                                      whole.dims[1] * whole.dims[3] } };
        y = mo_onnx_reshape(b, mo_onnx_transpose(b, y, order), &whole);
    }
    mo_onnx_out(op, y);
}
