/* SPDX-License-Identifier: Apache-2.0 */
/* Translators of ONNX operators around attention: rotary embeddings, caches of
 * keys, gated units, causal convolutions. */
#include <string.h>

#include "ingest/onnx/attention.h"
#include "ingest/onnx/ops.h"
#include "ingest/onnx/translators.h"
#include "ingest/onnx/window.h"

/* Angles of a cache by position, so that they broadcast over heads. */
static mo_onnx_ref rotary_angles(mo_onnx_builder *b, mo_onnx_ref x,
                                 mo_onnx_ref positions, bool flat)
{
    mo_shape shape;

    if (mo_onnx_is(positions)) {
        mo_onnx_set_int(b, "batch_dims", 0);
        x = mo_onnx_add(b, "Gather",
                        MO_ONNX_REFS(x, positions, mo_onnx_int(b, 0)), 3, NULL);
    }
    shape = *mo_onnx_shape(b, x);
    if (shape.rank != 3)
        return mo_onnx_wrong(b, "has a cache of %d dimensions", shape.rank);
    shape.rank = 4;
    shape.dims[3] = shape.dims[2];
    shape.dims[2] = flat ? 1 : shape.dims[1];
    shape.dims[1] = flat ? shape.dims[1] : 1;
    return mo_onnx_reshape(b, x, &shape);
}

/* Elements start, start + step, ... of the last axis, up to stop. */
static mo_onnx_ref every(mo_onnx_builder *b, mo_onnx_ref x, int64_t start,
                         int64_t stop, int64_t step)
{
    int64_t last = mo_onnx_shape(b, x)->rank - 1;

    return mo_onnx_add(
        b, "Slice",
        MO_ONNX_REFS(x, mo_onnx_ints(b, &start, 1), mo_onnx_ints(b, &stop, 1),
                     mo_onnx_ints(b, &step, 1), mo_onnx_ints(b, &last, 1)),
        5, NULL);
}

mo_onnx_ref mo_onnx_rotate(mo_onnx_builder *b, const mo_onnx_rotary *r)
{
    mo_onnx_ref x = r->x, parts[2], turned[2], cosines, sines, y;
    mo_shape old = *mo_onnx_shape(b, x), shape = old;
    bool flat = old.rank == 3;
    int64_t wide = r->width, size;

    if (old.rank < 3 || old.rank > 4 ||
        (flat && (r->heads < 1 || old.dims[2] % r->heads != 0)))
        return mo_onnx_wrong(b, "has %lld heads in %d dimensions",
                             (long long) r->heads, old.rank);
    if (flat)
        shape = (mo_shape){ .rank = 4,
                            .dims = { old.dims[0], old.dims[1], r->heads,
                                      old.dims[2] / r->heads } };
    size = shape.dims[3];
    wide = wide == 0 ? size : wide;
    if (wide < 0 || wide > size || wide % 2 != 0)
        return mo_onnx_wrong(b, "turns %lld of %lld elements", (long long) wide,
                             (long long) size);
    x = mo_onnx_reshape(b, x, &shape);
    cosines = rotary_angles(b, r->cosines, r->positions, flat);
    sines = rotary_angles(b, r->sines, r->positions, flat);
    for (int i = 0; i < 2; i++)
        parts[i] = r->neighbours
                       ? every(b, x, i, wide, 2)
                       : mo_onnx_cut(b, x, 3, i * wide / 2, (i + 1) * wide / 2);
    turned[0] = mo_onnx_binary(
        b, "Subtract", mo_onnx_binary(b, "Multiply", cosines, parts[0], NULL),
        mo_onnx_binary(b, "Multiply", sines, parts[1], NULL), NULL);
    turned[1] = mo_onnx_binary(
        b, "Add", mo_onnx_binary(b, "Multiply", sines, parts[0], NULL),
        mo_onnx_binary(b, "Multiply", cosines, parts[1], NULL), NULL);
    if (r->neighbours) {
        mo_shape pairs = shape, row = shape;

        pairs.rank = 5;
        pairs.dims[3] = wide / 2;
        pairs.dims[4] = 1;
        row.dims[3] = wide;
        turned[0] = mo_onnx_reshape(b, turned[0], &pairs);
        turned[1] = mo_onnx_reshape(b, turned[1], &pairs);
        y = mo_onnx_reshape(b, mo_onnx_concat(b, turned, 2, 4), &row);
    } else {
        y = mo_onnx_concat(b, turned, 2, 3);
    }
    if (wide < size)
        y = mo_onnx_concat(b, MO_ONNX_REFS(y, mo_onnx_cut(b, x, 3, wide, size)),
                           2, 3);
    return mo_onnx_reshape(b, y, &old);
}

void mo_onnx_op_rotary_embedding(mo_onnx_op *op)
{
    const mo_onnx_rotary r = {
        .x = mo_onnx_in(op, 0),
        .cosines = mo_onnx_in(op, 1),
        .sines = mo_onnx_in(op, 2),
        .positions = mo_onnx_in(op, 3),
        .heads = mo_onnx_attr_int(op, "num_heads", 0),
        .width = mo_onnx_attr_int(op, "rotary_embedding_dim", 0),
        .neighbours = mo_onnx_attr_int(op, "interleaved", 0) != 0
    };

    mo_onnx_out(op, mo_onnx_rotate(op->b, &r));
}

/* Writes new keys or values into a cache, from an index of each batch on. */
void mo_onnx_op_tensor_scatter(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref cache = mo_onnx_in(op, 0), update = mo_onnx_in(op, 1), at;
    mo_shape shape = *mo_onnx_shape(b, update), batch = { .rank = shape.rank };
    int axis = mo_onnx_axis(b, mo_onnx_attr_int(op, "axis", -2), shape.rank);
    bool circular =
        strcmp(mo_onnx_attr_text(op, "mode", "linear"), "circular") == 0;

    if (mo_onnx_builder_status(b) != MO_OK)
        return;
    if (axis == 0 || mo_onnx_shape(b, cache)->rank != shape.rank) {
        mo_onnx_wrong(b, "writes along its batch, or other dimensions");
        return;
    }
    for (int d = 0; d < shape.rank; d++)
        batch.dims[d] = d == 0 ? shape.dims[0] : 1;
    at = mo_onnx_count_along(b, 0, shape.dims[axis], axis, shape.rank);
    if (mo_onnx_has(op, 2))
        at = mo_onnx_binary(
            b, "Add", at,
            mo_onnx_reshape(b, mo_onnx_convert(b, mo_onnx_in(op, 2), "i64"),
                            &batch),
            NULL);
    if (circular)
        at = mo_onnx_with_number(b, "FloorMod", at,
                                 (double) mo_onnx_shape(b, cache)->dims[axis]);
    at = mo_onnx_broadcast(b, at, &shape);
    mo_onnx_set_text(b, "reduction", "none");
    mo_onnx_set_bool(b, "use_init_val", true);
    mo_onnx_out(
        op, mo_onnx_add(b, "ScatterElementsUpdate",
                        MO_ONNX_REFS(cache, at, update, mo_onnx_int(b, axis)),
                        4, NULL));
}

/* a sigmoid(alpha a) b. */
void mo_onnx_op_swiglu(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref a = mo_onnx_in(op, 0), gate = a;
    double alpha = mo_onnx_attr_real(op, "alpha", 1);

    if (alpha != 1)
        gate = mo_onnx_with_number(b, "Multiply", gate, alpha);
    gate = mo_onnx_unary(b, "Sigmoid", gate, NULL);
    gate = mo_onnx_binary(b, "Multiply", a, gate, NULL);
    mo_onnx_out(op,
                mo_onnx_binary(b, "Multiply", gate, mo_onnx_in(op, 1), NULL));
}

/* A convolution of each channel with what came before, which is a state. */
void mo_onnx_op_causal_conv(mo_onnx_op *op)
{
    mo_onnx_builder *b = op->b;
    mo_onnx_ref x = mo_onnx_in(op, 0), weights = mo_onnx_in(op, 1);
    mo_onnx_ref past = mo_onnx_in(op, 3), y;
    mo_shape shape = *mo_onnx_shape(b, x), state = shape;
    const mo_shape *filter = mo_onnx_shape(b, weights);
    const char *function = mo_onnx_attr_text(op, "activation", "none");
    mo_onnx_window w = { .n = 1, .stride = { 1 }, .dilation = { 1 } };

    if (shape.rank != 3 || filter->rank != 3) {
        mo_onnx_wrong(b, "has an input of %d dimensions", shape.rank);
        return;
    }
    w.kernel[0] = filter->dims[2];
    state.dims[2] = w.kernel[0] - 1;
    if (!mo_onnx_is(past))
        past = mo_onnx_broadcast(b, mo_onnx_number(b, 0, mo_onnx_dtype(b, x)),
                                 &state);
    x = mo_onnx_concat(b, MO_ONNX_REFS(past, x), 2, 2);
    y = mo_onnx_convolve(op, x, weights, &w, shape.dims[1], mo_onnx_in(op, 2));
    if (strcmp(function, "none") != 0)
        y = mo_onnx_unary(b, "Swish", y, NULL);
    if (mo_onnx_uses(op, 1))
        op->outputs[1] =
            mo_onnx_cut(b, x, 2, shape.dims[2], shape.dims[2] + state.dims[2]);
    mo_onnx_out(op, y);
}
