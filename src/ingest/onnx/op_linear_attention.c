/* SPDX-License-Identifier: Apache-2.0 */
/* Translator of ONNX's linear attention. */
#include <math.h>
#include <string.h>

#include "ingest/onnx/attention.h"
#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"

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
               ? mo_onnx_split_heads(
                     op, mo_onnx_convert(op->b, mo_onnx_in(op, i), "f32"),
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
