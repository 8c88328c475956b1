# SPDX-License-Identifier: Apache-2.0
"""Operators that ONNX has and OpenVINO lacks, for ops_oracle.py: the oracle is
onnx's reference evaluator, or their definition in numpy."""
import numpy as np
import onnx
import openvino.opset15 as ops
from onnx import helper
from onnx.reference import ReferenceEvaluator

from ops_case import case

OPSET = 21


def evaluate(kind, values, attributes):
    """Returns the first output of one node."""
    names = ["x%d" % i for i in range(len(values))]
    node = helper.make_node(kind, names, ["y"], **attributes)
    ports = [helper.make_tensor_value_info(
        n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
        for n, v in zip(names, values)]
    made = helper.make_tensor_value_info("y", onnx.TensorProto.UNDEFINED, None)
    model = helper.make_model(
        helper.make_graph([node], "g", ports, [made]),
        opset_imports=[helper.make_opsetid("", OPSET)])
    return np.asarray(ReferenceEvaluator(model).run(
        None, dict(zip(names, values)))[0])


def by_onnx(c, kind, arrays, attributes, of_onnx=None):
    """The operator with these inputs; of_onnx: its attributes in ONNX, where
    they have other names."""
    of_onnx = attributes if of_onnx is None else of_onnx
    inputs = [c.given(a) for a in arrays]
    wanted = evaluate(kind, arrays, of_onnx)
    return c.by_definition(
        c.stands_for(kind, inputs, attributes, ops.constant(wanted)),
        lambda *values: [evaluate(kind, list(values), of_onnx)])


# Quantized

def levels(c, shape, dtype):
    info = np.iinfo(dtype)
    return np.asarray(c.numbers.randint(info.min, info.max + 1, shape), dtype)


def scales(c, shape, low=0.01, high=0.1):
    return c.some(shape, "f32", low, high)


def bytes_of(c):
    return c.choice([np.uint8, np.int8])


def along_axis(c, shape):
    """The shape of scales for axis, and axis; () for all."""
    axis = c.randrange(len(shape))
    return ([], 1) if c.flag() else ([shape[axis]], axis)


@case("QuantizeLinear")
def _(c):
    shape = c.dims(c.randint(1, 4), 1, 6)
    of, axis = along_axis(c, shape)
    dtype = c.choice([np.uint8, np.int8, np.uint16, np.int16])
    return by_onnx(c, "QuantizeLinear",
                   [c.some(shape, "f32", -20, 20), scales(c, of),
                    levels(c, of, dtype)], {"axis": axis})


@case("DequantizeLinear")
def _(c):
    shape = c.dims(c.randint(1, 4), 1, 6)
    of, axis = along_axis(c, shape)
    dtype = c.choice([np.uint8, np.int8, np.uint16, np.int16])
    inputs = [levels(c, shape, dtype), scales(c, of), levels(c, of, dtype)]
    return by_onnx(c, "DequantizeLinear", inputs[:c.randint(2, 3)],
                   {"axis": axis})


@case("DequantizeLinear")
def _(c):
    """Blocks of 2 along an axis."""
    shape = c.dims(c.randint(2, 3), 1, 5)
    axis = c.randrange(len(shape))
    blocks = list(shape)
    shape[axis] *= 2
    return by_onnx(c, "DequantizeLinear",
                   [levels(c, shape, np.int8), scales(c, blocks),
                    levels(c, blocks, np.int8)],
                   {"axis": axis, "block_size": 2})


def numbers_of(blocks, size, number_bytes):
    """Rows of blocks of GGUF as numbers: a scale of f16, and 32 numbers."""
    shape = list(blocks.shape[:-1]) + [-1]
    parts = blocks.reshape(-1, 2 + number_bytes)
    scale = parts[:, :2].copy().view(np.float16).astype(np.float32)
    bytes = parts[:, 2:]
    whole = np.concatenate([bytes & 15, bytes >> 4], axis=1).astype(
        np.float32) - 8 if size == 4 else bytes.view(np.int8).astype(np.float32)
    return (scale * whole).reshape(shape)


@case("DequantizeBlocks")
def _(c):
    name, size, number_bytes = c.choice([("q8_0", 8, 32), ("q4_0", 4, 16)])
    n = c.randint(1, 5)
    shape = c.dims(c.randint(0, 2), 1, 4) + [n, 2 + number_bytes]
    blocks = levels(c, shape, np.uint8)
    blocks[..., :2] = c.some(shape[:-1] + [1], "f16", -2, 2).view(np.uint8)
    rows = blocks.reshape(shape[:-2] + [-1])
    return c.by_definition(
        c.stands_for("DequantizeBlocks", [c.given(rows)], {"format": name},
                     ops.constant(numbers_of(rows, size, number_bytes))),
        lambda *values: [numbers_of(values[0], size, number_bytes)])


@case("DynamicQuantizeLinear")
def _(c):
    shape = c.dims(c.randint(1, 4), 1, 6)
    low = c.choice([-3, 0.5, -9])
    return by_onnx(c, "DynamicQuantizeLinear",
                   [c.some(shape, "f32", low, low + 4)], {})


def matrices(c):
    m, k, n = c.dims(3, 1, 9)
    k = c.choice([k, k, 700])
    batch = c.dims(c.randint(0, 2), 1, 3)
    return batch + [m, k], (batch if c.flag() else []) + [k, n]


@case("MatMulInteger")
def _(c):
    left, right = matrices(c)
    a, b = bytes_of(c), bytes_of(c)
    inputs = [levels(c, left, a), levels(c, right, b), levels(c, [], a),
              levels(c, c.choice([[], [right[-1]]]), b)]
    return by_onnx(c, "MatMulInteger", inputs[:c.choice([2, 4])], {})


@case("QLinearMatMul")
def _(c):
    left, right = matrices(c)
    a, b, y = bytes_of(c), bytes_of(c), bytes_of(c)
    return by_onnx(c, "QLinearMatMul", [
        levels(c, left, a), scales(c, []), levels(c, [], a),
        levels(c, right, b), scales(c, []), levels(c, [], b),
        scales(c, [], 1, 9), levels(c, [], y)], {})


def windows(c):
    """Shapes of data and weights, and attributes in both forms."""
    groups = c.choice([1, 1, 2])
    spatial = c.randint(1, 2)
    kernel = c.dims(spatial, 1, 3)
    data = [c.randint(1, 2), groups * c.randint(1, 3)] + c.dims(spatial, 6, 9)
    weights = [groups * c.randint(1, 3), data[1] // groups] + kernel
    strides, dilations = c.dims(spatial, 1, 2), c.dims(spatial, 1, 2)
    begin, end = c.dims(spatial, 0, 2), c.dims(spatial, 0, 2)
    text = {k: ",".join(map(str, v)) for k, v in (
        ("strides", strides), ("dilations", dilations), ("pads_begin", begin),
        ("pads_end", end))}
    return data, weights, {**text, "group": groups}, {
        "strides": strides, "dilations": dilations, "pads": begin + end,
        "group": groups, "kernel_shape": kernel}


@case("ConvInteger")
def _(c):
    data, weights, ours, theirs = windows(c)
    a, b = bytes_of(c), bytes_of(c)
    return by_onnx(c, "ConvInteger",
                   [levels(c, data, a), levels(c, weights, b),
                    levels(c, [], a), levels(c, [], b)], ours, theirs)


@case("QLinearConv")
def _(c):
    data, weights, ours, theirs = windows(c)
    a, y = bytes_of(c), bytes_of(c)
    inputs = [levels(c, data, a), scales(c, []), levels(c, [], a),
              levels(c, weights, np.int8), scales(c, []),
              levels(c, [], np.int8), scales(c, [], 1, 9), levels(c, [], y),
              np.asarray(c.numbers.randint(-999, 999, [weights[0]]), np.int32)]
    return by_onnx(c, "QLinearConv", inputs[:c.randint(8, 9)], ours, theirs)
