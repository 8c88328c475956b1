# SPDX-License-Identifier: Apache-2.0
"""Cases of infer_models.py: reductions, matrix products and windows."""
import numpy as np
import openvino.opset1 as opset1
import openvino.opset8 as opset8
import openvino.opset14 as opset14
import openvino.opset15 as ops
import openvino.opset16 as opset16

from infer_case import case, const, data, ints, node, weights

# Reductions and matrices

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


# Windows

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
