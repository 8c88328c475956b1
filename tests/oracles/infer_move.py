# SPDX-License-Identifier: Apache-2.0
"""Cases of infer_models.py: views, moves, slices and gathers."""
import numpy as np
import openvino.opset1 as opset1
import openvino.opset3 as opset3
import openvino.opset5 as opset5
import openvino.opset8 as opset8
import openvino.opset15 as ops

from infer_case import case, const, data, ints

# Views and moves

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


# Slices and gathers

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
