# SPDX-License-Identifier: Apache-2.0
"""Sliding windows: convolutions and pools."""
from . import ops
from .graph import Unsupported


class Window:
    """A kernel that slides over an image: its sizes along each axis."""

    def __init__(self, kernel, strides=None, begin=None, end=None,
                 dilations=None):
        n = len(kernel)
        self.kernel = list(kernel)
        self.strides = list(strides or [1] * n)
        self.begin = list(begin or [0] * n)
        self.end = list(self.begin if end is None else end)
        self.dilations = list(dilations or [1] * n)

    def pad_same(self, sizes, upper):
        """As many outputs as strides fit; the odd element is added at one end.
        """
        for d, size in enumerate(sizes):
            extent = (self.kernel[d] - 1) * self.dilations[d] + 1
            stride = self.strides[d]
            total = max(0, (-(-size // stride) - 1) * stride + extent - size)
            few, many = total // 2, total - total // 2
            self.begin[d], self.end[d] = (few, many) if upper else (many, few)

    def outputs(self, sizes, ceil=False):
        """The number of windows; the last one begins within image and front
        padding."""
        result = []
        for d, size in enumerate(sizes):
            extent = (self.kernel[d] - 1) * self.dilations[d] + 1
            room = size + self.begin[d] + self.end[d] - extent
            if room < 0:
                raise Unsupported(f"has a window of {self.kernel} in an image "
                                  f"of {list(sizes)}")
            steps = -(-room // self.strides[d]) if ceil \
                else room // self.strides[d]
            if ceil and steps * self.strides[d] >= size + self.begin[d]:
                steps -= 1
            result.append(steps + 1)
        return result

    def attrs(self):
        return {"strides": self.strides, "pads_begin": self.begin,
                "pads_end": self.end, "auto_pad": "explicit"}


def convolution(g, x, weights, bias, window, groups):
    sizes = window.outputs(x.shape[2:])
    shape = x.shape[:1] + weights.shape[:1] + tuple(sizes)
    attrs = dict(window.attrs(), dilations=window.dilations)
    if groups == 1:
        y = g.add("Convolution", [x, weights], shape, x.dtype, **attrs)
    else:
        weights = ops.reshape(g, weights, (groups, weights.shape[0] // groups)
                          + weights.shape[1:])
        y = g.add("GroupConvolution", [x, weights], shape, x.dtype, **attrs)
    return add_bias(g, y, bias)


def transposed_convolution(g, x, weights, bias, window, groups, extra):
    sizes = [(size - 1) * stride + (kernel - 1) * dilation + 1 - begin - end
             + more for size, kernel, stride, begin, end, dilation, more
             in zip(x.shape[2:], window.kernel, window.strides, window.begin,
                    window.end, window.dilations, extra)]
    shape = (x.shape[0], weights.shape[1] * groups, *sizes)
    attrs = dict(window.attrs(), dilations=window.dilations,
                 output_padding=list(extra))
    op = "ConvolutionBackpropData"
    if groups > 1:
        op = "Group" + op
        weights = ops.reshape(g, weights, (groups, weights.shape[0] // groups)
                          + weights.shape[1:])
    return add_bias(g, g.add(op, [x, weights], shape, x.dtype, **attrs), bias)


def add_bias(g, y, bias):
    return ops.point(g, "Add", y, ops.channels(g, bias, y.rank)) if bias else y


def max_pool(g, x, window, ceil):
    """Maxima and their indices."""
    shape = x.shape[:2] + tuple(window.outputs(x.shape[2:], ceil))
    return g.add_many("MaxPool", [x], [(shape, x.dtype), (shape, "i64")],
                      kernel=window.kernel, dilations=window.dilations,
                      rounding_type="ceil_torch" if ceil else "floor",
                      index_element_type="i64", axis=2, **window.attrs())


def average_pool(g, x, window, ceil, with_pads):
    if any(d != 1 for d in window.dilations):
        raise Unsupported("has dilations, which averages cannot have here")
    shape = x.shape[:2] + tuple(window.outputs(x.shape[2:], ceil))
    return g.add("AvgPool", [x], shape, x.dtype, kernel=window.kernel,
                 rounding_type="ceil_torch" if ceil else "floor",
                 **window.attrs(), **{"exclude-pad": not with_pads})
