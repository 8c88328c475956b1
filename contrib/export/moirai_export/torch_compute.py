# SPDX-License-Identifier: Apache-2.0
"""ATen ops that accumulate: products, norms, reductions."""
import math

from . import ops
from .graph import REALS, SIZES, Unsupported, count

# products


def matmul(op):
    second = next(name for name in ("mat2", "vec2", "vec", "other", "tensor")
                  if name in op.args)
    return ops.matmul(op.g, op.value("self"), op.value(second))


def linear(op):
    """x W' + b."""
    y = ops.matmul(op.g, op.value("input"), op.value("weight"),
                   transpose_b=True)
    bias = op.value("bias")
    return ops.point(op.g, "Add", y, bias) if bias else y


def add_product(op):
    """beta self + alpha A B."""
    first, second = next(pair for pair in (
        ("batch1", "batch2"), ("mat1", "mat2"), ("mat", "vec"))
        if pair[0] in op.args)
    y = ops.matmul(op.g, op.value(first), op.value(second))
    if op.name == "addbmm":
        y = ops.reduce(op.g, "ReduceSum", y, [0], False)
    if op.get("alpha", 1) != 1:
        y = ops.with_number(op.g, "Multiply", y, op["alpha"])
    added, beta = op.value("self"), op.get("beta", 1)
    if beta == 0:
        return y
    if beta != 1:
        added = ops.with_number(op.g, "Multiply", added, beta)
    return ops.point(op.g, "Add", y, added)


def grouped_product(op):
    """Rows times the matrix of their group, as experts are computed: rows
    [offs[e - 1], offs[e]) belong to group e.  All groups multiply all rows, and
    each row picks its own: shapes do not depend on where the groups end."""
    x, weights, ends = (op.lift(list(op.args.values())[i]) for i in range(3))
    if x.rank != 2 or weights.rank != 3 or op.get("bias") is not None:
        raise Unsupported("multiplies groups of columns, or adds a bias")
    rows, groups = x.shape[0], weights.shape[0]
    all_groups = ops.matmul(op.g, ops.unsqueeze(op.g, x, [0]), weights)
    ends = ops.reshape(op.g, ops.convert(op.g, ends, "i64"), (1, groups))
    below = ops.compare(op.g, "LessEqual", ends,
                        op.g.ints(range(rows), (rows, 1)))
    group = ops.reduce(op.g, "ReduceSum", ops.convert(op.g, below, "i64"),
                       [1], False)
    # Rows behind the last group are zero.
    inside = ops.compare(op.g, "Less", group, op.g.ints([groups], ()))
    group = ops.clamp(op.g, group, 0, groups - 1)
    at = ops.concat(op.g, [ops.unsqueeze(op.g, group, [1]),
                           op.g.ints(range(rows), (rows, 1))], 1)
    y = ops.gather_nd(op.g, all_groups, at)
    y = ops.select(op.g, ops.unsqueeze(op.g, inside, [1]), y,
                   op.g.scalar(0, y.dtype))
    return ops.convert(op.g, y, op.dtype)


def repeat_heads(g, x, times):
    """Repeats every head of keys or values for the queries that share it."""
    if times == 1:
        return x
    shape = x.shape[:-2] + (times,) + x.shape[-2:]
    wide = ops.broadcast(g, ops.unsqueeze(g, x, [x.rank - 2]), shape)
    return ops.reshape(g, wide, x.shape[:-3] + (x.shape[-3] * times,)
                       + x.shape[-2:])


def attention(op):
    query, key, value = (op.value(n) for n in ("query", "key", "value"))
    if op.get("dropout_p", 0):
        raise Unsupported("drops values, as in training")
    if op.get("enable_gqa"):
        key, value = (repeat_heads(op.g, x, query.shape[-3] // x.shape[-3])
                      for x in (key, value))
    mask = op.value("attn_mask")
    if mask and mask.dtype == "boolean":
        zero = op.g.scalar(0, query.dtype)
        nothing = op.g.scalar(float("-inf"), query.dtype)
        mask = ops.select(op.g, mask, zero, nothing)
    return ops.attention(op.g, query, key, value, mask,
                         bool(op.get("is_causal")), op.get("scale"))


# reductions

def axes_of(op, x):
    """One axis, several, or none, which is all."""
    dims = op.get("dim")
    dims = [dims] if isinstance(dims, int) else dims
    return list(dims) if dims else list(range(x.rank))


def reduction(kind):
    def translate(op):
        x = ops.convert(op.g, op.value("self"), op.dtype)
        return ops.reduce(op.g, kind, x, axes_of(op, x),
                          op.get("keepdim", False))
    return translate


def extreme(kind, largest):
    """max and min: of two tensors, of all, or along an axis with where."""
    def translate(op):
        x = op.value("self")
        if op.has("other"):
            two = {"ReduceMax": "Maximum", "ReduceMin": "Minimum"}[kind]
            return ops.point(op.g, two, op.operand("self", op.dtype),
                             op.operand("other", op.dtype))
        if not op.has("dim"):
            return ops.reduce(op.g, kind, x, range(x.rank), False)
        found = ops.top_k(op.g, x, 1, op["dim"], largest)
        if op["keepdim"]:
            return found
        return [ops.squeeze(op.g, y, [op["dim"]]) for y in found]
    return translate


def arg(largest):
    """Without an axis, over all elements in memory order."""
    def translate(op):
        x = op.value("self")
        if op.has("dim"):
            return ops.arg(op.g, x, op["dim"], op["keepdim"], largest)
        y = ops.arg(op.g, ops.reshape(op.g, x, (count(x.shape),)), 0, False,
                    largest)
        return ops.reshape(op.g, y, op.shape)
    return translate


def truth(kind):
    def translate(op):
        x = op.operand("self", "boolean")
        return ops.reduce(op.g, kind, x, axes_of(op, x),
                          op.get("keepdim", False))
    return translate


def spread(op, keep):
    """The variance, and its mean."""
    x = op.value("self")
    axes = axes_of(op, x)
    n = count(x.shape[axis] for axis in axes)
    correction = op.get("correction", 1)
    if "unbiased" in op.args:
        correction = int(op["unbiased"])
    mean = ops.reduce(op.g, "ReduceMean", x, axes, True)
    squares = ops.point(op.g, "SquaredDifference", x, mean)
    variance = ops.reduce(op.g, "ReduceMean", squares, axes, keep)
    if correction:
        factor = n / (n - correction) if n > correction else float("inf")
        variance = ops.with_number(op.g, "Multiply", variance, factor)
    return variance, mean if keep else ops.squeeze(op.g, mean, axes)


def variance(op):
    return spread(op, op.get("keepdim", False))[0]


def deviation(op):
    return ops.point(op.g, "Sqrt", variance(op))


def variance_and_mean(op):
    return list(spread(op, op.get("keepdim", False)))


def vector_norm(op):
    x = ops.convert(op.g, op.value("self"), op.dtype)
    kinds = {1: "ReduceL1", 2: "ReduceL2"}
    order, axes, keep = op["ord"], axes_of(op, x), op.get("keepdim", False)
    if order in kinds:
        return ops.reduce(op.g, kinds[order], x, axes, keep)
    size = ops.point(op.g, "Abs", x)
    if abs(order) == math.inf:
        kind = "ReduceMax" if order > 0 else "ReduceMin"
        return ops.reduce(op.g, kind, size, axes, keep)
    if order == 0:
        some = ops.compare(op.g, "NotEqual", x, op.g.scalar(0, x.dtype))
        return ops.reduce(op.g, "ReduceSum", ops.convert(op.g, some, x.dtype),
                          axes, keep)
    total = ops.reduce(op.g, "ReduceSum", ops.with_number(
        op.g, "Power", size, order), axes, keep)
    return ops.with_number(op.g, "Power", total, 1 / order)


def log_sum_exp(op):
    x = op.value("self")
    return ops.log_sum_exp(op.g, x, axes_of(op, x), op.get("keepdim", False))


def distances(op):
    """Norms of the differences of all pairs of rows."""
    a, b = op.value("x1"), op.value("x2")
    order = op["p"]
    wide = ops.point(op.g, "Subtract", ops.unsqueeze(op.g, a, [a.rank - 1]),
                     ops.unsqueeze(op.g, b, [b.rank - 2]))
    return vector_norm(Norm(op, wide, order))


class Norm:
    """A norm over the last axis, as vector_norm reads it."""

    def __init__(self, op, x, order):
        self.g, self.dtype, self.x = op.g, op.dtype, x
        self.args = {"ord": order, "dim": [x.rank - 1], "keepdim": False}

    def value(self, _):
        return self.x

    def __getitem__(self, name):
        return self.args[name]

    def get(self, name, default=None):
        return self.args.get(name, default)


def distance(op):
    x = ops.point(op.g, "Subtract", op.value("self"), op.value("other"))
    flat = ops.reshape(op.g, x, (count(x.shape),))
    return vector_norm(Norm(op, flat, op["p"]))


def prefixes(op, x, axis):
    """x with an axis of its prefixes in front of the axis, and which elements
    of them count: for products and maxima over all of what comes before."""
    n = x.shape[axis]
    wide = ops.unsqueeze(op.g, x, [axis])
    shape = [1] * wide.rank
    shape[axis] = shape[axis + 1] = n
    mask = [row >= column for row in range(n) for column in range(n)]
    return wide, op.g.numbers(mask, "boolean", shape)


def running(kind, neutral):
    """A reduction of all prefixes: of n, n squared elements."""
    def translate(op):
        x = ops.convert(op.g, op.value("self"), op.dtype)
        if x.rank == 0:
            return x
        axis = ops.axis_of(op["dim"], x.rank)
        wide, mask = prefixes(op, x, axis)
        wide = ops.select(op.g, mask, wide, op.g.scalar(neutral, x.dtype))
        if kind == "LogSumExp":
            return ops.log_sum_exp(op.g, wide, [axis + 1], False)
        return ops.reduce(op.g, kind, wide, [axis + 1], False)
    return translate


def running_extreme(largest):
    """Maxima or minima of all prefixes, and the last place of each."""
    def translate(op):
        x = op.value("self")
        if x.rank == 0:
            return [x, op.g.scalar(0, "i64")]
        axis = ops.axis_of(op["dim"], x.rank)
        wide, mask = prefixes(op, x, axis)
        worst = least(x.dtype) if largest else most(x.dtype)
        wide = ops.select(op.g, mask, wide, op.g.scalar(worst, x.dtype))
        # Of equal ones PyTorch names the last: they are searched backwards.
        n = x.shape[axis]
        back = ops.cut(op.g, wide, {axis + 1: (None, None, -1)})
        values, at = ops.top_k(op.g, back, 1, axis + 1, largest)
        at = ops.point(op.g, "Subtract", op.g.scalar(n - 1, "i64"), at)
        return [ops.squeeze(op.g, y, [axis + 1]) for y in (values, at)]
    return translate


def least(dtype):
    if dtype in REALS:
        return -math.inf
    return 0 if dtype[0] in "ub" else -2 ** (8 * SIZES[dtype] - 1)


def most(dtype):
    if dtype in REALS:
        return math.inf
    return 2 ** (8 * SIZES[dtype] - (dtype[0] == "i")) - 1


def trilinear(op):
    """Sums over products of three tensors with added axes."""
    wide = [ops.unsqueeze(op.g, op.value(f"i{i}"), op[f"expand{i}"])
            if op[f"expand{i}"] else op.value(f"i{i}") for i in (1, 2, 3)]
    y = ops.fold(op.g, "Multiply", wide)
    return ops.reduce(op.g, "ReduceSum", y, op["sumdim"], False)


def cumsum(op):
    x = ops.convert(op.g, op.value("self"), op.dtype)
    return ops.cumsum(op.g, x, op["dim"]) if x.rank else x


def softmax(kind):
    def translate(op):
        x = ops.convert(op.g, op.value("self"), op.dtype)
        return ops.softmax(op.g, x, op["dim"], kind)
    return translate


# normalization

def layer_norm(op):
    x = op.value("input")
    y = ops.layer_norm(op.g, x, op.value("weight"), op.value("bias"),
                       -len(op["normalized_shape"]), op["eps"])
    return [y, None, None] if op.name == "native_layer_norm" else y


def rms_norm(op):
    x, axes = op.value("input"), len(op["normalized_shape"])
    epsilon = op.get("eps")
    if epsilon is None:
        epsilon = {"f32": 2 ** -23, "f16": 2 ** -10, "bf16": 2 ** -7,
                   "f64": 2 ** -52}[x.dtype]
    squares = ops.point(op.g, "Multiply", x, x)
    mean = ops.reduce(op.g, "ReduceMean", squares, range(-axes, 0), True)
    root = ops.point(op.g, "Sqrt", ops.with_number(op.g, "Add", mean, epsilon))
    y = ops.point(op.g, "Divide", x, root)
    weight = op.value("weight")
    return ops.point(op.g, "Multiply", y, weight) if weight else y


def group_norm(op):
    x = op.value("input")
    groups = op["group"] if "group" in op.args else op["num_groups"]
    flat = ops.reshape(op.g, x, (x.shape[0], groups,
                                 count(x.shape[1:]) // groups))
    y = ops.layer_norm(op.g, flat, None, None, 2, op["eps"])
    y = scale_channels(op, ops.reshape(op.g, y, x.shape))
    return [y, None, None] if op.name == "native_group_norm" else y


def scale_channels(op, y):
    """Times weight, plus bias, if present."""
    for name, kind in (("weight", "Multiply"), ("bias", "Add")):
        if op.has(name):
            y = ops.point(op.g, kind, y,
                          ops.channels(op.g, op.value(name), y.rank))
    return y


def instance_norm(op):
    """Each channel of each image by itself."""
    if not op["use_input_stats"]:
        return batch_norm(op)
    return scale_channels(op, ops.layer_norm(op.g, op.value("input"), None,
                                             None, 2, op["eps"]))


def batch_statistics(op, x):
    """With mean and variance of the batch itself; in training, running ones
    follow them."""
    order = [1, 0, *range(2, x.rank)]
    flat = ops.transpose(op.g, x, order)
    y = ops.layer_norm(op.g, flat, None, None, 1, op["eps"])
    y = scale_channels(op, ops.transpose(op.g, y, order))
    if "native" not in op.name:
        return y
    return [y, None, None] + [
        running_statistic(op, name, x) for name in
        ("running_mean", "running_var") if op.has(name)]


def running_statistic(op, name, x):
    axes = [d for d in range(x.rank) if d != 1]
    n = count(x.shape[d] for d in axes)
    now = ops.reduce(op.g, "ReduceMean", x, axes, True)
    if name == "running_var":
        now = ops.reduce(op.g, "ReduceMean", ops.point(
            op.g, "SquaredDifference", x, now), axes, True)
        now = ops.with_number(op.g, "Multiply", now, n / max(1, n - 1))
    now = ops.convert(op.g, ops.reshape(op.g, now, (x.shape[1],)),
                      op.value(name).dtype)
    share = op.get("momentum", 0.1)
    return ops.point(op.g, "Add", *(
        ops.with_number(op.g, "Multiply", part, factor) for part, factor in
        ((op.value(name), 1 - share), (now, share))))


def batch_norm(op):
    """With the running statistics of training."""
    x = op.value("input")
    if op.get("training") or not op.has("running_mean"):
        return batch_statistics(op, x)
    n = x.shape[1]
    scale, bias = (op.value(name) if op.has(name)
                   else op.g.numbers([number] * n, x.dtype)
                   for name, number in (("weight", 1), ("bias", 0)))
    y = ops.batch_norm(op.g, x, scale, bias, op.value("running_mean"),
                       op.value("running_var"), op["eps"])
    return [y, None, None] if "native" in op.name else y


TABLE = {
    **dict.fromkeys(("mm", "bmm", "matmul", "mv", "dot"), matmul),
    **dict.fromkeys(("addmm", "baddbmm", "addbmm", "addmv"), add_product),
    **dict.fromkeys(("_cdist_forward", "cdist"), distances),
    **dict.fromkeys(("softmax", "_softmax"), softmax("SoftMax")),
    **dict.fromkeys(("log_softmax", "_log_softmax"), softmax("LogSoftmax")),
    **dict.fromkeys(("layer_norm", "native_layer_norm"), layer_norm),
    **dict.fromkeys(("group_norm", "native_group_norm"), group_norm),
    **dict.fromkeys(("batch_norm", "_native_batch_norm_legit_no_training",
                     "native_batch_norm", "_native_batch_norm_legit",
                     "_native_batch_norm_legit_functional"),
                    batch_norm),
    **dict.fromkeys(("_grouped_mm", "grouped_mm_fallback"), grouped_product),
    "all": truth("ReduceLogicalAnd"), "amax": reduction("ReduceMax"),
    "amin": reduction("ReduceMin"), "any": truth("ReduceLogicalOr"),
    "argmax": arg(True), "argmin": arg(False),
    "cummax": running_extreme(True), "cummin": running_extreme(False),
    "cumprod": running("ReduceProd", 1), "cumsum": cumsum,
    "dist": distance, "logcumsumexp": running("LogSumExp", -math.inf),
    "_trilinear": trilinear, "trilinear": trilinear,
    "instance_norm": instance_norm, "linear": linear,
    "linalg_vector_norm": vector_norm, "logsumexp": log_sum_exp,
    "max": extreme("ReduceMax", True),
    "mean": reduction("ReduceMean"), "min": extreme("ReduceMin", False),
    "prod": reduction("ReduceProd"), "rms_norm": rms_norm,
    "scaled_dot_product_attention": attention, "std": deviation,
    "sum": reduction("ReduceSum"), "var": variance,
    "var_mean": variance_and_mean,
}
