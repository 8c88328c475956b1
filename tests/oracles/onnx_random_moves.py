# SPDX-License-Identifier: Apache-2.0
"""Random ONNX nodes that move elements, for onnx_random.py."""
import numpy as np


def concat(d):
    shape = d.shape(d.rng.integers(1, 4))
    axis = int(d.rng.integers(len(shape)))
    for _ in range(d.rng.integers(1, 4)):
        shape[axis] = int(d.rng.integers(1, 4))
        d.data(shape, 0)
    d.attributes["axis"] = axis


def split(d):
    shape = d.shape(d.rng.integers(1, 4))
    axis = int(d.rng.integers(len(shape)))
    parts = [int(n) for n in d.rng.integers(1, 4, d.rng.integers(1, 4))]
    shape[axis] = sum(parts)
    d.data(shape)
    d.attributes["axis"] = axis
    d.n_outputs = len(parts)
    if d.version >= 13:
        d.ints(parts)
    else:
        d.attributes["split"] = parts


def slice_(d):
    shape = d.shape(d.rng.integers(1, 4))
    d.data(shape)
    rank = len(shape)
    axes = [int(a) for a in d.rng.permutation(rank)]
    # onnx's reference takes a start before the front as numpy does.
    begin = [int(d.rng.integers(-shape[a], shape[a] + 1)) for a in axes]
    end = [d.pick(2 ** 62, -2 ** 62, int(d.rng.integers(-5, 6)))
           for a in axes]
    if d.version >= 10:
        d.ints(begin)
        d.ints(end)
        d.ints(axes)
        d.ints([d.pick(1, 1, 2, -1, -2) for _ in axes])
    else:
        d.attributes.update(starts=begin, ends=end, axes=axes)


def gather(d):
    shape = d.shape(d.rng.integers(1, 4))
    axis = d.axis(len(shape))
    d.data(shape)
    low = -shape[axis] if d.version >= 11 else 0
    d.add(d.rng.integers(low, shape[axis], d.shape(d.rng.integers(0, 3)))
          .astype(d.pick(np.int32, np.int64)))
    d.attributes["axis"] = axis


def gather_elements(d):
    shape = d.shape(d.rng.integers(1, 4))
    axis = d.axis(len(shape))
    d.data(shape)
    d.add(d.rng.integers(-shape[axis], shape[axis], shape)
          .astype(d.pick(np.int32, np.int64)))
    d.attributes["axis"] = axis


def gather_nd(d):
    shape = d.shape(3)
    depth = int(d.rng.integers(1, 4))
    d.data(shape)
    d.add(np.stack([d.rng.integers(-n, n, [3]) for n in shape[:depth]], -1))


def scatter_elements(d):
    shape = d.shape(d.rng.integers(1, 4))
    axis = d.axis(len(shape)) if d.version >= 11 else \
        int(d.rng.integers(len(shape)))
    d.data(shape)
    reduction = d.pick(*(["none", "add", "mul", "max", "min"]
                         if d.version >= 18 else ["none", "add", "mul"]
                         if d.version >= 16 else ["none"]))
    if d.type() == np.bool_:
        reduction = "none"
    low = -shape[axis] if d.version >= 11 else 0
    at = d.rng.integers(low, shape[axis], shape)
    if reduction == "none":
        at = np.broadcast_to(np.arange(shape[axis]).reshape(
            [-1 if i == axis % len(shape) else 1
             for i in range(len(shape))]), shape).copy()
    d.add(at)
    d.data(shape, 2)
    d.attributes["axis"] = axis
    if reduction != "none":
        d.attributes["reduction"] = reduction


def scatter_nd(d):
    shape = d.shape(2)
    d.data(shape)
    rows = d.rng.permutation(shape[0])[:d.rng.integers(1, shape[0] + 1)]
    d.add(rows.reshape(-1, 1))
    d.data([len(rows), shape[1]], 2)


def pad(d):
    shape = d.shape(d.rng.integers(1, 4))
    mode = d.pick("constant", "edge", "reflect")
    most = [min(2, n - 1) for n in shape] if mode == "reflect" else \
        [2] * len(shape)
    d.data(shape)
    pads = [int(d.rng.integers(0, m + 1)) for m in most * 2]
    d.attributes["mode"] = mode
    if d.version >= 11:
        d.ints(pads)
        if mode == "constant" and d.flag():
            d.add(d.values(d.type(), []))
    else:
        d.attributes["pads"] = pads


def transpose(d):
    shape = d.shape()
    d.data(shape)
    if shape and d.flag():
        d.attributes["perm"] = [int(a) for a in d.rng.permutation(len(shape))]


def reshape(d):
    shape = d.shape()
    d.data(shape)
    d.ints([int(a) for a in d.rng.permutation(shape)] if d.flag() or not shape
           else [-1] + shape[:-1])


def expand(d):
    shape = d.shape()
    d.data([n if d.flag() else 1 for n in shape])
    d.ints(shape)


def tile(d):
    shape = d.shape()
    d.data(shape)
    d.ints([int(n) for n in d.rng.integers(1, 3, len(shape))])


def flatten(d):
    shape = d.shape(d.rng.integers(1, 4))
    d.data(shape)
    d.attributes["axis"] = int(d.rng.integers(len(shape) + 1))


def squeeze(d):
    shape = d.shape()
    axes = [int(a) for a in d.rng.permutation(len(shape) + 1)][:1]
    if d.kind == "Squeeze":
        shape = shape[:axes[0]] + [1] + shape[axes[0]:]
    d.data(shape)
    if d.version >= 13:
        d.ints(axes)
    else:
        d.attributes["axes"] = axes


def trilu(d):
    d.data(d.shape(d.rng.integers(2, 4)))
    d.attributes["upper"] = int(d.flag())
    if d.flag():
        d.ints(int(d.rng.integers(-3, 4)))


def space(d):
    by = 2
    shape = d.shape(4, 2)
    if d.kind == "SpaceToDepth":
        shape[2:] = [by * n for n in shape[2:]]
    else:
        shape[1] *= by * by
        if d.version >= 11:
            d.attributes["mode"] = d.pick("DCR", "CRD")
    d.data(shape)
    d.attributes["blocksize"] = by


def one_hot(d):
    d.tame = True
    d.data(d.shape(d.rng.integers(1, 3)))
    low = 0 if d.inputs[0].dtype.kind == "u" else -4
    d.inputs[0] = d.rng.integers(low, 6, d.inputs[0].shape).astype(
        d.inputs[0].dtype)
    d.ints(4)
    d.add(d.values(d.type(2), [2]))
    d.attributes["axis"] = d.pick(-1, 0)


def range_(d):
    dtype = d.of(np.int32, np.int64, np.float32, np.float64, np.int16)
    start = d.pick(-3, 0, 2)
    for value in start, start + d.pick(-5, 0, 4, 7), d.pick(1, 2, -1, 3):
        d.ints(value, dtype)
    if dtype == np.int64 and not d.tame:
        d.inputs[0] = np.array(d.pick(2 ** 62 + 1, 2 ** 63 - 4, -2 ** 63))
        d.inputs[1] = d.inputs[0] + 3
        d.inputs[2] = np.array(1)


def eye(d):
    d.data(d.shape(2))
    d.attributes["k"] = int(d.rng.integers(-2, 3))
