# SPDX-License-Identifier: Apache-2.0
"""ONNX operators for quantization and dequantization."""
from . import ops
from .graph import Unsupported

RANGES = {"i8": (-128, 127), "u8": (0, 255), "i16": (-32768, 32767),
          "u16": (0, 65535)}


def along(op, i, x):
    """Input i, one number or one for each element of an axis, so that it
    broadcasts over x."""
    value = op.value(i)
    if op.attr("block_size", 0):
        raise Unsupported("is quantized by blocks")
    if value.rank == 0 or value.shape == (1,):
        return ops.reshape(op.g, value, ())
    axis = ops.axis_of(op.attr("axis", 1), x.rank)
    shape = [1] * x.rank
    shape[axis] = x.shape[axis]
    return ops.reshape(op.g, value, shape)


def dequantize(op):
    """(x - zero) scale, in the type of the scale."""
    x, scale = op.value(0), along(op, 1, op.value(0))
    y = ops.convert(op.g, x, scale.dtype)
    if op.has(2):
        zero = ops.convert(op.g, along(op, 2, x), scale.dtype)
        y = ops.point(op.g, "Subtract", y, zero)
    return ops.point(op.g, "Multiply", y, scale)


def quantize(op):
    """x / scale to the nearest, plus zero, within what the type holds."""
    x, scale = op.value(0), along(op, 1, op.value(0))
    dtype = op.value(2).dtype if op.has(2) else "u8"
    if dtype not in RANGES or x.dtype != scale.dtype:
        raise Unsupported(f"turns {x.dtype} into {dtype}")
    y = ops.point(op.g, "Divide", x, scale)
    y = ops.point(op.g, "Round", y, mode="half_to_even")
    if op.has(2):
        zero = ops.convert(op.g, along(op, 2, x), x.dtype)
        y = ops.point(op.g, "Add", y, zero)
    return ops.convert(op.g, ops.clamp(op.g, y, *RANGES[dtype]), dtype)


TABLE = {"DequantizeLinear": dequantize, "QuantizeLinear": quantize}
