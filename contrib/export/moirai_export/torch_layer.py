# SPDX-License-Identifier: Apache-2.0
"""Whole layers of transformers, which PyTorch computes as one ATen op in
inference."""
import math

from . import ops


def linear(g, x, weight, bias):
    """x W' + b."""
    y = ops.matmul(g, x, weight, transpose_b=True)
    return ops.point(g, "Add", y, bias) if bias else y


def projections(op, given):
    """Queries, keys and values by head: [batch, heads, length, width]."""
    g, heads = op.g, op["num_heads" if "num_heads" in op.args else "num_head"]
    weight, bias = op.value("qkv_weight"), op.value("qkv_bias")
    if given[0] is given[1] and given[1] is given[2]:
        whole = linear(g, given[0], weight, bias)
        made = ops.split(g, whole, -1, [whole.shape[-1] // 3] * 3)
    else:
        weights, biases = (ops.split(g, x, 0, [x.shape[0] // 3] * 3)
                           for x in (weight, bias))
        made = [linear(g, *part) for part in zip(given, weights, biases)]
    shape = (heads, made[0].shape[-1] // heads)
    return [ops.transpose(g, ops.reshape(g, x, x.shape[:2] + shape),
                          [0, 2, 1, 3]) for x in made]


def additive_mask(op, dtype):
    """Minus infinity where the mask is not zero; None without one.  It is by
    query and key, by batch and key, or by all and head."""
    mask = op.value("mask")
    if mask is None:
        return None
    if mask.rank == 2:
        axes = [1, 2] if op.get("mask_type") == 1 else [0, 1]
        mask = ops.unsqueeze(op.g, mask, axes)
    return ops.select(op.g, ops.convert(op.g, mask, "boolean"),
                      op.g.scalar(-math.inf, dtype), op.g.scalar(0, dtype))


def attention(op, given):
    """The projected result, and the weights of all heads."""
    g = op.g
    query, key, value = projections(op, given)
    query = ops.with_number(g, "Multiply", query, query.shape[-1] ** -0.5)
    scores = ops.matmul(g, query, key, transpose_b=True)
    mask = additive_mask(op, scores.dtype)
    if mask:
        scores = ops.point(g, "Add", scores, mask)
    weights = ops.softmax(g, scores, -1)
    y = ops.transpose(g, ops.matmul(g, weights, value), [0, 2, 1, 3])
    y = ops.reshape(g, y, y.shape[:2] + (y.shape[2] * y.shape[3],))
    return linear(g, y, op.value("proj_weight"), op.value("proj_bias")), weights


def multi_head_attention(op):
    y, weights = attention(op, [op.value(name)
                                for name in ("query", "key", "value")])
    if not op.get("need_weights", True):
        return [y, None]
    if op.get("average_attn_weights", True):
        weights = ops.reduce(op.g, "ReduceMean", weights, [1], False)
    return [y, weights]


def encoder_layer(op):
    """Attention and two linear layers, each added to what it reads, with a
    normalization before or after it."""
    def norm(x, number):
        return ops.layer_norm(
            op.g, x, op.value(f"norm_weight_{number}"),
            op.value(f"norm_bias_{number}"), -1, op["eps"])

    def feed_forward(x):
        x = linear(op.g, x, op.value("ffn_weight_1"), op.value("ffn_bias_1"))
        x = ops.point(op.g, "Gelu", x, approximation_mode="ERF") \
            if op["use_gelu"] else ops.point(op.g, "ReLU", x)
        return linear(op.g, x, op.value("ffn_weight_2"),
                      op.value("ffn_bias_2"))

    x = op.value("src")
    if op["norm_first"]:
        x = ops.point(op.g, "Add", x, attention(op, [norm(x, 1)] * 3)[0])
        return ops.point(op.g, "Add", x, feed_forward(norm(x, 2)))
    x = norm(ops.point(op.g, "Add", x, attention(op, [x] * 3)[0]), 1)
    return norm(ops.point(op.g, "Add", x, feed_forward(x)), 2)


TABLE = {
    "_native_multi_head_attention": multi_head_attention,
    "_transformer_encoder_layer_fwd": encoder_layer,
}
