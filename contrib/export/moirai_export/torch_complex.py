# SPDX-License-Identifier: Apache-2.0
"""Complex tensors as pairs of real ones.

Ops that treat both parts alike (moves, sums) are translated once for each;
products, absolute values and Fourier transforms have their own rules here.
"""
import torch

from . import ops
from .graph import Unsupported, count

# Linear over the reals and without a tensor beside the complex ones.
ALIKE = {"neg", "sum", "mean", "cumsum", "clone", "alias", "detach",
         "contiguous", "lift_fresh_copy", "zeros_like", "copy", "where",
         "masked_fill"}


class Pair:
    """A complex tensor."""

    def __init__(self, re, im):
        self.re = re
        self.im = im

    @property
    def shape(self):
        return self.re.shape

    @property
    def rank(self):
        return self.re.rank


class Part:
    """An op's view of one part of its complex arguments."""

    def __init__(self, op, part):
        self._op = op
        self.args = {name: self.choose(given, part)
                     for name, given in op.args.items()}

    def choose(self, given, part):
        if isinstance(given, (list, tuple)):
            return [self.choose(entry, part) for entry in given]
        if isinstance(given, complex):
            return given.real if part == "re" else given.imag
        if isinstance(given, torch.Tensor) and given.is_complex():
            given = self._op.lift(given)
        if isinstance(given, Pair):
            return getattr(given, part)
        return given

    def __getattr__(self, name):
        return getattr(self._op, name)

    def __getitem__(self, name):
        return self.args[name]

    def has(self, name):
        return self.args.get(name) is not None

    def get(self, name, default=None):
        value = self.args.get(name)
        return default if value is None else value

    def value(self, name):
        return self._op.lift(self.args[name])

    def operand(self, name, dtype):
        given = self.args[name]
        if isinstance(given, (bool, int, float)):
            return self._op.g.scalar(given, dtype)
        return ops.convert(self._op.g, self._op.lift(given), dtype)

    def number(self, name):
        return self.args[name]

    @property
    def meta(self):
        meta = self._op.meta
        return [x.real for x in meta] if isinstance(meta, (list, tuple)) \
            else meta.real


def alike(op, translator):
    parts = [translator(Part(op, part)) for part in ("re", "im")]
    if isinstance(parts[0], (list, tuple)):
        return [Pair(re, im) for re, im in zip(*parts)]
    return Pair(*parts)


def joined(g, pair):
    """With the parts as a last axis, as view_as_real has them."""
    return ops.concat(g, [ops.unsqueeze(g, x, [x.rank])
                          for x in (pair.re, pair.im)], pair.rank)


def parted(g, x):
    """The opposite."""
    return Pair(ops.pick(g, x, 0, x.rank - 1), ops.pick(g, x, 1, x.rank - 1))


def complex_of(op, name):
    """An argument as a pair; the imaginary part of a real one is zero."""
    given, g = op.args[name], op.g
    if isinstance(given, (bool, int, float, complex)):
        given = complex(given)
        return Pair(g.scalar(given.real, op.dtype),
                    g.scalar(given.imag, op.dtype))
    given = op.lift(given)
    if isinstance(given, Pair):
        return given
    re = ops.convert(g, given, op.dtype)
    return Pair(re, ops.broadcast(g, g.scalar(0, re.dtype), re.shape))


def is_real(given):
    if isinstance(given, torch.Tensor):
        return not given.is_complex()
    return not isinstance(given, (Pair, complex))


def product(g, a, b, times):
    """(a + b i)(c + d i), for any bilinear times."""
    re = ops.point(g, "Subtract", times(a.re, b.re), times(a.im, b.im))
    im = ops.point(g, "Add", times(a.re, b.im), times(a.im, b.re))
    return Pair(re, im)


def multiply(op):
    def times(a, b):
        return ops.point(op.g, "Multiply", a, b)

    for one, other in (("self", "other"), ("other", "self")):
        if is_real(op.args[one]):
            factor = op.operand(one, op.dtype)
            pair = complex_of(op, other)
            return Pair(times(pair.re, factor), times(pair.im, factor))
    return product(op.g, complex_of(op, "self"), complex_of(op, "other"),
                   times)


def matmul(op):
    second = "mat2" if "mat2" in op.args else "other"
    return product(op.g, complex_of(op, "self"), complex_of(op, second),
                   lambda a, b: ops.matmul(op.g, a, b))


def norm2(g, pair):
    squares = [ops.point(g, "Multiply", x, x) for x in (pair.re, pair.im)]
    return ops.point(g, "Add", *squares)


def conjugate(g, pair):
    return Pair(pair.re, ops.point(g, "Negative", pair.im))


def over_real(g, pair, divisor):
    return Pair(*(ops.point(g, "Divide", x, divisor)
                  for x in (pair.re, pair.im)))


def divide(op):
    a = complex_of(op, "self")
    if is_real(op.args["other"]):
        return over_real(op.g, a, op.operand("other", op.dtype))
    b = complex_of(op, "other")
    made = product(op.g, a, conjugate(op.g, b),
                   lambda x, y: ops.point(op.g, "Multiply", x, y))
    return over_real(op.g, made, norm2(op.g, b))


def reciprocal(op):
    x = complex_of(op, "self")
    return over_real(op.g, conjugate(op.g, x), norm2(op.g, x))


def add_or_subtract(op):
    a, b = complex_of(op, "self"), complex_of(op, "other")
    if op.get("alpha", 1) != 1:
        b = Pair(*(ops.with_number(op.g, "Multiply", x, op["alpha"])
                   for x in (b.re, b.im)))
    if op.name == "rsub":
        a, b = b, a
    kind = "Add" if op.name == "add" else "Subtract"
    made = (ops.point(op.g, kind, a.re, b.re),
            ops.point(op.g, kind, a.im, b.im))
    return Pair(*(ops.broadcast(op.g, x, op.shape) for x in made))


def absolute(op):
    return ops.point(op.g, "Sqrt", norm2(op.g, complex_of(op, "self")))


def angle(op):
    x = complex_of(op, "self")
    return ops.atan2(op.g, x.im, x.re)


def polar(op):
    radius, phi = op.value("abs"), op.value("angle")
    return Pair(*(ops.point(op.g, "Multiply", radius,
                            ops.point(op.g, kind, phi))
                  for kind in ("Cos", "Sin")))


def join(op):
    re, im = op.value("real"), op.value("imag")
    return Pair(*(ops.broadcast(op.g, x, op.shape) for x in (re, im)))


def exponential(op):
    x = complex_of(op, "self")
    radius = ops.point(op.g, "Exp", x.re)
    return Pair(*(ops.point(op.g, "Multiply", radius,
                            ops.point(op.g, kind, x.im))
                  for kind in ("Cos", "Sin")))


def power(op):
    n = op.args.get("exponent")
    if not isinstance(n, int) or not 1 <= n <= 8:
        raise Unsupported("is a complex power that is no small whole number")
    base = made = complex_of(op, "self")
    for _ in range(n - 1):
        made = product(op.g, made, base,
                       lambda a, b: ops.point(op.g, "Multiply", a, b))
    return made


def convert(op):
    given = op.args["self"]
    if op.meta.is_complex():
        x = complex_of(op, "self")
        return Pair(ops.convert(op.g, x.re, op.dtype),
                    ops.convert(op.g, x.im, op.dtype))
    return ops.convert(op.g, op.lift(given).re, op.dtype)


# transforms

def lengths(op, x):
    return count(x[axis] for axis in op["dim"])


def scaled(op, x, n, inverse):
    """PyTorch's norms: 0 none, 1 over the root, 2 over n; OpenVINO's inverse
    is over n."""
    factor = {0: 1.0, 1: n ** -0.5, 2: 1.0 / n}[op["normalization"]]
    factor *= n if inverse else 1.0
    if factor == 1.0:
        return x
    return ops.with_number(op.g, "Multiply", x, factor)


def transform(op, kind, x, shape):
    rank = len(op.shape)
    axes = [ops.axis_of(axis, rank) for axis in op["dim"]]
    inputs = [x, op.g.ints(axes)]
    if kind == "IRDFT":
        inputs.append(op.g.ints(shape[axis] for axis in axes))
    return op.g.add(kind, inputs, shape, x.dtype)


def fft_c2c(op):
    pair = complex_of(op, "self")
    if not op["dim"]:
        return pair
    x = joined(op.g, pair)
    y = transform(op, "DFT" if op["forward"] else "IDFT", x, x.shape)
    return parted(op.g, scaled(op, y, lengths(op, pair.shape),
                               not op["forward"]))


def fft_r2c(op):
    x = op.value("self")
    if not op["onesided"]:
        zeros = ops.broadcast(op.g, op.g.scalar(0, x.dtype), x.shape)
        full = joined(op.g, Pair(x, zeros))
        y = transform(op, "DFT", full, full.shape)
    else:
        y = transform(op, "RDFT", x, op.shape + (2,))
    return parted(op.g, scaled(op, y, lengths(op, x.shape), False))


def fft_c2r(op):
    pair = complex_of(op, "self")
    y = transform(op, "IRDFT", joined(op.g, pair), op.shape)
    return scaled(op, y, lengths(op, op.shape), True)


TABLE = {
    **dict.fromkeys(("mm", "bmm", "matmul"), matmul),
    **dict.fromkeys(("add", "sub", "rsub"), add_or_subtract),
    **dict.fromkeys(("_conj", "conj", "conj_physical", "_conj_physical"),
                    lambda op: conjugate(op.g, complex_of(op, "self"))),
    **dict.fromkeys(("resolve_conj", "resolve_neg"),
                    lambda op: complex_of(op, "self")),
    "_fft_c2c": fft_c2c, "_fft_c2r": fft_c2r, "_fft_r2c": fft_r2c,
    "_to_copy": convert, "to": convert, "abs": absolute, "angle": angle,
    "complex": join, "div": divide, "exp": exponential,
    "imag": lambda op: complex_of(op, "self").im, "mul": multiply,
    "polar": polar, "pow": power,
    "real": lambda op: complex_of(op, "self").re, "reciprocal": reciprocal,
    "view_as_complex": lambda op: parted(op.g, op.value("self")),
    "view_as_real": lambda op: joined(op.g, complex_of(op, "self")),
}


def translate(op, table):
    """An op with a complex argument or result; table: of the real ops."""
    from .torch_index import TABLE as by_index
    from .torch_move import TABLE as moves
    if op.name in TABLE:
        return TABLE[op.name](op)
    if op.name in moves or op.name in by_index or op.name in ALIKE:
        return alike(op, table[op.name])
    raise Unsupported("cannot be run on complex numbers")
