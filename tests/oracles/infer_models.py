# SPDX-License-Identifier: Apache-2.0
"""Random models of one operator each, for infer_oracle.py.

CASES maps an operator type to functions that make a random node of it, with
OpenVINO.  "value of ..." are small expressions over shapes, the values of which
become shapes again.
"""
import random

import numpy as np
import openvino.opset1 as opset1
import openvino.opset3 as opset3
import openvino.opset5 as opset5
import openvino.opset8 as opset8
import openvino.opset14 as opset14
import openvino.opset15 as ops
import openvino.opset16 as opset16
from openvino.utils.node_factory import NodeFactory

CASES = {}


def case(*types):
    """Registers a function that makes a random node of these types."""
    def register(make):
        for kind in types:
            CASES.setdefault(kind, []).append(make)
        return make
    return register


class Random(random.Random):
    """Random sizes, and attributes that fit them."""

    def dims(self, rank, low=1, high=9):
        return [self.randint(low, high) for _ in range(rank)]

    def shape(self, low=1, high=5):
        return self.dims(self.randint(low, high))

    def flag(self):
        return self.random() < 0.5

    def axis(self, rank):
        return self.randint(-rank, rank - 1)

    def axes(self, rank, least=0):
        axes = self.sample(range(rank), self.randint(least, rank))
        return [a - rank if self.flag() else a for a in axes]

    def like(self, shape):
        """A shape that broadcasts with this one."""
        keep = self.randint(0, len(shape))
        return [1 if self.random() < 0.3 else d for d in shape[keep:]]


def data(shape, dtype=np.float32):
    return ops.parameter(list(shape), dtype)


def const(values, dtype=np.int64):
    return ops.constant(np.array(values, dtype=dtype))


def weights(shape):
    return ops.constant(np.zeros(shape, dtype=np.float32))


KINDS = {
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
    "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8,
    "f64": np.float64, "f32": np.float32, "f16": np.float16,
    "boolean": np.bool_,
}


def node(opset, kind, inputs, attributes):
    """An operator that OpenVINO's Python has no function for."""
    return NodeFactory(opset).create(
        kind, [i.output(0) for i in inputs], attributes)


def pick_int(r):
    """Integer inputs come in either width."""
    return np.int64 if r.flag() else np.int32


def ints(r, values):
    return const(values, pick_int(r))


# ---- Elementwise

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


# ---- Normalizations and others that keep the shape

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


# ---- Views and moves

@case("Reshape")
def _(r):
    shape = r.shape(1)
    pattern = list(shape)
    r.shuffle(pattern)
    zero = r.flag()
    if zero:
        pattern = [0 if r.random() < 0.4 and i < len(shape) else d
                   for i, d in enumerate(shape)]
    if r.flag() and len(pattern) > 1:
        cut = r.randrange(len(pattern) - 1)
        if 0 not in pattern[cut:]:
            pattern[cut:cut + 2] = [pattern[cut] * pattern[cut + 1]]
    if r.flag():
        free = r.randrange(len(pattern))
        if pattern[free] != 0:
            pattern[free] = -1
    return ops.reshape(data(shape), ints(r, pattern), zero)


@case("Reshape of an empty tensor")
def _(r):
    pattern = r.choice([[0, -1], [-1, 0], [0, 0, 4], [0, 3, -1]])
    shape = r.choice([[0, 4], [4, 0], [0, 3, 4], [2, 0, 4]])
    return ops.reshape(data(shape), ints(r, pattern), r.flag())


@case("Squeeze")
def _(r):
    shape = [1 if r.flag() else d for d in r.shape(1)]
    squeeze = r.choice([opset1.squeeze, ops.squeeze])
    if r.random() < 0.3:
        return ops.squeeze(data(shape))
    ones = [i for i, d in enumerate(shape) if d == 1]
    axes = r.sample(ones, r.randint(0, len(ones)))
    axes = [a - len(shape) if r.flag() else a for a in axes]
    return squeeze(data(shape), ints(r, axes))


@case("Unsqueeze")
def _(r):
    shape = r.shape(0)
    count = r.randint(1, 3)
    axes = r.sample(range(len(shape) + count), count)
    axes = [a - len(shape) - count if r.flag() else a for a in axes]
    return ops.unsqueeze(data(shape), ints(r, axes))


@case("Transpose")
def _(r):
    shape = r.shape(1)
    order = list(range(len(shape)))
    r.shuffle(order)
    if r.random() < 0.2:
        order = []
    return ops.transpose(data(shape), ints(r, order))


@case("Concat")
def _(r):
    shape = r.shape(1)
    axis = r.axis(len(shape))
    parts = []
    for _ in range(r.randint(1, 5)):
        part = list(shape)
        part[axis] = r.randint(0, 5)
        parts.append(data(part))
    return ops.concat(parts, axis)


@case("Split")
def _(r):
    shape = r.shape(1)
    axis = r.axis(len(shape))
    parts = r.randint(1, 4)
    shape[axis] *= parts
    return ops.split(data(shape), ints(r, axis), parts)


@case("VariadicSplit")
def _(r):
    shape = r.shape(1)
    axis = r.axis(len(shape))
    lengths = r.dims(r.randint(1, 4), 0, 4)
    shape[axis] = sum(lengths)
    if r.flag():
        lengths[r.randrange(len(lengths))] = -1
    return ops.variadic_split(data(shape), ints(r, axis), ints(r, lengths))


@case("Tile")
def _(r):
    return ops.tile(data(r.shape(1)), ints(r, r.dims(r.randint(1, 6), 0, 3)))


@case("Broadcast")
def _(r):
    target = r.shape(1)
    shape = r.like(target)
    mode = r.choice(["numpy", "bidirectional", "explicit"])
    if mode != "explicit":
        if mode == "bidirectional":
            target = [1 if r.random() < 0.3 else d for d in target]
        return ops.broadcast(data(shape), ints(r, target), None, mode)
    axes = sorted(r.sample(range(len(target)), r.randint(0, len(target))))
    shape = [target[a] for a in axes]
    return ops.broadcast(data(shape), ints(r, target), ints(r, axes), mode)


@case("Pad")
def _(r):
    shape = [d + 3 for d in r.shape(1)]
    low, mode = r.choice([(-1, "constant"), (0, "reflect"), (0, "edge"),
                          (0, "symmetric")])
    opset = ops if low < 0 else r.choice([opset1, ops])
    return opset.pad(data(shape), ints(r, r.dims(len(shape), low, 2)),
                     ints(r, r.dims(len(shape), low, 2)), mode)


@case("DepthToSpace")
def _(r):
    block = r.randint(1, 3)
    shape = r.dims(r.randint(3, 5), 1, 4)
    shape[1] *= block ** (len(shape) - 2)
    return ops.depth_to_space(data(shape), "blocks_first", block)


@case("SpaceToDepth")
def _(r):
    block = r.randint(1, 3)
    shape = r.dims(r.randint(3, 5), 1, 4)
    shape = shape[:2] + [d * block for d in shape[2:]]
    return ops.space_to_depth(data(shape), "blocks_first", block)


def blocks(r):
    rank = r.randint(3, 5)
    return rank, [1] + r.dims(rank - 1, 1, 3)


@case("SpaceToBatch")
def _(r):
    rank, block = blocks(r)
    begin = [0] + r.dims(rank - 1, 0, 2)
    end = [0] + r.dims(rank - 1, 0, 2)
    shape = [r.randint(1, 4)] + [
        b * r.randint(2, 4) - x - y if b * 2 > x + y else b * 8 - x - y
        for b, x, y in zip(block[1:], begin[1:], end[1:])]
    return ops.space_to_batch(data(shape), const(block), const(begin),
                              const(end))


@case("BatchToSpace")
def _(r):
    rank, block = blocks(r)
    shape = r.dims(rank, 3, 6)
    shape[0] = int(np.prod(block)) * r.randint(1, 3)
    return ops.batch_to_space(data(shape), const(block),
                              const([0] + r.dims(rank - 1, 0, 1)),
                              const([0] + r.dims(rank - 1, 0, 1)))


# ---- Slices and gathers

FAR = [-2 ** 63, -2 ** 31, 2 ** 31 - 1, 2 ** 63 - 1]


def bound(r, dim):
    return r.choice(FAR) if r.random() < 0.2 else r.randint(-dim - 3, dim + 3)


def step(r):
    return r.choice([-3, -2, -1, 1, 1, 1, 2, 3])


@case("Slice")
def _(r):
    shape = r.shape(1)
    axes = r.axes(len(shape), 1)
    start = [bound(r, shape[a]) for a in axes]
    stop = [bound(r, shape[a]) for a in axes]
    steps = [step(r) for _ in axes]
    if r.random() < 0.2:
        return ops.slice(data(shape), const(start), const(stop), const(steps))
    return ops.slice(data(shape), const(start), const(stop), const(steps),
                     const(axes))


@case("StridedSlice")
def _(r):
    shape = r.shape(1)
    count = r.randint(1, len(shape))
    start = [bound(r, shape[d]) for d in range(count)]
    stop = [bound(r, shape[d]) for d in range(count)]

    def mask(chance):
        return [int(r.random() < chance) for _ in range(count)]

    ellipsis = [0] * count
    if r.random() < 0.3:
        ellipsis[r.randrange(count)] = 1
    shrink = mask(0.2)
    start = [r.randint(-shape[d], shape[d] - 1) if shrink[d] else start[d]
             for d in range(count)]
    return ops.strided_slice(
        data(shape), const(start), const(stop),
        const([1 if shrink[d] else step(r) for d in range(count)]), mask(0.3),
        mask(0.3), mask(0.2), shrink, ellipsis)


@case("Gather")
def _(r):
    shape = r.shape(1, 4)
    axis = r.randrange(len(shape))
    batch = r.randint(0, axis)
    indices = shape[:batch] + r.shape(0, 2)
    if batch == 0 or not indices[batch:]:
        batch = 0
    if r.random() < 0.3:
        return opset1.gather(data(shape), data(r.shape(0, 3), np.int32),
                             const(axis))
    given = batch - len(indices) if r.flag() and batch else batch
    return ops.gather(data(shape), data(indices, np.int64),
                      const(axis - len(shape) if r.flag() else axis), given)


@case("GatherElements")
def _(r):
    shape = r.shape(1)
    axis = r.axis(len(shape))
    indices = list(shape)
    indices[axis] = r.randint(1, 9)
    return ops.gather_elements(data(shape), data(indices, np.int32), axis)


@case("GatherND")
def _(r):
    shape = r.shape(1)
    batch = r.randint(0, len(shape) - 1)
    depth = r.randint(1, len(shape) - batch)
    indices = shape[:batch] + r.shape(0, 2) + [depth]
    opset = r.choice([opset5, opset8])
    return opset.gather_nd(data(shape), data(indices, np.int32), batch)


@case("OneHot")
def _(r):
    shape = r.shape(0)
    axis = r.randint(-len(shape) - 1, len(shape))
    return ops.one_hot(data(shape, np.int64), const(r.randint(1, 9)),
                       const(1.0, np.float32), const(0.0, np.float32), axis)


@case("TopK")
def _(r):
    shape = r.shape(1)
    axis = r.axis(len(shape))
    opset = r.choice([opset1, opset3, ops])
    return opset.topk(data(shape), const(r.randint(1, shape[axis])), axis,
                      "max", "value")


@case("EmbeddingBagOffsetsSum")
def _(r):
    return ops.embedding_bag_offsets_sum(
        data(r.shape(2)), data([9], np.int32), data([r.randint(1, 5)],
                                                    np.int32))


@case("EmbeddingBagPackedSum")
def _(r):
    return ops.embedding_bag_packed_sum(data(r.shape(2)),
                                        data(r.dims(2), np.int32))


@case("EmbeddingSegmentsSum")
def _(r):
    count = r.randint(1, 9)
    return ops.embedding_segments_sum(
        data(r.shape(2)), data([count], np.int32), data([count], np.int32),
        const(r.randint(1, 9), np.int32))


# ---- Reductions and matrices

REDUCTIONS = {
    "ReduceL1": ops.reduce_l1, "ReduceL2": ops.reduce_l2,
    "ReduceMax": ops.reduce_max, "ReduceMean": ops.reduce_mean,
    "ReduceMin": ops.reduce_min, "ReduceProd": ops.reduce_prod,
    "ReduceSum": ops.reduce_sum,
}
LOGICAL_REDUCTIONS = {
    "ReduceLogicalAnd": ops.reduce_logical_and,
    "ReduceLogicalOr": ops.reduce_logical_or,
}


def reduction(r, make, dtype):
    shape = r.shape(1)
    return make(data(shape, dtype), ints(r, r.axes(len(shape))), r.flag())


for table, kind in ((REDUCTIONS, np.float32), (LOGICAL_REDUCTIONS, np.bool_)):
    for name, make_reduction in table.items():
        case(name)(lambda r, make=make_reduction, kind=kind:
                   reduction(r, make, kind))


@case("MatMul")
def _(r):
    rows, inner, columns = r.dims(3)
    batch = r.shape(0, 3)
    left = r.like(batch) + [rows, inner]
    right = r.like(batch) + [inner, columns]
    if r.random() < 0.2:
        left = [inner]
    if r.random() < 0.2:
        right = [inner]
    flip_left, flip_right = r.flag(), r.flag()
    if flip_left and len(left) > 1:
        left[-2:] = left[:-3:-1]
    if flip_right and len(right) > 1:
        right[-2:] = right[:-3:-1]
    return ops.matmul(data(left), data(right), flip_left, flip_right)


@case("Einsum")
def _(r):
    size = {label: r.randint(1, 6) for label in "abcdij"}
    equation = r.choice(["ab,bc->ac", "aij,bij->ab", "abcd->dcba", "ii->i",
                         "ij,jk->ik", "abc,abc->", "aB,Bc->cB"])
    size.update({"k": r.randint(1, 6), "B": r.randint(1, 6)})
    terms = equation.split("->")[0].split(",")
    return ops.einsum([data([size[label] for label in term])
                       for term in terms], equation)


@case("Einsum")
def _(r):
    batch = r.shape(0, 3)
    i, j, k = r.dims(3)
    equation = r.choice(["...ij,...jk->...ik", "i...j,j...k->...ik",
                         "...ij,jk...->ik..."])
    parts = []
    for term in equation.split("->")[0].split(","):
        hidden = r.like(batch)
        shape = []
        for label in term.replace("...", "."):
            shape += hidden if label == "." else [{"i": i, "j": j,
                                                   "k": k}[label]]
        parts.append(data(shape))
    return ops.einsum(parts, equation)


@case("ScaledDotProductAttention")
def _(r):
    batch = r.shape(1, 2)
    queries, keys, width, out = r.dims(4)
    inputs = [data(batch + [queries, width]), data(batch + [keys, width]),
              data(batch + [keys, out])]
    causal = r.flag()
    if not causal and r.flag():
        mask = r.choice([[queries, keys], batch + [queries, keys],
                         [1] * len(batch) + [queries, keys], [1, keys]])
        inputs.append(data(mask))
        if r.flag():
            inputs.append(const(0.5, np.float32))
    return ops.scaled_dot_product_attention(*inputs, causal=causal)


# ---- Windows

def window(r, spatial):
    """Strides, pads, dilations and auto_pad."""
    return (r.dims(spatial, 1, 3), r.dims(spatial, 0, 2),
            r.dims(spatial, 0, 2), r.dims(spatial, 1, 2),
            r.choice(["explicit", "explicit", "same_upper", "same_lower",
                      "valid"]))


@case("Convolution")
def _(r):
    spatial = r.randint(1, 3)
    n, c, out = r.dims(3)
    strides, begin, end, dilations, pad = window(r, spatial)
    return ops.convolution(data([n, c] + r.dims(spatial, 5, 16)),
                           weights([out, c] + r.dims(spatial, 1, 3)), strides,
                           begin, end, dilations, pad)


@case("GroupConvolution")
def _(r):
    spatial = r.randint(1, 3)
    n, c, out, groups = r.dims(4, 1, 4)
    strides, begin, end, dilations, pad = window(r, spatial)
    return ops.group_convolution(
        data([n, c * groups] + r.dims(spatial, 5, 16)),
        weights([groups, out, c] + r.dims(spatial, 1, 3)), strides, begin,
        end, dilations, pad)


def backprop(r, make, lead, channels):
    spatial = r.randint(1, 3)
    strides, begin, end, dilations, pad = window(r, spatial)
    wanted = ints(r, r.dims(spatial, 8, 40)) if r.flag() else None
    return make(data([r.randint(1, 3), channels] + r.dims(spatial, 4, 9)),
                weights(lead + r.dims(spatial, 3, 5)), strides, wanted, begin,
                end, dilations, pad, r.dims(spatial, 0, 1))


@case("ConvolutionBackpropData")
def _(r):
    c, out = r.dims(2)
    return backprop(r, ops.convolution_backprop_data, [c, out], c)


@case("GroupConvolutionBackpropData")
def _(r):
    groups, c, out = r.dims(3, 1, 4)
    return backprop(r, ops.group_convolution_backprop_data, [groups, c, out],
                    groups * c)


@case("DeformableConvolution")
def _(r):
    out_rows, out_columns, c, out = r.dims(4, 1, 6)
    return ops.deformable_convolution(
        data([1, c, out_rows + 2, out_columns + 2]),
        data([1, 18, out_rows, out_columns]), weights([out, c, 3, 3]), [1, 1],
        [0, 0], [0, 0], [1, 1])


def pool_shape(r, spatial):
    return r.dims(2, 1, 4) + r.dims(spatial, 4, 20)


@case("MaxPool")
def _(r):
    spatial = r.randint(1, 3)
    strides, begin, end, dilations, pad = window(r, spatial)
    opset = r.choice([opset1, opset8, opset14])
    rounding = r.choice(["floor", "ceil"]
                        + (["ceil_torch"] if opset is opset14 else []))
    kernel = r.dims(spatial, 1, 3)
    begin = [min(p, k - 1) for p, k in zip(begin, kernel)]
    end = [min(p, k - 1) for p, k in zip(end, kernel)]
    shape = data(pool_shape(r, spatial))
    if opset is opset1:
        return opset.max_pool(shape, strides, begin, end, kernel, rounding,
                              pad)
    return opset.max_pool(shape, strides, dilations, begin, end, kernel,
                          rounding, pad)


@case("AvgPool")
def _(r):
    spatial = r.randint(1, 3)
    strides, begin, end, dilations, pad = window(r, spatial)
    opset = r.choice([opset1, opset14, opset16])
    rounding = r.choice(["floor", "ceil"]
                        + (["ceil_torch"] if opset is not opset1 else []))
    kernel = r.dims(spatial, 1, 3)
    begin = [min(p, k - 1) for p, k in zip(begin, kernel)]
    end = [min(p, k - 1) for p, k in zip(end, kernel)]
    shape = data(pool_shape(r, spatial))
    if opset is opset16:
        return opset.avg_pool(shape, strides, begin, end, kernel, r.flag(),
                              rounding, pad, dilations)
    return opset.avg_pool(shape, strides, begin, end, kernel, r.flag(),
                          rounding, pad)


@case("AdaptiveAvgPool")
def _(r):
    spatial = r.randint(1, 3)
    return ops.adaptive_avg_pool(data(pool_shape(r, spatial)),
                                 ints(r, r.dims(spatial)))


@case("AdaptiveMaxPool")
def _(r):
    spatial = r.randint(1, 3)
    return ops.adaptive_max_pool(data(pool_shape(r, spatial)),
                                 ints(r, r.dims(spatial)), "i32")


@case("ExtractImagePatches")
def _(r):
    return ops.extract_image_patches(
        data(r.dims(2) + r.dims(2, 7, 16)), r.dims(2, 1, 3), r.dims(2, 1, 4),
        r.dims(2, 1, 2), r.choice(["valid", "same_upper", "same_lower"]))


@case("Interpolate")
def _(r):
    rank = r.randint(3, 5)
    shape = r.dims(rank, 1, 12)
    axes = sorted(r.sample(range(rank), r.randint(1, rank)))
    pads = r.dims(rank, 0, 2), r.dims(rank, 0, 2)
    if r.flag():
        sizes, how = ints(r, r.dims(len(axes), 1, 20)), "sizes"
    else:
        sizes, how = const([r.choice([0.5, 1 / 3, 1.0, 1.7, 2.0, 3.3])
                            for _ in axes], np.float32), "scales"
    return ops.interpolate(data(shape), sizes, "nearest", how, *pads,
                           axes=const(axes))


@case("Interpolate")
def _(r):
    rank = r.randint(3, 5)
    shape = r.dims(rank, 1, 12)
    axes = sorted(r.sample(range(rank), r.randint(1, rank)))
    how = r.choice(["sizes", "scales"])
    scales = [r.choice([0.5, 1 / 3, 1.7, 2.0]) for _ in axes]
    return node("opset4", "Interpolate",
                [data(shape), const(r.dims(len(axes), 1, 20)),
                 const(scales, np.float32), const(axes)],
                {"mode": "nearest", "shape_calculation_mode": how})


@case("Interpolate")
def _(r):
    rank = r.randint(2, 4)
    axes = r.sample(range(rank), r.randint(1, rank))
    return opset1.interpolate(
        data(r.dims(rank)), const(r.dims(len(axes), 1, 20)),
        {"axes": np.array(axes), "mode": "nearest"})


# ---- The rest

@case("ShapeOf")
def _(r):
    return ops.shape_of(data(r.shape(0)), r.choice(["i32", "i64"]))


@case("Range")
def _(r):
    kind = r.choice(["i64", "i32", "f32"])
    start, stop = r.randint(-9, 9), r.randint(-9, 9)
    by = r.choice([-3, -2, -1, 1, 2, 3])
    if kind == "f32":
        start, stop, by = start + 0.5, stop + 0.25, by * 0.3
    ends = [const(x, KINDS[kind]) for x in (start, stop, by)]
    if r.random() < 0.2:
        return node("opset1", "Range", ends, {})
    return ops.range(*ends, r.choice([kind, "i64", "f32"]))


@case("Eye")
def _(r):
    batch = [const(r.dims(r.randint(1, 3)))] if r.flag() else []
    return ops.eye(const(r.randint(1, 9)), const(r.randint(1, 9)), const(0),
                   "f32", *batch)


@case("RandomUniform")
def _(r):
    return ops.random_uniform(const(r.shape(1)), const(0.0, np.float32),
                              const(1.0, np.float32), "f32")


def states(r, gates, cell):
    hidden, width, batch = r.dims(3)
    inputs = [data([batch, width])]
    inputs += [data([batch, hidden]) for _ in range(2 if cell else 1)]
    inputs += [weights([gates * hidden, width]),
               weights([gates * hidden, hidden]), weights([gates * hidden])]
    return inputs, hidden


@case("LSTMCell")
def _(r):
    inputs, hidden = states(r, 4, True)
    return ops.lstm_cell(*inputs, hidden)


@case("GRUCell")
def _(r):
    inputs, hidden = states(r, 3, False)
    return ops.gru_cell(*inputs, hidden)


@case("RNNCell")
def _(r):
    inputs, hidden = states(r, 1, False)
    return ops.rnn_cell(*inputs, hidden, ["tanh"], [], [], 0.0)


def sequence(r, gates, cell):
    hidden, width, batch, length = r.dims(4)
    direction = r.choice(["forward", "reverse", "bidirectional"])
    ways = 2 if direction == "bidirectional" else 1
    inputs = [data([batch, length, width])]
    inputs += [data([batch, ways, hidden]) for _ in range(2 if cell else 1)]
    inputs += [data([batch], np.int32),
               weights([ways, gates * hidden, width]),
               weights([ways, gates * hidden, hidden]),
               weights([ways, gates * hidden])]
    return inputs, hidden, direction


@case("LSTMSequence")
def _(r):
    inputs, hidden, direction = sequence(r, 4, True)
    return ops.lstm_sequence(*inputs, hidden, direction)


@case("GRUSequence")
def _(r):
    inputs, hidden, direction = sequence(r, 3, False)
    return ops.gru_sequence(*inputs, hidden, direction)


@case("RNNSequence")
def _(r):
    inputs, hidden, direction = sequence(r, 1, False)
    return ops.rnn_sequence(*inputs, hidden, direction)


@case("ROIAlign")
def _(r):
    count = r.randint(1, 9)
    return ops.roi_align(data(r.dims(4)), data([count, 4]),
                         data([count], np.int32), *r.dims(2), 2, 1.0, "avg")


@case("GridSample")
def _(r):
    shape = r.dims(4)
    return ops.grid_sample(data(shape), data([shape[0]] + r.dims(2) + [2]),
                           {"align_corners": True})


@case("DFT", "IDFT")
def _(r):
    shape = r.shape(1, 4)
    axes = r.sample(range(len(shape)), r.randint(1, len(shape)))
    axes = [a - len(shape) if r.flag() else a for a in axes]
    sizes = [const([r.choice([-1, 3, 8]) for _ in axes])] if r.flag() else []
    make = r.choice([ops.dft, ops.idft])
    return make(data(shape + [2]), const(axes), *sizes)


@case("STFT")
def _(r):
    size = r.randint(1, 9)
    return ops.stft(data([3, size + r.randint(0, 20)][r.randint(0, 1):]),
                    data([size]), const(size), const(r.randint(1, 4)),
                    r.flag())


@case("RDFT")
def _(r):
    shape = r.shape(1, 4)
    axes = r.sample(range(len(shape)), r.randint(1, len(shape)))
    sizes = [const([r.choice([-1, 3, 8]) for _ in axes])] if r.flag() else []
    return ops.rdft(data(shape), const(axes), *sizes)


@case("IRDFT")
def _(r):
    shape = r.dims(r.randint(1, 4), 2, 9)
    axes = r.sample(range(len(shape)), r.randint(1, len(shape)))
    sizes = [const([r.choice([-1, 3, 8]) for _ in axes])] if r.flag() else []
    return ops.irdft(data(shape + [2]), const(axes), *sizes)


# ---- Values
#
# A value becomes visible as the shape of what is broadcast to it.

def visible(value):
    """A tensor with the items of value, at most eight, as its shape."""
    small = ops.floor_mod(ops.convert(value, "i64"), const(50))
    flat = ops.reshape(ops.add(small, const(1)), const([-1]), False)
    return ops.broadcast(const(0), flat)


def sizes_of(r, count, low=1):
    """count integers that are known by ShapeOf only."""
    return ops.shape_of(data(r.dims(count, low, 9)),
                        r.choice(["i64", "i32"]))


@case("value of arithmetic")
def _(r):
    make = r.choice([ops.add, ops.subtract, ops.multiply, ops.divide,
                     ops.floor_mod, ops.mod, ops.maximum, ops.minimum,
                     ops.power])
    count = r.randint(1, 4)
    left = sizes_of(r, count)
    kind = left.get_element_type().to_dtype()
    right = const(r.dims(r.choice([1, count]), 1, 4), kind)
    sign = const(r.choice([1, -1]), kind)
    if make is not ops.power:
        left = ops.multiply(left, sign)
    return visible(make(left, right))


@case("value of float arithmetic")
def _(r):
    make = r.choice([ops.add, ops.subtract, ops.multiply, ops.divide,
                     ops.floor_mod, ops.maximum, ops.minimum])
    turn = r.choice([ops.floor, ops.ceiling, ops.abs, ops.negative, ops.sqrt,
                     ops.relu, ops.sign])
    kind = r.choice(["f32", "f32", "f16"])
    count = r.randint(1, 4)
    left = ops.convert(sizes_of(r, count), kind)
    factor = const([r.choice([0.5, 0.1, 3.0, 1.3]) for _ in range(count)],
                   KINDS[kind])
    return visible(ops.convert(turn(ops.abs(make(left, factor))), "i64"))


@case("value of comparisons")
def _(r):
    make = r.choice([ops.equal, ops.not_equal, ops.less, ops.less_equal,
                     ops.greater, ops.greater_equal])
    both = r.choice([ops.logical_and, ops.logical_or, ops.logical_xor])
    sizes = ops.convert(sizes_of(r, 4), "i64")
    middle = const(r.randint(3, 7))
    holds = both(make(sizes, middle),
                 ops.logical_not(ops.less(sizes, const(4))))
    return visible(ops.select(holds, sizes, ops.negative(sizes)))


@case("value of moves")
def _(r):
    sizes = ops.convert(sizes_of(r, 6), "i64")
    table = ops.reshape(sizes, const([2, 3]), False)
    return visible(r.choice([
        lambda: ops.gather(table, const([-1, 0]), const(1)),
        lambda: ops.gather(table, const(1), const(0)),
        lambda: ops.gather(ops.concat([table, const([[7], [8]])], 1),
                           const([3, 0]), const(1)),
        lambda: ops.transpose(table, const([1, 0])),
        lambda: ops.slice(table, const([2]), const([-9]), const([-2]),
                          const([1])),
        lambda: ops.strided_slice(table, const([0, -1]), const([0, -4]),
                                  const([1, -1]), [1, 0], [1, 0], [0, 0],
                                  [0, 0], [0, 0]),
        lambda: ops.strided_slice(table, const([1, 1]), const([2, 2]),
                                  const([1, 1]), [0, 0], [0, 1], [0, 0],
                                  [1, 0], [0, 0]),
        lambda: ops.tile(ops.gather(table, const([1]), const(0)),
                         const([2, 1])),
        lambda: ops.broadcast(ops.gather(table, const([1]), const(0)),
                              const([2, 3])),
        lambda: ops.broadcast(ops.gather(table, const(1), const(0)),
                              const([3, 2]), const([0]), "explicit"),
        lambda: ops.squeeze(ops.unsqueeze(table, const([0, -1])),
                            const([0])),
    ])())


@case("value of splits")
def _(r):
    sizes = ops.convert(sizes_of(r, 6), "i64")
    if r.flag():
        return visible(ops.split(sizes, const(0), 3).output(r.randrange(3)))
    lengths = r.choice([[1, -1, 2], [-1, 1, 2], [1, 2, 3], [4, 2, -1]])
    parts = ops.variadic_split(sizes, const(0), const(lengths))
    return visible(parts.output(r.randrange(3)))


@case("value of reductions")
def _(r):
    make = r.choice([ops.reduce_sum, ops.reduce_prod, ops.reduce_max,
                     ops.reduce_min, ops.reduce_mean])
    table = ops.reshape(sizes_of(r, 6), const([2, 3]), False)
    return visible(make(table, const(r.choice([[0], [1], [-1], [0, 1]])),
                        r.flag()))


@case("value of ranges")
def _(r):
    size = ops.gather(sizes_of(r, 2), const(0), const(0))
    kind = size.get_element_type().to_dtype()
    start, by = const(r.randint(-2, 2), kind), const(r.randint(2, 3), kind)
    return visible(ops.range(start, size, by, "i64"))


@case("value of conversions")
def _(r):
    values = {"i64": [-1, 70000, 7], "i32": [-1, 70000, 7], "u8": [255, 0, 7],
              "i8": [-128, 127, 7], "i16": [-1, 300, 7],
              "u16": [65535, 300, 7], "u32": [70000, 0, 7],
              "u64": [70000, 0, 7], "boolean": [True, False, True],
              "f32": [1.5, 2.9, 7.0], "f16": [1.5, 2.9, 7.0],
              "f64": [1.5, 2.9, 7.0]}
    kind = r.choice(sorted(values))
    tensor = const(values[kind], KINDS[kind])
    narrow = r.choice(["i64", "i32", "f32"])
    shift = ops.convert(sizes_of(r, 3), narrow)
    return visible(ops.convert(ops.add(ops.convert(tensor, narrow), shift),
                               "i64"))


@case("value of conversions")
def _(r):
    """An integer that does not fit wraps around."""
    tensor = const([2 ** 40 + 9, -2 ** 40 - 9, 2 ** 32 - 1])
    narrow = r.choice(["i32", "i16", "u8", "i8"])
    shift = ops.convert(sizes_of(r, 3), "i64")
    return visible(ops.add(ops.convert(ops.convert(tensor, narrow), "i64"),
                           shift))
