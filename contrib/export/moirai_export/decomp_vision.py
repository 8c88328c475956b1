# SPDX-License-Identifier: Apache-2.0
"""Ops of torchvision on regions of images, and samples of volumes."""
import math

import torch

from .graph import Unsupported


# regions

def points(start, side, bins, samples, size):
    """Samples along one axis, [regions, bins * samples]: both neighbours and
    their weights, which are zero outside of the image."""
    line = torch.arange(bins * samples, dtype=start.dtype)
    at = start.unsqueeze(1) + (line + 0.5) / samples * side.unsqueeze(1)
    inside = ((at >= -1) & (at <= size)).to(start.dtype)
    at = at.clamp(0, size - 1)
    low = at.floor()
    share = at - low
    high = (low + 1).clamp(max=size - 1)
    return ((low.long(), (1 - share) * inside), (high.long(), share * inside))


def edges(rois, axis, scale, bins, aligned, least):
    """Where regions begin along an axis, and the length of their bins."""
    start = rois[:, 1 + axis] * scale - (0.5 if aligned else 0.0)
    end = rois[:, 3 + axis] * scale - (0.5 if aligned else 0.0)
    side = end - start
    return start, (side.clamp(min=least) if least else side) / bins


def weights_of_samples(start, side, bins, size):
    """How much each element of an axis counts in each bin, [regions, bins,
    size], where there are as many samples in a bin as its length says."""
    most = min(size, 2 * -(-size // bins) + 2)
    n = side.ceil().clamp(min=1).reshape(-1, 1, 1)
    line = torch.arange(most, dtype=side.dtype)
    at = start.reshape(-1, 1, 1) + side.reshape(-1, 1, 1) * (
        torch.arange(bins, dtype=side.dtype).reshape(1, -1, 1)
        + (line + 0.5) / n)
    counts = (at >= -1) & (at <= size) & (line < n)
    at = at.clamp(0, size - 1).unsqueeze(-1)
    near = (1 - (at - torch.arange(size, dtype=side.dtype)).abs()).clamp(min=0)
    made = (near * counts.unsqueeze(-1).to(side.dtype)).sum(2) / n
    # Larger than twice the image: not computed.
    return torch.where(n <= most, made, math.nan)


def images_of(x, rois):
    """The image of each region; one image is that of all of them."""
    return x if x.shape[0] == 1 else x.index_select(0, rois[:, 0].long())


def align_whole(x, rois, scale, high, wide, aligned, least):
    """Bins as products with the weights of rows and of columns."""
    rows, columns = (weights_of_samples(
        *edges(rois, axis, scale, bins, aligned, least), bins,
        x.shape[3 - axis]) for axis, bins in ((1, high), (0, wide)))
    return rows.unsqueeze(1) @ images_of(x, rois) @ columns.mT.unsqueeze(1)


def align_sampled(x, rois, scale, high, wide, samples, aligned, least):
    """A fixed number of samples in each bin: four gathers."""
    batch, channels, rows, columns = x.shape
    down = points(*edges(rois, 1, scale, high, aligned, least), high, samples,
                  rows)
    right = points(*edges(rois, 0, scale, wide, aligned, least), wide, samples,
                   columns)
    flat = x.permute(0, 2, 3, 1).reshape(-1, channels)
    first = (rois[:, 0].long() * (rows * columns)).reshape(-1, 1, 1)
    total = 0
    for row, row_weight in down:
        for column, column_weight in right:
            at = first + row.unsqueeze(2) * columns + column.unsqueeze(1)
            weight = row_weight.unsqueeze(2) * column_weight.unsqueeze(1)
            total = total + flat[at] * weight.unsqueeze(3)
    total = total.reshape(-1, high, samples, wide, samples, channels)
    return total.mean((2, 4)).permute(0, 3, 1, 2)


def align(x, rois, scale, high, wide, samples, aligned, least):
    rois = rois.to(x.dtype)
    if samples > 0:
        return align_sampled(x, rois, scale, high, wide, samples, aligned,
                             least)
    return align_whole(x, rois, scale, high, wide, aligned, least)


def roi_align(x, rois, spatial_scale, pooled_height, pooled_width,
              sampling_ratio, aligned):
    return align(x, rois, spatial_scale, pooled_height, pooled_width,
                 sampling_ratio, aligned, 0 if aligned else 1)


def own_channels(x, high, wide):
    """Bin (i, j) of the channels that belong to it."""
    x = x.reshape(x.shape[0], -1, high, wide, high, wide)
    return x.diagonal(0, 2, 4).diagonal(0, 2, 3)


def channel_map(x):
    """Which only training reads."""
    return torch.full(x.shape, -1, dtype=torch.int32)


def ps_roi_align(x, rois, spatial_scale, pooled_height, pooled_width,
                 sampling_ratio):
    y = align(x, rois, spatial_scale, pooled_height, pooled_width,
              sampling_ratio, True, 0)
    y = own_channels(y, pooled_height, pooled_width)
    return y, channel_map(y)


def bins_of(rois, axis, scale, bins, size, extra, last):
    """Which elements of an axis each bin contains, [regions, bins, size]."""
    start, end = ((rois[:, 1 + 2 * i + axis] * scale) for i in (0, 1))
    start, end = (torch.sign(x) * (x.abs() + 0.5).floor()
                  for x in (start, end))
    side = ((end - start + extra).clamp(min=1) / bins).unsqueeze(1)
    line = torch.arange(bins, dtype=rois.dtype)
    start = start.unsqueeze(1)
    if extra:  # bins of maxima are rounded before they are moved
        low, high = (line * side).floor() + start, \
            ((line + 1) * side).ceil() + start
    else:
        low, high = (line * side + start).floor(), \
            ((line + 1) * side + start).ceil()
    low, high = (x.clamp(0, last).unsqueeze(2) for x in (low, high))
    at = torch.arange(size, dtype=rois.dtype)
    return (at >= low) & (at < high)


def roi_pool(x, rois, spatial_scale, pooled_height, pooled_width):
    """Maxima of bins, over columns and then over rows; empty ones are 0."""
    rois = rois.to(x.dtype)
    rows, columns = (bins_of(rois, axis, spatial_scale, bins, size, 1, size)
                     for axis, bins, size in (
                         (1, pooled_height, x.shape[2]),
                         (0, pooled_width, x.shape[3])))
    image = images_of(x, rois)
    parts = [torch.where(columns[:, j, None, None, :], image, -math.inf)
             .amax(-1) for j in range(pooled_width)]
    wide = torch.stack(parts, -1)
    parts = [torch.where(rows[:, i, None, :, None], wide, -math.inf).amax(-2)
             for i in range(pooled_height)]
    y = torch.stack(parts, 2)
    y = torch.where(y == -math.inf, 0.0, y)
    return y, channel_map(y)


def ps_roi_pool(x, rois, spatial_scale, pooled_height, pooled_width):
    """Means of bins."""
    rois = rois.to(x.dtype)
    rows, columns = (bins_of(rois, axis, spatial_scale, bins, size, 0,
                             size - 1).to(x.dtype)
                     for axis, bins, size in (
                         (1, pooled_height, x.shape[2]),
                         (0, pooled_width, x.shape[3])))
    area = rows.sum(-1).unsqueeze(2) * columns.sum(-1).unsqueeze(1)
    y = rows.unsqueeze(1) @ images_of(x, rois) @ columns.mT.unsqueeze(1)
    y = own_channels(y, pooled_height, pooled_width)
    area = area.unsqueeze(1)
    y = torch.where(area == 0, 0.0, y / area.clamp(min=1))
    return y, channel_map(y)


# convolution

def deform_conv2d(x, weight, offset, mask, bias, stride_h, stride_w, pad_h,
                  pad_w, dilation_h, dilation_w, groups, offset_groups,
                  use_mask):
    """All taps are sampled at once, into channels of a convolution of one
    tap."""
    batch, channels, rows, columns = x.shape
    high, wide = offset.shape[2:]
    down, right = weight.shape[2:]
    taps, images = down * right, batch * offset_groups
    offset = offset.reshape(images, taps, 2, high, wide)
    tap = torch.arange(taps)
    y = (tap // right * dilation_h - pad_h).reshape(-1, 1, 1) + \
        (torch.arange(high) * stride_h).reshape(-1, 1)
    z = (tap % right * dilation_w - pad_w).reshape(-1, 1, 1) + \
        torch.arange(wide) * stride_w
    grid = torch.stack([
        (offset[:, :, 1] + z) * (2 / columns) + (1 / columns - 1),
        (offset[:, :, 0] + y) * (2 / rows) + (1 / rows - 1)], -1)
    taken = torch.nn.functional.grid_sample(
        x.reshape(images, -1, rows, columns),
        grid.reshape(images, taps * high, wide, 2), align_corners=False)
    taken = taken.reshape(images, -1, taps, high, wide)
    if use_mask:
        taken = taken * mask.reshape(images, 1, taps, high, wide)
    return torch.nn.functional.conv2d(
        taken.reshape(batch, channels * taps, high, wide),
        weight.reshape(weight.shape[0], -1, 1, 1), bias, groups=groups)


# volumes

def reflected(x, low, span):
    """Between low and low + span, mirrored there."""
    x = (x - low).abs()
    rest = x.remainder(2 * span) if span else x * 0
    return torch.minimum(rest, 2 * span - rest) + low


def grid_sampler_3d(x, grid, interpolation_mode, padding_mode, align_corners):
    """Eight gathers, or one of the nearest."""
    if interpolation_mode == 2:
        raise Unsupported("samples a volume by cubes")
    batch, channels = x.shape[:2]
    sizes = x.shape[:1:-1]  # as grids have them: columns first
    near, axes = interpolation_mode == 1, []
    for d, n in enumerate(sizes):
        at = grid[..., d]
        at = (at + 1) / 2 * (n - 1) if align_corners \
            else ((at + 1) * n - 1) / 2
        if padding_mode == 2:
            at = reflected(at, 0, n - 1) if align_corners \
                else reflected(at, -0.5, n)
        at = at.clamp(0, n - 1) if padding_mode else at
        low = at.round() if near else at.floor()
        sides = [(low, torch.ones_like(at))] if near else \
            [(low, low + 1 - at), (low + 1, at - low)]
        axes.append([(place.clamp(0, n - 1).long(), weight * (
            (place >= 0) & (place <= n - 1)).to(x.dtype))
            for place, weight in sides])
    flat, total = x.flatten(2), 0
    for column, a in axes[0]:
        for row, b in axes[1]:
            for layer, c in axes[2]:
                at = (layer * sizes[1] + row) * sizes[0] + column
                at = at.reshape(batch, 1, -1).expand(-1, channels, -1)
                weight = (a * b * c).reshape(batch, 1, -1)
                total = total + flat.gather(2, at) * weight
    return total.reshape(batch, channels, *grid.shape[1:4])


TABLE = {
    "torchvision::roi_align": roi_align, "torchvision::roi_pool": roi_pool,
    "torchvision::ps_roi_align": ps_roi_align,
    "torchvision::ps_roi_pool": ps_roi_pool,
    "torchvision::deform_conv2d": deform_conv2d,
    "aten::grid_sampler_3d": grid_sampler_3d,
}
