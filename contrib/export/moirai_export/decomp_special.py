# SPDX-License-Identifier: Apache-2.0
"""Special functions as elementary ones, in double precision.

Series and asymptotic expansions of fixed length; both sides of a choice are
computed, so that what is unused stays finite where it can.
"""
import functools
import math

import torch

# Bernoulli numbers B(2), B(4), ...
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6,
             -3617 / 510)
SHIFT = 10  # expansions at infinity are used from here on


def in_double(function):
    """Computes in double and rounds to PyTorch's type of the result."""
    @functools.wraps(function)
    def compute(*args):
        kind = torch.result_type(*args) if len(args) > 1 else args[0].dtype
        kind = kind if kind.is_floating_point else torch.get_default_dtype()
        return function(*(x.double() if isinstance(x, torch.Tensor) else x
                          for x in args)).to(kind)
    return compute


def horner(x, numbers):
    """numbers[0] + numbers[1] x + ..."""
    total = torch.full_like(x, numbers[-1])
    for number in reversed(numbers[:-1]):
        total = total * x + number
    return total


def is_whole(x):
    return x == x.floor()


@in_double
def lgamma(x):
    """Stirling's formula at x + SHIFT; below 1/2, by reflection."""
    small = x < 0.5
    y = torch.where(small, 1 - x, x)
    z = y + SHIFT
    rest = horner(1 / (z * z), [b / ((2 * k + 2) * (2 * k + 1))
                                for k, b in enumerate(BERNOULLI)]) / z
    product = y
    for i in range(1, SHIFT):
        product = product * (y + i)
    made = (z - 0.5) * z.log() - z + 0.5 * math.log(2 * math.pi) + rest \
        - product.log()
    sine = torch.sin(math.pi * (x - x.floor()))
    made = torch.where(small, math.log(math.pi) - sine.log() - made, made)
    made = torch.where((x <= 0) & is_whole(x), math.inf, made)
    return torch.where(x.isinf(), math.inf, made)


@in_double
def digamma(x):
    """The asymptotic expansion at x + SHIFT; below 1/2, by reflection."""
    small = x < 0.5
    y = torch.where(small, 1 - x, x)
    z = y + SHIFT
    square = 1 / (z * z)
    made = z.log() - 0.5 / z - square * horner(
        square, [b / (2 * k + 2) for k, b in enumerate(BERNOULLI)])
    for i in range(SHIFT):
        made = made - 1 / (y + i)
    turned = math.pi / torch.tan(math.pi * (x - x.floor()))
    made = torch.where(small, made - turned, made)
    made = torch.where((x < 0) & is_whole(x), math.nan, made)
    made = torch.where(x == 0, -1 / x, made)
    return torch.where(x == math.inf, math.inf, made)


def hurwitz(s, q, shift=SHIFT):
    """The zeta function of Hurwitz for q > 0, by Euler and Maclaurin; for a
    whole s also above SHIFT - shift."""
    total = q ** -s
    for k in range(1, shift):
        total = total + (q + k) ** -s
    z = q + shift
    power = z ** -s
    total = total + power * z / (s - 1) + 0.5 * power
    factor = power * s / z
    for k, b in enumerate(BERNOULLI):
        total = total + factor * (b / math.factorial(2 * k + 2))
        factor = factor * (s + 2 * k + 1) * (s + 2 * k + 2) / (z * z)
    return total


@in_double
def zeta(s, q):
    made = hurwitz(s, q)
    made = torch.where(torch.as_tensor(s == 1), math.inf, made)
    return torch.where(q > 0, made, torch.where(
        is_whole(q), math.inf, math.nan))


def polygamma(n, x):
    """Derivatives of digamma; the first one below 1/2 by reflection, others
    above -16."""
    if n == 0:
        return digamma(x)
    return of_order(n)(x)


def of_order(n):
    @in_double
    def compute(x):
        sign = math.factorial(n) * (1 if n % 2 else -1)
        if n > 1:
            made = sign * hurwitz(n + 1, x, SHIFT + 16)
            made = torch.where(x > -16, made, math.nan)
            return torch.where((x <= 0) & is_whole(x), math.inf, made)
        small = x < 0.5
        made = hurwitz(2, torch.where(small, 1 - x, x))
        sine = torch.sin(math.pi * (x - x.floor()))
        return torch.where(small, math.pi ** 2 / (sine * sine) - made, made)
    return compute


@in_double
def erfinv(y):
    """A rational start, then Newton's steps on erf."""
    edge = ((1 - y.abs()).clamp(min=1e-300) / 2).log().neg().sqrt()
    tail = horner(edge, [-1.970840454, -1.624906493, 3.429567803,
                         1.641345311]) / horner(
        edge, [1, 3.543889200, 1.637067800])
    z = y * y
    middle = y * horner(z, [0.886226899, -1.645349621, 0.914624893,
                            -0.140543331]) / horner(
        z, [1, -2.118377725, 1.442710462, -0.329097515, 0.012229801])
    x = torch.where(y.abs() <= 0.7, middle, torch.copysign(tail, y))
    for _ in range(2):
        x = x - (x.erf() - y) / (2 / math.sqrt(math.pi) * (-x * x).exp())
    x = torch.where(y.abs() == 1, torch.copysign(
        torch.full_like(y, math.inf), y), x)
    return torch.where(y.abs() > 1, math.nan, x)


def ndtri(p):
    """The inverse of the normal distribution."""
    return torch.special.erfinv(2 * p.double() - 1).mul(math.sqrt(2)).to(
        p.dtype if p.is_floating_point() else torch.get_default_dtype())


def bessel_i(order, scaled):
    """I0 and I1: power series up to 30, the asymptotic expansion behind it;
    times exp(-|x|) if scaled."""
    near = [1.0]
    for k in range(1, 64):
        near.append(near[-1] / (k * (k + order)))
    far = [1.0]
    for k in range(1, 24):
        far.append(-far[-1] * (4 * order ** 2 - (2 * k - 1) ** 2) / (8 * k))

    @in_double
    def compute(x):
        size = x.abs()
        t = (size / 2).clamp(max=15)
        series = horner(t * t, near) * (t if order else 1)
        big = size.clamp(min=30)
        tail = horner(1 / big, far) / (2 * math.pi * big).sqrt()
        if scaled:
            series = series * (-size).exp()
        else:
            tail = tail * big.exp()
        made = torch.where(size <= 30, series, tail)
        return torch.where(x < 0, -made, made) if order else made
    return compute


@in_double
def spherical_bessel(x):
    t = x * x
    near = horner(t, [1, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880])
    return torch.where(x.abs() < 0.5, near, x.sin() / torch.where(
        x == 0, 1.0, x))


@in_double
def erfc(x):
    return 1 - x.erf()


@in_double
def erfcx(x):
    """exp(x^2) erfc(x)."""
    y = x.clamp(min=2)
    fraction = y
    for k in range(60, 0, -1):
        fraction = y + k / 2 / fraction
    near = x.clamp(max=2)
    near = (near * near).exp() * (1 - near.erf())
    return torch.where(x <= 2, near, 1 / (math.sqrt(math.pi) * fraction))


def gcd(a, b):
    """Euclid's steps, as many as the largest Fibonacci numbers need."""
    kind = torch.result_type(a, b)
    steps = {1: 12, 2: 24, 4: 47, 8: 92}[kind.itemsize]
    a, b = torch.broadcast_tensors(a.to(kind).abs(), b.to(kind).abs())
    for _ in range(steps):
        rest = torch.where(b == 0, 0, a.remainder(torch.where(b == 0, 1, b)))
        a, b = torch.where(b == 0, a, b), rest
    return a


def lcm(a, b):
    common = torch.gcd(a, b)
    whole = a.div(torch.where(common == 0, 1, common), rounding_mode="trunc")
    return (whole * b).abs()


TABLE = {
    "aten::lgamma": lgamma, "aten::digamma": digamma,
    "aten::polygamma": polygamma, "aten::special_zeta": zeta,
    "aten::erfinv": erfinv, "aten::special_ndtri": ndtri,
    "aten::i0": bessel_i(0, False), "aten::special_i0e": bessel_i(0, True),
    "aten::special_i1": bessel_i(1, False),
    "aten::special_i1e": bessel_i(1, True),
    "aten::special_modified_bessel_i0": bessel_i(0, False),
    "aten::special_modified_bessel_i1": bessel_i(1, False),
    "aten::special_spherical_bessel_j0": spherical_bessel,
    "aten::erfc": erfc, "aten::special_erfcx": erfcx,
    "aten::gcd": gcd, "aten::lcm": lcm,
}
