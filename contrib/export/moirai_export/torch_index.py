# SPDX-License-Identifier: Apache-2.0
"""ATen ops that read or write elements by index, and those that order them."""
import torch

from . import ops
from .graph import REALS, Unsupported, count


def embedding(op):
    return ops.gather(op.g, op.value("weight"), op.value("indices"), 0)


def embedding_bag(op):
    """Sums, means or maxima of rows; the bags have one length, or begin where
    a constant says.  Other results are of use to training only."""
    modes = ("ReduceSum", "ReduceMean", "ReduceMax")
    weight, indices = op.value("weight"), op.value("indices")
    starts, n = op["offsets"], count(indices.shape)
    if not isinstance(starts, torch.Tensor) or starts.device.type == "meta":
        raise Unsupported("has bags that begin where a tensor says")
    if op.get("padding_idx", -1) >= 0:
        raise Unsupported("has a padding_idx")
    starts = starts.tolist()
    ends = starts[1:] + [n]
    if op.get("include_last_offset"):
        starts, ends = starts[:-1], starts[1:]
    rows = ops.gather(op.g, weight, indices, 0)
    if op.has("per_sample_weights"):
        factors = ops.unsqueeze(op.g, op.value("per_sample_weights"), [1])
        rows = ops.point(op.g, "Multiply", rows, factors)
    lengths = {end - start for start, end in zip(starts, ends)}
    kind = modes[op["mode"]]
    if len(lengths) == 1 and starts and starts[0] == 0 and 0 not in lengths:
        bags = ops.reshape(op.g, rows, (len(starts), lengths.pop())
                           + rows.shape[1:])
        made = ops.reduce(op.g, kind, bags, [1], False)
    else:
        made = ops.concat(op.g, [bag(op.g, rows, kind, start, end)
                                 for start, end in zip(starts, ends)], 0)
    return [made, None, None, None]


def bag(g, rows, kind, start, end):
    """One bag; an empty one is zero."""
    if start >= end:
        return ops.broadcast(g, g.scalar(0, rows.dtype), (1,) + rows.shape[1:])
    part = ops.cut(g, rows, {0: (start, end, 1)})
    return ops.reduce(g, kind, part, [0], True)


def index_select(op):
    x = op.value("self")
    if x.rank == 0:
        return x
    index_ = op.value("index")
    return ops.gather(op.g, x, ops.reshape(op.g, index_,
                                           (count(index_.shape),)), op["dim"])


def take(op):
    """Of the elements in memory order."""
    x = op.value("self")
    flat = ops.reshape(op.g, x, (count(x.shape),))
    return ops.gather(op.g, flat, op.value("index"), 0)


def gather(op):
    """PyTorch's index may be smaller than the data on the other axes."""
    x, index_ = op.value("self"), op.value("index")
    if x.rank == 0:
        return x
    if index_.rank == 0:
        index_ = ops.reshape(op.g, index_, (1,))
    axis = ops.axis_of(op["dim"], x.rank)
    x = ops.cut(op.g, x, {d: (0, length, 1)
                          for d, length in enumerate(index_.shape)
                          if d != axis})
    return ops.reshape(op.g, ops.gather_elements(op.g, x, index_, axis),
                       op.shape)


class Indices:
    """Indices for some axes of a tensor, as PyTorch's x[...] has them."""

    def __init__(self, op, x):
        given = self.without_masks(op["indices"])
        self.axes = [d for d, index_ in enumerate(given) if index_ is not None]
        self.values = [op.lift(given[d]) for d in self.axes]
        if any(value.dtype == "boolean" for value in self.values):
            raise Unsupported("picks by a mask, which has no fixed size; "
                              "torch.where keeps it")
        first = self.axes[0]
        self.apart = self.axes != list(range(first, self.axes[-1] + 1))
        # Results of indices that are no neighbours come first.
        self.first = 0 if self.apart else first
        self.order = self.axes + [d for d in range(x.rank)
                                  if d not in self.axes]

    @staticmethod
    def without_masks(given):
        """A known mask is the list of what it picks."""
        result = []
        for index_ in given:
            if isinstance(index_, torch.Tensor) and \
                    index_.dtype in (torch.bool, torch.uint8) and \
                    index_.device.type != "meta":
                result += index_.nonzero(as_tuple=True)
            else:
                result.append(index_)
        return result

    def joined(self, g, x):
        """As lists of coordinates, counted from the front."""
        shape = ops.broadcast_shape(*(value.shape for value in self.values))
        columns = []
        for axis, value in zip(self.axes, self.values):
            value = ops.convert(g, value, "i64")
            end = ops.with_number(g, "Add", value, x.shape[axis])
            below = ops.compare(g, "Less", value, g.scalar(0, "i64"))
            value = ops.select(g, below, end, value)
            columns.append(ops.unsqueeze(g, ops.broadcast(g, value, shape),
                                         [len(shape)]))
        return ops.concat(g, columns, len(shape))


def index(op):
    x = op.value("self")
    at = Indices(op, x)
    if len(at.axes) == 1:
        return ops.gather(op.g, x, at.values[0], at.axes[0])
    lists = at.joined(op.g, x)
    y = ops.gather_nd(op.g, ops.transpose(op.g, x, at.order), lists)
    # What stood before the indexed axes comes back in front of them.
    picked, first = lists.rank - 1, at.first
    back = list(range(picked, picked + first)) + list(range(picked)) + \
        list(range(picked + first, y.rank))
    return ops.transpose(op.g, y, back)


def rows_of_mask(g, rows, mask):
    """Scatters rows by rank within the mask: the n-th true element gets row n
    (exclusive cumsum as gather index)."""
    flat = ops.reshape(g, ops.convert(g, mask, "i64"), (count(mask.shape),))
    at = ops.clamp(g, ops.cumsum(g, flat, 0, exclusive=True), 0,
                   rows.shape[0] - 1)
    return ops.reshape(g, ops.gather(g, rows, at, 0),
                       mask.shape + rows.shape[1:])


def put_by_mask(op, x, mask):
    """One value, values that broadcast, or one for each true element,
    wherever a mask is true."""
    values = ops.convert(op.g, op.value("values"), x.dtype)
    if values.rank > x.rank - mask.rank and values.shape[0] > 1:
        rows = values.shape[:1] + x.shape[mask.rank:]
        values = rows_of_mask(op.g, ops.broadcast(op.g, values, rows), mask)
    elif values.rank > x.rank - mask.rank:
        values = ops.squeeze(op.g, values, [0])
    mask = ops.reshape(op.g, mask, mask.shape + (1,) * (x.rank - mask.rank))
    if op.get("accumulate"):
        values = ops.point(op.g, "Add", x, values)
    return ops.broadcast(op.g, ops.select(op.g, mask, values, x), x.shape)


def index_put(op):
    x = op.value("self")
    given = [op.lift(entry) for entry in op["indices"]]
    if len(given) == 1 and given[0].dtype == "boolean" and \
            not isinstance(op["indices"][0], torch.Tensor):
        return put_by_mask(op, x, given[0])
    at = Indices(op, x)
    lists = at.joined(op.g, x)
    picked = lists.rank - 1
    back = [at.order.index(d) for d in range(x.rank)]
    moved = ops.transpose(op.g, x, at.order)
    rest = moved.shape[len(at.axes):]
    first = at.first
    shape = rest[:first] + lists.shape[:-1] + rest[first:]
    updates = ops.broadcast(op.g, op.value("values"), shape)
    order = list(range(first, first + picked)) + list(range(first)) + \
        list(range(first + picked, len(shape)))
    updates = ops.transpose(op.g, updates, order)
    y = ops.scatter_nd(op.g, moved, lists, updates,
                       "sum" if op.get("accumulate") else "none")
    return ops.transpose(op.g, y, back)


def index_add(op):
    """Adds slices, at indices that may repeat."""
    x, axis = op.value("self"), op["dim"]
    source = ops.convert(op.g, op.value("source"), x.dtype)
    if op.get("alpha", 1) != 1:
        source = ops.with_number(op.g, "Multiply", source, op["alpha"])
    if x.rank == 0:
        return ops.point(op.g, "Add", x, ops.reshape(op.g, source, ()))
    axis = ops.axis_of(axis, x.rank)
    lists = ops.unsqueeze(op.g, ops.convert(op.g, op.value("index"), "i64"),
                          [1])
    order = [axis] + [d for d in range(x.rank) if d != axis]
    y = ops.scatter_nd(op.g, ops.transpose(op.g, x, order), lists,
                       ops.transpose(op.g, source, order), "sum")
    return ops.transpose(op.g, y, [order.index(d) for d in range(x.rank)])


def index_copy(op):
    """Replaces slices; as one op, so that a cache can be updated in place."""
    x, axis = op.value("self"), op["dim"]
    source = ops.convert(op.g, op.value("source"), x.dtype)
    if x.rank == 0:
        return ops.reshape(op.g, source, ())
    axis = ops.axis_of(axis, x.rank)
    at = ops.convert(op.g, op.value("index"), "i64")
    at = ops.reshape(op.g, at, at.shape or (1,))
    return op.g.add("ScatterUpdate", [x, at, source, op.g.ints([axis], ())],
                    x.shape, x.dtype)


REDUCTIONS = {"add": "sum", "multiply": "prod", "sum": "sum", "prod": "prod",
              "amax": "max", "amin": "min", "mean": "mean"}


def scatter(op):
    x, where = op.value("self"), op.value("index")
    reduction = "sum" if op.name == "scatter_add" else "none"
    if op.has("reduce"):
        reduction = REDUCTIONS[op["reduce"]]
    if "src" in op.args:
        updates = ops.cut(op.g, op.value("src"), {
            d: (0, length, 1) for d, length in enumerate(where.shape)})
    else:
        updates = ops.broadcast(op.g, op.operand("value", x.dtype),
                                where.shape)
    if x.rank == 0:
        x, where, updates = (ops.reshape(op.g, y, (1,))
                             for y in (x, where, updates))
    y = ops.scatter_elements(op.g, x, where, updates, op["dim"], reduction,
                             op.get("include_self", True))
    return ops.reshape(op.g, y, op.shape)


def overwrite(op, start, stop, step, source):
    """x with a part of one axis in place of its own."""
    x = op.value("self")
    axis = ops.axis_of(op.get("dim", 0), x.rank)
    taken = range(x.shape[axis])[slice(start, stop, step)]
    source = ops.convert(op.g, source, x.dtype)
    if len(taken) == x.shape[axis] and step == 1:
        return ops.broadcast(op.g, source, x.shape)
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


def diagonal_scatter(op):
    """x with (i, i + offset) of two axes in place of its own."""
    x, offset = op.value("self"), op.get("offset", 0)
    axes = [ops.axis_of(op.get(name, d), x.rank)
            for d, name in enumerate(("dim1", "dim2"))]
    order = axes + [d for d in range(x.rank) if d not in axes]
    source = ops.convert(op.g, op.value("src"), x.dtype)
    n = source.shape[-1]
    lists = op.g.ints([c for i in range(n) for c in
                       (i + max(0, -offset), i + max(0, offset))], (n, 2))
    y = ops.scatter_nd(op.g, ops.transpose(op.g, x, order), lists,
                       ops.transpose(op.g, source, [source.rank - 1, *range(
                           source.rank - 1)]))
    return ops.transpose(op.g, y, [order.index(d) for d in range(x.rank)])


def masked_scatter(op):
    """The n-th true element becomes the n-th element of the source."""
    x = op.value("self")
    mask = ops.broadcast(op.g, op.operand("mask", "boolean"), x.shape)
    source = op.value("source")
    source = ops.reshape(op.g, source, (count(source.shape),))
    return ops.select(op.g, mask, rows_of_mask(op.g, source, mask), x)


def masked_select(op):
    """What a known mask picks."""
    x, mask = op.value("self"), op["mask"]
    if not isinstance(mask, torch.Tensor) or mask.device.type == "meta":
        raise Unsupported("picks by a mask, which has no fixed size")
    shape = ops.broadcast_shape(x.shape, tuple(mask.shape))
    at = mask.expand(shape).flatten().nonzero().flatten()
    flat = ops.reshape(op.g, ops.broadcast(op.g, x, shape), (count(shape),))
    return ops.gather(op.g, flat, op.lift(at), 0)


# order

def top_k(op):
    x = op.value("self")
    if x.rank == 0:
        return [x, op.g.scalar(0, "i64")]
    return ops.top_k(op.g, x, op["k"], op["dim"], op["largest"])


def sort(op):
    x = op.value("self")
    if x.rank == 0:
        return [x, op.g.scalar(0, "i64")]
    axis = ops.axis_of(op.get("dim", -1), x.rank)
    y = ops.convert(op.g, x, "u8") if x.dtype == "boolean" else x
    values, at = ops.top_k(op.g, y, x.shape[axis], axis,
                           op.get("descending", False), stable=True)
    return [ops.convert(op.g, values, x.dtype), at]


def argsort(op):
    return sort(op)[1]


def kth(op):
    """The k-th smallest along an axis, and where it is."""
    return ranked(op, op["k"], op.get("dim", -1), op.get("keepdim", False))


def ranked(op, k, axis, keep):
    x = op.value("self")
    values, at = ops.top_k(op.g, x, k, axis, False)
    axis = ops.axis_of(axis, x.rank)
    made = [ops.cut(op.g, y, {axis: (k - 1, k, 1)}) for y in (values, at)]
    return made if keep else [ops.squeeze(op.g, y, [axis]) for y in made]


def median(op):
    """The lower of two in the middle."""
    x = op.value("self")
    if x.rank == 0:
        return x
    if not op.has("dim"):
        flat = ops.reshape(op.g, x, (count(x.shape),))
        values, _ = ops.top_k(op.g, flat, (count(x.shape) + 1) // 2, 0, False)
        return ops.pick(op.g, values, -1, 0)
    n = x.shape[ops.axis_of(op["dim"], x.rank)]
    return ranked(op, (n + 1) // 2, op["dim"], op.get("keepdim", False))


def buckets(op):
    """How many boundaries lie below, or not above."""
    x = op.value("self")
    if op.name == "searchsorted":
        edges = op.value("sorted_sequence")
        right = op.get("right", False) or op.get("side") == "right"
    else:
        edges, right = op.value("boundaries"), op.get("right", False)
    if edges.rank > 1:
        edges = ops.unsqueeze(op.g, edges, [edges.rank - 1])
    if edges.dtype != x.dtype:
        common = edges.dtype if edges.dtype in REALS else x.dtype
        edges, x = (ops.convert(op.g, y, common) for y in (edges, x))
    wide = ops.unsqueeze(op.g, x, [x.rank])
    less = ops.compare(op.g, "LessEqual" if right else "Less", edges, wide)
    found = ops.reduce(op.g, "ReduceSum", ops.convert(op.g, less, "i64"),
                       [less.rank - 1], False)
    return ops.convert(op.g, found, op.dtype)


def histogram(op):
    """Counts in equal bins; the last one contains its upper edge."""
    x, n = op.value("self"), op.get("bins", 100)
    low, high = float(op.get("min", 0)), float(op.get("max", 0))
    if low == high:
        raise Unsupported("has bins that depend on its values; give min and "
                          "max")
    flat = ops.convert(op.g, ops.reshape(op.g, x, (count(x.shape),)), "f64")
    place = ops.with_number(op.g, "Multiply", ops.with_number(
        op.g, "Subtract", flat, low), n / (high - low))
    place = ops.point(op.g, "Floor", place)
    last = ops.compare(op.g, "Equal", flat, op.g.scalar(high, "f64"))
    place = ops.select(op.g, last, op.g.scalar(n - 1, "f64"), place)
    inside = [ops.compare(op.g, kind, flat, op.g.scalar(edge, "f64"))
              for kind, edge in (("GreaterEqual", low), ("LessEqual", high))]
    place = ops.select(op.g, ops.point(op.g, "LogicalAnd", *inside), place,
                       op.g.scalar(-1, "f64"))
    return counts(op, place, op.g.numbers(range(n), "f64", (n, 1)))


def counts(op, places, bins):
    """How often each bin occurs."""
    equal = ops.compare(op.g, "Equal", ops.unsqueeze(op.g, places, [0]), bins)
    return ops.reduce(op.g, "ReduceSum", ops.convert(op.g, equal, op.dtype),
                      [1], False)


TABLE = {
    **dict.fromkeys(("index_put", "_unsafe_index_put"), index_put),
    **dict.fromkeys(("index", "_unsafe_index"), index),
    **dict.fromkeys(("scatter", "scatter_add", "scatter_reduce"), scatter),
    **dict.fromkeys(("bucketize", "searchsorted"), buckets),
    **dict.fromkeys(("_embedding_bag", "_embedding_bag_forward_only"),
                    embedding_bag),
    "argsort": argsort, "diagonal_scatter": diagonal_scatter,
    "embedding": embedding, "gather": gather, "histc": histogram,
    "index_add": index_add, "index_copy": index_copy,
    "index_select": index_select, "kthvalue": kth,
    "masked_scatter": masked_scatter, "masked_select": masked_select, "median": median,
    "select_scatter": select_scatter, "slice_scatter": slice_scatter,
    "sort": sort, "take": take, "topk": top_k,
}
