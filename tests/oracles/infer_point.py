# SPDX-License-Identifier: Apache-2.0
"""Cases of infer_models.py: elementwise operators, normalizations and others
that keep the shape.
"""
import numpy as np
import openvino.opset1 as opset1
import openvino.opset5 as opset5
import openvino.opset15 as ops

from infer_case import case, const, data, ints, node

# Elementwise

UNARY = {
    "Abs": ops.abs, "Acos": ops.acos, "Acosh": ops.acosh, "Asin": ops.asin,
    "Asinh": ops.asinh, "Atan": ops.atan, "Atanh": ops.atanh,
    "Ceiling": ops.ceiling, "Cos": ops.cos, "Cosh": ops.cosh, "Erf": ops.erf,
    "Exp": ops.exp, "Floor": ops.floor, "HSigmoid": ops.hsigmoid,
    "HSwish": ops.hswish, "IsFinite": ops.is_finite, "IsInf": ops.is_inf,
    "IsNaN": ops.is_nan, "Log": ops.log, "Mish": ops.mish,
    "Negative": ops.negative, "ReLU": ops.relu, "Sigmoid": ops.sigmoid,
    "Sign": ops.sign, "Sin": ops.sin, "Sinh": ops.sinh,
    "SoftPlus": ops.softplus, "SoftSign": ops.softsign, "Sqrt": ops.sqrt,
    "Tan": ops.tan, "Tanh": ops.tanh,
}

for name, make_unary in UNARY.items():
    case(name)(lambda r, make=make_unary: make(data(r.shape(0))))

BINARY = {
    "Add": ops.add, "Divide": ops.divide, "Equal": ops.equal,
    "FloorMod": ops.floor_mod, "Greater": ops.greater,
    "GreaterEqual": ops.greater_equal, "Less": ops.less,
    "LessEqual": ops.less_equal, "Maximum": ops.maximum,
    "Minimum": ops.minimum, "Mod": ops.mod, "Multiply": ops.multiply,
    "NotEqual": ops.not_equal, "Power": ops.power,
    "SquaredDifference": ops.squared_difference, "Subtract": ops.subtract,
}
LOGICAL = {
    "LogicalAnd": ops.logical_and, "LogicalOr": ops.logical_or,
    "LogicalXor": ops.logical_xor,
}
BITWISE = {
    "BitwiseAnd": ops.bitwise_and, "BitwiseOr": ops.bitwise_or,
    "BitwiseXor": ops.bitwise_xor,
    "BitwiseLeftShift": ops.bitwise_left_shift,
    "BitwiseRightShift": ops.bitwise_right_shift,
}


def binary(r, make, dtype):
    left = r.shape(0)
    right = r.like(left)
    if r.flag():
        left, right = right, left
    if r.random() < 0.2:
        return make(data(left, dtype), data(left, dtype), "none")
    return make(data(left, dtype), data(right, dtype), "numpy")


for table, kind in ((BINARY, np.float32), (LOGICAL, np.bool_),
                    (BITWISE, np.int32)):
    for name, make_binary in table.items():
        case(name)(lambda r, make=make_binary, kind=kind:
                   binary(r, make, kind))


@case("LogicalNot")
def _(r):
    return ops.logical_not(data(r.shape(0), np.bool_))


@case("BitwiseNot")
def _(r):
    return ops.bitwise_not(data(r.shape(0), np.int32))


@case("Clamp")
def _(r):
    return ops.clamp(data(r.shape(0)), 0.0, 6.0)


@case("Convert")
def _(r):
    return ops.convert(data(r.shape(0)), r.choice(["i32", "f16", "boolean"]))


@case("ConvertLike")
def _(r):
    return ops.convert_like(data(r.shape(0)), data(r.shape(0), np.int32))


@case("Elu")
def _(r):
    return ops.elu(data(r.shape(0)), 1.0)


@case("Gelu")
def _(r):
    return ops.gelu(data(r.shape(0)), r.choice(["erf", "tanh"]))


@case("HardSigmoid")
def _(r):
    return ops.hard_sigmoid(data(r.shape(0)), const(0.2, np.float32),
                            const(0.5, np.float32))


@case("Selu")
def _(r):
    return ops.selu(data(r.shape(0)), const([1.6], np.float32),
                    const([1.0], np.float32))


@case("Round")
def _(r):
    return ops.round(data(r.shape(0)), "half_to_even")


@case("Swish")
def _(r):
    beta = [const(1.0, np.float32)] if r.flag() else []
    return ops.swish(data(r.shape(0)), *beta)


@case("PReLU")
def _(r):
    shape = r.shape(2)
    return ops.prelu(data(shape), data([shape[1]]))


@case("Select")
def _(r):
    shape = r.shape(0)
    return ops.select(data(r.like(shape), np.bool_), data(r.like(shape)),
                      data(shape))


@case("FakeQuantize")
def _(r):
    shape = r.shape(2)
    limit = [1, shape[1]] + [1] * (len(shape) - 2)
    return ops.fake_quantize(data(shape), data(limit), data(limit),
                             data([1]), data([1]), 256)


# Normalizations and others that keep the shape

@case("BatchNormInference")
def _(r):
    shape = r.shape(2)
    channel = [data([shape[1]]) for _ in range(4)]
    opset = r.choice([opset1, opset5])
    return opset.batch_norm_inference(data(shape), *channel, 1e-5)


@case("MVN")
def _(r):
    shape = r.shape(2)
    return ops.mvn(data(shape), ints(r, r.axes(len(shape), 1)), True, 1e-5,
                   "inside_sqrt")


@case("SoftMax")
def _(r):
    shape = r.shape(1)
    return ops.softmax(data(shape), r.axis(len(shape)))


@case("LogSoftmax")
def _(r):
    shape = r.shape(1)
    return ops.log_softmax(data(shape), r.axis(len(shape)))


@case("NormalizeL2")
def _(r):
    shape = r.shape(2)
    return ops.normalize_l2(data(shape), const([1]), 1e-5, "add")


@case("LRN")
def _(r):
    return ops.lrn(data(r.dims(4)), const([1]))


@case("GRN")
def _(r):
    return ops.grn(data(r.dims(4)), 1e-5)


@case("GroupNormalization")
def _(r):
    shape = r.shape(2)
    shape[1] *= 2
    return ops.group_normalization(data(shape), data([shape[1]]),
                                   data([shape[1]]), 2, 1e-5)


@case("CumSum")
def _(r):
    shape = r.shape(1)
    return ops.cumsum(data(shape), const(r.axis(len(shape))))


@case("Roll")
def _(r):
    shape = r.shape(1)
    axes = r.axes(len(shape), 1)
    return ops.roll(data(shape), const([1] * len(axes)), const(axes))


@case("Reverse")
def _(r):
    shape = r.shape(1)
    return node("opset1", "Reverse", [data(shape), const([0])],
                {"mode": "index"})


@case("ReverseSequence")
def _(r):
    shape = r.shape(2)
    return ops.reverse_sequence(data(shape), data([shape[0]], np.int32), 0, 1)


@case("ShuffleChannels")
def _(r):
    shape = r.dims(4)
    shape[1] *= 2
    return ops.shuffle_channels(data(shape), 1, 2)


@case("ScatterUpdate")
def _(r):
    shape = r.shape(1)
    axis = r.randrange(len(shape))
    indices = r.shape(1, 2)
    updates = shape[:axis] + indices + shape[axis + 1:]
    return ops.scatter_update(data(shape), data(indices, np.int64),
                              data(updates), const(axis))


@case("ScatterNDUpdate")
def _(r):
    shape = r.shape(1)
    depth = r.randint(1, len(shape))
    count = r.shape(1, 2)
    return ops.scatter_nd_update(data(shape), data(count + [depth], np.int32),
                                 data(count + shape[depth:]))


@case("ScatterElementsUpdate")
def _(r):
    shape = r.shape(1)
    small = [r.randint(1, d) for d in shape]
    return ops.scatter_elements_update(data(shape), data(small, np.int32),
                                       data(small), const(0))


@case("SliceScatter")
def _(r):
    length = r.randint(4, 9)
    return ops.slice_scatter(data([length, 2]), data([2, 2]), const([1]),
                             const([3]), const([1]), const([0]))


@case("Bucketize")
def _(r):
    return ops.bucketize(data(r.shape(1)), data([r.randint(1, 5)]), "i32")


@case("SearchSorted")
def _(r):
    shape = r.shape(1)
    values = shape[:-1] + [r.randint(1, 9)]
    return ops.search_sorted(data(shape), data(values))


@case("GatherTree")
def _(r):
    steps = r.dims(3)
    return ops.gather_tree(data(steps), data(steps), data([steps[1]]),
                           const(0, np.float32))


@case("Inverse")
def _(r):
    size = r.randint(1, 4)
    return ops.inverse(data(r.shape(0, 2) + [size, size]))
