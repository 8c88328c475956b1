# SPDX-License-Identifier: Apache-2.0
"""Random nodes of ONNX operators, for onnx_random.py: a row for each operator
names the function that draws its inputs and attributes."""
import numpy as np
import onnx
from onnx import defs

import onnx_random_moves as moves
import onnx_random_nets as nets
from onnx_random_draw import Drawn, TYPES, number


# One function draws each family.

def unary(d):
    d.data()


def shrink(d):
    d.tame = d.tame or np.dtype(d.type()).kind != "f"
    unary_with(bias=[.4, 1.6], lambd=[.5, 2.])(d)


def unary_with(**ranges):
    def draw(d):
        d.data()
        for key, numbers in ranges.items():
            if d.flag():
                d.attributes[key] = d.pick(*numbers)
    return draw


def broadcast_pair(d):
    shape = d.shape()
    other = [n if d.flag() else 1 for n in shape][d.rng.integers(
        0, len(shape) + 1):]
    return (shape, other) if d.flag() else (other, shape)


def binary(d):
    for shape in broadcast_pair(d):
        d.data(shape)


def shift(d):
    binary(d)
    d.attributes["direction"] = d.pick("LEFT", "RIGHT")
    bits = 8 * d.inputs[1].itemsize
    d.inputs[1] %= np.array(bits, d.inputs[1].dtype)


def mod(d):
    binary(d)
    if d.type().__name__.startswith("float") or d.flag():
        d.attributes["fmod"] = 1
    d.inputs[1][d.inputs[1] == 0] = 3


def divide(d):
    binary(d)
    if np.dtype(d.type()).kind != "f":
        d.inputs[1][d.inputs[1] == 0] = 3


def power(d):
    first, second = broadcast_pair(d)
    d.data(first)
    d.data(second)
    if d.inputs[1].dtype.kind in "iu":
        d.inputs[1] = (d.inputs[1] % 5).astype(d.inputs[1].dtype)
        if d.inputs[0].dtype.kind in "iu":  # the oracles compute in f64
            d.inputs[0] %= d.inputs[0].dtype.type(100)
    elif d.inputs[0].dtype.kind in "iu":  # a NaN is no integer
        d.inputs = [np.abs(d.inputs[0] % 9) + d.inputs[0].dtype.type(1),
                    d.rng.choice([0, .5, 1, 2, 3], d.inputs[1].shape).astype(
                        d.inputs[1].dtype)]


def variadic(d):
    shape = d.shape()
    for _ in range(d.rng.integers(1, 5)):
        d.data([n if d.flag() else 1 for n in shape], 0)


def where(d):
    first, second = broadcast_pair(d)
    d.data(first)
    d.data(second)
    d.data(first)


def clip(d):
    d.data()
    if d.version < 11:
        if d.flag():
            d.attributes["min"] = -1.5
        if d.flag():
            d.attributes["max"] = 2.0
        return
    low, high = np.sort(d.values(d.type(), [2]))
    for bound in low, high:
        if d.flag():
            d.add(np.asarray(bound))
        else:
            d.absent()


def cast(d):
    d.data()
    attribute = d.schema.outputs[0].types
    to = TYPES[d.pick(*sorted(set(attribute) & set(TYPES)))]
    d.attributes["to"] = number(to)
    x, info = d.inputs[0], np.dtype(to)
    if x.dtype.kind == "f" and info.kind in "iu":  # else undefined
        ends = np.iinfo(to)
        low, high = float(ends.min), float(ends.max)
        with np.errstate(all="ignore"):
            inside = (x >= low) & (x < high) & np.isfinite(x)
        d.inputs[0] = np.where(inside, x, x.dtype.type(1)).reshape(x.shape)


def reduce(d):
    # Means and norms of large integers, and logarithms of negative ones, are
    # defined by their rounding only.
    if np.dtype(d.type()).kind in "iu" and d.kind in (
            "ReduceMean", "ReduceL2", "ReduceLogSum"):
        d.tame = True
    if d.kind == "ReduceLogSumExp":
        d.of(np.float16, np.float32, np.float64)
    if np.dtype(d.type()).kind == "f" and d.kind not in (
            "ReduceMax", "ReduceMin"):
        d.mild()
    shape = d.shape(d.rng.integers(1, 5))
    d.data(shape)
    if d.kind == "ReduceLogSum":
        d.inputs[0] = np.abs(d.inputs[0]) + d.type()(1)
    d.attributes["keepdims"] = int(d.flag())
    since = 13 if d.kind == "ReduceSum" else 18
    axes = [int(a) for a in d.rng.permutation(len(shape))[
        :d.rng.integers(0, len(shape) + 1)]]
    if not axes:
        if d.version >= since and d.flag():
            d.attributes["noop_with_empty_axes"] = 1
        return
    if d.version >= since:
        d.ints(axes)
    else:
        d.attributes["axes"] = axes


def arg_extreme(d):
    shape = d.shape(d.rng.integers(1, 4))
    d.data(shape)
    d.attributes.update(axis=d.axis(len(shape)), keepdims=int(d.flag()))
    if d.version >= 12:
        d.attributes["select_last_index"] = int(d.flag())


def cumulate(d):
    shape = d.shape(d.rng.integers(1, 4))
    d.data(shape)
    d.ints(d.axis(len(shape)), d.pick(np.int32, np.int64))
    d.attributes.update(exclusive=int(d.flag()), reverse=int(d.flag()))


def along_axis(d):
    shape = d.shape(d.rng.integers(1, 4))
    d.data(shape)
    if d.inputs[0].dtype.kind == "f":  # what a NaN does is not defined
        x = d.inputs[0]
        d.inputs[0] = np.where(np.isnan(x) | np.isposinf(x), x.dtype.type(1),
                               x)
    d.attributes["axis"] = d.axis(len(shape)) if d.version >= 11 else \
        int(d.rng.integers(len(shape)))


def top_k(d):
    shape = d.shape(d.rng.integers(1, 4))
    d.data(shape)
    axis = d.axis(len(shape)) if d.version >= 11 else \
        int(d.rng.integers(len(shape)))
    k = int(d.rng.integers(1, shape[axis] + 1))
    d.attributes["axis"] = axis
    if d.version >= 11:
        d.attributes["largest"] = int(d.flag())
    if d.version >= 10:
        d.ints([k])
    else:
        d.attributes["k"] = k
    d.n_outputs = 2


def matmul(d):
    n = int(d.rng.integers(1, 6))
    d.mild()
    d.data([*d.shape(d.rng.integers(0, 2)), 3, n])
    d.data([n, 2])


def gemm(d):
    d.mild()
    m, n, k = d.shape(3)
    turn = d.flag(), d.flag()
    d.data([k, m] if turn[0] else [m, k])
    d.data([n, k] if turn[1] else [k, n])
    if d.version < 11 or d.flag():
        d.data(d.pick([n], [m, n], [1], [m, 1]))
    d.attributes.update(transA=int(turn[0]), transB=int(turn[1]))
    if np.dtype(d.type()).kind == "f":
        d.attributes.update(alpha=d.pick(1.0, .5), beta=d.pick(1.0, 2.0, 0.0))


def window(d, kernel):
    d.attributes["strides"] = [int(n) for n in d.rng.integers(1, 3,
                                                              len(kernel))]
    d.attributes["dilations"] = [int(n) for n in d.rng.integers(
        1, 3, len(kernel))]
    if d.flag():
        d.attributes["pads"] = [int(d.rng.integers(0, n)) for n in kernel * 2]


def conv(d):
    d.mild()
    spatial = d.pick(1, 2)
    group = d.pick(1, 2)
    channels, filters = group * 2, group * int(d.rng.integers(1, 3))
    kernel = d.shape(spatial, 3)
    d.data([1, channels, *[7] * spatial])
    weights = [filters, channels // group] if d.kind == "Conv" else \
        [channels, filters // group]
    if d.kind == "Conv":
        d.tame = True
    d.data(weights + kernel)
    if d.flag():
        d.data([filters])
    d.attributes["group"] = group
    window(d, kernel)


def pool(d):
    d.mild()
    spatial = d.pick(1, 2)
    kernel = d.shape(spatial, 3)
    d.data([1, 2, *[7] * spatial])
    if d.kind == "MaxPool":  # what a NaN does is not defined; of windows of
        x = d.inputs[0]      # -inf alone, ONNX Runtime gives the least number
        d.inputs[0] = np.where(np.isfinite(x) | (x > 0), x, x.dtype.type(0))
    d.attributes["kernel_shape"] = kernel
    window(d, kernel)
    if d.kind == "AveragePool" and d.version < 19 or \
            d.kind == "LpPool" and d.version < 18 or \
            d.kind == "MaxPool" and d.version < 10:
        d.attributes.pop("dilations")
    if d.version >= (22 if d.kind != "MaxPool" else 10) and d.flag():
        d.attributes["ceil_mode"] = 1
    if d.kind == "AveragePool":
        d.attributes["count_include_pad"] = int(d.flag())


def global_pool(d):
    d.mild()
    d.data([2, 3, *d.shape(2)])


def batch_norm(d):
    d.mild()
    d.data([2, 3, *d.shape(d.rng.integers(0, 3))])
    d.tame = True  # infinite parameters depend on the order of the terms
    for i in range(1, 5):
        d.data([3], i)
    d.inputs[4] = np.abs(d.inputs[4])


def instance_norm(d):
    d.mild()
    d.data([2, 3, *d.shape(2)])
    for _ in range(2):
        d.data([3])


def layer_norm(d):
    d.tame = True
    shape = d.shape(3)
    axis = int(d.rng.integers(3))
    d.data(shape)
    d.data(shape[axis:])
    if d.flag():
        d.data(shape[axis:])
    d.attributes["axis"] = axis


def normalization(d):
    d.tame = True
    shape = d.shape(3)
    d.data(shape)
    d.attributes.update(axis=d.axis(3), p=d.pick(1, 2))


def lrn(d):
    d.tame = True
    d.data([1, 5, 2, 3])
    d.attributes["size"] = d.pick(1, 3, 5)


def resize(d):
    d.mild()
    shape = [1, 1, *d.shape(2, 6)]
    mode = d.pick("nearest", "linear", "cubic") if d.version >= 11 else \
        d.pick("nearest", "linear")
    if mode != "nearest" or d.version < 11:
        d.of(np.float32)
        d.tame = True  # the oracles multiply infinities with weights of zero
    d.data(shape)
    d.attributes["mode"] = mode
    by_sizes = d.version >= 11 and d.flag()
    if d.version >= 11:
        d.attributes["coordinate_transformation_mode"] = d.pick(*[
            "half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners",
            *(["half_pixel_symmetric"] if d.version >= 19 else [])])
        d.attributes["nearest_mode"] = d.pick("round_prefer_floor", "floor",
                                              "round_prefer_ceil", "ceil")
        d.absent() if d.version >= 13 else d.add(np.zeros(0, np.float32), True)
        if d.version >= 18 and mode != "nearest":
            d.attributes["antialias"] = int(d.flag())
        if mode == "cubic" and not d.attributes.get("antialias") and d.flag():
            d.attributes["exclude_outside"] = 1  # with both, oracles disagree
    scales = [1, 1, *(d.pick(.5, .6, .8, 1, 1.25, 1.3, 2, 2.5, 3)
                      for _ in range(2))]
    sizes = [1, 1, *(int(n) for n in d.rng.integers(1, 9, 2))]
    scales = [s if int(n * np.float32(s)) > 0 else 1.
              for s, n in zip(scales, shape)]
    if d.version < 11:  # ONNX Runtime copies what keeps its size
        scales = [1. if int(n * np.float32(s)) == n else s
                  for s, n in zip(scales, shape)]
    if by_sizes:
        d.absent() if d.version >= 13 else d.add(np.zeros(0, np.float32), True)
        d.ints(sizes)
        if d.version >= 18:
            d.attributes["keep_aspect_ratio_policy"] = d.pick(
                "stretch", "stretch", "not_larger", "not_smaller")
    else:
        d.ints(scales, np.float32)


def quantize(d):
    d.of(np.float32)
    shape = d.shape(2)
    d.data(shape)
    d.inputs[0][np.isnan(d.inputs[0])] = 0
    d.add(np.abs(d.rng.normal(0, .3, [])).astype(np.float32) + np.float32(.1))
    d.add(np.array(d.rng.integers(0, 9), d.pick(np.uint8, np.int8)))


def dequantize(d):
    shape = d.shape(2)
    d.of(np.uint8, np.int8, np.int32)
    d.data(shape)
    d.add(np.array(.25, np.float32))
    if d.type() != np.int32 and d.flag():
        d.add(np.array(d.rng.integers(0, 9), d.type()))


def dynamic_quantize(d):
    d.tame = True
    d.data()
    d.n_outputs = 3


def grid_sample(d):
    d.mild()
    d.of(np.float32)
    d.data([1, 2, *d.shape(2, 6)])
    d.add((d.rng.random([1, 3, 4, 2]) * 2.4 - 1.2).astype(np.float32))
    linear, cubic = ("linear", "cubic") if d.version >= 20 else \
        ("bilinear", "bicubic")
    d.attributes.update(mode=d.pick(linear, "nearest", cubic),
                        align_corners=int(d.flag()),
                        padding_mode=d.pick("zeros", "border", "reflection"))


def prelu(d):
    shape = d.shape()
    d.data(shape)
    d.data([n if d.flag() else 1 for n in shape][d.rng.integers(
        0, len(shape) + 1):])


def known_only(d):
    d.data(d.shape(d.rng.integers(1, 3)))
    d.known.add(0)
    if d.kind == "Unique":
        d.n_outputs = 4


def constant_of_shape(d):
    d.ints(d.shape())
    dtype = TYPES[d.pick(*sorted(set(d.schema.outputs[0].types) & set(TYPES)))]
    d.attributes["value"] = onnx.numpy_helper.from_array(d.values(dtype, [1]))


def compress(d):
    shape = d.shape(d.rng.integers(1, 4))
    axis = int(d.rng.integers(len(shape)))
    d.data(shape)
    d.add(d.rng.integers(0, 2, shape[axis]).astype(bool), True)
    d.attributes["axis"] = axis


def reverse_sequence(d):
    shape = d.shape(3)
    d.data(shape)
    d.ints([int(n) for n in d.rng.integers(1, shape[0] + 1, shape[1])])
    d.attributes.update(time_axis=0, batch_axis=1)


def is_inf(d):
    d.data()
    d.attributes.update(detect_negative=int(d.flag()),
                        detect_positive=int(d.flag()))


def group_norm(d):
    d.mild()
    d.data([2, 4, *d.shape(2)])
    n = 4 if d.version >= 21 else 2
    for _ in range(2):
        d.data([n])
    d.attributes["num_groups"] = 2


ROWS = {
    **nets.ROWS,
    **dict.fromkeys(
        """Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Cos Cosh Erf Exp
        Floor HardSwish Identity IsNaN Log Mish Neg Not Reciprocal Relu Round
        Sigmoid Sign Sin Sinh Size Shape Softplus Softsign Sqrt Tan
        Tanh""".split(), unary),
    **dict.fromkeys(
        """Add And BitwiseAnd BitwiseOr BitwiseXor Equal Greater GreaterOrEqual
        Less LessOrEqual Mul Or Sub Xor""".split(), binary),
    **dict.fromkeys("Max Min Mean Sum".split(), variadic),
    **dict.fromkeys(
        """ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean
        ReduceMin ReduceProd ReduceSum ReduceSumSquare""".split(), reduce),
    "ArgMax": arg_extreme, "ArgMin": arg_extreme, "AveragePool": pool,
    "BatchNormalization": batch_norm, "BitShift": shift, "Cast": cast,
    "Celu": unary_with(alpha=[.5, 2., -.5]), "Clip": clip,
    "Compress": compress, "Concat": moves.concat,
    "ConstantOfShape": constant_of_shape, "Conv": conv,
    "ConvTranspose": conv, "CumSum": cumulate, "CumProd": cumulate,
    "DepthToSpace": moves.space,
    "DequantizeLinear": dequantize, "Div": divide,
    "DynamicQuantizeLinear": dynamic_quantize, 
    "Elu": unary_with(alpha=[.5, 2., -.5]), "Expand": moves.expand,
    "EyeLike": moves.eye, "Flatten": moves.flatten, "Gather": moves.gather,
    "GatherElements": moves.gather_elements, "GatherND": moves.gather_nd,
    "Gelu": unary_with(approximate=["none", "tanh"]), "Gemm": gemm,
    "GlobalAveragePool": global_pool, "GlobalMaxPool": global_pool,
    "GlobalLpPool": global_pool, "GridSample": grid_sample,
    "GroupNormalization": group_norm,
    "HardSigmoid": unary_with(alpha=[.1, .5], beta=[.2, .9]),
    "Hardmax": along_axis, "InstanceNormalization": instance_norm,
    "IsInf": is_inf, "LRN": lrn, "LayerNormalization": layer_norm,
    "LeakyRelu": unary_with(alpha=[.1, -.5, 2.]), "LogSoftmax": along_axis,
    "LpNormalization": normalization, "LpPool": pool, "MatMul": matmul,
    "MatMulInteger": matmul, "MaxPool": pool, "Mod": mod,
    "NonZero": known_only, "OneHot": moves.one_hot, "PRelu": prelu,
    "Pad": moves.pad,
    "Pow": power, "QuantizeLinear": quantize, "Range": moves.range_,
    "Reshape": moves.reshape, "Resize": resize,
    "ReverseSequence": reverse_sequence,
    "ScatterElements": moves.scatter_elements, "ScatterND": moves.scatter_nd,
    "Selu": unary_with(alpha=[1., 2.], gamma=[1., .5]),
    "Shrink": shrink, "Slice": moves.slice_,
    "Softmax": along_axis, "SpaceToDepth": moves.space, "Split": moves.split,
    "Squeeze": moves.squeeze,
    "ThresholdedRelu": unary_with(alpha=[1., -1., 2.5]), "Tile": moves.tile,
    "TopK": top_k, "Transpose": moves.transpose, "Trilu": moves.trilu,
    "Unique": known_only, "Unsqueeze": moves.squeeze, "Where": where,
}


def draw(rng, kind, version, tame):
    """Returns a node of that operator, or None: it is not in that version."""
    if not defs.has(kind, version, ""):
        return None
    made = Drawn(rng, kind, version, tame)
    if made.schema.deprecated:
        return None
    ROWS[kind](made)
    return made
