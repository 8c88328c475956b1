# SPDX-License-Identifier: Apache-2.0
"""Products, convolutions, pools and resizes, for ops_oracle.py."""
import numpy as np
import openvino.opset1 as opset1
import openvino.opset8 as opset8
import openvino.opset11 as opset11
import openvino.opset14 as opset14
import openvino.opset15 as ops
import openvino.opset16 as opset16

from infer_case import node
from infer_product import window
from ops_case import case

# Matrices


def turned(shape):
    return shape[:-2] + [shape[-1], shape[-2]] if len(shape) > 1 else shape


@case("MatMul")
def _(c):
    rows, inner, columns = c.dims(3, 1, c.choice([6, 40]))
    batch = c.dims(c.randint(0, 3), 1, 4)
    left = c.smaller(batch) + [rows, inner]
    right = c.smaller(batch) + [inner, columns]
    left = [inner] if c.random() < 0.15 else left
    right = [inner] if c.random() < 0.15 else right
    flip_left, flip_right = c.flag(), c.flag()
    left = turned(left) if flip_left else left
    right = turned(right) if flip_right else right
    dtype = c.choice(["f32", "f32", "f32", "f16", "bf16", "i32"])
    return ops.matmul(c.data(left, dtype), c.either(right, dtype), flip_left,
                      flip_right)


@case("MatMul")
def _(c):
    """Large enough to be cut into panels, or with nothing to add up, which
    OpenVINO leaves as it is."""
    rows, inner, columns = [c.choice([1, 7, 64, 130, 300]) for _ in range(3)]
    inner = 0 if c.random() < 0.1 else inner
    batch = c.choice([[], [], [2], [3, 1]])
    flip_left, flip_right = c.flag(), c.flag()
    left, right = batch + [rows, inner], [inner, columns]
    made = ops.matmul(c.data(turned(left) if flip_left else left),
                      c.either(turned(right) if flip_right else right),
                      flip_left, flip_right)
    if inner > 0:
        return made
    zeros = np.zeros(batch + [rows, columns], np.float32)
    return c.by_definition(made, lambda *_: [zeros])


@case("Einsum")
def _(c):
    """Some have an equation that needs what OpenVINO cannot do."""
    size = {label: c.randint(1, 6) for label in "abcdijkB"}
    equation = c.choice(["ab,bc->ac", "aij,bij->ab", "abcd->dcba",
                         "ij,jk->ik", "abc,abc->", "aB,Bc->cB", "ab->b",
                         "abc,acd->abd", "ab,ab->ab", "a,b->ab", "abc->ca",
                         "abcd,abdc->bc", "ij,jk,ka->ia", "aab->ab"])
    terms = equation.split("->")[0].split(",")
    return ops.einsum([c.data([size[label] for label in term])
                       for term in terms], equation)


@case("Einsum")
def _(c):
    batch = c.dims(c.randint(0, 2), 1, 4)
    i, j, k = c.dims(3, 1, 5)
    equation = c.choice(["...ij,...jk->...ik", "i...j,j...k->...ik",
                         "...ij,jk...->ik..."])
    parts = []
    for term in equation.split("->")[0].split(","):
        hidden = c.like(batch)
        shape = []
        for label in term.replace("...", "."):
            shape += hidden if label == "." else [{"i": i, "j": j,
                                                   "k": k}[label]]
        parts.append(c.data(shape))
    return ops.einsum(parts, equation)


@case("ScaledDotProductAttention")
def _(c):
    batch = c.dims(c.randint(1, 2), 1, 4)
    queries, keys, width, out = c.dims(4, 1, c.choice([7, 40]))
    dtype = c.choice(["f32", "f32", "f16"])
    inputs = [c.data(batch + [queries, width], dtype),
              c.data(batch + [keys, width], dtype),
              c.data(batch + [keys, out], dtype)]
    causal = c.random() < 0.3
    if not causal and c.flag():
        mask = c.choice([[queries, keys], batch + [queries, keys],
                         [1] * len(batch) + [queries, keys], [1, keys],
                         [queries, 1]])
        if c.flag():
            allowed = c.some(mask, "boolean")
            allowed[..., 0] = True
            inputs.append(c.given(allowed))
        else:
            inputs.append(c.data(mask, dtype))
        if c.flag():
            inputs.append(c.const(0.5, dtype))
    return ops.scaled_dot_product_attention(*inputs, causal=causal)


@case("Linear")
def _(c):
    inside, outside = c.dims(2, 1, 30)
    data = c.data(c.dims(c.randint(0, 3), 1, 5) + [inside])
    inputs = [data, c.data([outside, inside])]
    made = ops.matmul(data, inputs[1], False, True)
    if c.flag():
        inputs.append(c.data([outside]))
        made = ops.add(made, inputs[2])
    return c.stands_for("Linear", inputs, {}, made)


@case("LinearExperts")
def _(c):
    """Each row of data times the weights of one expert, or of several."""
    inside, outside = c.dims(2, 1, 30)
    experts, rows = c.randint(1, 5), c.dims(c.randint(0, 2), 1, 5)
    chosen = c.given(c.numbers.randint(
        0, experts, rows + c.dims(c.randint(0, 1), 1, 4)).astype("int64"))
    several = len(chosen.shape) > len(rows)
    data = c.data(rows + [inside])
    weights = c.data([experts, outside, inside])
    picked = ops.gather(weights, chosen, c.const(0))
    column = ops.unsqueeze(data, c.const([-1]))
    if several:
        column = ops.unsqueeze(column, c.const([-3]))
    made = ops.squeeze(ops.matmul(picked, column, False, False), c.const([-1]))
    return c.stands_for("LinearExperts", [data, weights, chosen], {}, made)


def sum_of(c, product, added):
    """The product and what is added, each with a factor or without."""
    alpha, beta = c.choice([(1, 1), (0.5, 1), (1, -2), (2, 0.25)])
    attributes = {"alpha": alpha, "beta": beta}
    product = ops.multiply(product, c.const(alpha, "f32"))
    if added is not None:
        product = ops.add(product, ops.multiply(added, c.const(beta, "f32")))
    return product, attributes if (alpha, beta) != (1, 1) else {}


@case("Addmm")
def _(c):
    rows, inner, columns = c.dims(3, 1, 20)
    added = c.data(c.smaller([rows, columns]))
    left, right = c.data([rows, inner]), c.data([inner, columns])
    made, attributes = sum_of(c, ops.matmul(left, right, False, False), added)
    return c.stands_for("Addmm", [added, left, right], attributes, made)


@case("Gemm")
def _(c):
    rows, inner, columns = c.dims(3, 1, 20)
    flips = c.flag(), c.flag()
    left, right = [rows, inner], [inner, columns]
    inputs = [c.data(turned(left) if flips[0] else left),
              c.data(turned(right) if flips[1] else right)]
    if c.flag():
        inputs.append(c.data(c.smaller([rows, columns])))
    made, attributes = sum_of(c, ops.matmul(*inputs[:2], *flips),
                              inputs[2] if len(inputs) > 2 else None)
    attributes.update(transA=int(flips[0]), transB=int(flips[1]))
    return c.stands_for("Gemm", inputs, attributes, made)


# Windows

@case("Convolution")
def _(c):
    """OpenVINO is wrong about some volumes of bf16."""
    spatial = c.randint(1, 3)
    n, channels, out = c.dims(3, 1, c.choice([4, 20]))
    n = min(n, 3)
    strides, begin, end, dilations, pad = window(c, spatial)
    dtype = c.choice(["f32", "f32", "f32", "f16",
                      "bf16" if spatial < 3 else "f16"])
    return ops.convolution(
        c.data([n, channels] + c.dims(spatial, 5, 12), dtype),
        c.either([out, channels] + c.dims(spatial, 1, 3), dtype), strides,
        begin, end, dilations, pad)


@case("Convolution")
def _(c):
    """As networks have them."""
    side = c.choice([1, 3, 3, 5, 7])
    channels, out = c.choice([3, 16, 65]), c.choice([1, 20, 64])
    pad = c.choice([0, side // 2])
    stride = c.choice([1, 1, 2])
    return ops.convolution(
        c.data([c.randint(1, 2), channels] + c.dims(2, 7, 30)),
        c.either([out, channels, side, side]), [stride] * 2, [pad] * 2,
        [pad] * 2, [1, 1])


@case("GroupConvolution")
def _(c):
    """By channel, as mobile networks have them."""
    side, stride = c.choice([3, 3, 5]), c.choice([1, 2])
    groups = c.choice([16, 33, 96])
    return ops.group_convolution(
        c.data([c.randint(1, 2), groups] + c.dims(2, 7, 30)),
        c.either([groups, 1, 1, side, side]), [stride] * 2, [side // 2] * 2,
        [side // 2] * 2, [1, 1])


@case("GroupConvolution")
def _(c):
    spatial = c.randint(1, 3)
    n, channels, out = c.dims(3, 1, 3)
    groups = c.choice([1, 2, 3, 8, 17])
    if c.flag():
        channels = out = 1
    strides, begin, end, dilations, pad = window(c, spatial)
    return ops.group_convolution(
        c.data([n, channels * groups] + c.dims(spatial, 5, 12)),
        c.either([groups, out, channels] + c.dims(spatial, 1, 3)), strides,
        begin, end, dilations, pad)


def scattered(data, weights, node):
    """Transposed convolution by its definition: every element times the
    weights, added at its output positions."""
    a = node.get_attributes()
    kernel, groups = weights.shape[3:], weights.shape[0]
    data = data.reshape(len(data), groups, -1, *data.shape[2:])
    sizes = [(n - 1) * s + (k - 1) * d + 1 for n, k, s, d in
             zip(data.shape[3:], kernel, a["strides"], a["dilations"])]
    sums = np.zeros([len(data), groups, weights.shape[2]] + sizes)
    for at in np.ndindex(*kernel):
        places = tuple(slice(k * d, k * d + (n - 1) * s + 1, s)
                       for k, d, n, s in zip(at, a["dilations"],
                                             data.shape[3:], a["strides"]))
        sums[(...,) + places] += np.einsum(
            "ngc...,gco->ngo...", data, weights[(...,) + at])
    return sums.reshape(len(data), -1, *sizes)


def cut(sums, shape, begin):
    """Crops to a shape, starting at begin; pads with zeros behind the end."""
    made = np.zeros(shape, np.float32)
    part = sums[(...,) + tuple(slice(b, b + n) for b, n in
                               zip(begin, shape[2:]))]
    made[tuple(slice(n) for n in part.shape)] = part
    return made


def backprop(c, make, lead, channels):
    """On arm64 the plugin of OpenVINO 2026.4 disregards the attributes of
    lines, and is wrong where more is wanted than there is."""
    spatial = c.randint(1, 3)
    strides, begin, end, dilations, pad = window(c, spatial)
    extra = [c.randint(0, s - 1) for s in strides]
    wanted = c.ints(c.dims(spatial, 8, 16)) if c.flag() else None
    data = c.data([c.randint(1, 2), channels] + c.dims(spatial, 4, 7))
    weights = c.either(lead + c.dims(spatial, 3, 5))
    made = make(data, weights, strides, wanted, begin, end, dilations, pad,
                extra)
    fixed = weights.data if hasattr(weights, "data") else None

    def compute(*values):
        filters = values[1] if fixed is None else fixed
        sums = scattered(values[0].astype(float), filters.reshape(
            [-1] + list(filters.shape[len(lead) - 2:])), made)
        return [cut(sums, list(made.get_output_shape(0)),
                    made.get_attributes()["pads_begin"])]

    return c.by_definition(made, compute)


@case("ConvolutionBackpropData")
def _(c):
    channels, out = c.dims(2, 1, 7)
    return backprop(c, ops.convolution_backprop_data, [channels, out],
                    channels)


@case("GroupConvolutionBackpropData")
def _(c):
    groups, channels, out = c.dims(3, 1, 4)
    return backprop(c, ops.group_convolution_backprop_data,
                    [groups, channels, out], groups * channels)


def pool_window(c, spatial):
    """Kernel, and pads that are smaller than it."""
    strides, begin, end, dilations, pad = window(c, spatial)
    kernel = c.dims(spatial, 1, 4)
    begin = [min(p, k - 1) for p, k in zip(begin, kernel)]
    end = [min(p, k - 1) for p, k in zip(end, kernel)]
    return kernel, strides, begin, end, dilations, pad


def pool_data(c, spatial, dtype="f32"):
    return c.data(c.maybe_empty(c.dims(2, 1, 5)) + c.dims(spatial, 5, 14),
                  dtype)


def has_something(data, node, strides, begin):
    """Rejects undefined cases: windows of padding only, which begin behind
    the end of the data."""
    explicit = node.get_attributes()["auto_pad"] == "explicit"
    for d, stride in enumerate(strides):
        last = (node.get_output_shape(0)[d + 2] - 1) * stride
        if last >= data.get_output_shape(0)[d + 2] + explicit * begin[d]:
            raise RuntimeError("a window over nothing")
    return node


def rounding(c, *more):
    return c.choice(["floor", "ceil", *more])


@case("MaxPool")
def _(c):
    """Over nothing, the least of all numbers is the largest."""
    spatial = c.randint(1, 3)
    kernel, strides, begin, end, dilations, pad = pool_window(c, spatial)
    opset = c.choice([opset1, opset8, opset14])
    if opset is opset1:
        data = pool_data(c, spatial, c.real())
        return has_something(data, opset.max_pool(
            data, strides, begin, end, kernel, rounding(c), pad), strides,
            begin)
    more = ["ceil_torch"] if opset is opset14 else []
    return opset.max_pool(pool_data(c, spatial), strides, dilations, begin,
                          end, kernel, rounding(c, *more), pad, c.integer(),
                          c.choice([0, 1, 2, -1]))


def averages(data, node):
    """Of all that a window has (ceil_torch: but what is behind the padding),
    or, where there is no padding or it is not to count, of what it has of the
    data."""
    a = node.get_attributes()
    begin, end, kernel = a["pads_begin"], a["pads_end"], a["kernel"]
    padded = any(begin) or any(end)
    trimmed = a["rounding_type"] == "ceil_torch"
    made = np.zeros(node.get_output_shape(0), data.dtype)
    for at in np.ndindex(*made.shape[2:]):
        taps = [[o * s - b + k * d for k in range(n)]
                for o, s, b, d, n in zip(
                    at, a["strides"], begin,
                    a.get("dilations", [1] * len(at)), kernel)]
        places = [[p for p in axis if 0 <= p < size]
                  for axis, size in zip(taps, data.shape[2:])]
        counted = [[p for p in axis if not trimmed or p < size + e]
                   for axis, size, e in zip(taps, data.shape[2:], end)]
        count = np.prod([*map(len, counted if padded and not a["exclude-pad"]
                              else places)])
        part = data[np.ix_(*map(range, data.shape[:2]), *places)]
        made[(...,) + at] = part.astype(float).sum(
            axis=tuple(range(2, data.ndim))) / max(1, count)
    return made


@case("AvgPool")
def _(c):
    """On arm64 the plugin of OpenVINO 2026.4 disregards dilations, and counts
    with ceil_torch what is behind the padding or does not, kernel by kernel;
    onnxruntime does not, as PyTorch has it."""
    spatial = c.randint(1, 3)
    kernel, strides, begin, end, dilations, pad = pool_window(c, spatial)
    opset = c.choice([opset1, opset14, opset16])
    rounding_type = rounding(c, *(["ceil_torch"] if opset is not opset1
                                  else []))
    data = pool_data(c, spatial, c.real())
    more = [dilations] if opset is opset16 else []
    made = has_something(data, opset.avg_pool(
        data, strides, begin, end, kernel, c.flag(), rounding_type, pad,
        *more), strides, begin)
    return c.by_definition(made, lambda x: [averages(x, made)])


@case("AvgPool")
def _(c):
    """The last window hangs over the padding by one."""
    spatial = c.randint(1, 3)
    kernel, twos, ones = c.dims(spatial, 3, 4), [2] * spatial, [1] * spatial
    data = c.data(c.dims(2, 1, 5) + [k + c.choice([1, 3, 5]) for k in kernel],
                  c.real())
    made = opset14.avg_pool(data, twos, ones, ones, kernel, False,
                            c.choice(["ceil", "ceil_torch"]))
    return c.by_definition(made, lambda x: [averages(x, made)])


@case("AdaptiveAvgPool")
def _(c):
    spatial = c.randint(1, 3)
    return ops.adaptive_avg_pool(pool_data(c, spatial),
                                 c.ints(c.dims(spatial, 1, 9)))


@case("AdaptiveMaxPool")
def _(c):
    """OpenVINO's CPU plugin has no other indices."""
    spatial = c.randint(1, 3)
    return ops.adaptive_max_pool(pool_data(c, spatial),
                                 c.ints(c.dims(spatial, 1, 9)), "i32")


def over_all(c, kind, reduce):
    spatial = c.randint(1, 3)
    data = pool_data(c, spatial)
    axes = c.const(list(range(2, 2 + spatial)))
    return c.stands_for(kind, [data], {}, reduce(data, axes, True))


case("GlobalMaxPool")(
    lambda c: over_all(c, "GlobalMaxPool", ops.reduce_max))
case("GlobalAveragePool")(
    lambda c: over_all(c, "GlobalAveragePool", ops.reduce_mean))

# Resizes

PLACES = ["half_pixel", "pytorch_half_pixel", "asymmetric",
          "tf_half_pixel_for_nn", "align_corners"]
ROUNDINGS = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil",
             "simple"]


def resized(c, mode):
    """Shape, axes, pads, sizes or scales, and which of these."""
    rank = 4 if mode in ("linear_onnx", "cubic") else c.randint(3, 5)
    shape = c.dims(2, 1, 3) + c.dims(rank - 2, 2, 7)
    axes = list(range(2, rank))
    if mode != "linear_onnx" and c.random() < 0.3:
        axes = [c.choice(axes)]
    pads = [0] * rank, [0] * rank
    if c.random() < 0.2:
        pads = [0, 0] + c.dims(rank - 2, 0, 2), [0, 0] + c.dims(rank - 2, 0, 2)
    if c.flag():
        return shape, axes, pads, c.dims(len(axes), 1, 12), "sizes"
    scales = [c.choice([0.5, 1, 1.5, 2, 0.7, 3]) for _ in axes]
    return shape, axes, pads, scales, "scales"


@case("Interpolate")
def _(c):
    mode = c.choice(["nearest", "linear", "linear_onnx", "cubic"])
    shape, axes, pads, sizes, how = resized(c, mode)
    sizes = c.ints(sizes) if how == "sizes" else c.const(sizes, "f32")
    return c.within(1e-4, opset11.interpolate(
        c.data(shape), sizes, mode, how, *pads, c.choice(PLACES),
        c.choice(ROUNDINGS), False, -0.6, c.ints(axes)))


@case("Interpolate")
def _(c):
    mode = c.choice(["nearest", "linear", "linear_onnx", "cubic"])
    shape, axes, pads, sizes, how = resized(c, mode)
    scales = sizes if how == "scales" else [1.0] * len(axes)
    sizes = sizes if how == "sizes" else [1] * len(axes)
    return c.within(1e-4, node(
        "opset4", "Interpolate",
        [c.data(shape), c.ints(sizes), c.const(scales, "f32"), c.ints(axes)],
        {"mode": mode, "shape_calculation_mode": how,
         "coordinate_transformation_mode": c.choice(PLACES),
         "nearest_mode": c.choice(ROUNDINGS), "antialias": False,
         "pads_begin": pads[0], "pads_end": pads[1], "cube_coeff": -0.75}))


@case("Interpolate")
def _(c):
    """Of opset 1."""
    mode = c.choice(["nearest", "linear"])
    shape = c.dims(2, 1, 3) + c.dims(2, 2, 7)
    return c.within(1e-4, opset1.interpolate(
        c.data(shape), c.ints(c.dims(2, 1, 12)),
        {"axes": np.array([2, 3]), "mode": mode, "align_corners": c.flag(),
         "antialias": False}))
