# SPDX-License-Identifier: Apache-2.0
"""Ops of OpenVINO with shape inference, shared by the front ends.

g is the graph, tensors are Values.  An op that changes nothing is not added.
"""
import math

from .graph import Unsupported, count


def axis_of(axis, rank):
    """An axis counted from the front."""
    if not -rank <= axis < max(rank, 1):
        raise Unsupported(f"has axis {axis} of {rank} dimensions")
    return axis + rank if axis < 0 else axis


def broadcast_shape(*shapes):
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    result = []
    for sizes in zip(*padded):
        others = {size for size in sizes if size != 1}
        if len(others) > 1:
            raise Unsupported(f"has shapes {shapes} that do not fit")
        result.append(others.pop() if others else 1)
    return tuple(result)


# element by element

def point(g, op, *inputs, dtype=None, **attrs):
    """Elementwise, with numpy's broadcasting."""
    shape = broadcast_shape(*(value.shape for value in inputs))
    return g.add(op, inputs, shape, dtype or inputs[0].dtype, **attrs)


def compare(g, op, a, b):
    return point(g, op, a, b, dtype="boolean")


def fold(g, op, values):
    """Left fold of any number of operands."""
    result = values[0]
    for value in values[1:]:
        result = point(g, op, result, value)
    return result


def convert(g, x, dtype):
    if x.dtype == dtype:
        return x
    return point(g, "Convert", x, dtype=dtype, destination_type=dtype)


def select(g, condition, yes, no):
    return point(g, "Select", condition, yes, no, dtype=yes.dtype)


def with_number(g, op, x, number):
    """x and a number of its type."""
    return point(g, op, x, g.scalar(number, x.dtype))


def clamp(g, x, low, high):
    """Between two numbers, each of which may be None or infinite."""
    low = None if low == -math.inf else low
    high = None if high == math.inf else high
    if low is not None and high is not None and low <= high:
        return point(g, "Clamp", x, min=low, max=high)
    if low is not None:
        x = with_number(g, "Maximum", x, low)
    return x if high is None else with_number(g, "Minimum", x, high)


def atan2(g, y, x):
    """The angle of (x, y): that of the quotient, turned where x < 0."""
    zero = g.scalar(0, x.dtype)
    half = g.scalar(math.pi, x.dtype)
    raw = point(g, "Atan", point(g, "Divide", y, x))
    back = compare(g, "Less", x, zero)
    under = compare(g, "Less", y, zero)
    turn = select(g, under, point(g, "Negative", half), half)
    turned = select(g, back, point(g, "Add", raw, turn), raw)
    origin = point(g, "LogicalAnd", compare(g, "Equal", x, zero),
                   compare(g, "Equal", y, zero))
    return select(g, origin, zero, turned)


def leaky(g, x, slope):
    return point(g, "PReLU", x, g.numbers([slope], x.dtype))


# views

def reshape(g, x, shape):
    shape = tuple(shape)
    if shape == x.shape:
        return x
    if count(shape) != count(x.shape):
        raise Unsupported(f"cannot turn {x.shape} into {shape}")
    if x.is_constant:
        return g.view(x, shape)
    return g.add("Reshape", [x, g.ints(shape)], shape, x.dtype,
                 special_zero=False)


def whole_shape(shape, size):
    """A shape with its -1 inferred from the number of elements."""
    shape = tuple(shape)
    if -1 not in shape:
        return shape
    others = count(dim for dim in shape if dim != -1)
    if shape.count(-1) > 1 or others == 0 or size % others:
        raise Unsupported(f"cannot turn {size} elements into {shape}")
    return tuple(size // others if dim == -1 else dim for dim in shape)


def squeeze(g, x, axes):
    axes = {axis_of(axis, x.rank) for axis in axes}
    return reshape(g, x, [size for d, size in enumerate(x.shape)
                          if d not in axes])


def unsqueeze(g, x, axes):
    rank = x.rank + len(axes)
    axes = {axis_of(axis, rank) for axis in axes}
    sizes = iter(x.shape)
    return reshape(g, x, [1 if d in axes else next(sizes)
                          for d in range(rank)])


def channels(g, x, rank):
    """A list, one for each channel, so that it broadcasts over an image."""
    return reshape(g, x, (1, count(x.shape)) + (1,) * (rank - 2))


# moves

def transpose(g, x, order):
    order = [axis_of(axis, x.rank) for axis in order]
    if order == list(range(x.rank)):
        return x
    return g.add("Transpose", [x, g.ints(order)],
                 [x.shape[axis] for axis in order], x.dtype)


def broadcast(g, x, shape):
    """To this shape, which x broadcasts to."""
    shape = tuple(shape)
    if shape == x.shape:
        return x
    return g.add("Broadcast", [x, g.ints(shape)], shape, x.dtype, mode="numpy")


def tile(g, x, repeats):
    shape = (1,) * (len(repeats) - x.rank) + x.shape
    repeats = [1] * (x.rank - len(repeats)) + list(repeats)
    if all(times == 1 for times in repeats):
        return reshape(g, x, shape)
    return g.add("Tile", [x, g.ints(repeats)],
                 [a * b for a, b in zip(shape, repeats)], x.dtype)


def concat(g, values, axis):
    if len(values) == 1:
        return values[0]
    axis = axis_of(axis, values[0].rank)
    shape = list(values[0].shape)
    shape[axis] = sum(value.shape[axis] for value in values)
    return g.add("Concat", values, shape, values[0].dtype, axis=axis)


def split(g, x, axis, lengths):
    axis = axis_of(axis, x.rank)
    if len(lengths) == 1:
        return [x]
    if sum(lengths) != x.shape[axis]:
        raise Unsupported(f"splits {x.shape[axis]} into {list(lengths)}")
    outputs = [(x.shape[:axis] + (length,) + x.shape[axis + 1:], x.dtype)
               for length in lengths]
    return g.add_many("VariadicSplit",
                      [x, g.ints([axis], ()), g.ints(lengths)], outputs)


def cut(g, x, slices):
    """From, to and step along some axes, as Python has them."""
    shape = list(x.shape)
    ranges = {}
    for axis, (start, stop, step) in slices.items():
        ranges[axis] = range(shape[axis])[slice(start, stop, step)]
        shape[axis] = len(ranges[axis])
    ranges = {axis: r for axis, r in ranges.items()
              if len(r) != x.shape[axis] or r.step != 1}
    if not ranges:
        return x
    # An end in front of the first element cannot be expressed as an
    # index.
    stops = [r.stop if r.stop >= 0 else -x.shape[axis] - 1
             for axis, r in ranges.items()]
    inputs = [x, g.ints(r.start for r in ranges.values()), g.ints(stops),
              g.ints(r.step for r in ranges.values()), g.ints(ranges)]
    return g.add("Slice", inputs, shape, x.dtype)


def pad(g, x, begin, end, mode, value=0):
    if not any(begin) and not any(end):
        return x
    shape = [a + b + size for a, b, size in zip(begin, end, x.shape)]
    inputs = [x, g.ints(begin), g.ints(end)]
    if mode == "constant":
        inputs.append(g.scalar(value, x.dtype))
    return g.add("Pad", inputs, shape, x.dtype, pad_mode=mode)


# by index

def gather(g, x, indices, axis):
    axis = axis_of(axis, x.rank)
    return g.add("Gather", [x, indices, g.ints([axis], ())],
                 x.shape[:axis] + indices.shape + x.shape[axis + 1:], x.dtype,
                 batch_dims=0)


def pick(g, x, index, axis):
    """Selects one index along an axis, which is removed."""
    axis = axis_of(axis, x.rank)
    index = axis_of(index, x.shape[axis])
    return squeeze(g, cut(g, x, {axis: (index, index + 1, 1)}), [axis])


def gather_elements(g, x, indices, axis):
    return g.add("GatherElements", [x, indices], indices.shape, x.dtype,
                 axis=axis_of(axis, x.rank))


def gather_nd(g, x, indices, batch_dims=0):
    shape = indices.shape[:-1] + x.shape[batch_dims + indices.shape[-1]:]
    return g.add("GatherND", [x, indices], shape, x.dtype,
                 batch_dims=batch_dims)


def scatter_nd(g, x, indices, updates, reduction="none"):
    return g.add("ScatterNDUpdate", [x, indices, updates], x.shape, x.dtype,
                 reduction=reduction)


def scatter_elements(g, x, indices, updates, axis, reduction="none",
                     with_self=True):
    axis = g.ints([axis_of(axis, x.rank)], ())
    return g.add("ScatterElementsUpdate", [x, indices, updates, axis], x.shape,
                 x.dtype, reduction=reduction, use_init_val=bool(with_self))


def top_k(g, x, k, axis, largest=True, stable=False):
    axis = axis_of(axis, x.rank)
    shape = x.shape[:axis] + (k,) + x.shape[axis + 1:]
    return g.add_many("TopK", [x, g.ints([k], ())],
                      [(shape, x.dtype), (shape, "i64")], axis=axis,
                      mode="max" if largest else "min", sort="value",
                      stable=bool(stable), index_element_type="i64")


def arg(g, x, axis, keep, largest):
    """Index of the first maximum, or minimum."""
    _, indices = top_k(g, x, 1, axis, largest)
    return indices if keep else squeeze(g, indices, [axis])


# sums and products

def reduce(g, op, x, axes, keep):
    axes = sorted({axis_of(axis, x.rank) for axis in axes})
    if not axes:
        return x
    shape = [1 if d in axes else size for d, size in enumerate(x.shape)
             if keep or d not in axes]
    return g.add(op, [x, g.ints(axes)], shape, x.dtype, keep_dims=bool(keep))


def log_sum_exp(g, x, axes, keep):
    """The maximum is subtracted first, so that nothing overflows, unless it
    is infinite."""
    top = reduce(g, "ReduceMax", x, axes, True)
    infinite = compare(g, "Equal", point(g, "Abs", top),
                       g.scalar(math.inf, x.dtype))
    top = select(g, infinite, g.scalar(0, x.dtype), top)
    powers = point(g, "Exp", point(g, "Subtract", x, top))
    total = point(g, "Log", reduce(g, "ReduceSum", powers, axes, True))
    total = point(g, "Add", total, top)
    return total if keep else squeeze(g, total, axes)


def cumsum(g, x, axis, exclusive=False, reverse=False):
    return g.add("CumSum", [x, g.ints([axis_of(axis, x.rank)], ())], x.shape,
                 x.dtype, exclusive=bool(exclusive), reverse=bool(reverse))


def softmax(g, x, axis, op="SoftMax"):
    if x.rank == 0:
        return reshape(g, softmax(g, reshape(g, x, (1,)), 0, op), ())
    return g.add(op, [x], x.shape, x.dtype, axis=axis_of(axis, x.rank))


def matmul(g, a, b, transpose_a=False, transpose_b=False):
    rows = a.shape[-1 if transpose_a else -2] if a.rank > 1 else None
    columns = b.shape[-2 if transpose_b else -1] if b.rank > 1 else None
    shape = broadcast_shape(a.shape[:-2], b.shape[:-2])
    shape += tuple(size for size in (rows, columns) if size is not None)
    return g.add("MatMul", [a, b], shape, a.dtype, transpose_a=transpose_a,
                 transpose_b=transpose_b)


def einsum(g, equation, values):
    equation = equation.replace(" ", "")
    if "." in equation:
        raise Unsupported(f"has an ellipsis in its equation '{equation}'")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    sizes = {}
    for term, value in zip(terms, values):
        for letter, size in zip(term, value.shape):
            sizes[letter] = max(size, sizes.get(letter, 1))
    if not arrow:
        right = "".join(letter for letter in sorted(sizes)
                        if left.count(letter) == 1)
    return g.add("Einsum", values, [sizes[letter] for letter in right],
                 values[0].dtype, equation=f"{left}->{right}")


def attention(g, query, key, value, mask, causal, scale):
    """softmax(q k' scale + mask) v; scale None: 1 / sqrt(width)."""
    batch = broadcast_shape(*(x.shape[:-2] for x in (query, key, value)))
    inputs = [query, key, value] + ([mask] if mask and not causal else [])
    if scale is not None:
        if len(inputs) == 3:
            inputs.append(g.scalar(0, query.dtype))
        inputs.append(g.scalar(scale, query.dtype))
    return g.add("ScaledDotProductAttention", inputs,
                 batch + (query.shape[-2], value.shape[-1]), query.dtype,
                 causal=bool(causal))


# normalization

def layer_norm(g, x, scale, bias, axis, epsilon):
    """Over all dimensions from axis on."""
    axis = axis_of(axis, x.rank)
    y = g.add("MVN", [x, g.ints(range(axis, x.rank))], x.shape, x.dtype,
              eps=epsilon, normalize_variance=True, eps_mode="inside_sqrt")
    y = point(g, "Multiply", y, scale) if scale else y
    return point(g, "Add", y, bias) if bias else y


def batch_norm(g, x, scale, bias, mean, variance, epsilon):
    return g.add("BatchNormInference", [x, scale, bias, mean, variance],
                 x.shape, x.dtype, epsilon=epsilon)


def group_norm(g, x, scale, bias, groups, epsilon):
    return g.add("GroupNormalization", [x, scale, bias], x.shape, x.dtype,
                 num_groups=groups, epsilon=epsilon)


def interpolate(g, x, sizes, scales, mode, coordinates, nearest="simple",
                cube=-0.75):
    """Resizes axes to these sizes; scales if they were given."""
    axes = [d for d in range(x.rank) if sizes[d] != x.shape[d]]
    if not axes:
        return x
    if scales is None:
        target = g.ints(sizes[d] for d in axes)
    else:
        target = g.numbers([scales[d] for d in axes], "f32")
    return g.add("Interpolate", [x, target, g.ints(axes)], sizes, x.dtype,
                 mode=mode,
                 shape_calculation_mode="sizes" if scales is None else "scales",
                 coordinate_transformation_mode=coordinates,
                 nearest_mode=nearest, cube_coeff=cube, antialias=False)
