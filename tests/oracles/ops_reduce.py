# SPDX-License-Identifier: Apache-2.0
"""Reductions, running sums, the largest, norms, for ops_oracle.py."""
import numpy as np
import openvino.opset1 as opset1
import openvino.opset2 as opset2
import openvino.opset3 as opset3
import openvino.opset5 as opset5
import openvino.opset8 as opset8
import openvino.opset11 as opset11
import openvino.opset15 as ops

from infer_product import LOGICAL_REDUCTIONS, REDUCTIONS
from ops_case import case


def reduction(c, name, make):
    """On arm64 the plugin of OpenVINO 2026.4 drops a dimension of 1 when there
    are no axes, rounds the mean of integers to the nearest, and is wrong about
    all of nothing."""
    shape = c.any_shape(1, 5, 5)
    dtype = c.real() if name != "ReduceProd" else "f32"
    if name in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean"):
        dtype = c.choice([dtype, dtype, "i32", "i64"])
    if name.startswith("ReduceLogical"):
        dtype = "boolean"
    low = 0.5 if name == "ReduceProd" else -3
    if 0 in shape and name in ("ReduceMax", "ReduceMin", "ReduceMean"):
        shape = [max(d, 1) for d in shape]
    return c.by_reference(make(
        c.data(shape, dtype, low, 3 if low < 0 else 1.5),
        c.ints(c.axes(len(shape))), c.flag()))


for kind, make_one in {**REDUCTIONS, **LOGICAL_REDUCTIONS}.items():
    case(kind)(lambda c, name=kind, make=make_one: reduction(c, name, make))


def long_reduction(c, name, make):
    """Along several hundreds of elements, at either end."""
    shape = c.choice([[3, 700], [700, 3], [5, 200, 4], [1000]])
    return make(c.data(shape, "f32", 0.99, 1.01),
                c.ints([c.randrange(len(shape))]), c.flag())


for kind, make_one in REDUCTIONS.items():
    case(kind)(lambda c, name=kind, make=make_one:
               long_reduction(c, name, make))


@case("CumSum")
def _(c):
    shape = c.any_shape(1)
    axis = c.const(c.axis(len(shape)))
    return ops.cumsum(c.data(shape, c.choice(["f32", "f32", "i32", "i64"])),
                      axis, c.flag(), c.flag())


def different(c, shape, dtype):
    """No two equal elements: the order of equal ones is unspecified."""
    count = int(np.prod(shape))
    values = c.numbers.permutation(count) - count // 2
    return c.given(values.reshape(shape).astype(
        {"f32": np.float32, "i32": np.int32, "i64": np.int64}[dtype]))


@case("TopK")
def _(c):
    """On arm64 the plugin of OpenVINO 2026.4 takes integers for something
    else."""
    shape = c.dims(c.randint(1, 4), 1, 7)
    axis = c.axis(len(shape))
    opset = c.choice([opset1, opset3, opset11])
    dtype = c.choice(["f32", "f32", "i32", "i64"])
    index = {} if opset is opset1 else {"index_element_type": c.integer()}
    return c.by_reference(opset.topk(
        different(c, shape, dtype), c.ints(c.randint(1, shape[axis])), axis,
        c.choice(["max", "min"]), c.choice(["value", "index"]), **index))


@case("TopK")
def _(c):
    """Equal elements keep their order."""
    shape = c.dims(c.randint(1, 3), 1, 9)
    axis = c.axis(len(shape))
    data = c.data(shape, "i32", 0, 3)
    return c.by_reference(opset11.topk(
        data, c.const(c.randint(1, shape[axis])), axis,
        c.choice(["max", "min"]), "value", "i32", True))


def arg(c, kind):
    shape = c.dims(c.randint(1, 4), 1, 7)
    axis = c.axis(len(shape))
    keep = c.flag()
    data = different(c, shape, c.choice(["f32", "i32"]))
    mode = "max" if kind == "ArgMax" else "min"
    found = ops.topk(data, c.const(1), axis, mode, "value", "i64").output(1)
    if not keep:
        found = ops.squeeze(found, c.const([axis])).output(0)
    return c.by_reference(c.stands_for(
        kind, [data], {"axis": axis, "keepdims": int(keep)}, found))


for kind in ("ArgMax", "ArgMin"):
    case(kind)(lambda c, kind=kind: arg(c, kind))


def softmax(c, make):
    shape = c.any_shape(1, 5, 8)
    return make(c.data(shape, c.real(), -9, 9), c.axis(len(shape)))


case("SoftMax")(lambda c: softmax(c, opset8.softmax))
case("LogSoftmax")(lambda c: softmax(c, ops.log_softmax))


@case("SoftMax")
def _(c):
    """Opset 1 counts from the front, and one row may be long."""
    shape = c.choice([[2, 1500], [700, 3], [2, 3, 4], [6]])
    return opset1.softmax(c.data(shape, "f32", -9, 9),
                          c.randrange(len(shape)))


@case("BatchNormInference")
def _(c):
    shape = c.dims(c.randint(2, 5), 1, 6)
    dtype = c.choice(["f32", "f32", "f32", "f16"])
    channel = [c.either([shape[1]], dtype) for _ in range(3)]
    variance = c.either([shape[1]], dtype, 0.1, 3)
    opset = c.choice([opset1, opset5])
    return opset.batch_norm_inference(c.data(shape, dtype), *channel, variance,
                                      c.choice([1e-5, 0.1]))


# On arm64 the plugin of OpenVINO 2026.4 is accurate to 1e-3 for the variance
# of numbers that are close to each other.

@case("MVN")
def _(c):
    shape = c.dims(c.randint(2, 5), 1, 7)
    return c.by_reference(ops.mvn(
        c.data(shape), c.ints(c.axes(len(shape), 1)), c.flag(),
        c.choice([1e-5, 0.1]), c.choice(["inside_sqrt", "outside_sqrt"])))


@case("MVN")
def _(c):
    """Of opset 2, with a flag for whether channels are separate."""
    shape = c.dims(c.randint(3, 5), 1, 7)
    data, across, scales = c.data(shape), c.flag(), c.flag()
    axes = c.const(list(range(1 if across else 2, len(shape))))
    return c.by_reference(
        opset2.mvn(data, across, scales, 1e-3),
        ops.mvn(data, axes, scales, 1e-3, "inside_sqrt"))


@case("NormalizeL2")
def _(c):
    shape = c.dims(c.randint(2, 4), 1, 6)
    return ops.normalize_l2(c.data(shape), c.ints(c.axes(len(shape), 1)),
                            c.choice([1e-5, 0.5]), c.choice(["add", "max"]))


@case("LRN")
def _(c):
    shape = c.dims(c.randint(3, 4), 1, 9)
    axes = c.choice([[1], [2, 3][:len(shape) - 2]])
    return ops.lrn(c.data(shape), c.ints(axes), c.choice([1.0, 1e-2]),
                   c.choice([0.75, 0.5]), c.choice([1.0, 2.0]),
                   c.choice([1, 3, 5]))


@case("GroupNormalization")
def _(c):
    groups = c.randint(1, 4)
    shape = c.dims(c.randint(2, 5), 1, 5)
    shape[1] = groups * c.randint(1, 3)
    data, scale, shift = c.data(shape), *(c.either([shape[1]])
                                          for _ in range(2))
    eps = c.choice([1e-5, 0.1])
    by_group = ops.reshape(data, c.const([shape[0], groups, -1]), False)
    normal = ops.reshape(
        ops.mvn(by_group, c.const([2]), True, eps, "inside_sqrt"),
        c.const(shape), False)
    form = c.const([shape[1]] + [1] * (len(shape) - 2))
    return c.by_reference(
        ops.group_normalization(data, scale, shift, groups, eps),
        scaled(normal, *(ops.reshape(x, form, False)
                         for x in (scale, shift))))


# Names that other frameworks have

def scaled(data, scale, shift):
    if scale is not None:
        data = ops.multiply(data, scale)
    return data if shift is None else ops.add(data, shift)


@case("LayerNormalization")
def _(c):
    shape = c.dims(c.randint(1, 4), 1, 9)
    first = c.randrange(len(shape))
    eps = c.choice([1e-5, 0.1])
    data = c.data(shape)
    inputs = [c.data(shape[first:]) for _ in range(c.randint(0, 2))]
    attributes = {"epsilon": eps, "axis": c.choice([first,
                                                    first - len(shape)])}
    axes = c.const(list(range(first, len(shape))))
    made = ops.mvn(data, axes, True, eps, "inside_sqrt")
    return c.by_reference(c.stands_for(
        "LayerNormalization", [data] + inputs, attributes,
        scaled(made, *(inputs + [None] * 2)[:2])))


@case("InstanceNormalization")
def _(c):
    shape = c.dims(c.randint(3, 5), 1, 6)
    data = c.data(shape)
    inputs = [c.data([shape[1]]) for _ in range(c.choice([0, 2]))]
    form = c.const([shape[1]] + [1] * (len(shape) - 2))
    axes = c.const(list(range(2, len(shape))))
    made = ops.mvn(data, axes, True, 1e-3, "inside_sqrt")
    terms = [ops.reshape(x, form, False) for x in inputs] + [None] * 2
    return c.by_reference(c.stands_for(
        "InstanceNormalization", [data] + inputs, {"epsilon": 1e-3},
        scaled(made, *terms[:2])))


@case("RMS")
def _(c):
    shape = c.dims(c.randint(1, 4), 1, 9)
    data, gamma = c.data(shape), c.data([shape[-1]])
    eps = c.choice([1e-6, 0.1])
    mean = ops.reduce_mean(ops.multiply(data, data), c.const([-1]), True)
    root = ops.sqrt(ops.add(mean, c.const(eps, "f32")))
    return c.stands_for("RMS", [data, gamma], {"epsilon": eps},
                        ops.multiply(ops.divide(data, root), gamma))


# Fourier transforms

def fourier(c, make, compute, low, pairs):
    """By numpy: on arm64 the plugin of OpenVINO 2026.4 is wrong."""
    shape = c.dims(c.randint(1, 3), low, 8)
    axes = c.axes(len(shape), 1)
    sizes = [c.choice([-1, c.randint(1, 9)]) for _ in axes]
    if c.flag():
        node = make(c.data(shape + pairs), c.const(axes), c.const(sizes))
    else:
        sizes = [-1] * len(axes)
        node = make(c.data(shape + pairs), c.const(axes))
    return c.by_definition(node, lambda x: [compute(x, axes, sizes)])


def sized(shape, axes, sizes):
    return [shape[a] if s == -1 else s for a, s in zip(axes, sizes)]


def as_complex(x):
    return x[..., 0] + 1j * x[..., 1]


def as_pairs(x):
    return np.stack([x.real, x.imag], -1).astype(np.float32)


def complex_fourier(transform):
    def compute(x, axes, sizes):
        x = as_complex(x)
        return as_pairs(transform(x, sized(x.shape, axes, sizes), axes))
    return compute


def real_fourier(x, axes, sizes):
    return as_pairs(np.fft.rfftn(x, sized(x.shape, axes, sizes), axes))


def inverse_real_fourier(x, axes, sizes):
    x = as_complex(x)
    whole = sized(x.shape, axes, sizes)
    if sizes[-1] == -1:
        whole[-1] = 2 * (x.shape[axes[-1]] - 1)
    return np.fft.irfftn(x, whole, axes).astype(np.float32)


@case("DFT")
def _(c):
    return fourier(c, ops.dft, complex_fourier(np.fft.fftn), 1, [2])


@case("IDFT")
def _(c):
    return fourier(c, ops.idft, complex_fourier(np.fft.ifftn), 1, [2])


@case("RDFT")
def _(c):
    return fourier(c, ops.rdft, real_fourier, 1, [])


@case("IRDFT")
def _(c):
    return fourier(c, ops.irdft, inverse_real_fourier, 2, [2])


@case("STFT")
def _(c):
    size = c.randint(1, 20)
    shape = c.dims(c.randint(1, 2), 1, 3)
    shape[-1] = size + c.randint(0, 40)
    return ops.stft(c.data(shape), c.data([c.randint(1, size)]),
                    c.const(size), c.const(c.randint(1, 7)), c.flag())
