# SPDX-License-Identifier: Apache-2.0
"""Cases of export_torch.py: ops that the exporter decomposes itself."""
import math

import torch
from torch.ao.quantization.fx import _decomposed  # noqa: F401, its ops
from torch.nn import functional as F

try:
    from torchvision import ops as vision
except ImportError:
    vision = None


def special(a):
    b = a.abs() + 0.1
    return (torch.lgamma(a * 3), torch.digamma(a * 3), torch.erfc(a),
            torch.erfinv(a.tanh() * 0.99), torch.polygamma(1, a),
            torch.polygamma(3, b), torch.special.zeta(b + 1.1, b),
            torch.special.i0(a), torch.special.i0e(a * 30),
            torch.special.i1(a), torch.special.i1e(a * 30),
            torch.special.erfcx(a * 3), torch.special.ndtri(a.sigmoid()),
            torch.special.spherical_bessel_j0(a))


def divisors(i, j):
    return torch.gcd(i, j), torch.lcm(i, j)


def factors(a):
    square, right = a[:, :5, :5], a[:, :, 5:]
    definite = a @ a.mT + torch.eye(5)
    low = torch.linalg.cholesky(definite)
    return (torch.linalg.det(square), *torch.linalg.slogdet(square),
            torch.linalg.inv(square), torch.linalg.solve(square, right),
            torch.linalg.solve(square, right.mT, left=False), low,
            torch.linalg.cholesky(definite, upper=True),
            torch.cholesky_solve(right, low), torch.cholesky_inverse(low),
            torch.linalg.solve_triangular(low, right, upper=False),
            torch.linalg.solve_triangular(low.mT, right.mT, upper=True,
                                          left=False),
            *torch.linalg.qr(a), *torch.linalg.qr(a.mT, mode="complete"),
            *torch.linalg.lu(a), *torch.linalg.lu_factor(square),
            torch.lu_solve(right, *torch.linalg.lu_factor(square)),
            torch.matrix_exp(square))


def counts(a, i, m):
    holes = torch.where(m, a, math.nan)
    at = torch.tensor([1, 1, 0])
    return (*i.mode(1), a.put(at * 40, a[0, 0, :3], accumulate=True),
            holes.nanmedian(), holes.nanmedian(1).values,
            torch.bincount(i.flatten(), minlength=9),
            torch.bincount(i[0, 0], a[0, 0], minlength=9),
            torch.nonzero_static(m, size=30), torch.nonzero_static(
                m, size=150, fill_value=7), F.pdist(a[0]),
            a.index_reduce(1, at, a[:, 2:], "amax"),
            a.index_reduce(1, at, a[:, 2:], "mean", include_self=False),
            torch.segment_reduce(a, "mean", lengths=torch.tensor([1, 0, 2])),
            torch.segment_reduce(a, "max", lengths=torch.tensor([2, 1])),
            F.multilabel_margin_loss(a[0], torch.tensor(
                [[3, 0, -1, 1, 2, -1, 0]] * 5), reduction="none"),
            F.fractional_max_pool2d(a, 2, output_size=(2, 3),
                                    _random_samples=torch.full(
                                        (1, 3, 2), 0.3)))


def volumes(a, grid):
    return tuple(F.grid_sample(a, grid, mode, padding, align_corners=corners)
                 for mode in ("bilinear", "nearest")
                 for padding in ("zeros", "border", "reflection")
                 for corners in (False, True))


def quantized(a):
    ops = torch.ops.quantized_decomposed
    whole = ops.quantize_per_tensor(a, 0.03, 2, -128, 127, torch.int8)
    scales, zeros = a[0, :, 0].abs() + 0.01, torch.arange(5)
    rows = ops.quantize_per_channel(a, scales, zeros, 1, -8, 7, torch.int8)
    scale, zero = ops.choose_qparams(a, -128, 127, 1e-5, torch.int8)
    return (whole, ops.dequantize_per_tensor(whole, 0.03, 2, -128, 127,
                                             torch.int8), rows,
            ops.dequantize_per_channel(rows, scales, zeros, 1, -8, 7,
                                       torch.int8), scale, zero,
            torch.fake_quantize_per_tensor_affine(a, 0.1, 3, -9, 8),
            torch.fake_quantize_per_channel_affine(
                a, scales, zeros.int(), 1, -9, 8))


def regions(a, boxes):
    return (vision.roi_align(a, boxes, (3, 4), 0.5, 2),
            vision.roi_align(a, boxes, 5, 1.0, -1, True),
            vision.roi_pool(a, boxes, 3, 0.7),
            vision.ps_roi_align(a, boxes, 2, 1.0, 2),
            vision.ps_roi_pool(a, boxes, 2, 1.0))


def moved_taps(a, offset, mask, weight):
    return (vision.deform_conv2d(a, offset, weight, padding=1, mask=mask),
            vision.deform_conv2d(a, offset[:, :, :8, :6], weight, dilation=2))


def functions(x, rows, mask):
    """Name: function and inputs."""
    low = 8 * torch.rand(4, 2) - 2
    boxes = torch.cat([torch.tensor([[0.0], [1.0], [1.0], [0.0]]), low,
                       low + 7 * torch.rand(4, 2)], 1)
    whole = torch.randint(0, 9, (3, 5, 7))
    made = {
        "special functions": (special, rows),
        "divisors": (divisors, whole - 4, torch.randint(-30, 30, (7,))),
        "factorizations": (factors, rows),
        "counts": (counts, rows, whole, mask),
        "volumes": (volumes, torch.randn(2, 3, 4, 5, 6),
                    torch.randn(2, 3, 2, 4, 3)),
        "quantization": (quantized, rows),
    }
    if vision:
        made["regions"] = (regions, x, boxes)
        made["moved taps"] = (moved_taps, x, torch.randn(2, 18, 12, 10),
                              torch.rand(2, 9, 12, 10),
                              torch.randn(6, 4, 3, 3))
    return made
