# SPDX-License-Identifier: Apache-2.0
"""ATen ops on images: convolutions, pools, resizing, patches."""
import torch

from . import ops, windows
from .graph import Unsupported, count

# windows

def widen(numbers, n):
    """In PyTorch one number may stand for all axes."""
    numbers = list(numbers) if isinstance(numbers, (list, tuple)) \
        else [numbers]
    return numbers * n if len(numbers) == 1 else numbers


def convolution(op):
    """All kinds; an image without a batch temporarily gets one."""
    x = op.value("input")
    weights, bias = op.value("weight"), op.value("bias")
    n = weights.rank - 2
    alone = x.rank == n + 1
    x = ops.unsqueeze(op.g, x, [0]) if alone else x
    window = windows.Window(weights.shape[2:], widen(op["stride"], n),
                            dilations=widen(op["dilation"], n))
    set_padding(op, window, x.shape[2:])
    if op.get("transposed"):
        y = windows.transposed_convolution(op.g, x, weights, bias, window,
                                           op["groups"],
                                           widen(op["output_padding"], n))
    else:
        y = windows.convolution(op.g, x, weights, bias, window, op["groups"])
    return ops.squeeze(op.g, y, [0]) if alone else y


def set_padding(op, window, image):
    padding = op["padding"]
    if padding == "same":
        window.pad_same(image, True)
    elif padding != "valid":
        window.begin = widen(padding, len(window.kernel))
        window.end = list(window.begin)


def pool_window(op, n):
    kernel = widen(op["kernel_size"], n)
    strides = widen(op["stride"], n) if op["stride"] else kernel
    return windows.Window(kernel, strides, widen(op["padding"], n),
                          dilations=widen(op.get("dilation", 1), n))


def as_batch(g, x, n):
    """With a batch in front, where there is none."""
    return ops.unsqueeze(g, x, [0]) if x.rank == n + 1 else x


def max_pool(n, with_indices):
    def translate(op):
        x = op.value("self")
        image = as_batch(op.g, x, n)
        found = windows.max_pool(op.g, image, pool_window(op, n),
                                 op["ceil_mode"])
        if image is not x:
            found = [ops.squeeze(op.g, y, [0]) for y in found]
        return found if with_indices else found[0]
    return translate


def average_pool(n):
    def translate(op):
        x = op.value("self")
        image = as_batch(op.g, x, n)
        window, divisor = pool_window(op, n), op.get("divisor_override")
        if divisor and op["ceil_mode"]:
            raise Unsupported("has a divisor_override and ceil_mode")
        y = windows.average_pool(op.g, image, window, op["ceil_mode"],
                                 op["count_include_pad"] or bool(divisor))
        if divisor:
            y = ops.with_number(op.g, "Multiply", y,
                                count(window.kernel) / divisor)
        return y if image is x else ops.squeeze(op.g, y, [0])
    return translate


def adaptive_average(n):
    """Equal windows if the sizes allow it."""
    def translate(op):
        x, sizes = op.value("self"), widen(op["output_size"], n)
        image = as_batch(op.g, x, n)
        extents = image.shape[2:]
        if all(size == 1 for size in sizes):
            y = ops.reduce(op.g, "ReduceMean", image, range(2, n + 2), True)
        elif any(a % b for a, b in zip(extents, sizes)):
            y = op.g.add("AdaptiveAvgPool", [image, op.g.ints(sizes)],
                         image.shape[:2] + tuple(sizes), x.dtype)
        else:
            steps = [a // b for a, b in zip(extents, sizes)]
            y = windows.average_pool(op.g, image, windows.Window(steps, steps),
                                     False, False)
        return y if image is x else ops.squeeze(op.g, y, [0])
    return translate


def adaptive_maximum(n, with_indices):
    """Maxima of windows as even as possible, and where they are."""
    def translate(op):
        x, sizes = op.value("self"), widen(op["output_size"], n)
        image = as_batch(op.g, x, n)
        shape = image.shape[:2] + tuple(sizes)
        found = op.g.add_many("AdaptiveMaxPool", [image, op.g.ints(sizes)],
                              [(shape, x.dtype), (shape, "i64")],
                              index_element_type="i64")
        if image is not x:
            found = [ops.squeeze(op.g, y, [0]) for y in found]
        return found if with_indices else found[0]
    return translate


# resizing

def upsample(mode):
    """To the size in PyTorch's metadata; scales if they were given."""
    def translate(op):
        x = op.value("input" if "input" in op.args else "self")
        coordinates = "asymmetric" if mode == "nearest" else "half_pixel"
        if mode == "linear_onnx":
            coordinates = "pytorch_half_pixel"
        if op.get("align_corners"):
            coordinates = "align_corners"
        return ops.interpolate(op.g, x, op.shape, scales_of(op, x), mode,
                               coordinates, "floor")
    return translate


def antialiased(op):
    """A product with a matrix for each axis, which PyTorch itself makes of the
    identity."""
    x, scales = op.value("input" if "input" in op.args else "self"), \
        [op.get("scales_h"), op.get("scales_w")]
    kernel = getattr(torch.ops.aten, op.name)
    matrices = []
    for axis, scale in zip((2, 3), scales):
        n = x.shape[axis]
        made = kernel.default(torch.eye(n).reshape(1, 1, n, n),
                              [op.shape[axis], n], op["align_corners"], scale,
                              None)[0, 0]
        matrices.append(op.lift(made.to(op.meta.dtype)))
    y = ops.matmul(op.g, matrices[0], x)
    return ops.matmul(op.g, y, matrices[1], transpose_b=True)


def nearest_exact(op):
    """The nearest by centres."""
    x = op.value("input" if "input" in op.args else "self")
    return ops.interpolate(op.g, x, op.shape, scales_of(op, x), "nearest",
                           "half_pixel", "round_prefer_ceil")


GRID_MODES = ("bilinear", "nearest", "bicubic")
GRID_PADS = ("zeros", "border", "reflection")


def grid_sample(op):
    x, grid = op.value("input"), op.value("grid")
    return op.g.add("GridSample", [x, ops.convert(op.g, grid, "f32")],
                    op.shape, x.dtype, mode=GRID_MODES[op["interpolation_mode"]],
                    padding_mode=GRID_PADS[op["padding_mode"]],
                    align_corners=bool(op["align_corners"]))


def max_unpool(op):
    """Values at the indices of a pool, zero elsewhere."""
    x, at = op.value("self"), op.value("indices")
    n = 2 if op.name == "max_unpool2d" else 3
    lead = op.shape[:-n]
    flat = ops.broadcast(op.g, op.g.scalar(0, x.dtype),
                         lead + (count(op.shape[-n:]),))
    x, at = (ops.reshape(op.g, y, y.shape[:-n] + (count(y.shape[-n:]),))
             for y in (x, at))
    y = ops.scatter_elements(op.g, flat, at, x, len(lead))
    return ops.reshape(op.g, y, op.shape)


def scales_of(op, x):
    given = op.get("scale_factors")
    if given is None:
        given = [op.get(name) for name in ("scales", "scales_d", "scales_h",
                                           "scales_w") if name in op.args]
    if not given or None in given:
        return None
    return [1.0] * (x.rank - len(given)) + [float(scale) for scale in given]


TABLE = {
    **dict.fromkeys(("convolution", "conv1d", "conv2d", "conv3d"),
                    convolution),
    **dict.fromkeys(("adaptive_avg_pool2d", "_adaptive_avg_pool2d"),
                    adaptive_average(2)),
    **dict.fromkeys(("adaptive_avg_pool3d", "_adaptive_avg_pool3d"),
                    adaptive_average(3)),
    "adaptive_avg_pool1d": adaptive_average(1),
    "avg_pool1d": average_pool(1), "avg_pool2d": average_pool(2),
    "avg_pool3d": average_pool(3),
    "max_pool1d": max_pool(1, False), "max_pool2d": max_pool(2, False),
    "max_pool2d_with_indices": max_pool(2, True),
    "max_pool3d": max_pool(3, False),
    "max_pool3d_with_indices": max_pool(3, True),
    "upsample_bicubic2d": upsample("cubic"),
    "upsample_bilinear2d": upsample("linear_onnx"),
    "upsample_linear1d": upsample("linear_onnx"),
    "upsample_nearest1d": upsample("nearest"),
    "upsample_nearest2d": upsample("nearest"),
    "upsample_nearest3d": upsample("nearest"),
    "upsample_trilinear3d": upsample("linear_onnx"),
    "_upsample_bilinear2d_aa": antialiased,
    "_upsample_bicubic2d_aa": antialiased,
    "_upsample_nearest_exact1d": nearest_exact,
    "_upsample_nearest_exact2d": nearest_exact,
    "_upsample_nearest_exact3d": nearest_exact,
    "grid_sampler_2d": grid_sample,
    "adaptive_max_pool1d": adaptive_maximum(1, True),
    "adaptive_max_pool2d": adaptive_maximum(2, True),
    "adaptive_max_pool3d": adaptive_maximum(3, True),
    "max_unpool2d": max_unpool, "max_unpool3d": max_unpool,
}
