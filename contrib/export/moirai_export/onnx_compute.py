# SPDX-License-Identifier: Apache-2.0
"""ONNX operators that accumulate: products, convolutions, norms, reductions.
"""
import math

from . import ops, windows
from .graph import Unsupported, count


def matmul(op):
    return ops.matmul(op.g, op.value(0), op.value(1))


def gemm(op):
    """alpha A B + beta C."""
    alpha, beta = op.attr("alpha", 1.0), op.attr("beta", 1.0)
    y = ops.matmul(op.g, op.value(0), op.value(1), bool(op.attr("transA", 0)),
                   bool(op.attr("transB", 0)))
    if alpha != 1:
        y = ops.with_number(op.g, "Multiply", y, alpha)
    if not op.has(2) or beta == 0:
        return y
    added = op.value(2)
    if beta != 1:
        added = ops.with_number(op.g, "Multiply", added, beta)
    return ops.point(op.g, "Add", y, added)


def einsum(op):
    return ops.einsum(op.g, op.attr("equation"), op.values())


# -------------------------------------------------------------------- windows

def window(op, kernel, image):
    """The window that the attributes of a convolution or pool define."""
    n = len(kernel)
    pads = op.attr("pads", [0] * (2 * n))
    result = windows.Window(kernel, op.attr("strides"), pads[:n], pads[n:],
                            op.attr("dilations"))
    auto_pad = op.attr("auto_pad", "NOTSET")
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        result.pad_same(image, auto_pad == "SAME_UPPER")
    elif auto_pad == "VALID":
        result.begin, result.end = [0] * n, [0] * n
    return result


def conv(op):
    x, weights = op.value(0), op.value(1)
    return windows.convolution(op.g, x, weights, op.value(2),
                               window(op, weights.shape[2:], x.shape[2:]),
                               op.attr("group", 1))


def conv_transpose(op):
    x, weights = op.value(0), op.value(1)
    if op.attr("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise Unsupported(f"has auto_pad {op.attr('auto_pad')}")
    if "output_shape" in op.attrs:
        raise Unsupported("has an output_shape; export it with pads")
    w = window(op, weights.shape[2:], x.shape[2:])
    return windows.transposed_convolution(
        op.g, x, weights, op.value(2), w, op.attr("group", 1),
        op.attr("output_padding", [0] * len(w.kernel)))


def max_pool(op):
    x = op.value(0)
    if op.uses(1) and op.attr("storage_order", 0):
        raise Unsupported("tells where by columns")
    values, indices = windows.max_pool(
        op.g, x, window(op, op.attr("kernel_shape"), x.shape[2:]),
        bool(op.attr("ceil_mode", 0)))
    if not op.uses(1):
        return values
    return values, whole_indices(op.g, x, indices)


def whole_indices(g, x, indices):
    """ONNX counts over the whole tensor, OpenVINO within a plane."""
    plane = count(x.shape[2:])
    planes = x.shape[0] * x.shape[1]
    begins = g.ints((plane * i for i in range(planes)),
                    x.shape[:2] + (1,) * (x.rank - 2))
    return ops.point(g, "Add", indices, begins)


def average_pool(op):
    x = op.value(0)
    return windows.average_pool(
        op.g, x, window(op, op.attr("kernel_shape"), x.shape[2:]),
        bool(op.attr("ceil_mode", 0)), bool(op.attr("count_include_pad", 0)))


def global_pool(kind):
    def translate(op):
        x = op.value(0)
        return ops.reduce(op.g, kind, x, range(2, x.rank), True)
    return translate


# ------------------------------------------------------------------ reductions

def axes_of(op, since):
    """The reduced axes: no axes are all of them, or none."""
    x = op.value(0)
    axes = op.list("axes", 1, since, "its axes")
    if not axes:
        axes = [] if op.attr("noop_with_empty_axes", 0) else range(x.rank)
    return x, list(axes), bool(op.attr("keepdims", 1))


def reduction(kind, since=18, before=None, after=None):
    """A reduction, perhaps with a pointwise op before or after it."""
    def translate(op):
        x, axes, keep = axes_of(op, since)
        x = before(op.g, x) if before else x
        x = ops.reduce(op.g, kind, x, axes, keep)
        return after(op.g, x) if after else x
    return translate


def square(g, x):
    return ops.point(g, "Multiply", x, x)


def logarithm(g, x):
    return ops.point(g, "Log", x)


def log_sum_exp(op):
    x, axes, keep = axes_of(op, 18)
    return ops.log_sum_exp(op.g, x, axes, keep)


def arg(largest):
    def translate(op):
        if op.attr("select_last_index", 0):
            raise Unsupported("takes the last of equals")
        return ops.arg(op.g, op.value(0), op.attr("axis", 0),
                       bool(op.attr("keepdims", 1)), largest)
    return translate


def cumsum(op):
    return ops.cumsum(op.g, op.value(0), int(op.number(1, "its axis")),
                      op.attr("exclusive", 0), op.attr("reverse", 0))


def softmax(kind):
    """Before opset 13, over all dimensions from axis on."""
    def translate(op):
        x = op.value(0)
        if op.version >= 13:
            return ops.softmax(op.g, x, op.attr("axis", -1), kind)
        axis = ops.axis_of(op.attr("axis", 1), x.rank)
        flat = ops.reshape(op.g, x, x.shape[:axis] + (count(x.shape[axis:]),))
        return ops.reshape(op.g, ops.softmax(op.g, flat, axis, kind), x.shape)
    return translate


def lp_normalization(op):
    x = op.value(0)
    kind = "ReduceL1" if op.attr("p", 2) == 1 else "ReduceL2"
    norm = ops.reduce(op.g, kind, x, [op.attr("axis", -1)], True)
    # Zeros stay zeros.
    empty = ops.compare(op.g, "Equal", norm, op.g.scalar(0, x.dtype))
    norm = ops.select(op.g, empty, op.g.scalar(1, x.dtype), norm)
    return ops.point(op.g, "Divide", x, norm)


# --------------------------------------------------------------- normalization

def batch_norm(op):
    if op.attr("training_mode", 0) or op.uses(1):
        raise Unsupported("is in training mode")
    x = op.value(0)
    values = [ops.convert(op.g, op.value(i), x.dtype) for i in range(1, 5)]
    return ops.batch_norm(op.g, x, *values, op.attr("epsilon", 1e-5))


def layer_norm(op):
    if op.uses(1) or op.uses(2):
        raise Unsupported("somebody reads its mean or deviation")
    return ops.layer_norm(op.g, op.value(0), op.value(1), op.value(2),
                          op.attr("axis", -1), op.attr("epsilon", 1e-5))


def instance_norm(op):
    """Each channel by itself."""
    x = op.value(0)
    y = ops.layer_norm(op.g, x, None, None, 2, op.attr("epsilon", 1e-5))
    y = ops.point(op.g, "Multiply", y, ops.channels(op.g, op.value(1), x.rank))
    return ops.point(op.g, "Add", y, ops.channels(op.g, op.value(2), x.rank))


def group_norm(op):
    """Before opset 21, scale and bias were those of groups."""
    x, scale, bias = op.values()
    groups = op.attr("num_groups")
    if op.version < 21:
        each = x.shape[1] // groups
        scale, bias = (ops.reshape(op.g, ops.broadcast(
            op.g, ops.reshape(op.g, value, (groups, 1)), (groups, each)),
            (x.shape[1],)) for value in (scale, bias))
    return ops.group_norm(op.g, x, scale, bias, groups,
                          op.attr("epsilon", 1e-5))


def lrn(op):
    x = op.value(0)
    return op.g.add("LRN", [x, op.g.ints([1])], x.shape, x.dtype,
                    alpha=op.attr("alpha", 1e-4), beta=op.attr("beta", 0.75),
                    bias=op.attr("bias", 1.0), size=op.attr("size"))


# --------------------------------------------------------------------- resizing

MODES = {"nearest": "nearest", "linear": "linear_onnx", "cubic": "cubic"}
COORDINATES = ("half_pixel", "pytorch_half_pixel", "asymmetric",
               "align_corners")


def ways_of(op):
    """Coordinate transformation and rounding; opset 10 has no attributes for
    them."""
    old = op.version < 11
    nearest = op.attr("nearest_mode", "simple" if old
                      else "round_prefer_floor")
    coordinates = op.attr("coordinate_transformation_mode",
                          "asymmetric" if old else "half_pixel")
    if coordinates not in COORDINATES:
        raise Unsupported(f"has coordinates {coordinates}")
    return {"nearest": nearest, "coordinates": coordinates}


def check_resize(op, x, sizes, scales, ways):
    """Refuses what OpenVINO defines differently."""
    if op.attr("mode", "nearest") not in MODES:
        raise Unsupported(f"resizes in mode {op.attr('mode')}")
    if op.attr("exclude_outside", 0):
        raise Unsupported("excludes what is outside")
    if op.attr("antialias", 0) and any(a < b for a, b in zip(sizes, x.shape)):
        raise Unsupported("shrinks with antialias")
    if ways["coordinates"] == "align_corners" and scales and any(
            size != old * scale
            for size, old, scale in zip(sizes, x.shape, scales)):
        raise Unsupported("aligns corners at sizes that are no whole numbers")


def resize(op):
    x, old = op.value(0), op.version < 11
    scales = op.numbers(1 if old else 2, "its scales")
    sizes, scales = targets(
        op, x, None if old else op.numbers(3, "its sizes"), scales)
    ways = ways_of(op)
    check_resize(op, x, sizes, scales, ways)
    return ops.interpolate(op.g, x, sizes, scales,
                           MODES[op.attr("mode", "nearest")],
                           cube=op.attr("cubic_coeff_a", -0.75), **ways)


def targets(op, x, sizes, scales):
    """Sizes and scales of all axes; one of the two is given, perhaps for some
    axes only."""
    axes = [ops.axis_of(axis, x.rank)
            for axis in op.attr("axes", range(x.rank))]
    if sizes:
        if op.attr("keep_aspect_ratio_policy", "stretch") != "stretch":
            raise Unsupported("keeps the aspect ratio")
        result = list(x.shape)
        for axis, length in zip(axes, sizes):
            result[axis] = int(length)
        return result, None
    factors = [1.0] * x.rank
    for axis, factor in zip(axes, scales):
        factors[axis] = factor
    return [math.floor(length * factor)
            for length, factor in zip(x.shape, factors)], factors


def upsample(op):
    scales = op.attr("scales") if op.version < 9 \
        else op.numbers(1, "its scales")
    x = op.value(0)
    sizes = [math.floor(a * b) for a, b in zip(x.shape, scales)]
    return ops.interpolate(op.g, x, sizes, scales,
                           MODES[op.attr("mode", "nearest")], "asymmetric")


TABLE = {
    "ArgMax": arg(True), "ArgMin": arg(False), "AveragePool": average_pool,
    "BatchNormalization": batch_norm, "Conv": conv,
    "ConvTranspose": conv_transpose, "CumSum": cumsum, "Einsum": einsum,
    "Gemm": gemm, "GlobalAveragePool": global_pool("ReduceMean"),
    "GlobalMaxPool": global_pool("ReduceMax"),
    "GroupNormalization": group_norm, "InstanceNormalization": instance_norm,
    "LRN": lrn, "LayerNormalization": layer_norm,
    "LogSoftmax": softmax("LogSoftmax"), "LpNormalization": lp_normalization,
    "MatMul": matmul, "MaxPool": max_pool,
    "ReduceL1": reduction("ReduceL1"), "ReduceL2": reduction("ReduceL2"),
    "ReduceLogSum": reduction("ReduceSum", after=logarithm),
    "ReduceLogSumExp": log_sum_exp, "ReduceMax": reduction("ReduceMax"),
    "ReduceMean": reduction("ReduceMean"), "ReduceMin": reduction("ReduceMin"),
    "ReduceProd": reduction("ReduceProd"),
    "ReduceSum": reduction("ReduceSum", since=13),
    "ReduceSumSquare": reduction("ReduceSum", before=square),
    "Resize": resize, "Softmax": softmax("SoftMax"), "Upsample": upsample,
}
