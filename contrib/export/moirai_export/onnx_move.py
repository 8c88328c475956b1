# SPDX-License-Identifier: Apache-2.0
"""ONNX operators that move elements, or gather them by index."""
import numpy

from . import ops
from .graph import Unsupported, count


def shape(op):
    """A constant, as shapes are static."""
    sizes = op.reader.names[op.node.input[0]].shape
    return numpy.array(sizes[op.attr("start", 0):op.attr("end")], "int64")


def size(op):
    return numpy.array(count(op.reader.names[op.node.input[0]].shape), "int64")


def reshape(op):
    x = op.value(0)
    sizes = op.list("shape", 1, 5, "its shape")
    if not op.attr("allowzero", 0):
        sizes = [x.shape[d] if dim == 0 and d < x.rank else dim
                 for d, dim in enumerate(sizes)]
    return ops.reshape(op.g, x, ops.whole_shape(sizes, count(x.shape)))


def flatten(op):
    x = op.value(0)
    axis = op.attr("axis", 1)
    axis += x.rank if axis < 0 else 0
    return ops.reshape(op.g, x, (count(x.shape[:axis]), count(x.shape[axis:])))


def squeeze(op):
    x = op.value(0)
    axes = op.list("axes", 1, 13, "its axes")
    if axes is None:
        axes = [d for d, length in enumerate(x.shape) if length == 1]
    return ops.squeeze(op.g, x, axes)


def unsqueeze(op):
    return ops.unsqueeze(op.g, op.value(0),
                         op.list("axes", 1, 13, "its axes"))


def transpose(op):
    x = op.value(0)
    return ops.transpose(op.g, x, op.attr("perm", range(x.rank)[::-1]))


def expand(op):
    x = op.value(0)
    sizes = op.numbers(1, "its shape")
    return ops.broadcast(op.g, x, ops.broadcast_shape(x.shape, sizes))


def tile(op):
    return ops.tile(op.g, op.value(0), op.numbers(1, "how often"))


def concat(op):
    return ops.concat(op.g, op.values(), op.attr("axis", 1))


def split(op):
    x = op.value(0)
    axis = ops.axis_of(op.attr("axis", 0), x.rank)
    lengths = op.list("split", 1, 13, "how it is split")
    if lengths is None:
        parts = op.n_outputs
        each = -(-x.shape[axis] // parts)
        lengths = [min(each, x.shape[axis] - each * i) for i in range(parts)]
    return ops.split(op.g, x, axis, lengths)


def slice_(op):
    """From, to, along which axes, by which step."""
    x = op.value(0)
    if op.version < 10:
        starts, ends, axes = (op.attr(n) for n in ("starts", "ends", "axes"))
        steps = None
    else:
        starts, ends, axes, steps = (op.numbers(i, "what it takes")
                                     for i in (1, 2, 3, 4))
    slices = {}
    for i, start in enumerate(starts):
        axis = ops.axis_of(axes[i] if axes else i, x.rank)
        step = steps[i] if steps else 1
        slices[axis] = (start, ends[i], step)
    return ops.cut(op.g, x, slices)


def pad(op):
    x = op.value(0)
    mode = op.attr("mode", "constant")
    if mode not in ("constant", "reflect", "edge"):
        raise Unsupported(f"pads in mode {mode}")
    if op.version < 11:
        pads, value = op.attr("pads", op.attr("paddings")), op.attr("value", 0)
    else:
        pads, value = op.numbers(1, "how much"), op.number(2, "with what", 0)
    axes = op.numbers(3, "along which axes") or range(x.rank)
    begin, end = [0] * x.rank, [0] * x.rank
    for i, axis in enumerate(axes):
        axis = ops.axis_of(axis, x.rank)
        begin[axis], end[axis] = pads[i], pads[i + len(pads) // 2]
    return ops.pad(op.g, x, begin, end, mode, value)


def gather(op):
    return ops.gather(op.g, op.value(0), op.value(1), op.attr("axis", 0))


def gather_elements(op):
    return ops.gather_elements(op.g, op.value(0), op.value(1),
                               op.attr("axis", 0))


def gather_nd(op):
    return ops.gather_nd(op.g, op.value(0), op.value(1),
                         op.attr("batch_dims", 0))


REDUCTIONS = {"none": "none", "add": "sum", "mul": "prod", "max": "max",
              "min": "min"}


def scatter_nd(op):
    return ops.scatter_nd(op.g, op.value(0), op.value(1), op.value(2),
                          REDUCTIONS[op.attr("reduction", "none")])


def scatter_elements(op):
    return ops.scatter_elements(op.g, op.value(0), op.value(1), op.value(2),
                                op.attr("axis", 0),
                                REDUCTIONS[op.attr("reduction", "none")])


def one_hot(op):
    """In ONNX negative indices count from the end."""
    x = op.value(0)
    depth = int(op.number(1, "its depth"))
    values = op.known(2, "its values")
    axis = op.attr("axis", -1)
    axis += x.rank + 1 if axis < 0 else 0
    off, on = (op.lift(value) for value in values)
    if x.dtype not in ("i32", "i64"):
        x = ops.convert(op.g, x, "i64")
    return op.g.add("OneHot", [x, op.g.ints([depth], ()), on, off],
                    x.shape[:axis] + (depth,) + x.shape[axis:], on.dtype,
                    axis=axis, negative_indices_mode="normalize")


def trilu(op):
    """A triangle of x, zeros elsewhere."""
    x = op.value(0)
    k = int(op.number(1, "its diagonal", 0))
    part = numpy.triu if op.attr("upper", 1) else numpy.tril
    mask = op.lift(part(numpy.ones(x.shape[-2:], "bool"), k), "triangle")
    return ops.select(op.g, mask, x, op.g.scalar(0, x.dtype))


def block_mode(op):
    return "depth_first" if op.attr("mode", "DCR") == "CRD" else "blocks_first"


def depth_to_space(op):
    x, edge = op.value(0), op.attr("blocksize")
    return op.g.add("DepthToSpace", [x],
                    (x.shape[0], x.shape[1] // edge ** 2,
                     x.shape[2] * edge, x.shape[3] * edge),
                    x.dtype, mode=block_mode(op), block_size=edge)


def space_to_depth(op):
    x, edge = op.value(0), op.attr("blocksize")
    return op.g.add("SpaceToDepth", [x],
                    (x.shape[0], x.shape[1] * edge ** 2,
                     x.shape[2] // edge, x.shape[3] // edge),
                    x.dtype, mode=block_mode(op), block_size=edge)


def top_k(op):
    x = op.value(0)
    k = op.attr("k") if op.version < 10 else op.number(1, "how many")
    return ops.top_k(op.g, x, int(k), op.attr("axis", -1),
                     bool(op.attr("largest", 1)), bool(op.attr("sorted", 1)))


TABLE = {
    "Concat": concat, "DepthToSpace": depth_to_space, "Expand": expand,
    "Flatten": flatten, "Gather": gather, "GatherElements": gather_elements,
    "GatherND": gather_nd, "OneHot": one_hot, "Pad": pad, "Reshape": reshape,
    "Scatter": scatter_elements, "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd, "Shape": shape, "Size": size, "Slice": slice_,
    "SpaceToDepth": space_to_depth, "Split": split, "Squeeze": squeeze,
    "Tile": tile, "TopK": top_k, "Transpose": transpose, "Trilu": trilu,
    "Unsqueeze": unsqueeze,
}
