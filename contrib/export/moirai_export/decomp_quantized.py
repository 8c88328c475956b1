# SPDX-License-Identifier: Apache-2.0
"""Quantization as PyTorch's graphs write it (quantized_decomposed)."""
import sys

import torch

LIBRARY = "torch.ao.quantization.fx._decomposed"


def reciprocal(scale):
    """Rounded once, as that of a Python number is."""
    if isinstance(scale, torch.Tensor):
        return (1 / scale.double()).float()
    return 1.0 / scale


def quantize(x, scale, zero_point, quant_min, quant_max, dtype):
    y = (x.float() * reciprocal(scale)).round() + zero_point
    return y.clamp(quant_min, quant_max).to(dtype)


def dequantize(x, scale, zero_point, quant_min, quant_max, dtype, *,
               out_dtype=None):
    kind = out_dtype or torch.float32
    return ((x.to(kind) - zero_point) * scale).to(kind)


def by_channel(x, numbers, axis):
    """A number for each channel, so that it broadcasts."""
    shape = [1] * x.dim()
    shape[axis] = -1
    return numbers.reshape(shape)


def quantize_channels(x, scales, zero_points, axis, quant_min, quant_max,
                      dtype):
    return quantize(x, by_channel(x, scales, axis),
                    by_channel(x, zero_points, axis), quant_min, quant_max,
                    dtype)


def dequantize_channels(x, scales, zero_points, axis, quant_min, quant_max,
                        dtype, *, out_dtype=None):
    kind = out_dtype or torch.float32
    y = x.to(kind)
    if zero_points is not None:
        y = y - by_channel(x, zero_points, axis)
    return (y * by_channel(x, scales, axis)).to(kind)


def quantize_tokens(x, scales, zero_points, quant_min, quant_max, dtype):
    y = (x * (1.0 / scales) + zero_points).round()
    return y.clamp(quant_min, quant_max).to(dtype)


def dequantize_tokens(x, scales, zero_points, quant_min, quant_max, dtype,
                      output_dtype):
    return ((x - zero_points) * scales).to(output_dtype)


def fake_quantize_channels(x, scales, zero_points, axis, quant_min, quant_max):
    scales = by_channel(x, scales, axis)
    zeros = by_channel(x, zero_points, axis)
    y = (x * (1.0 / scales) + zeros).round().clamp(quant_min, quant_max)
    return (y - zeros) * scales


def fake_quantize(x, scale, zero_point, quant_min, quant_max):
    """Rounded to what integers can stand for; and whether they can."""
    y = (x * reciprocal(scale) + zero_point).round()
    inside = (y >= quant_min) & (y <= quant_max)
    y = (y.clamp(quant_min, quant_max) - zero_point) * scale
    return y.to(x.dtype), inside


def fake_quantize_axis(x, scale, zero_point, axis, quant_min, quant_max):
    return fake_quantize(x, by_channel(x, scale, axis),
                         by_channel(x, zero_point, axis), quant_min, quant_max)


def choose_qparams(x, quant_min, quant_max, eps, dtype):
    """Scale and zero point of the range of values, which contains zero."""
    low, high = x.amin().clamp(max=0), x.amax().clamp(min=0)
    scale = ((high - low) / float(quant_max - quant_min)).clamp(min=eps)
    zero = quant_min - (low / scale).round().to(torch.int)
    return scale.reshape(1).double(), \
        zero.clamp(quant_min, quant_max).reshape(1).long()


def choose_qparams_symmetric(x, quant_min, quant_max, eps, dtype):
    """Zero in the middle of the integers."""
    size = x.abs().amax()
    scale = (size / (float(quant_max - quant_min) / 2)).clamp(min=eps)
    zero = 128 if dtype == torch.uint8 else 0
    return scale.reshape(1).double(), torch.full((1,), zero)


def pytorch_reference(name):
    """The function of PyTorch itself, of ops alone."""
    def compute(*args, **kwargs):
        return getattr(sys.modules[LIBRARY], name)(*args, **kwargs)
    return compute


TABLE = {f"quantized_decomposed::{name}": function for name, function in {
    "quantize_per_tensor": quantize, "dequantize_per_tensor": dequantize,
    "quantize_per_channel": quantize_channels,
    "dequantize_per_channel": dequantize_channels,
    "quantize_per_token": quantize_tokens,
    "dequantize_per_token": dequantize_tokens,
    "fake_quant_per_channel": fake_quantize_channels,
    "choose_qparams": choose_qparams,
    "choose_qparams_symmetric": choose_qparams_symmetric,
    **{name: pytorch_reference(name) for name in (
        "choose_qparams_per_token", "choose_qparams_per_token_asymmetric",
        "_choose_qparams_per_token_asymmetric_impl",
        "quantize_per_channel_group", "dequantize_per_channel_group",
        "convert_element_type")},
}.items()}
TABLE["aten::fake_quantize_per_tensor_affine_cachemask"] = fake_quantize
TABLE["aten::fake_quantize_per_channel_affine_cachemask"] = fake_quantize_axis
