# SPDX-License-Identifier: Apache-2.0
"""ATen ops that move elements, or gather them by index."""
import torch

from . import ops
from .graph import Unsupported, count


def view(op):
    """The new shape is in PyTorch's metadata."""
    return ops.reshape(op.g, op.value("self"), op.shape)


def permute(op):
    return ops.transpose(op.g, op.value("self"), op["dims"])


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
             "replicate": "edge"}


def pad(mode):
    """Pads are listed from the last axis on."""
    def translate(op):
        x = op.value("self")
        pads = op["pad"] if op.has("pad") else op["padding"]
        kind = PAD_MODES.get(op.get("mode", mode))
        if kind is None:
            raise Unsupported(f"pads in mode {op['mode']}")
        begin, end = [0] * x.rank, [0] * x.rank
        for i in range(len(pads) // 2):
            begin[-1 - i], end[-1 - i] = pads[2 * i], pads[2 * i + 1]
        return ops.pad(op.g, x, begin, end, kind, op.get("value", 0))
    return translate


def triangle(op):
    x, part = op.value("self"), getattr(torch, op.name)
    mask = part(torch.ones(x.shape[-2:], dtype=torch.bool),
                op.get("diagonal", 0))
    return ops.select(op.g, op.lift(mask), x, op.g.scalar(0, x.dtype))


def pixel_shuffle(op):
    """Channels become blocks; there may be any number of batches."""
    x, edge = op.value("self"), op["upscale_factor"]
    flat = ops.reshape(op.g, x, (count(x.shape[:-3]),) + x.shape[-3:])
    y = op.g.add("DepthToSpace", [flat], flat.shape[:1] + op.shape[-3:],
                 x.dtype, mode="depth_first", block_size=edge)
    return ops.reshape(op.g, y, op.shape)


# ------------------------------------------------------------------- by index

def embedding(op):
    return ops.gather(op.g, op.value("weight"), op.value("indices"), 0)


def index_select(op):
    return ops.gather(op.g, op.value("self"), op.value("index"), op["dim"])


def gather(op):
    """PyTorch's index may be smaller than the data on the other axes."""
    x, index = op.value("self"), op.value("index")
    axis = ops.axis_of(op["dim"], x.rank)
    x = ops.cut(op.g, x, {d: (0, length, 1)
                          for d, length in enumerate(index.shape) if d != axis})
    return ops.gather_elements(op.g, x, index, axis)


def indexed_axes(op):
    """The axes that indices are given for, which must be neighbours."""
    indices = op["indices"]
    axes = [axis for axis, index in enumerate(indices) if index is not None]
    if axes != list(range(axes[0], axes[-1] + 1)):
        raise Unsupported("has indices for axes that are no neighbours")
    values = [op.lift(indices[axis]) for axis in axes]
    if any(value.dtype == "boolean" for value in values):
        raise Unsupported("picks by a mask, which has no fixed size")
    return axes, values


def together(g, values, sizes):
    """Indices of several axes as lists of them, counted from the front."""
    shape = ops.broadcast_shape(*(value.shape for value in values))
    columns = []
    for value, length in zip(values, sizes):
        value = ops.convert(g, value, "i64")
        end = ops.with_number(g, "Add", value, length)
        below = ops.compare(g, "Less", value, g.scalar(0, "i64"))
        value = ops.select(g, below, end, value)
        columns.append(ops.unsqueeze(g, ops.broadcast(g, value, shape),
                                     [len(shape)]))
    return ops.concat(g, columns, len(shape))


def index(op):
    x = op.value("self")
    axes, values = indexed_axes(op)
    if len(axes) == 1:
        return ops.gather(op.g, x, values[0], axes[0])
    first, n = axes[0], len(axes)
    order = axes + [d for d in range(x.rank) if d not in axes]
    lists = together(op.g, values, [x.shape[axis] for axis in axes])
    y = ops.gather_nd(op.g, ops.transpose(op.g, x, order), lists)
    # What stood before the indexed axes comes back in front of them.
    picked = lists.rank - 1
    back = list(range(picked, picked + first)) + list(range(picked)) + \
        list(range(picked + first, y.rank))
    return ops.transpose(op.g, y, back)


def index_put(op):
    x = op.value("self")
    axes, values = indexed_axes(op)
    if axes[0] != 0:
        raise Unsupported("writes by indices that are not of its first axes")
    lists = together(op.g, values, [x.shape[axis] for axis in axes])
    shape = lists.shape[:-1] + x.shape[len(axes):]
    updates = ops.broadcast(op.g, op.value("values"), shape)
    return ops.scatter_nd(op.g, x, lists, updates,
                          "sum" if op.get("accumulate") else "none")


REDUCTIONS = {"add": "sum", "multiply": "prod", "sum": "sum", "prod": "prod",
              "amax": "max", "amin": "min"}


def scatter(op):
    x, where = op.value("self"), op.value("index")
    reduction = "sum" if op.name == "scatter_add" else "none"
    if op.has("reduce"):
        if op["reduce"] not in REDUCTIONS or not op.get("include_self", True):
            raise Unsupported(f"reduces by {op['reduce']}")
        reduction = REDUCTIONS[op["reduce"]]
    if "src" in op.args:
        updates = ops.cut(op.g, op.value("src"), {
            d: (0, length, 1) for d, length in enumerate(where.shape)})
    else:
        updates = ops.broadcast(op.g, op.operand("value", x.dtype),
                                where.shape)
    return ops.scatter_elements(op.g, x, where, updates, op["dim"], reduction)


def overwrite(op, start, stop, step, source):
    """x with a part of one axis in place of its own."""
    x = op.value("self")
    axis = ops.axis_of(op.get("dim", 0), x.rank)
    taken = range(x.shape[axis])[slice(start, stop, step)]
    at = op.g.ints(taken)
    return op.g.add("ScatterUpdate", [x, at, source, op.g.ints([axis], ())],
                    x.shape, x.dtype)


def slice_scatter(op):
    return overwrite(op, op.get("start"), op.get("end"), op.get("step", 1),
                     op.value("src"))


def select_scatter(op):
    x = op.value("self")
    axis = ops.axis_of(op["dim"], x.rank)
    at = ops.axis_of(op["index"], x.shape[axis])
    return overwrite(op, at, at + 1, 1,
                     ops.unsqueeze(op.g, op.value("src"), [axis]))


def top_k(op):
    return ops.top_k(op.g, op.value("self"), op["k"], op["dim"],
                     op["largest"])


def sort(op):
    x = op.value("self")
    axis = ops.axis_of(op.get("dim", -1), x.rank)
    return ops.top_k(op.g, x, x.shape[axis], axis, op.get("descending", False))


VIEWS = ("view", "_unsafe_view", "reshape", "squeeze", "unsqueeze", "flatten",
         "unflatten", "view_as", "reshape_as")
TABLE = {
    **dict.fromkeys(VIEWS, view),
    **dict.fromkeys(("transpose", "t"), transpose),
    **dict.fromkeys(("expand", "expand_as", "broadcast_to"), expand),
    **dict.fromkeys(("split", "split_with_sizes", "chunk"), split),
    **dict.fromkeys(("tril", "triu"), triangle),
    **dict.fromkeys(("index_put", "_unsafe_index_put"), index_put),
    **dict.fromkeys(("index", "_unsafe_index"), index),
    **dict.fromkeys(("scatter", "scatter_add", "scatter_reduce"), scatter),
    **dict.fromkeys(("reflection_pad1d", "reflection_pad2d",
                     "reflection_pad3d"), pad("reflect")),
    **dict.fromkeys(("replication_pad1d", "replication_pad2d",
                     "replication_pad3d"), pad("replicate")),
    "cat": cat, "constant_pad_nd": pad("constant"), "embedding": embedding,
    "flip": flip, "gather": gather, "index_select": index_select,
    "narrow": narrow, "pad": pad("constant"), "permute": permute,
    "pixel_shuffle": pixel_shuffle, "repeat": repeat, "roll": roll,
    "select": select, "select_scatter": select_scatter, "slice": slice_,
    "slice_scatter": slice_scatter, "sort": sort, "stack": stack,
    "topk": top_k, "unbind": unbind,
}
