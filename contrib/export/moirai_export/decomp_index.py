# SPDX-License-Identifier: Apache-2.0
"""Ops that count, order or scatter, as those that have fixed sizes."""
import math

import torch

from .graph import Unsupported


def largest(dtype):
    return math.inf if dtype.is_floating_point else torch.iinfo(dtype).max


def along(x, dim, compute, keep):
    """compute on the last axis, which is dropped unless keep; two results."""
    if x.dim() == 0:
        return [y.reshape(()) for y in compute(x.reshape(1))]
    made = compute(x.movedim(dim, -1))
    return [y.unsqueeze(-1).movedim(-1, dim) if keep else y for y in made]


def mode(x, dim=-1, keepdim=False):
    """The smallest of the most frequent, and its last place."""
    def compute(x):
        times = (x.unsqueeze(-1) == x.unsqueeze(-2)).sum(-1)
        often = times == times.amax(-1, keepdim=True)
        best = torch.where(often, x, largest(x.dtype)).amin(-1)
        same = x == best.unsqueeze(-1)
        return best, torch.where(same, torch.arange(x.shape[-1]), -1).amax(-1)
    return tuple(along(x, dim, compute, keepdim))


def nan_median(x, dim=None, keepdim=False):
    """The lower of two in the middle of what is a number."""
    def compute(x):
        if not x.is_floating_point():
            return torch.median(x, -1)
        values, places = torch.where(x.isnan(), math.inf, x).sort(-1)
        n = (~x.isnan()).sum(-1, keepdim=True)
        middle = ((n - 1) // 2).clamp(min=0)
        found = values.gather(-1, middle)
        found = torch.where(n == 0, math.nan, found)
        return found.squeeze(-1), places.gather(-1, middle).squeeze(-1)

    if dim is None:
        return compute(x.reshape(-1))[0]
    return tuple(along(x, dim, compute, keepdim))


def bincount(x, weights=None, minlength=0):
    """As many bins as minlength says; an index beyond them is an error when
    the network runs."""
    if not minlength:
        raise Unsupported("bincount has as many bins as its values say; give "
                          "it minlength")
    if weights is None:
        weights = torch.ones_like(x, dtype=torch.int64)
    elif weights.dtype != torch.float32:
        weights = weights.double()
    none = torch.zeros(minlength, dtype=weights.dtype)
    return none.scatter_add(0, x.long(), weights)


def nonzero_static(x, *, size, fill_value=-1):
    """The places of the first ones; what is beyond the size is written to one
    more place, which is dropped."""
    x = x.reshape(1) if x.dim() == 0 else x
    some = (x != 0).reshape(-1)
    n = some.shape[0]
    place = torch.where(some, some.long().cumsum(0) - 1, size).clamp(max=size)
    found = torch.full((size + 1,), -1).scatter(0, place, torch.arange(n))
    found = found[:size]
    columns, step = [], n
    for length in x.shape:
        length = max(1, length)
        step //= length
        column = found.div(max(1, step), rounding_mode="floor") % length
        columns.append(torch.where(found < 0, fill_value, column))
    return torch.stack(columns, 1)


def put(x, index, source, accumulate=False):
    """At places in memory order."""
    return x.reshape(-1).index_put((index.reshape(-1),), source.reshape(-1),
                                   accumulate).reshape(x.shape)


def index_reduce(x, dim, index, source, reduce, *, include_self=True):
    """scatter_reduce of whole slices."""
    shape = [1] * source.dim()
    shape[dim] = -1
    where = index.long().reshape(shape).expand(source.shape)
    return x.scatter_reduce(dim, where, source, reduce,
                            include_self=include_self)


SEGMENTS = {"sum": ("sum", 0.0), "mean": ("sum", 0.0), "prod": ("prod", 1.0),
            "max": ("amax", -math.inf), "min": ("amin", math.inf)}


def segment_reduce(x, reduce, *, lengths=None, indices=None, offsets=None,
                   axis=0, unsafe=False, initial=None):
    """Reductions of neighbouring rows; lengths or offsets may be computed."""
    if axis != 0 or (lengths is None) == (offsets is None):
        raise Unsupported("reduces segments by indices, or of another axis")
    ends = lengths.cumsum(0) if offsets is None else offsets[1:]
    n = ends.shape[0]
    kind, neutral = SEGMENTS[reduce]
    neutral = neutral if initial is None else float(initial)
    which = (torch.arange(x.shape[0]).unsqueeze(1) >= ends).sum(1)
    where = which.reshape(-1, *[1] * (x.dim() - 1)).expand(x.shape)
    made = torch.full((n, *x.shape[1:]), neutral, dtype=x.dtype)
    made = made.scatter_reduce(0, where, x, kind)
    if reduce != "mean":
        return made
    if lengths is None:
        lengths = offsets[1:] - offsets[:-1]
    n = lengths.reshape(-1, *[1] * (x.dim() - 1))
    empty = math.nan if initial is None else neutral
    return torch.where(n == 0, empty, made / n.clamp(min=1).to(x.dtype))


def pair_distances(x, p=2.0):
    one, other = torch.triu_indices(x.shape[0], x.shape[0], 1)
    return torch.linalg.vector_norm(x[one] - x[other], p, -1)


def int_product(a, b):
    return a.int() @ b.int()


def int8_product(x, weight, scales):
    return x @ weight.to(x.dtype).mT * scales


def window_starts(size, window, n, sample):
    """Where windows of pseudo-random length begin, [..., n]."""
    if n == 1:
        return torch.full((*sample.shape, 1), size - window)
    step = (size - window) / (n - 1)
    sample = sample.unsqueeze(-1)
    starts = ((torch.arange(n) + sample) * step).long() \
        - (sample * step).long()
    return torch.where(torch.arange(n) == n - 1, size - window, starts)


def fractional_max_pool(x, kernel_size, output_size, random_samples):
    """Windows gathered by rows, then by columns."""
    image = x.unsqueeze(0) if x.dim() == 3 else x
    (batch, channels, high, wide), (m, n) = image.shape, output_size
    rows = window_starts(high, kernel_size[0], m, random_samples[..., 1])
    columns = window_starts(wide, kernel_size[1], n, random_samples[..., 0])
    rows = rows.unsqueeze(-1) + torch.arange(kernel_size[0])
    columns = columns.unsqueeze(-1) + torch.arange(kernel_size[1])
    places = rows[:, :, :, None, :, None] * wide + columns[:, :, None, :, None]
    places = places.expand(batch, channels, m, n, *kernel_size)
    flat = image.flatten(2).gather(2, places.flatten(2)).reshape(
        batch, channels, m, n, -1)
    found, at = flat.max(-1, keepdim=True)
    at = places.reshape(flat.shape).gather(-1, at)
    return found.squeeze(-1).reshape(*x.shape[:-2], m, n), \
        at.squeeze(-1).reshape(*x.shape[:-2], m, n)


def multilabel_margin(x, target, reduction):
    """Labels before the first -1; PyTorch's own, up to 2.11, takes others."""
    valid = (target < 0).cumsum(-1) == 0
    label = torch.where(valid, target, 0)
    is_target = ((torch.arange(x.shape[-1]) == label.unsqueeze(-1))
                 & valid.unsqueeze(-1)).any(-2)
    margin = 1 - x.gather(-1, label).unsqueeze(-1) + x.unsqueeze(-2)
    counted = valid.unsqueeze(-1) & ~is_target.unsqueeze(-2)
    loss = torch.where(counted, margin.clamp(min=0), 0).sum((-2, -1)) \
        / x.shape[-1]
    reduced = (loss, loss.mean(), loss.sum())[reduction]
    return reduced, is_target.to(x.dtype)


TABLE = {
    "aten::mode": mode, "aten::nanmedian": nan_median,
    "aten::bincount": bincount, "aten::nonzero_static": nonzero_static,
    "aten::index_reduce": index_reduce, "aten::put": put,
    "aten::segment_reduce": segment_reduce,
    "aten::multilabel_margin_loss_forward": multilabel_margin,
    "aten::_pdist_forward": pair_distances, "aten::_int_mm": int_product,
    "aten::_weight_int8pack_mm": int8_product,
    "aten::fractional_max_pool2d": fractional_max_pool,
}
