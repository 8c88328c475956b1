# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements, for ops_oracle.py."""
import numpy as np
import openvino.opset1 as opset1
import openvino.opset12 as opset12
import openvino.opset15 as ops
import openvino.opset16 as opset16

from infer_case import node
from infer_move import bound, step
from ops_case import COPIED_TYPES, case


def moved(c, shape):
    return c.data(shape, c.choice(COPIED_TYPES), -100, 100)


@case("Reshape")
def _(c):
    shape = c.any_shape()
    pattern = list(shape)
    zero = c.flag()
    if zero:
        pattern = [0 if c.random() < 0.3 else d for d in pattern]
    elif c.flag() and len(pattern) > 1:
        c.shuffle(pattern)
    if c.flag() and 0 not in shape:
        if pattern and pattern[-1] != 0:
            pattern[-1] = -1
        elif not pattern:
            pattern = c.choice([[1], [-1], [1, 1]])
    return c.exact(ops.reshape(moved(c, shape), c.ints(pattern), zero))


@case("Squeeze")
def _(c):
    shape = [1 if c.flag() else d for d in c.any_shape(1)]
    if c.random() < 0.3:
        return c.exact(ops.squeeze(moved(c, shape)))
    ones = [i for i, d in enumerate(shape) if d == 1]
    axes = c.sample(ones, c.randint(0, len(ones)))
    axes = [a - len(shape) if c.flag() else a for a in axes]
    squeeze = c.choice([opset1.squeeze, ops.squeeze])
    return c.exact(squeeze(moved(c, shape), c.ints(axes)))


@case("Unsqueeze")
def _(c):
    shape = c.any_shape()
    count = c.randint(1, 3)
    axes = c.sample(range(len(shape) + count), count)
    axes = [a - len(shape) - count if c.flag() else a for a in axes]
    return c.exact(ops.unsqueeze(moved(c, shape), c.ints(axes)))


@case("Identity")
def _(c):
    return c.exact(opset16.identity(moved(c, c.any_shape())))


@case("Copy")
def _(c):
    data = moved(c, c.any_shape())
    return c.exact(c.stands_for("Copy", [data], {}, opset16.identity(data)))


@case("Slice")
def _(c):
    shape = c.any_shape(1)
    axes = c.axes(len(shape), 1)
    start = [bound(c, shape[a]) for a in axes]
    stop = [bound(c, shape[a]) for a in axes]
    steps = [step(c) for _ in axes]
    if c.random() < 0.2:
        axes = list(range(len(axes)))
        return c.exact(ops.slice(moved(c, shape), c.const(start),
                                 c.const(stop), c.const(steps)))
    return c.exact(ops.slice(moved(c, shape), c.const(start), c.const(stop),
                             c.const(steps), c.const(axes)))


@case("StridedSlice")
def _(c):
    shape = c.dims(c.randint(1, 5), 1, 6)
    count = c.randint(1, len(shape))
    start = [bound(c, shape[d]) for d in range(count)]
    stop = [bound(c, shape[d]) for d in range(count)]

    def mask(chance):
        return [int(c.random() < chance) for _ in range(count)]

    nothing = [0] * count
    new, shrink = c.choice([(mask(0.3), nothing), (nothing, mask(0.3))])
    ellipsis = [0] * count
    if c.random() < 0.3 and not any(new) and not any(shrink):
        ellipsis[c.randrange(count)] = 1
    start = [c.randint(-d, d - 1) if s else b
             for s, b, d in zip(shrink, start, shape)]
    begin = [int(b and not s) for b, s in zip(mask(0.3), shrink)]
    steps = [1 if s else step(c) for s in shrink]
    return c.exact(ops.strided_slice(
        moved(c, shape), c.const(start), c.const(stop), c.const(steps), begin,
        mask(0.3), new, shrink, ellipsis))


@case("StridedSlice")
def _(c):
    """New axes before and behind dimensions that are removed, for which
    OpenVINO's CPU plugin is wrong.  The reference is numpy's indexing."""
    shape = c.dims(c.randint(1, 4), 1, 6)
    items, start, stop, steps = [], [], [], []
    for d in shape:
        items += [None] if c.flag() else []
        part = slice(c.randint(-d, d), c.randint(-d, d), c.randint(1, 3))
        items.append(c.choice([
            c.randint(-d, d - 1), part if Ellipsis in items else Ellipsis,
            part]))
    for item in items:
        cut = item if isinstance(item, slice) else slice(item, 0, 1)
        start.append(cut.start if isinstance(cut.start, int) else 0)
        stop.append(cut.stop)
        steps.append(cut.step)
    nothing = [0] * len(items)
    made = ops.strided_slice(
        moved(c, shape), c.const(start), c.const(stop), c.const(steps),
        nothing, nothing, [int(i is None) for i in items],
        [int(isinstance(i, int)) for i in items],
        [int(i is Ellipsis) for i in items])
    return c.exact(c.by_definition(made, lambda x: [x[tuple(items)]]))


@case("Concat")
def _(c):
    shape = c.any_shape(1)
    axis = c.axis(len(shape))
    dtype = c.choice(COPIED_TYPES)
    parts = []
    for _ in range(c.randint(1, 5)):
        part = list(shape)
        part[axis] = c.randint(0, 5) if c.random() < 0.2 else c.randint(1, 5)
        parts.append(c.either(part, dtype, -100, 100) if parts
                     else c.data(part, dtype, -100, 100))
    return c.exact(ops.concat(parts, axis))


@case("Split")
def _(c):
    shape = c.any_shape(1)
    axis = c.axis(len(shape))
    parts = c.randint(1, 4)
    shape[axis] *= parts
    return c.exact(ops.split(moved(c, shape), c.ints(axis), parts))


@case("VariadicSplit")
def _(c):
    shape = c.any_shape(1)
    axis = c.axis(len(shape))
    lengths = c.dims(c.randint(1, 4), 0 if c.random() < 0.2 else 1, 4)
    shape[axis] = sum(lengths)
    if c.flag():
        lengths[c.randrange(len(lengths))] = -1
    return c.exact(ops.variadic_split(moved(c, shape), c.ints(axis),
                                      c.ints(lengths)))


@case("Transpose")
def _(c):
    shape = c.any_shape(1, 6, 5)
    order = list(range(len(shape)))
    c.shuffle(order)
    if c.random() < 0.2:
        order = []
    return c.exact(ops.transpose(moved(c, shape), c.ints(order)))


@case("Transpose")
def _(c):
    """Large enough to be moved in tiles."""
    shape = c.dims(c.randint(2, 4), 5, 40)
    order = list(range(len(shape)))
    c.shuffle(order)
    return c.exact(ops.transpose(moved(c, shape), c.ints(order)))


@case("ShuffleChannels")
def _(c):
    shape = c.dims(c.randint(2, 4), 1, 5)
    axis = c.axis(len(shape))
    group = c.randint(1, 3)
    shape[axis] *= group
    return c.exact(ops.shuffle_channels(moved(c, shape), axis, group))


@case("Reverse")
def _(c):
    """OpenVINO's CPU plugin does not implement it."""
    shape = c.any_shape(1)
    data = moved(c, shape)
    if c.flag():
        axes = c.axes(len(shape))
        axes = sorted({a % len(shape) for a in axes})
        which, mode = c.ints(axes), "index"
    else:
        mask = [c.flag() for _ in shape]
        axes = [i for i, m in enumerate(mask) if m]
        which, mode = c.const(mask, "boolean"), "mask"
    return c.exact(c.by_definition(
        node("opset1", "Reverse", [data, which], {"mode": mode}),
        lambda x: [np.flip(x, axes)]))


@case("ReverseSequence")
def _(c):
    shape = c.dims(c.randint(2, 4), 1, 6)
    batch, along = c.sample(range(len(shape)), 2)
    lengths = [c.randint(1, shape[along]) for _ in range(shape[batch])]
    return c.exact(ops.reverse_sequence(
        c.data(shape), c.const(lengths, "i32"), batch, along))


@case("Roll")
def _(c):
    """OpenVINO's CPU plugin needs a shift for every axis."""
    shape = c.dims(c.randint(1, 4), 1, 6)
    axes = [c.axis(len(shape)) for _ in range(c.randint(1, 3))]
    shift = [c.randint(-9, 9) for _ in axes]
    if c.random() < 0.3:
        shift = c.randint(-9, 9)
    return c.exact(c.by_definition(
        ops.roll(moved(c, shape), c.const(shift), c.const(axes)),
        lambda x: [np.roll(x, shift, axes)]))


@case("Broadcast")
def _(c):
    target = c.dims(c.randint(1, 4), 1, 6)
    mode = c.choice(["numpy", "bidirectional", "explicit"])
    if mode == "explicit":
        axes = sorted(c.sample(range(len(target)), c.randint(0, len(target))))
        shape = [target[a] for a in axes]
        if not axes:
            shape, axes = [1], [0]
        return c.exact(ops.broadcast(moved(c, shape), c.ints(target),
                                     c.ints(axes), mode))
    shape = c.smaller(target)
    if mode == "bidirectional":
        target = [1 if c.random() < 0.3 else d for d in target]
    return c.exact(ops.broadcast(moved(c, shape), c.ints(target), None, mode))


@case("Tile")
def _(c):
    """OpenVINO's CPU plugin repeats some dimensions at the wrong end when
    there are more than four."""
    shape = c.any_shape(1)
    repeats = c.dims(c.randint(1, 5), 0 if c.random() < 0.1 else 1, 3)
    return c.exact(c.by_definition(
        ops.tile(moved(c, shape), c.ints(repeats)),
        lambda x: [np.tile(x, repeats)]))


def padded(x, begin, end, value):
    """As specified: negative pads crop."""
    x = x[tuple(slice(max(-b, 0), d - max(-e, 0))
                for b, e, d in zip(begin, end, x.shape))]
    pads = [(max(b, 0), max(e, 0)) for b, e in zip(begin, end)]
    return np.pad(x, pads, constant_values=value)


@case("Pad")
def _(c):
    """OpenVINO's CPU plugin does not wait for a computed number."""
    shape = c.dims(c.randint(1, 5), 3, 6)
    low, mode = c.choice([-1, 0]), c.choice(["constant", "constant", "edge",
                                             "reflect", "symmetric"])
    dtype = c.choice(["f32", "f32", "i32", "i64"])
    opset = opset12 if low < 0 else c.choice([opset1, opset12])
    begin, end = c.dims(len(shape), low, 2), c.dims(len(shape), low, 2)
    data = c.data(shape, dtype, -9, 9)
    value = c.data([], dtype) if mode == "constant" and c.flag() else None
    made = opset.pad(data, c.ints(begin), c.ints(end), mode, value)
    if value is not None:
        c.by_definition(made, lambda x, v: [padded(x, begin, end, v)])
    return c.exact(made)


@case("DepthToSpace")
def _(c):
    block = c.randint(1, 3)
    shape = c.dims(c.randint(3, 5), 1, 4)
    shape[1] *= block ** (len(shape) - 2)
    return c.exact(ops.depth_to_space(
        moved(c, shape), c.choice(["blocks_first", "depth_first"]), block))


@case("SpaceToDepth")
def _(c):
    block = c.randint(1, 3)
    shape = c.dims(c.randint(3, 5), 1, 4)
    shape = shape[:2] + [d * block for d in shape[2:]]
    return c.exact(ops.space_to_depth(
        moved(c, shape), c.choice(["blocks_first", "depth_first"]), block))


def blocks(c):
    """Shape of the few large batches, blocks, pads."""
    rank = c.randint(3, 5)
    block = [1] + c.dims(rank - 1, 1, 3)
    begin = [0] + c.dims(rank - 1, 0, 1)
    end = [0] + c.dims(rank - 1, 0, 1)
    shape = [c.randint(1, 2)] + [
        b * c.randint(1, 3) - x - y + (b * 2 if b < 3 else 0)
        for b, x, y in zip(block[1:], begin[1:], end[1:])]
    return [max(d, 0) for d in shape], block, begin, end


def space_to_batch(x, block, begin, end):
    """As specified: blocks become batches."""
    x = np.pad(x, list(zip(begin, end)))
    split = [x.shape[0]]
    for d, b in zip(x.shape[1:], block[1:]):
        split += [d // b, b]
    n = len(block) - 1
    x = x.reshape(split)
    x = x.transpose([2 * i + 2 for i in range(n)] + [0]
                    + [2 * i + 1 for i in range(n)])
    return x.reshape([int(np.prod(x.shape[:n + 1]))] + list(x.shape[n + 1:]))


@case("SpaceToBatch")
def _(c):
    """OpenVINO's CPU plugin deviates from the specification for some blocks."""
    shape, block, begin, end = blocks(c)
    return c.exact(c.by_definition(
        ops.space_to_batch(moved(c, shape), c.const(block), c.const(begin),
                           c.const(end)),
        lambda x: [space_to_batch(x, block, begin, end)]))


@case("BatchToSpace")
def _(c):
    rank = c.randint(3, 5)
    block = [1] + c.dims(rank - 1, 1, 3)
    shape = [int(np.prod(block)) * c.randint(1, 2)] + c.dims(rank - 1, 2, 4)
    return c.exact(ops.batch_to_space(
        moved(c, shape), c.const(block), c.const([0] + c.dims(rank - 1, 0,
                                                              1)),
        c.const([0] + c.dims(rank - 1, 0, 1))))
