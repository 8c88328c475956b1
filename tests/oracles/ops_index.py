# SPDX-License-Identifier: Apache-2.0
"""Operators that pick by index or count, for ops_oracle.py."""
import numpy as np
import openvino.opset1 as opset1
import openvino.opset3 as opset3
import openvino.opset4 as opset4
import openvino.opset5 as opset5
import openvino.opset7 as opset7
import openvino.opset8 as opset8
import openvino.opset9 as opset9
import openvino.opset12 as opset12
import openvino.opset15 as ops
import openvino.opset16 as opset16

from ops_case import COPIED_TYPES, case


def indices(c, shape, size, low=None):
    """Into a dimension of that size; from the end, too, unless low is 0."""
    low = -size if low is None else low
    return c.some(shape, c.integer(), low, size - 1)


def moved(c, shape):
    return c.data(shape, c.choice(COPIED_TYPES), -100, 100)


def gathered(data, picked, axis, batch):
    """As specified: batch by batch."""
    if batch == 0:
        return np.take(data, picked, axis)
    return np.stack([gathered(x, i, axis - 1, batch - 1)
                     for x, i in zip(data, picked)])


@case("Gather")
def _(c):
    """OpenVINO's CPU plugin is wrong about batches with indices from the end,
    or crashes."""
    shape = c.dims(c.randint(1, 4), 1, 6)
    axis = c.randrange(len(shape))
    batch = c.randint(0, axis) if c.flag() else 0
    where = indices(c, shape[:batch] + c.dims(c.randint(0, 2), 1, 5),
                    shape[axis])
    given = batch - where.ndim if c.flag() and where.ndim > batch else batch
    made = opset8.gather(
        moved(c, shape), c.given(where),
        c.const(c.choice([axis, axis - len(shape)])), given)
    if batch:
        c.by_definition(made, lambda x, i: [gathered(x, i, axis, batch)])
    return c.exact(made)


@case("Gather")
def _(c):
    shape = c.dims(c.randint(1, 4), 1, 6)
    axis = c.randrange(len(shape))
    opset = c.choice([opset1, opset7])
    return c.exact(opset.gather(
        moved(c, shape), c.given(indices(c, c.dims(c.randint(0, 3), 1, 5),
                                         shape[axis], 0)), c.const(axis)))


@case("GatherElements")
def _(c):
    shape = c.dims(c.randint(1, 4), 1, 6)
    axis = c.axis(len(shape))
    picked = list(shape)
    picked[axis] = c.randint(0, 9)
    return c.exact(ops.gather_elements(
        moved(c, shape), c.given(indices(c, picked, shape[axis])), axis))


@case("GatherND")
def _(c):
    shape = c.dims(c.randint(1, 4), 1, 5)
    batch = c.randint(0, len(shape) - 1)
    depth = c.randint(1, len(shape) - batch)
    count = shape[:batch] + c.dims(c.randint(0, 2), 1, 4)
    picked = [indices(c, count, shape[batch + d], 0).astype(np.int64)
              for d in range(depth)]
    opset = c.choice([opset5, opset8])
    return c.exact(opset.gather_nd(
        moved(c, shape), c.given(np.stack(picked, -1)), batch))


@case("ScatterUpdate")
def _(c):
    shape = c.dims(c.randint(1, 4), 1, 6)
    axis = c.axis(len(shape))
    at = axis % len(shape)
    count = c.randint(1, shape[at])
    picked = np.array(c.sample(range(shape[at]), count), np.int64)
    new = [count]
    if c.flag():
        new = c.choice([[1, count], [count, 1]])
    dtype = c.choice(COPIED_TYPES)
    return c.exact(opset3.scatter_update(
        c.data(shape, dtype, -100, 100), c.given(picked.reshape(new)),
        c.data(shape[:at] + new + shape[at + 1:], dtype, -100, 100),
        c.const(axis)))


@case("ScatterElementsUpdate")
def _(c):
    """One update per element: the order of several is unspecified.  Means of
    integers are rounded down, but not by OpenVINO's CPU plugin."""
    shape = c.dims(c.randint(1, 4), 1, 5)
    axis = c.axis(len(shape))
    small = [c.randint(1, d) for d in shape]
    how = c.choice(["none", "sum", "prod", "min", "max", "mean"])
    size = shape[axis]
    picked = indices(c, small, size)
    if how == "none":
        lines = np.array(c.sample(range(size), small[axis]))
        form = [1] * len(small)
        form[axis % len(small)] = -1
        picked = np.broadcast_to(lines.reshape(form), small).astype(np.int64)
    dtype = c.choice(["f32", "f32", "i32"]) if how != "mean" else "f32"
    return opset12.scatter_elements_update(
        c.data(shape, dtype), c.given(picked), c.data(small, dtype),
        c.const(axis), how, c.flag())


@case("ScatterNDUpdate")
def _(c):
    shape = c.dims(c.randint(1, 4), 1, 5)
    depth = c.randint(1, len(shape))
    how = c.choice(["none", "sum", "sub", "prod", "min", "max"])
    places = int(np.prod(shape[:depth]))
    count = c.randint(1, min(places, 5))
    flat = c.sample(range(places), count)
    if how != "none":
        flat = [c.randrange(places) for _ in range(count)]
    picked = np.stack(np.unravel_index(flat, shape[:depth]), -1)
    dtype = c.choice(["f32", "f32", "i32"])
    update = c.data([count] + shape[depth:], dtype)
    data = c.data(shape, dtype)
    where = c.given(picked.astype(np.int64))
    if how == "none":
        return opset4.scatter_nd_update(data, where, update)
    return ops.scatter_nd_update(data, where, update, how)


@case("ShapeOf")
def _(c):
    data = c.data(c.any_shape())
    if c.random() < 0.3:
        return opset1.shape_of(data)
    return opset3.shape_of(data, c.integer())


@case("Range")
def _(c):
    dtype = c.choice(["f32", "i32", "i64"])
    start = c.randint(-9, 9)
    steps = c.choice([1, 2, 3, -1, -2])
    stop = start + steps * c.randint(0, 9) + c.choice([0, 1, -1])
    if dtype == "f32":
        start, stop, steps = start + 0.5, stop + 0.25, steps * 0.75
    numbers = [c.const(x, dtype) for x in (start, stop, steps)]
    return ops.range(*numbers, dtype)


@case("Eye")
def _(c):
    shape = [c.const(c.dims(c.randint(1, 2), 1, 3))] if c.flag() else []
    return opset9.eye(c.ints(c.randint(0, 5)), c.ints(c.randint(0, 5)),
                      c.ints(c.randint(-6, 6)),
                      c.choice(["f32", "i32", "i64", "u8"]), *shape)


@case("OneHot")
def _(c):
    shape = c.dims(c.randint(0, 3), 1, 5)
    axis = c.randint(-len(shape) - 1, len(shape))
    depth = c.randint(1, 6)
    dtype = c.choice(["f32", "i32", "i64"])
    on, off = c.const(5, dtype), c.const(-2, dtype)
    index = c.some(shape, c.integer(), 0, depth + 1)
    return c.exact(opset1.one_hot(c.given(index), c.const(depth), on, off,
                                  axis))


@case("OneHot")
def _(c):
    """Indices from the end, which only a mode of opset 16 has."""
    shape = c.dims(c.randint(0, 3), 1, 5)
    depth = c.randint(1, 6)
    mode = c.choice(["ignore_negative", "normalize"])
    index = c.some(shape, c.integer(), -depth - 1, depth + 1)

    def compute(x):
        x = np.where((x < 0) & (mode == "normalize"), x + depth, x)
        return [np.where(x[..., None] == np.arange(depth), 2, 1).astype("f4")]

    return c.exact(c.by_definition(opset16.one_hot(
        c.given(index), c.const(depth), c.const(2, "f32"), c.const(1, "f32"),
        -1, mode), compute))


@case("GridSample")
def _(c):
    shape = c.dims(4, 1, 7)
    points = c.dims(2, 1, 5)
    mode = c.choice(["bilinear", "bicubic", "nearest"])
    return c.by_reference(ops.grid_sample(
        c.data(shape), c.data([shape[0]] + points + [2], "f32", -2.5, 2.5),
        {"align_corners": c.flag(), "mode": mode,
         "padding_mode": c.choice(["zeros", "border", "reflection"])}))


# Embedding bags

def table(c):
    return c.data([c.randint(2, 9)] + c.dims(c.randint(1, 2), 1, 5))


def row_indices(c, node, shape):
    rows = node.get_output_shape(0)[0]
    return c.given(c.some(shape, c.integer(), 0, rows - 1))


@case("EmbeddingBagPackedSum")
def _(c):
    rows = table(c)
    shape = c.dims(2, 1, 5)
    weights = [c.data(shape)] if c.flag() else []
    return ops.embedding_bag_packed_sum(rows, row_indices(c, rows, shape),
                                        *weights)


@case("EmbeddingBagPacked")
def _(c):
    rows = table(c)
    return ops.embedding_bag_packed(
        rows, row_indices(c, rows, c.dims(2, 1, 5)),
        reduction=c.choice(["sum", "mean"]))


def offsets(c, bags, count):
    """Some bags are empty."""
    cuts = sorted(c.randint(0, count) for _ in range(bags - 1))
    return [0] + cuts


def bag_inputs(c):
    rows = table(c)
    count, bags = c.randint(1, 9), c.randint(1, 5)
    picked = row_indices(c, rows, [count])
    kind = picked.get_output_element_type(0).get_type_name()
    return rows, picked, kind, count, bags


@case("EmbeddingBagOffsetsSum")
def _(c):
    rows, picked, kind, count, bags = bag_inputs(c)
    more = [c.const(c.choice([-1, 1]), kind)] if c.flag() else []
    if more and c.flag():
        more.append(c.data([count]))
    return ops.embedding_bag_offsets_sum(
        rows, picked,
        c.given(np.asarray(offsets(c, bags, count), kind.replace("i", "int"))),
        *more)


@case("EmbeddingBagOffsets")
def _(c):
    rows, picked, kind, count, bags = bag_inputs(c)
    more = [c.const(c.choice([-1, 1]), kind)] if c.flag() else []
    return ops.embedding_bag_offsets(
        rows, picked,
        c.given(np.asarray(offsets(c, bags, count), kind.replace("i", "int"))),
        *more, reduction=c.choice(["sum", "mean"]))


@case("EmbeddingSegmentsSum")
def _(c):
    rows, picked, kind, count, bags = bag_inputs(c)
    segments = np.sort(c.some([count], kind, 0, bags - 1))
    more = [c.const(c.choice([-1, 1]), kind)] if c.flag() else []
    if more and c.flag():
        more.append(c.data([count]))
    return ops.embedding_segments_sum(
        rows, picked, c.given(segments), c.const(bags, kind), *more)
