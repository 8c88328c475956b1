# SPDX-License-Identifier: Apache-2.0
"""ATen ops that accumulate: products, convolutions, norms, reductions."""
from . import ops, windows
from .graph import Unsupported, count

# ------------------------------------------------------------------- products


def matmul(op):
    second = next(name for name in ("mat2", "vec2", "vec", "other", "tensor")
                  if name in op.args)
    return ops.matmul(op.g, op.value("self"), op.value(second))


def linear(op):
    """x W' + b."""
    y = ops.matmul(op.g, op.value("input"), op.value("weight"),
                   transpose_b=True)
    bias = op.value("bias")
    return ops.point(op.g, "Add", y, bias) if bias else y


def add_product(op):
    """beta self + alpha A B."""
    first, second = ("batch1", "batch2") if "batch1" in op.args \
        else ("mat1", "mat2")
    y = ops.matmul(op.g, op.value(first), op.value(second))
    if op.get("alpha", 1) != 1:
        y = ops.with_number(op.g, "Multiply", y, op["alpha"])
    added, beta = op.value("self"), op.get("beta", 1)
    if beta == 0:
        return y
    if beta != 1:
        added = ops.with_number(op.g, "Multiply", added, beta)
    return ops.point(op.g, "Add", y, added)


def repeat_heads(g, x, times):
    """Repeats every head of keys or values for the queries that share it."""
    if times == 1:
        return x
    shape = x.shape[:-2] + (times,) + x.shape[-2:]
    wide = ops.broadcast(g, ops.unsqueeze(g, x, [x.rank - 2]), shape)
    return ops.reshape(g, wide, x.shape[:-3] + (x.shape[-3] * times,)
                       + x.shape[-2:])


def attention(op):
    query, key, value = (op.value(n) for n in ("query", "key", "value"))
    if op.get("dropout_p", 0):
        raise Unsupported("drops values, as in training")
    if op.get("enable_gqa"):
        key, value = (repeat_heads(op.g, x, query.shape[-3] // x.shape[-3])
                      for x in (key, value))
    mask = op.value("attn_mask")
    if mask and mask.dtype == "boolean":
        zero = op.g.scalar(0, query.dtype)
        nothing = op.g.scalar(float("-inf"), query.dtype)
        mask = ops.select(op.g, mask, zero, nothing)
    return ops.attention(op.g, query, key, value, mask,
                         bool(op.get("is_causal")), op.get("scale"))


# -------------------------------------------------------------------- windows

def widen(numbers, n):
    """In PyTorch one number may stand for all axes."""
    numbers = list(numbers) if isinstance(numbers, (list, tuple)) \
        else [numbers]
    return numbers * n if len(numbers) == 1 else numbers


def convolution(op):
    """All kinds; an image without a batch temporarily gets one."""
    x = op.value("input")
    weights, bias = op.value("weight"), op.value("bias")
    n = weights.rank - 2
    alone = x.rank == n + 1
    x = ops.unsqueeze(op.g, x, [0]) if alone else x
    window = windows.Window(weights.shape[2:], widen(op["stride"], n),
                            dilations=widen(op["dilation"], n))
    set_padding(op, window, x.shape[2:])
    if op.get("transposed"):
        y = windows.transposed_convolution(op.g, x, weights, bias, window,
                                           op["groups"],
                                           widen(op["output_padding"], n))
    else:
        y = windows.convolution(op.g, x, weights, bias, window, op["groups"])
    return ops.squeeze(op.g, y, [0]) if alone else y


def set_padding(op, window, image):
    padding = op["padding"]
    if padding == "same":
        window.pad_same(image, True)
    elif padding != "valid":
        window.begin = widen(padding, len(window.kernel))
        window.end = list(window.begin)


def pool_window(op, n):
    kernel = widen(op["kernel_size"], n)
    strides = widen(op["stride"], n) if op["stride"] else kernel
    return windows.Window(kernel, strides, widen(op["padding"], n),
                          dilations=widen(op.get("dilation", 1), n))


def as_batch(g, x, n):
    """With a batch in front, where there is none."""
    return ops.unsqueeze(g, x, [0]) if x.rank == n + 1 else x


def max_pool(n, with_indices):
    def translate(op):
        x = op.value("self")
        image = as_batch(op.g, x, n)
        found = windows.max_pool(op.g, image, pool_window(op, n),
                                 op["ceil_mode"])
        if image is not x:
            found = [ops.squeeze(op.g, y, [0]) for y in found]
        return found if with_indices else found[0]
    return translate


def average_pool(n):
    def translate(op):
        x = op.value("self")
        image = as_batch(op.g, x, n)
        if op.get("divisor_override"):
            raise Unsupported("has a divisor_override")
        y = windows.average_pool(op.g, image, pool_window(op, n),
                                 op["ceil_mode"], op["count_include_pad"])
        return y if image is x else ops.squeeze(op.g, y, [0])
    return translate


def adaptive_average(n):
    """Equal windows if the sizes allow it."""
    def translate(op):
        x, sizes = op.value("self"), widen(op["output_size"], n)
        image = as_batch(op.g, x, n)
        extents = image.shape[2:]
        if all(size == 1 for size in sizes):
            y = ops.reduce(op.g, "ReduceMean", image, range(2, n + 2), True)
        elif any(a % b for a, b in zip(extents, sizes)):
            y = op.g.add("AdaptiveAvgPool", [image, op.g.ints(sizes)],
                         image.shape[:2] + tuple(sizes), x.dtype)
        else:
            steps = [a // b for a, b in zip(extents, sizes)]
            y = windows.average_pool(op.g, image, windows.Window(steps, steps),
                                     False, False)
        return y if image is x else ops.squeeze(op.g, y, [0])
    return translate


# ------------------------------------------------------------------ reductions

def axes_of(op, x):
    """One axis, several, or none, which is all."""
    dims = op.get("dim")
    dims = [dims] if isinstance(dims, int) else dims
    return list(dims) if dims else list(range(x.rank))


def reduction(kind):
    def translate(op):
        x = ops.convert(op.g, op.value("self"), op.dtype)
        return ops.reduce(op.g, kind, x, axes_of(op, x),
                          op.get("keepdim", False))
    return translate


def extreme(kind, largest):
    """max and min: of two tensors, of all, or along an axis with where."""
    def translate(op):
        x = op.value("self")
        if op.has("other"):
            two = {"ReduceMax": "Maximum", "ReduceMin": "Minimum"}[kind]
            return ops.point(op.g, two, op.operand("self", op.dtype),
                             op.operand("other", op.dtype))
        if not op.has("dim"):
            return ops.reduce(op.g, kind, x, range(x.rank), False)
        found = ops.top_k(op.g, x, 1, op["dim"], largest)
        if op["keepdim"]:
            return found
        return [ops.squeeze(op.g, y, [op["dim"]]) for y in found]
    return translate


def arg(largest):
    """Without an axis, over all elements in memory order."""
    def translate(op):
        x = op.value("self")
        if op.has("dim"):
            return ops.arg(op.g, x, op["dim"], op["keepdim"], largest)
        y = ops.arg(op.g, ops.reshape(op.g, x, (count(x.shape),)), 0, False,
                    largest)
        return ops.reshape(op.g, y, op.shape)
    return translate


def truth(kind):
    def translate(op):
        x = op.operand("self", "boolean")
        return ops.reduce(op.g, kind, x, axes_of(op, x),
                          op.get("keepdim", False))
    return translate


def spread(op, keep):
    """The variance, and its mean."""
    x = op.value("self")
    axes = axes_of(op, x)
    n = count(x.shape[axis] for axis in axes)
    correction = op.get("correction", 1)
    if "unbiased" in op.args:
        correction = int(op["unbiased"])
    mean = ops.reduce(op.g, "ReduceMean", x, axes, True)
    squares = ops.point(op.g, "SquaredDifference", x, mean)
    variance = ops.reduce(op.g, "ReduceMean", squares, axes, keep)
    if correction:
        factor = n / (n - correction) if n > correction else float("inf")
        variance = ops.with_number(op.g, "Multiply", variance, factor)
    return variance, mean if keep else ops.squeeze(op.g, mean, axes)


def variance(op):
    return spread(op, op.get("keepdim", False))[0]


def deviation(op):
    return ops.point(op.g, "Sqrt", variance(op))


def variance_and_mean(op):
    return list(spread(op, op.get("keepdim", False)))


def vector_norm(op):
    x = ops.convert(op.g, op.value("self"), op.dtype)
    kinds = {1: "ReduceL1", 2: "ReduceL2"}
    if op["ord"] not in kinds:
        raise Unsupported(f"is a norm of order {op['ord']}")
    return ops.reduce(op.g, kinds[op["ord"]], x, axes_of(op, x),
                      op.get("keepdim", False))


def log_sum_exp(op):
    x = op.value("self")
    return ops.log_sum_exp(op.g, x, axes_of(op, x), op.get("keepdim", False))


def cumsum(op):
    x = ops.convert(op.g, op.value("self"), op.dtype)
    return ops.cumsum(op.g, x, op["dim"]) if x.rank else x


def softmax(kind):
    def translate(op):
        x = ops.convert(op.g, op.value("self"), op.dtype)
        return ops.softmax(op.g, x, op["dim"], kind)
    return translate


# --------------------------------------------------------------- normalization

def layer_norm(op):
    x = op.value("input")
    y = ops.layer_norm(op.g, x, op.value("weight"), op.value("bias"),
                       -len(op["normalized_shape"]), op["eps"])
    return [y, None, None] if op.name == "native_layer_norm" else y


def rms_norm(op):
    x, axes = op.value("input"), len(op["normalized_shape"])
    epsilon = op.get("eps")
    if epsilon is None:
        epsilon = {"f32": 2 ** -23, "f16": 2 ** -10, "bf16": 2 ** -7,
                   "f64": 2 ** -52}[x.dtype]
    squares = ops.point(op.g, "Multiply", x, x)
    mean = ops.reduce(op.g, "ReduceMean", squares, range(-axes, 0), True)
    root = ops.point(op.g, "Sqrt", ops.with_number(op.g, "Add", mean, epsilon))
    y = ops.point(op.g, "Divide", x, root)
    weight = op.value("weight")
    return ops.point(op.g, "Multiply", y, weight) if weight else y


def group_norm(op):
    x = op.value("input")
    groups = op["group"] if "group" in op.args else op["num_groups"]
    flat = ops.reshape(op.g, x, (x.shape[0], groups,
                                 count(x.shape[1:]) // groups))
    y = ops.layer_norm(op.g, flat, None, None, 2, op["eps"])
    y = scale_channels(op, ops.reshape(op.g, y, x.shape))
    return [y, None, None] if op.name == "native_group_norm" else y


def scale_channels(op, y):
    """Times weight, plus bias, if present."""
    for name, kind in (("weight", "Multiply"), ("bias", "Add")):
        if op.has(name):
            y = ops.point(op.g, kind, y,
                          ops.channels(op.g, op.value(name), y.rank))
    return y


def instance_norm(op):
    """Each channel of each image by itself."""
    if not op["use_input_stats"]:
        return batch_norm(op)
    return scale_channels(op, ops.layer_norm(op.g, op.value("input"), None,
                                             None, 2, op["eps"]))


def batch_norm(op):
    """With the running statistics of training."""
    x = op.value("input")
    if op.get("training") or not op.has("running_mean"):
        raise Unsupported("is in training mode")
    n = x.shape[1]
    scale, bias = (op.value(name) if op.has(name)
                   else op.g.numbers([number] * n, x.dtype)
                   for name, number in (("weight", 1), ("bias", 0)))
    y = ops.batch_norm(op.g, x, scale, bias, op.value("running_mean"),
                       op.value("running_var"), op["eps"])
    return [y, None, None] if "native" in op.name else y


# --------------------------------------------------------------------- resizing

def upsample(mode):
    """To the size in PyTorch's metadata; scales if they were given."""
    def translate(op):
        x = op.value("input" if "input" in op.args else "self")
        coordinates = "asymmetric" if mode == "nearest" else "half_pixel"
        if mode == "linear_onnx":
            coordinates = "pytorch_half_pixel"
        if op.get("align_corners"):
            coordinates = "align_corners"
        return ops.interpolate(op.g, x, op.shape, scales_of(op, x), mode,
                               coordinates, "floor")
    return translate


def scales_of(op, x):
    given = op.get("scale_factors")
    if given is None:
        given = [op.get(name) for name in ("scales", "scales_d", "scales_h",
                                           "scales_w") if name in op.args]
    if not given or None in given:
        return None
    return [1.0] * (x.rank - len(given)) + [float(scale) for scale in given]


TABLE = {
    **dict.fromkeys(("mm", "bmm", "matmul", "mv", "dot"), matmul),
    **dict.fromkeys(("addmm", "baddbmm"), add_product),
    **dict.fromkeys(("convolution", "conv1d", "conv2d", "conv3d"),
                    convolution),
    **dict.fromkeys(("softmax", "_softmax"), softmax("SoftMax")),
    **dict.fromkeys(("log_softmax", "_log_softmax"), softmax("LogSoftmax")),
    **dict.fromkeys(("layer_norm", "native_layer_norm"), layer_norm),
    **dict.fromkeys(("group_norm", "native_group_norm"), group_norm),
    **dict.fromkeys(("batch_norm", "_native_batch_norm_legit_no_training",
                     "native_batch_norm"), batch_norm),
    **dict.fromkeys(("adaptive_avg_pool2d", "_adaptive_avg_pool2d"),
                    adaptive_average(2)),
    **dict.fromkeys(("adaptive_avg_pool3d", "_adaptive_avg_pool3d"),
                    adaptive_average(3)),
    "adaptive_avg_pool1d": adaptive_average(1),
    "all": truth("ReduceLogicalAnd"), "amax": reduction("ReduceMax"),
    "amin": reduction("ReduceMin"), "any": truth("ReduceLogicalOr"),
    "argmax": arg(True), "argmin": arg(False),
    "avg_pool1d": average_pool(1), "avg_pool2d": average_pool(2),
    "avg_pool3d": average_pool(3), "cumsum": cumsum,
    "instance_norm": instance_norm, "linear": linear,
    "linalg_vector_norm": vector_norm, "logsumexp": log_sum_exp,
    "max": extreme("ReduceMax", True), "max_pool1d": max_pool(1, False),
    "max_pool2d": max_pool(2, False),
    "max_pool2d_with_indices": max_pool(2, True),
    "max_pool3d": max_pool(3, False),
    "max_pool3d_with_indices": max_pool(3, True),
    "mean": reduction("ReduceMean"), "min": extreme("ReduceMin", False),
    "prod": reduction("ReduceProd"), "rms_norm": rms_norm,
    "scaled_dot_product_attention": attention, "std": deviation,
    "sum": reduction("ReduceSum"), "upsample_bicubic2d": upsample("cubic"),
    "upsample_bilinear2d": upsample("linear_onnx"),
    "upsample_linear1d": upsample("linear_onnx"),
    "upsample_nearest1d": upsample("nearest"),
    "upsample_nearest2d": upsample("nearest"),
    "upsample_nearest3d": upsample("nearest"),
    "upsample_trilinear3d": upsample("linear_onnx"), "var": variance,
    "var_mean": variance_and_mean,
}
