# SPDX-License-Identifier: Apache-2.0
"""Small modules over many ops of PyTorch for bench/export_campaign.py.

FUNCTIONS are expressions of the tensors in inputs(); MODULES are modules and
the expression that calls them; what they return is a tensor or several.
"""
import math
import re

import torch
from torch import nn
from torch.ao.quantization.fx import _decomposed  # noqa: F401, its ops
from torch.nn import functional as F

try:
    from torchvision import ops as vision_ops
except ImportError:
    vision_ops = None

FUNCTIONS = """
torch.sin(x) + torch.cos(x) * torch.tan(x)
torch.sinh(x), torch.cosh(x), torch.tanh(x), torch.asinh(x), torch.atan(x)
torch.acos(u), torch.asin(u), torch.atanh(u * 0.9), torch.acosh(u.abs() + 1.5)
torch.atan2(x, y), torch.hypot(x, y)
torch.exp(x), torch.exp2(x), torch.expm1(x), torch.log1p(x.abs())
torch.log(p), torch.log2(p), torch.log10(p), torch.rsqrt(p), torch.sqrt(p)
torch.erf(x), torch.erfc(x), torch.erfinv(u * 0.9)
torch.lgamma(p + 1), torch.digamma(p + 1)
torch.sigmoid(x), torch.logit(u.abs() * 0.9 + 0.05), torch.special.expit(x)
torch.xlogy(p, p), torch.logaddexp(x, y), torch.logaddexp2(x, y)
torch.floor(x), torch.ceil(x), torch.round(x), torch.trunc(x), torch.frac(x)
torch.round(x, decimals=2)
torch.sign(x), torch.sgn(x), torch.neg(x), torch.abs(x), torch.signbit(x)
torch.copysign(x, y), torch.heaviside(x, y), torch.nan_to_num(x / 0)
torch.fmod(x, 0.7), torch.remainder(x, 0.7), x % y, x // y
torch.fmod(i, 4), torch.remainder(i - 5, 4), (i - 5) // 3, -(i - 5) % 3
torch.div(i - 5, 3, rounding_mode='trunc'), torch.div(i - 5, 3), i / 2
torch.floor_divide(x, 0.3), torch.true_divide(i, 3)
x ** 3, x.abs() ** 0.5, 2 ** x, p ** y, i ** 2, torch.float_power(p, 2)
torch.maximum(x, y), torch.minimum(x, y), torch.fmax(x, y), torch.fmin(x, y)
torch.clamp(x, -0.5, 0.5), torch.clamp(x, min=y), x.clamp_(max=0.1)
torch.clamp(x, -math.inf, math.inf), torch.clamp(x, min=-math.inf, max=0.3)
torch.lerp(x, y, 0.3), torch.addcmul(x, x, y, value=0.5), torch.addcdiv(x, y, p)
torch.where(x > 0, x, y), torch.where(m, x, 0.0), torch.where(i > 3, i, 0)
x.masked_fill(m, -1), x.masked_fill(m, float('-inf')).softmax(-1)
x.masked_fill(m, torch.finfo(x.dtype).min), x.half().masked_fill(m, -1e30)
torch.logical_and(x > 0, y > 0), (x > 0) ^ (y > 0), ~(x > 0), (x > 0) | m
i & 3, i | 4, i ^ 5, ~i, i << 2, i >> 1
x == y, x != 0, x >= 0.1, x < y, i == 3, torch.isclose(x, y), torch.eq(i, i)
torch.isnan(x), torch.isinf(x / 0), torch.isfinite(x / 0)
x.to(torch.float16), x.to(torch.bfloat16).float(), x.double(), x.long(), x.bool()
i.float(), i.to(torch.int32), i.to(torch.uint8), m.float(), m.long(), x.int()
x + i, i + 1.5, m + 1, m * x, m.float() - x, i * 2 - 1, x - m.long()
x.half() + 1, x.half() * y.half(), x.bfloat16().matmul(y.mT.bfloat16()).float()
x.double() * 2 + y
x.sum(), x.sum(1), x.sum((0, 2), keepdim=True), i.sum(), m.sum(), m.sum(1)
x.mean(), x.mean((1, 2)), x.prod(1), x.prod(), x.half().mean(1), m.float().mean()
x.std(), x.std(1), x.var(1, correction=0), x.var((0, 1)), torch.var_mean(x, 1)
x.max(), x.min(), x.amax((1, 2)), x.amin(0), x.aminmax(dim=1), x.max(1), x.min(2)
x.argmax(), x.argmin(1), x.argmax(2, keepdim=True), i.argmax(1)
x.median(), x.median(1), x.mode(1).values, x.kthvalue(2, 1), x.nanmean(1)
x.nansum(1), torch.count_nonzero(x > 0, 1), x.quantile(0.3, 1), x.logsumexp((1, 2))
x.norm(), x.norm(dim=1), x.norm(p=1, dim=1), x.norm(p=3, dim=1), x.norm(p=math.inf)
torch.linalg.vector_norm(x, 2, (0, 1)), torch.linalg.matrix_norm(x)
F.normalize(x, dim=1), F.normalize(x, p=1, dim=-1), F.cosine_similarity(x, y, 1)
F.pairwise_distance(x, y), torch.cdist(x, y), torch.dist(x, y)
x.cumsum(1), x.cumprod(1), i.cumsum(0), x.logcumsumexp(1), x.cummax(1), x.cummin(1)
(x > 0).any(), (x > -9).all(1), i.any(1), torch.any(m, 2, keepdim=True)
x.softmax(1), x.log_softmax(-1), F.softmin(x, 1), x.half().softmax(-1)
F.gumbel_softmax(x * 0, tau=1e9).sum(-1)
x.softmax(-1, dtype=torch.float64), F.softmax(i.float(), 0)
x.view(-1), x.reshape(5, 21), x.flatten(1), x.unflatten(1, (5, 1)), x.ravel()
x.squeeze(), x[None], x.unsqueeze(-1), x[:, None, :, None], x.T.shape[0] + x
x.transpose(0, 2), x.permute(2, 0, 1), x.mT, x.movedim(0, -1), x.swapaxes(0, 1)
x[0], x[:, 1], x[..., -1], x[1:, ::2, -3:], x[-1, -2], x[:, :, None, 3]
x[[0, 2]], x[:, [1, 3]], x[[0, 1], [2, 3]], x[:, [0, 1], [2, 3]], x[[0, 1], :, [2, 3]]
x[j], x[:, j], x[:, j, j], x[j, :, j], x[j, 1:3], x[j[:, None], j]
x[m[:, 0, 0].long()], x.take(j), torch.take_along_dim(x, x.argsort(1), 1)
x.index_select(1, j), x.gather(2, k), torch.gather(x, 0, k[:1])
x.scatter(1, k, 5.0), x.scatter(1, k, y), x.scatter_add(1, k, y), x.scatter(2, k, 1.0, reduce='add')
x.scatter_reduce(1, k, y, 'sum'), x.scatter_reduce(1, k, y, 'amax')
x.scatter_reduce(1, k, y, 'mean'), x.scatter_reduce(1, k, y, 'amin', include_self=False)
x.scatter_reduce(1, k, y, 'prod', include_self=False), x.scatter_reduce(1, k, y, 'sum', include_self=False)
x.index_add(1, j, y[:, :3]), x.index_add(0, j, y, alpha=2.0)
x.index_copy(1, torch.tensor([0, 3]), y[:, :2]), x.index_fill(1, j, 7.0)
x.index_put((j,), y), x.index_put((j, j), y[:, 0], accumulate=True)
x.index_put((x > 0,), torch.tensor(2.0)), x.masked_scatter(m, y)
x.masked_select(torch.tensor([True, False, True])[:, None, None])
set(x, (slice(None), 1), 0.0), set(x, (slice(None), slice(None), 2), y[:, :, 0])
set(x, (Ellipsis, slice(0, 7, 2)), 3.0), set(x, m, 1.5), set(x, j, y), set(x, (slice(None), j), y[:, :3])
set(x, (slice(1, 3), slice(None), slice(2, 5)), y[:2, :, :3])
x.clone().add_(1).mul_(2).relu_(), x.clone().fill_(2.0), x.clone().zero_() + y
x.copy_(y), torch.empty_like(x).copy_(y), x.clone().masked_fill_(m, 0.0)
torch.cat([x, y], 1), torch.cat([x, i], 2), torch.stack([x, y], -1), torch.hstack([x, y])
torch.vstack([x, y]), torch.dstack([x, y]), torch.column_stack([x[0], y[0]])
x.chunk(2, 1), x.split(2, 2), x.split([2, 3], 1), x.unbind(1), x.tensor_split(3, 2)
x.tensor_split([1, 4], 2), torch.hsplit(x, [2]), x.narrow(1, 1, 2)
x.repeat(2, 1, 1), x.repeat_interleave(2, 1), x.repeat_interleave(3), x.tile(2)
x.repeat_interleave(torch.tensor([1, 2, 0]), 0), x[:1].expand(4, -1, -1), x.expand_as(x)
torch.flip(x, [0, 2]), x.roll(2, 1), x.roll((1, 2), (0, 2)), x.roll(5), torch.rot90(x)
x.tril(), x.triu(1), x.tril(-1), x.diagonal(0, 1, 2), torch.diag_embed(x), torch.diag(x[0, 0])
x.diagonal(1, 0, 2), torch.trace(x[0]), x.unfold(2, 3, 2), x.unfold(1, 2, 1)
x.sort(1), x.sort(2, descending=True), x.argsort(1), x.topk(3), x.topk(2, 1, largest=False)
i.sort(1), x.msort(), torch.searchsorted(torch.linspace(-2, 2, 9), x)
torch.bucketize(x, torch.linspace(-2, 2, 9)), torch.bucketize(x, torch.linspace(-2, 2, 9), right=True)
torch.histc(p, 5, 0, 3), torch.bincount(j, minlength=5), F.one_hot(i, 12), F.one_hot(j, 4).float()
torch.zeros_like(x) + x, torch.ones_like(i), torch.full_like(x, 3) * x, x.new_zeros(3, 1, 1) + x
x.new_full((5, 7), 2.0) + x, x.new_ones(7) * x, torch.arange(7) + x, torch.eye(7) + x[:, :1]
torch.linspace(0, 1, 7) * x, torch.arange(0, 1, 0.25).sum() + x, torch.tri(5, 7) * x if hasattr(torch, 'tri') else x
torch.meshgrid(x[0, 0], y[0, :, 0], indexing='ij'), torch.cartesian_prod(x[0, 0], x[1, 0])
x @ y.mT, torch.bmm(x, y.mT), torch.matmul(x[0], y[0].T), x @ y[0, 0], x[0, 0] @ y[0].T
torch.einsum('bij,bkj->bik', x, y), torch.einsum('bij,bij->', x, y), torch.einsum('...ij,...kj->...ik', x, y)
torch.einsum('bij->bji', x), torch.einsum('bii->bi', x[:, :5, :5]), torch.einsum('i,j->ij', x[0, 0], y[0, 0])
torch.einsum('bhid,bhjd->bhij', h, h), torch.einsum('bhij,hk->bikj', h, h[0, :, 0, :3])
torch.tensordot(x, y, ([1, 2], [1, 2])), torch.outer(x[0, 0], y[0, 0]), torch.inner(x, y), torch.kron(x[0], y[0])
torch.addmm(x[0] @ y[0].T, x[0], y[0].T, beta=0.5, alpha=2), torch.baddbmm(x @ y.mT, x, y.mT)
torch.addmv(x[0, :, 0], x[0], y[0, 0]), torch.addbmm(x[0] @ y[0].T, x, y.mT), torch.addr(x[0], x[0, :, 0], y[0, 0])
torch.chain_matmul(x[0], y[0].T, x[1]), torch.linalg.multi_dot([x[0], y[0].T, x[1]]), torch.mv(x[0], y[0, 0]), torch.dot(x[0, 0], y[0, 0])
torch.linalg.cross(x[:, :3], y[:, :3], dim=1), torch.vdot(x[0, 0], y[0, 0]), i @ i.mT
torch.linalg.det(x[:, :3, :3]), torch.linalg.inv(x[:, :3, :3] + 4 * torch.eye(3))
torch.matrix_power(x[:, :5, :5], 3), torch.linalg.matrix_power(x[0, :5, :5], 2)
F.scaled_dot_product_attention(h, h, h), F.scaled_dot_product_attention(h, h, h, is_causal=True)
F.scaled_dot_product_attention(h, h, h, torch.ones(6, 6).tril().bool(), scale=0.3)
F.scaled_dot_product_attention(h, h, h, torch.zeros(2, 1, 6, 6)), F.scaled_dot_product_attention(h, h[:, :2], h[:, :2], enable_gqa=True)
F.scaled_dot_product_attention(h.half(), h.half(), h.half()).float()
F.relu(x), F.relu6(x), F.elu(x), F.selu(x), F.celu(x, 0.7), F.leaky_relu(x, 0.1), F.gelu(x), F.gelu(x, approximate='tanh')
F.silu(x), F.mish(x), F.softplus(x), F.softplus(x, 2, 1.0), F.softsign(x), F.tanhshrink(x), F.hardshrink(x), F.softshrink(x)
F.hardtanh(x, -1, 2), F.hardswish(x), F.hardsigmoid(x), F.logsigmoid(x), F.threshold(x, 0.1, 20), F.glu(x[:, :4], 1), F.prelu(x, torch.tensor([0.2]))
F.rrelu(x), F.dropout(x, 0.5, False), F.alpha_dropout(x, 0.5, False), F.feature_dropout(x, 0.5, False) if hasattr(F, 'feature_dropout') else x
F.layer_norm(x, (7,)), F.layer_norm(x, (5, 7)), F.rms_norm(x, (7,)), F.group_norm(v, 2), F.instance_norm(v), F.local_response_norm(v, 3)
F.batch_norm(v, v.mean((0, 2, 3)), v.var((0, 2, 3))), F.layer_norm(x.half(), (7,)).float()
F.batch_norm(v, torch.zeros(4), torch.ones(4)), F.batch_norm(v, None, None, training=True)
F.max_pool2d(v, 3, 2, 1), F.max_pool2d(v, 2, ceil_mode=True), F.max_pool2d(v, 3, 1, dilation=2), F.max_pool1d(x, 2), F.max_pool3d(v[None], 2)
F.max_pool2d(v, 2, return_indices=True), F.max_unpool2d(*F.max_pool2d(v, 2, return_indices=True), 2)
F.avg_pool2d(v, 3, 2, 1), F.avg_pool2d(v, 2, ceil_mode=True), F.avg_pool2d(v, 3, divisor_override=2), F.avg_pool1d(x, 2), F.avg_pool3d(v[None], 2), F.lp_pool2d(v, 2, 2)
F.adaptive_avg_pool2d(v, 1), F.adaptive_avg_pool2d(v, (5, 3)), F.adaptive_max_pool2d(v, 1), F.adaptive_max_pool2d(v, (5, 3)), F.adaptive_avg_pool1d(x, 3), F.adaptive_max_pool1d(x, 3)
F.adaptive_avg_pool3d(v[None], (2, 3, 4)), F.adaptive_max_pool3d(v[None], (2, 3, 4)), F.adaptive_avg_pool2d(v, (None, 4)), F.adaptive_max_pool2d(v, 2, return_indices=True)
F.pad(v, (1, 2)), F.pad(v, (1, 2, 0, 1), value=3.0), F.pad(v, (1, 2, 2, 1), 'reflect'), F.pad(v, (1, 2, 2, 1), 'replicate'), F.pad(v, (1, 2, 2, 1), 'circular'), F.pad(v, (-1, 2, 0, -3))
F.interpolate(v, scale_factor=2), F.interpolate(v, (7, 13)), F.interpolate(v, scale_factor=1.5, mode='bilinear'), F.interpolate(v, (20, 17), mode='bicubic', align_corners=True)
F.interpolate(v, (5, 17), mode='bilinear', antialias=True), F.interpolate(v, (5, 17), mode='area'), F.interpolate(x, 9, mode='linear'), F.interpolate(v[None], (5, 9, 3), mode='trilinear'), F.interpolate(v, (5, 17), mode='nearest-exact')
F.interpolate(v, scale_factor=0.5, mode='bilinear', recompute_scale_factor=True), F.interpolate(v, (5, 17), mode='bicubic', antialias=True)
F.grid_sample(v, g), F.grid_sample(v, g, 'nearest', 'border'), F.grid_sample(v, g, padding_mode='reflection', align_corners=True), F.grid_sample(v, g, 'bicubic')
F.affine_grid(x[:2, :2, :3], (2, 4, 6, 5)), F.grid_sample(v, F.affine_grid(x[:2, :2, :3], (2, 4, 6, 5)))
F.pixel_shuffle(v, 2), F.pixel_unshuffle(v, 2), F.channel_shuffle(v, 2), F.unfold(v, 3, padding=1), F.fold(F.unfold(v, 2, stride=2), (12, 10), 2, stride=2)
F.fold(F.unfold(v, 3, padding=1), (12, 10), 3, padding=1)
F.conv2d(v, w, padding='same'), F.conv2d(v, w, stride=2, padding=1), F.conv2d(v, w[:, :2], groups=2), F.conv2d(v, w, dilation=2), F.conv2d(v[0], w), F.conv_transpose2d(v, w.transpose(0, 1), stride=2, output_padding=1)
F.conv1d(x, w[:, 0, :1, :].expand(6, 5, 3).contiguous()), F.conv_transpose1d(x, w[:5, :2, 0]), F.conv3d(v[None], w[:, :, None, :2, :2].expand(6, 2, 1, 2, 2) if False else torch.ones(3, 2, 1, 2, 2))
F.conv2d(v, torch.ones(8, 1, 3, 3), groups=4), F.conv_transpose2d(v, torch.ones(4, 2, 3, 3), groups=2), F.conv_transpose3d(v[None], torch.ones(2, 3, 2, 2, 2), stride=2)
F.embedding(i, x.view(-1, 7)), F.embedding(i, x.view(-1, 7), padding_idx=0), F.embedding_bag(i[0], x.view(-1, 7), mode='sum'), F.embedding_bag(i[0], x.view(-1, 7), mode='mean'), F.embedding_bag(i[0], x.view(-1, 7), mode='max')
F.embedding_bag(i[0, 0], x.view(-1, 7), torch.tensor([0, 2, 4]), mode='sum'), F.embedding_bag(i[0], x.view(-1, 7), mode='sum', per_sample_weights=p[0])
F.linear(x, y[0]), F.linear(x, y[0], y[0, :, 0]), F.bilinear(x[:, 0], y[:, 0], torch.ones(4, 7, 7))
F.mse_loss(x, y), F.l1_loss(x, y), F.smooth_l1_loss(x, y), F.huber_loss(x, y), F.binary_cross_entropy_with_logits(x, u.abs()), F.kl_div(x.log_softmax(1), y.softmax(1), reduction='batchmean')
F.cross_entropy(x[:, :, 0], j), F.nll_loss(x[:, :, 0].log_softmax(1), j), F.cross_entropy(x[:, :, 0], j, label_smoothing=0.1), F.binary_cross_entropy(u.abs(), p.clamp(0, 1)), F.cross_entropy(x, i[:, 0].clamp(0, 4), ignore_index=0)
F.poisson_nll_loss(x, p), F.gaussian_nll_loss(x, y, p), F.hinge_embedding_loss(x, x.sign()), F.margin_ranking_loss(x, y, x.sign()), F.triplet_margin_loss(x, y, x + 1), F.soft_margin_loss(x, x.sign()), F.cosine_embedding_loss(x[0], y[0], torch.ones(5))
torch.fft.fft(x).abs(), torch.fft.rfft(x), torch.fft.irfft(torch.fft.rfft(x), 7), torch.fft.ifft(torch.fft.fft(x)).real, torch.fft.fft2(x).real, torch.fft.rfft2(x).imag, torch.fft.irfft2(torch.fft.rfft2(x), s=(5, 7))
torch.fft.fftn(x, dim=(0, 1)).real, torch.fft.fft(x, norm='ortho').real, torch.fft.fftshift(x), torch.fft.rfft(x, n=10).abs(), torch.fft.fft(x, n=4).imag, torch.fft.hfft(x) if False else x
torch.view_as_real(torch.view_as_complex(x[:, :, :2].contiguous()) * torch.view_as_complex(y[:, :, :2].contiguous()))
torch.view_as_real(torch.polar(p, x)), torch.complex(x, y).abs(), torch.complex(x, y).angle(), torch.complex(x, y).conj().imag, torch.complex(x, y).real
(torch.complex(x, y) * 2 + 1).abs(), (torch.complex(x, y) / torch.complex(y, p)).real, torch.complex(x, y).sum(1).imag, torch.complex(x, y).mT.contiguous().real, (torch.complex(x, y) @ torch.complex(x, y).mT).real
torch.exp(torch.complex(x, y)).real, torch.complex(x, y)[:, 1:3].reshape(-1).imag, torch.cat([torch.complex(x, y), torch.complex(y, x)]).real, torch.einsum('bij,bkj->bik', torch.complex(x, y), torch.complex(y, x)).real, (x * 1j).imag
torch.stft(x[:, 0].repeat(1, 8), 8, 4, window=torch.hann_window(8), return_complex=True).abs(), torch.istft(torch.stft(x[:, 0].repeat(1, 8), 8, 4, window=torch.hann_window(8), return_complex=True), 8, 4, window=torch.hann_window(8))
rotary(h, p)
torch.special.entr(p), torch.special.i0(x), torch.special.ndtr(x), torch.special.log_ndtr(x), torch.sinc(x), torch.deg2rad(x), torch.square(x), torch.reciprocal(p)
torch.bitwise_left_shift(i, 1), torch.gcd(i + 1, j[0]) if False else i, torch.diff(x), torch.trapezoid(x), torch.cov(x[0]), torch.corrcoef(x[0])
torch.cumulative_trapezoid(x), torch.gradient(x[0, 0])[0], torch.vander(x[0, 0]), torch.combinations(x[0, 0]), torch.renorm(x, 2, 0, 1.0), torch.block_diag(x[0], y[0])
(torch.polygamma(1, p), torch.polygamma(2, p + 1), torch.mvlgamma(p + 3, 2), torch.special.zeta(p + 1.5, p))
(torch.special.i0e(x * 20), torch.special.i1(x), torch.special.i1e(x), torch.special.erfcx(x), torch.special.ndtri(p * 0.8), torch.special.spherical_bessel_j0(x))
torch.erfinv(u.half() * 0.9), torch.lgamma(x - 2), torch.digamma(x * 3), torch.lgamma(i + 1), torch.special.multigammaln(p + 3, 2)
torch.gcd(i, j[0]), torch.lcm(i, i + 1), torch.ldexp(x, i), torch.special.xlog1py(p, p), torch.nan_to_num(x.log()), torch.special.softmax(x, 1)
torch.linalg.slogdet(x[:, :3, :3]), torch.linalg.det(x[:, :5, :5]), torch.logdet(x[0, :3, :3].T @ x[0, :3, :3]), torch.inverse(x[:, :5, :5]), torch.linalg.inv(v[:, :, :10, :10])
torch.linalg.solve(x[:, :5, :5], y[:, :, :3]), torch.linalg.solve(x[:, :5, :5], y[:, :, 0]), torch.linalg.solve(x[:, :5, :5], y.mT[:, :3], left=False), torch.linalg.solve_ex(x[:, :5, :5], y)[0]
torch.linalg.cholesky(x @ x.mT + torch.eye(5)), torch.linalg.cholesky(x @ x.mT + torch.eye(5), upper=True), torch.cholesky_solve(y, torch.linalg.cholesky(x @ x.mT + torch.eye(5))), torch.cholesky_inverse(torch.linalg.cholesky(x @ x.mT + torch.eye(5)))
torch.linalg.solve_triangular(x[:, :5, :5].tril() + 3 * torch.eye(5), y, upper=False), torch.triangular_solve(y, x[:, :5, :5].triu() + 3 * torch.eye(5))[0], torch.linalg.solve_triangular(x[:, :5, :5].triu() + 3 * torch.eye(5), y.mT, upper=True, left=False)
torch.linalg.qr(x), torch.linalg.qr(x.mT), torch.linalg.qr(x.mT, mode='complete'), torch.linalg.lu(x), torch.linalg.lu_factor(x[:, :5, :5]), torch.lu_solve(y, *torch.linalg.lu_factor(x[:, :5, :5])), torch.matrix_exp(x[:, :5, :5]), torch.linalg.householder_product(x.mT, x[:, :, 0])
torch.linalg.lstsq(x.mT, y.mT).solution, torch.linalg.matrix_norm(x, 1), torch.linalg.matrix_norm(x, math.inf), torch.linalg.cond(x[:, :3, :3], 1), torch.linalg.tensorinv(x[:, :3, 0] + 2 * torch.eye(3), 1), torch.linalg.vecdot(x, y)
torch.linalg.eigvalsh(x @ x.mT), torch.linalg.svdvals(x), torch.linalg.pinv(x), torch.linalg.matrix_rank(x)
i.mode(1), x.nanmedian(), torch.where(m, x, math.nan).nanmedian(1), torch.where(m, x, math.nan).nanquantile(0.5, 1), x.quantile(torch.tensor([0.1, 0.9]), 1), x.nanmean(), torch.std_mean(x, 1)
torch.bincount(i.flatten(), minlength=12), torch.bincount(j, x[0, 0, :3], minlength=4), x.put(j, y[0, 0, :3]), x.put(j, y[0, 0, :3], accumulate=True), torch.nonzero_static(m, size=40), torch.nonzero_static(i, size=9, fill_value=0)
(x.index_reduce(1, j, y[:, :3], 'amax'), x.index_reduce(1, j, y[:, :3], 'mean'), x.index_reduce(0, j, y, 'prod', include_self=False)), torch.segment_reduce(x, 'max', lengths=torch.tensor([2, 1])), torch.segment_reduce(x, 'mean', lengths=torch.tensor([1, 0, 2]))
F.pdist(x[0]), F.pdist(x[0], 1), torch.cdist(x, y, 1), torch.cdist(x, y, math.inf), torch.pairwise_distance(x, y, 1), F.cosine_similarity(x[:, None], y[:, :, None], -1)
torch._int_mm(i.flatten()[:36].reshape(1, 36).expand(32, 36)[:, :32].to(torch.int8), torch.eye(32, dtype=torch.int8)), F.fractional_max_pool2d(v, 2, output_size=4, _random_samples=torch.full((2, 4, 2), 0.3)), F.lp_pool1d(x, 3, 2), F.max_pool3d(v[None], 2, return_indices=True)
F.grid_sample(v[None], torch.tanh(v[:1, :3, :5, :6].permute(0, 2, 3, 1)[None][:, :, :, :, :]).contiguous()), F.grid_sample(v[None], 1.3 * torch.tanh(v[:1, :3, :5, :6].permute(0, 2, 3, 1)[None]), 'nearest', 'border', True), F.grid_sample(v[None], 2 * v[:1, :3, :5, :6].permute(0, 2, 3, 1)[None], padding_mode='reflection')
ops.roi_align(v, boxes(p), (3, 4), 0.5, 2), ops.roi_align(v, boxes(p), 5, 1.0, -1, True), ops.roi_align(v, [boxes(p)[:2, 1:], boxes(p)[2:, 1:]], 2, 1.0, 3), ops.roi_pool(v, boxes(p), 3, 0.7), ops.ps_roi_align(v, boxes(p), 2, 1.0, 2), ops.ps_roi_pool(v, boxes(p), 2, 1.0)
ops.deform_conv2d(v, F.pad(v.flatten()[:720].reshape(2, 36, 10, 1), (0, 7)), w, padding=(0, 0)), ops.deform_conv2d(v, v.repeat(1, 9, 1, 1)[:, :18], w, padding=1, mask=v.repeat(1, 3, 1, 1)[:, :9]), ops.box_iou(boxes(p)[:, 1:], boxes(p)[:, 1:]), ops.generalized_box_iou(boxes(p)[:, 1:], boxes(p)[:, 1:]), ops.box_convert(boxes(p)[:, 1:], 'xyxy', 'cxcywh'), ops.clip_boxes_to_image(boxes(p)[:, 1:], (5, 6)), ops.sigmoid_focal_loss(x, u.abs())
x.masked_select(torch.ones(3, 5, 7).tril().bool()), x[torch.eye(5, 7).bool().expand(3, 5, 7)], x[:, torch.tensor([True, False, True, True, False])], x.repeat_interleave(torch.tensor([2, 1, 0, 1, 1]), 1, output_size=5), torch.unique_consecutive(torch.tensor([1, 1, 2])) + i[..., :1]
torch.searchsorted(x.sort(-1)[0], y), torch.searchsorted(x.sort(-1)[0], y, side='right'), torch.bucketize(i, torch.tensor([1, 5, 9])), torch.isin(i, torch.tensor([1, 4])), torch.isin(i, j), torch.argwhere(torch.tensor([[1, 0], [1, 1]])) + i[0, 0, :2]
torch.cross(x[:, :3], y[:, :3], dim=1), torch.trapz(x, dim=1), torch.trapezoid(x, y), torch.vander(x[0, 0], 3, True), torch.tril_indices(3, 3) + i[0, 0, 0], torch.rot90(x, 2, [1, 2]), torch.fliplr(x), torch.flipud(x), torch.swapaxes(x, 0, 1), torch.logspace(0, 1, 7) * x
torch.addmv(x[0, :, 0], x[0], y[0, 0], beta=0), torch.sspaddmm if False else x, torch.ger(x[0, 0], y[0, 0]), torch.nanmedian(x), torch.tensor_split(x, 2, 1), torch.unravel_index(i[0, 0], (3, 4)), torch.bitwise_not(i), torch.bitwise_and(i, 6), torch.bitwise_right_shift(i, j[0]), torch.positive(x), torch.negative(x), torch.absolute(x), torch.logical_xor(x > 0, m)
torch.cummax(x, 2), torch.cummin(i, 0), torch.logcumsumexp(x, 0), torch.cumprod(x, -1), torch.renorm(x, 1, 1, 2.0), torch.aminmax(x), torch.amax(x), torch.argmax(m.long(), 1), torch.std(x, (0, 2), correction=2), torch.var_mean(x, (0, 1), correction=0), torch.nansum(x), torch.special.logsumexp(x, 1)
torch.multinomial(p[0], 2), torch.poisson(p), torch.normal(x, p), torch.empty(3, 5, 7).fill_(2) + x, x.new_empty((3, 5, 7)).zero_() + x, torch.empty_strided((3, 5, 7), (35, 7, 1)).zero_() + x, torch.new_empty_strided if False else x
x.index_add(-1, torch.tensor([0, 0, 6]), y[:, :, :3]), x.index_put((j[:2], torch.tensor([1, 4])), y[0, 0], accumulate=True), x.index_put((m,), x[0, 0, 0]), torch.index_fill(x, 0, j[:1], -1.0), torch.scatter_reduce(x[:, 0], 1, k[:, 0], y[:, 0], 'amin'), x.scatter(1, k, -1.0, reduce='multiply')
torch.fft.hfft(x), torch.fft.ihfft(x), torch.fft.ifft2(x).real, torch.fft.irfftn(torch.fft.rfftn(x), x.shape), torch.fft.fftfreq(7) * x, torch.fft.ifftshift(x), torch.fft.fft(x, dim=0).abs(), torch.fft.rfft(x, norm='forward').abs()
torch.complex(x, y).pow(2).real, torch.complex(x, y).sqrt().abs(), torch.complex(x, y).log().imag, torch.complex(x, y).mean().real, torch.view_as_complex(h[..., :2].contiguous()).angle(), torch.complex(x, y).prod(1).real, torch.complex(x, y).cumsum(1).imag, torch.sgn(torch.complex(x, y)).real, torch.linalg.norm(torch.complex(x, y)), torch.isfinite(torch.complex(x, y)), (torch.complex(x, y) == torch.complex(x, x)), torch.where(m, torch.complex(x, y), 0).real, torch.stack([torch.complex(x, y)] * 2).imag, torch.complex(x, y).reciprocal().real, torch.complex(x, y).sin().real, torch.complex(x, y).tanh().imag
F.multi_margin_loss(x[:, :, 0], j), F.multilabel_soft_margin_loss(x, m.float()), F.multilabel_margin_loss(x[:, :, 0], torch.tensor([[0, 1, -1, 0, 0]] * 3)), F.ctc_loss(x.log_softmax(2), torch.tensor([[1, 2]] * 5), (3,) * 5, (2,) * 5), F.triplet_margin_with_distance_loss(x, y, x + 1), F.nll_loss(v.log_softmax(1), i[:2, :1, :1].expand(2, 12, 10) % 4)
F.scaled_dot_product_attention(h, h, h, x[0, 0, 0].expand(6, 6)), F.multi_head_attention_forward(h[0], h[0], h[0], 8, 2, torch.ones(24, 8), torch.zeros(24), None, None, False, 0.0, torch.eye(8), torch.zeros(8), training=False)[0], F.embedding(i, torch.ones(12, 3), max_norm=1.0), F.one_hot(i), torch.clip(x, -0.1, 0.2), torch.rms_norm(x, (7,), x[0, 0], 1e-3)
torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127), torch.fake_quantize_per_channel_affine(x, torch.full((5,), 0.1), torch.zeros(5, dtype=torch.int32), 1, -128, 127), quant.dequantize_per_tensor(quant.quantize_per_tensor(x, 0.03, 2, -128, 127, torch.int8), 0.03, 2, -128, 127, torch.int8), quant.dequantize_per_channel(quant.quantize_per_channel(x, p[0, :, 0], j.new_zeros(5), 1, -8, 7, torch.int8), p[0, :, 0], j.new_zeros(5), 1, -8, 7, torch.int8), quant.choose_qparams(x, -128, 127, 1e-5, torch.int8), quant.quantize_per_token(x[0], *quant.choose_qparams_per_token_asymmetric(x[0], torch.int8), -128, 127, torch.int8)
x.float().to(torch.float8_e4m3fn).float(), x.view(torch.int32), i.view(torch.float64), x.half().view(torch.int16), x[x > 0].sum(), x * x.sum().item(), torch.nonzero(x > 0), x.sum().item(), torch.unique(i), x[: int(i[0, 0, 0])], ops.nms(boxes(p)[:, 1:], x[0, :4, 0], 0.5), torch.ones(i.max()) + x[0, 0, 0]
torch.nonzero(torch.tensor([1, 0, 1])).float() + x[0, 0, 0], torch.unique(torch.tensor([3, 1, 3])).float() * x[0, 0, 0]
x.nonzero_static(size=20) if hasattr(x, 'nonzero_static') else x, torch.argwhere(torch.eye(3)) + i[0, 0, 0]
torch.cond(torch.tensor(True), lambda a: a + 1, lambda a: a - 1, (x,)), torch.nn.functional.hardtanh(x, -math.inf, 1.0)
torch.ops.aten.copy(x, y), torch.ops.aten.lift_fresh_copy(x), torch.ops.aten.alias(x) if False else x, torch.broadcast_tensors(x, y[0]), torch.broadcast_to(x[:1], (3, 5, 7))
torch.as_strided(x, (3, 5), (35, 7)), torch.as_strided(x, (2, 4), (3, 2), 5), x.view(torch.int32) if False else x, torch.atleast_3d(x[0]), x.sum_to_size(1, 5, 7), torch._dim_arange(x, 1) if False else x
torch.sparse_coo_tensor if False else x, torch.select_scatter(x, y[:, 0], 1, 2), torch.slice_scatter(x, y[:, :2], 1, 1, 5, 2), torch.diagonal_scatter(x, x[:, 0, :5] * 0, 0, 1, 2), torch.scatter(x, 1, k, 2.0)
torch.randn_like(x) * 0 + x, torch.rand(3, 5, 7) * 0 + y, torch.bernoulli(x * 0) + x, torch.dropout(x, 0.5, False), torch.tensor(x.shape[1]) + x, torch.scalar_tensor(3.0) * x
torch.nn.utils.rnn.pad_sequence([x[0], y[0, :3]], batch_first=True), torch.nn.utils.parametrize and x, torch.constant_pad_nd(x, (1, 1), 2.0), torch.stack([x.sum(), x.mean()]), torch.tensor([1.0, 2.0])[:, None] * x[0, 0]
x.cumsum(-1).cumsum(-2).flip(0).argsort(-1).float().mean(), x.pow(2).sum(-1, keepdim=True).add(1e-6).rsqrt() * x, (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)
""".strip().splitlines()

MODULES = """
nn.LSTM(7, 6) | x
nn.LSTM(7, 6, 2, batch_first=True, bidirectional=True) | x
nn.LSTM(7, 6, proj_size=3) | x
nn.LSTM(7, 6, bias=False) | x, (z[:1], z[:1])
nn.LSTM(7, 6, num_layers=2) | x[0]
nn.GRU(7, 6) | x
nn.GRU(7, 6, 2, batch_first=True, bidirectional=True) | x
nn.GRU(7, 6, bias=False) | x, z[:1, :5]
nn.RNN(7, 6) | x
nn.RNN(7, 6, 2, nonlinearity='relu', bidirectional=True, batch_first=True) | x
nn.LSTMCell(7, 6) | x[0]
nn.GRUCell(7, 6) | x[0]
nn.RNNCell(7, 6) | x[0], z[0]
nn.MultiheadAttention(8, 2, batch_first=True) | h[0], h[0], h[0]
nn.MultiheadAttention(8, 2, kdim=8, vdim=8, add_bias_kv=True) | h[0], h[0], h[0]
nn.TransformerEncoderLayer(8, 2, 16, batch_first=True) | h[0]
nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2) | h[0]
nn.TransformerDecoderLayer(8, 2, 16, batch_first=True) | h[0], h[0]
nn.Transformer(8, 2, 1, 1, 16, batch_first=True) | h[0], h[0]
nn.Embedding(12, 5) | i
nn.EmbeddingBag(12, 5) | i[0]
nn.EmbeddingBag(12, 5, mode='max') | i[0]
nn.Bilinear(7, 7, 3) | x, y
nn.BatchNorm1d(5) | x
nn.BatchNorm2d(4, affine=False) | v
nn.BatchNorm3d(2) | v[None]
nn.InstanceNorm2d(4, affine=True) | v
nn.InstanceNorm1d(5, track_running_stats=True) | x
nn.GroupNorm(2, 4) | v
nn.LayerNorm((5, 7)) | x
nn.RMSNorm(7) | x
nn.LocalResponseNorm(2) | v
nn.Conv1d(5, 4, 3, padding=1) | x
nn.Conv2d(4, 8, (3, 5), (2, 1), (1, 2), groups=4) | v
nn.Conv2d(4, 4, 3, padding=1, padding_mode='circular') | v
nn.Conv2d(4, 4, 3, padding=1, padding_mode='reflect') | v
nn.Conv3d(2, 3, 2) | v[None]
nn.ConvTranspose1d(5, 4, 3, 2) | x
nn.ConvTranspose2d(4, 4, 3, 2, 1, 1, groups=2, dilation=2) | v
nn.ConvTranspose3d(2, 3, 2, 2) | v[None]
nn.MaxPool2d(3, 2, ceil_mode=True) | v
nn.AvgPool2d(3, 2, count_include_pad=False, padding=1) | v
nn.AdaptiveAvgPool2d((3, 4)) | v
nn.AdaptiveMaxPool1d(3) | x
nn.FractionalMaxPool2d(2, output_size=(4, 4), _random_samples=torch.full((2, 4, 2), 0.3)) | v
nn.LPPool2d(2, 3) | v
nn.Upsample(scale_factor=2, mode='bilinear') | v
nn.UpsamplingNearest2d(scale_factor=3) | v
nn.PixelShuffle(2) | v
nn.Fold((4, 5), (2, 2)) | torch.cat([v.flatten(2)[:, :, :12]] * 1, 1)
nn.Unfold(3, 2, 1, 2) | v
nn.ReflectionPad2d(2) | v
nn.ReplicationPad3d(1) | v[None]
nn.ZeroPad2d((1, 0, 2, 1)) | v
nn.CircularPad1d(2) | x
nn.ConstantPad1d(2, 3.5) | x
nn.PReLU(4) | v
nn.Softmax2d() | v
nn.ChannelShuffle(2) | v
nn.Flatten() | v
nn.Unflatten(1, (2, 2)) | v
nn.CosineSimilarity() | x, y
nn.AdaptiveLogSoftmaxWithLoss(7, 20, [5, 10]).log_prob and nn.Identity() | x
nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.ReLU(True), nn.Dropout2d(), nn.Flatten(), nn.LazyLinear(3)) | v
nn.utils.parametrizations.weight_norm(nn.Linear(7, 3)) | x
nn.utils.parametrizations.spectral_norm(nn.Linear(7, 3)) | x
nn.utils.parametrizations.orthogonal(nn.Linear(7, 7)) | x
nn.ModuleList([nn.Linear(7, 7)])[0].half() | x.half()
nn.Linear(7, 3).bfloat16() | x.bfloat16()
nn.Linear(7, 3).double() | x.double()
nn.GLU(1) | x[:, :4]
nn.Hardswish() | x
nn.Softshrink(0.3) | x
nn.Tanhshrink() | x
nn.Threshold(0.1, 5) | x
""".strip().splitlines()


def inputs():
    make = torch.Generator().manual_seed(3)

    def randn(*shape):
        return torch.randn(*shape, generator=make)

    def whole(high, *shape):
        return torch.randint(0, high, shape, generator=make)

    return {"x": randn(3, 5, 7), "y": randn(3, 5, 7), "z": randn(3, 5, 6),
            "u": 2 * torch.rand(3, 5, 7, generator=make) - 1,
            "p": torch.rand(3, 5, 7, generator=make) + 0.1,
            "m": randn(3, 5, 7) > 0, "i": whole(12, 3, 5, 7),
            "j": torch.tensor([2, 0, 1]), "k": whole(3, 3, 2, 7),
            "h": randn(2, 4, 6, 8), "v": randn(2, 4, 12, 10),
            "w": randn(6, 4, 3, 3), "g": 1.2 * torch.tanh(randn(2, 6, 5, 2))}


def set(x, index, value):
    """x with a part overwritten in place."""
    x = x.clone()
    x[index] = value
    return x


def boxes(p):
    """Regions of two images: image, corners."""
    low = 8 * p[0, :4, :2] - 2
    return torch.cat([torch.tensor([[0.], [0.], [1.], [1.]]), low,
                      low + 7 * p[1, :4, :2]], 1)


def rotary(h, p):
    """Rotary embedding as complex products, as Llama's authors write it."""
    pairs = torch.view_as_complex(h.reshape(*h.shape[:-1], 4, 2))
    angles = torch.outer(torch.arange(6.0), 1 / 100 ** (torch.arange(4.) / 4))
    turned = pairs * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(3) + p[0, 0, 0]


class Expression(nn.Module):
    def __init__(self, text, names, module=None):
        super().__init__()
        self.names = names
        self.inner = module
        words = {"torch": torch, "F": F, "nn": nn, "math": math, "set": set,
                 "rotary": rotary, "boxes": boxes, "ops": vision_ops,
                 "quant": torch.ops.quantized_decomposed}
        head = f"lambda inner, {', '.join(names)}: "
        body = f"inner({text})" if module is not None else f"({text})"
        self.call = eval(head + body, words)

    def forward(self, *given):
        return self.call(self.inner, *given)


def parts(line):
    """The top-level entries of a list of expressions."""
    depth, start, found, quote = 0, 0, [], ""
    for at, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            found.append(line[start:at].strip())
            start = at + 1
    return found + [line[start:].strip()]


def make_case(text, module=None):
    given = inputs()
    names = [name for name in given
             if re.search(rf"(?<![\w.]){name}(?![\w'=])", text)]
    if module:
        inner = eval(module, {"torch": torch, "nn": nn})
        one = Expression(text, names, inner)
    else:
        one = Expression(text, names)
    return one, tuple(given[name] for name in names)


def cases():
    for line in FUNCTIONS:
        for text in parts(line):
            if " if False else " not in text:
                yield text, lambda text=text: make_case(text)
    for line in MODULES:
        module, _, text = line.partition(" | ")
        yield module, lambda m=module, t=text: make_case(t, m)
