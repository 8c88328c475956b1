# SPDX-License-Identifier: Apache-2.0
"""ATen ops that move elements, or gather them by index."""
import torch

from . import ops
from .graph import Unsupported, count


def view(op):
    """The new shape is in PyTorch's metadata; the bits of elements can stand
    for another type where they are its numbers, too."""
    x = op.value("self")
    if x.dtype == "boolean" and op.dtype in ("u8", "i8"):
        x = ops.convert(op.g, x, op.dtype)
    if x.dtype != op.dtype:
        raise Unsupported(f"reads the bits of {x.dtype} elements as "
                          f"{op.dtype}; to(dtype) converts their values")
    return ops.reshape(op.g, x, op.shape)


def permute(op):
    return ops.transpose(op.g, op.value("self"), op["dims"])


def reverse_axes(op):
    x = op.value("self")
    return ops.transpose(op.g, x, range(x.rank - 1, -1, -1))


def transpose(op):
    x = op.value("self")
    order = list(range(x.rank))
    if x.rank > 1:
        a = ops.axis_of(op.get("dim0", 0), x.rank)
        b = ops.axis_of(op.get("dim1", 1), x.rank)
        order[a], order[b] = order[b], order[a]
    return ops.transpose(op.g, x, order)


def expand(op):
    return ops.broadcast(op.g, op.value("self"), op.shape)


def repeat(op):
    return ops.tile(op.g, op.value("self"), op["repeats"])


def cut_at(op, start, stop, step=1):
    x = op.value("self")
    axis = ops.axis_of(op.get("dim", 0), x.rank)
    return ops.cut(op.g, x, {axis: (start, stop, step)})


def slice_(op):
    return cut_at(op, op.get("start"), op.get("end"), op.get("step", 1))


def narrow(op):
    return cut_at(op, op["start"], op["start"] + op["length"])


def select(op):
    return ops.pick(op.g, op.value("self"), op["index"], op["dim"])


def cat(op):
    """PyTorch allows empty lists anywhere."""
    values = [ops.convert(op.g, op.lift(x), op.dtype) for x in op["tensors"]]
    values = [x for x in values if x.shape != (0,)] or values[:1]
    return ops.concat(op.g, values, op["dim"])


def stack(op):
    rank = len(op.shape)
    axis = ops.axis_of(op["dim"], rank)
    values = [ops.unsqueeze(op.g, ops.convert(op.g, op.lift(x), op.dtype),
                            [axis]) for x in op["tensors"]]
    return ops.concat(op.g, values, axis)


def split(op):
    """Into the parts of PyTorch's metadata."""
    x = op.value("self")
    axis = ops.axis_of(op["dim"], x.rank)
    return ops.split(op.g, x, axis, [part.shape[axis] for part in op.meta])


def unbind(op):
    x = op.value("self")
    axis = ops.axis_of(op["dim"], x.rank)
    parts = ops.split(op.g, x, axis, [1] * x.shape[axis])
    return [ops.squeeze(op.g, part, [axis]) for part in parts]


def flip(op):
    x = op.value("self")
    return ops.cut(op.g, x, {ops.axis_of(axis, x.rank): (None, None, -1)
                             for axis in op["dims"]})


def roll(op):
    """Without dims, over the elements in memory order."""
    x, shifts, dims = op.value("self"), op["shifts"], op["dims"]
    flat = x if dims else ops.reshape(op.g, x, (count(x.shape),))
    dims = [ops.axis_of(axis, x.rank) for axis in dims] or [0]
    y = op.g.add("Roll", [flat, op.g.ints(shifts), op.g.ints(dims)],
                 flat.shape, x.dtype)
    return ops.reshape(op.g, y, x.shape)


PAD_MODES = {"constant": "constant", "reflect": "reflect",
             "replicate": "edge", "circular": "circular"}


def wrap(g, x, begin, end):
    """What stands at one end is repeated at the other."""
    for d in range(x.rank):
        n = x.shape[d]
        parts = [ops.cut(g, x, {d: (n - begin[d], n, 1)})] if begin[d] else []
        parts.append(x)
        parts += [ops.cut(g, x, {d: (0, end[d], 1)})] if end[d] else []
        x = ops.concat(g, parts, d)
    return x


def pad(mode):
    """Pads are listed from the last axis on."""
    def translate(op):
        x = op.value("self")
        pads = op["pad"] if op.has("pad") else op["padding"]
        kind = PAD_MODES.get(op.get("mode", mode))
        begin, end = [0] * x.rank, [0] * x.rank
        for i in range(len(pads) // 2):
            begin[-1 - i], end[-1 - i] = pads[2 * i], pads[2 * i + 1]
        # What is cut off is cut first.
        x = ops.cut(op.g, x, {
            d: (max(0, -begin[d]), x.shape[d] - max(0, -end[d]), 1)
            for d in range(x.rank) if begin[d] < 0 or end[d] < 0})
        begin, end = ([max(0, n) for n in numbers] for numbers in (begin, end))
        if kind == "circular":
            return wrap(op.g, x, begin, end)
        return ops.pad(op.g, x, begin, end, kind, op.get("value", 0))
    return translate


def triangle(op):
    x, part = op.value("self"), getattr(torch, op.name)
    mask = part(torch.ones(x.shape[-2:], dtype=torch.bool),
                op.get("diagonal", 0))
    return ops.select(op.g, op.lift(mask), x, op.g.scalar(0, x.dtype))


def pixel_shuffle(kind, factor):
    """Channels become blocks, or blocks channels, for any number of batches."""
    def translate(op):
        x = op.value("self")
        flat = ops.reshape(op.g, x, (count(x.shape[:-3]),) + x.shape[-3:])
        y = op.g.add(kind, [flat], flat.shape[:1] + op.shape[-3:], x.dtype,
                     mode="depth_first", block_size=op[factor])
        return ops.reshape(op.g, y, op.shape)
    return translate


def channel_shuffle(op):
    """Channels of all groups in turn."""
    x, groups = op.value("self"), op["groups"]
    y = ops.reshape(op.g, x, (x.shape[0], groups, x.shape[1] // groups)
                    + x.shape[2:])
    order = [0, 2, 1, *range(3, y.rank)]
    return ops.reshape(op.g, ops.transpose(op.g, y, order), x.shape)


def diagonal(op):
    """Elements (i, i + offset) of two axes, which become the last one."""
    x, offset = op.value("self"), op.get("offset", 0)
    first = ops.axis_of(op.get("dim1", 0), x.rank)
    second = ops.axis_of(op.get("dim2", 1), x.rank)
    others = [d for d in range(x.rank) if d not in (first, second)]
    rows, columns = x.shape[first], x.shape[second]
    x = ops.transpose(op.g, x, others + [first, second])
    flat = ops.reshape(op.g, x, x.shape[:-2] + (rows * columns,))
    start = offset if offset >= 0 else -offset * columns
    n = op.shape[-1]
    at = op.g.ints(start + i * (columns + 1) for i in range(n))
    return ops.gather(op.g, flat, at, flat.rank - 1)


def unfold(op):
    """Windows along an axis; their elements become the last axis."""
    x, length, step = op.value("self"), op["size"], op["step"]
    if x.rank == 0:
        return ops.reshape(op.g, x, op.shape)
    axis = ops.axis_of(op["dimension"], x.rank)
    n = op.shape[axis]
    at = op.g.ints([w * step + i for w in range(n) for i in range(length)],
                   (n, length))
    y = ops.gather(op.g, x, at, axis)
    order = [d for d in range(y.rank) if d != axis + 1] + [axis + 1]
    return ops.transpose(op.g, y, order)


def as_strided(op):
    """Elements by strides, of a tensor that is contiguous."""
    x = op.value("self")
    at = torch.tensor(op.get("storage_offset", 0))
    for size, stride in zip(op["size"], op["stride"]):
        at = at.unsqueeze(-1) + torch.arange(size) * stride
    if at.numel() and int(at.max()) >= count(x.shape):
        raise Unsupported("reads beyond its tensor")
    flat = ops.reshape(op.g, x, (count(x.shape),))
    return ops.gather(op.g, flat, op.lift(at), 0)


def interleave(op):
    """Each element several times in a row."""
    x, times = op.value("self"), op["repeats"]
    if not op.has("dim"):
        x = ops.reshape(op.g, x, (count(x.shape),))
    axis = ops.axis_of(op.get("dim", 0), x.rank)
    if isinstance(times, torch.Tensor) and times.device.type != "meta":
        at = torch.repeat_interleave(
            torch.arange(x.shape[axis]), times.expand(x.shape[axis]))
    elif isinstance(times, int):
        at = torch.arange(x.shape[axis]).repeat_interleave(times)
    else:
        raise Unsupported("repeats as often as a tensor says")
    return ops.gather(op.g, x, op.lift(at), axis)


def meshgrid(op):
    values = [op.lift(x) for x in op["tensors"]]
    order = list(range(len(values)))
    if op.get("indexing") == "xy" and len(values) > 1:
        order[:2] = 1, 0
    made = []
    for at, x in enumerate(values):
        shape = [1] * len(values)
        shape[order[at]] = count(x.shape)
        made.append(ops.broadcast(op.g, ops.reshape(op.g, x, shape),
                                  op.meta[0].shape))
    return made


VIEWS = ("view", "_unsafe_view", "reshape", "squeeze", "unsqueeze", "flatten",
         "unflatten", "view_as", "reshape_as")
TABLE = {
    **dict.fromkeys(VIEWS, view),
    **dict.fromkeys(("transpose", "t", "swapaxes", "swapdims"),
                    transpose),
    **dict.fromkeys(("expand", "expand_as", "broadcast_to"), expand),
    **dict.fromkeys(("split", "split_with_sizes", "chunk"), split),
    **dict.fromkeys(("tril", "triu"), triangle),
    **dict.fromkeys(("reflection_pad1d", "reflection_pad2d",
                     "reflection_pad3d"), pad("reflect")),
    **dict.fromkeys(("replication_pad1d", "replication_pad2d",
                     "replication_pad3d"), pad("replicate")),
    "as_strided": as_strided, "cat": cat,
    "channel_shuffle": channel_shuffle, "constant_pad_nd": pad("constant"),
    "diagonal": diagonal, "flip": flip, "meshgrid": meshgrid,
    "narrow": narrow, "numpy_T": reverse_axes, "pad": pad("constant"),
    "permute": permute,
    "pixel_shuffle": pixel_shuffle("DepthToSpace", "upscale_factor"),
    "pixel_unshuffle": pixel_shuffle("SpaceToDepth", "downscale_factor"),
    "repeat": repeat,
    "repeat_interleave": interleave, "roll": roll, "select": select,
    "slice": slice_, "stack": stack, "unbind": unbind, "unfold": unfold,
}
