# SPDX-License-Identifier: Apache-2.0
"""Random nodes of ONNX operators of signals, images, sequences, losses and
products, for onnx_random.py."""
import numpy as np

from onnx_random_draw import TYPES, number


def col2im(d):
    d.mild()
    spatial = d.pick(1, 2)
    block = d.shape(spatial, 3)
    strides, dilations = d.shape(spatial, 3), d.shape(spatial, 2)
    counts = d.shape(spatial, 3)
    pads = [int(d.rng.integers(0, 2)) for _ in range(2 * spatial)]
    image = [(n - 1) * s + (k - 1) * e + 1 - pads[i] - pads[spatial + i] +
             int(d.rng.integers(0, s))
             for i, (n, s, k, e) in enumerate(zip(counts, strides, block,
                                                  dilations))]
    if min(image) < 1:
        pads, image = [0] * (2 * spatial), [
            n + pads[i] + pads[spatial + i] for i, n in enumerate(image)]
    d.of(np.float32, np.float64)
    d.data([2, 2 * int(np.prod(block)), int(np.prod(counts))])
    d.ints(image)
    d.ints(block)
    d.attributes.update(strides=strides, dilations=dilations, pads=pads)


def fourier(d):
    d.tame = True
    d.of(np.float32)
    inverse = d.flag()
    shape = [2, *d.shape(2, 6), 2 if inverse else d.pick(1, 2)]
    axis = int(d.rng.integers(1, 3))
    d.data(shape)
    if d.flag():
        d.add(np.array(d.rng.integers(1, 8)), True)
    elif d.version >= 20:
        d.absent()
    if d.version >= 20:
        d.ints(axis)
    else:
        d.attributes["axis"] = axis
    d.attributes["inverse"] = int(inverse)
    if not inverse and d.flag():
        d.attributes["onesided"] = 1
        d.inputs[0] = d.inputs[0][..., :1]


def cast_like(d):
    d.data()
    to = TYPES[d.pick(*sorted(set(d.schema.inputs[1].types) & set(TYPES)))]
    d.add(np.zeros(1, to))
    x = d.inputs[0]
    if x.dtype.kind == "f" and np.dtype(to).kind in "iu":  # else undefined
        d.inputs[0] = np.where(np.abs(x) < 100, np.abs(x), x.dtype.type(1))


def center_crop_pad(d):
    shape = d.shape(d.rng.integers(1, 4))
    d.data(shape)
    axes = [int(a) for a in d.rng.permutation(len(shape))[
        :d.rng.integers(1, len(shape) + 1)]]
    d.ints([int(n) for n in d.rng.integers(1, 7, len(axes))])
    d.attributes["axes"] = axes


def mean_variance(d):
    d.tame = True
    d.data([2, 3, *d.shape(2)])
    if d.version >= 9 and d.flag():
        d.attributes["axes"] = d.pick([0, 2, 3], [1], [2, 3])


def upsample(d):
    d.tame = True
    d.of(np.float32)
    d.data([1, 2, *d.shape(2)])
    scales = [1., 1., d.pick(1., 1.5, 2., 3.), d.pick(1., 2., 2.5)]
    d.attributes["mode"] = d.pick("nearest", "linear")
    if d.version >= 9:
        d.ints(scales, np.float32)
    else:
        d.attributes["scales"] = scales


def conv_integer(d):
    d.data([1, 2, *[5] * 2])
    d.data([3, 2, *d.shape(2, 3)])
    if d.flag():
        d.add(np.array(d.rng.integers(0, 9), d.type()))
    if d.flag():
        d.attributes["pads"] = [1, 0, 1, 1]


def quantized_product(d):
    n = int(d.rng.integers(1, 6))
    for i, shape in (0, [3, n]), (3, [n, 2]):
        d.data(shape, i)
        d.add(np.array(.25 * (1 + i), np.float32))
        d.add(np.array(d.rng.integers(0, 5), d.type(i)))
    d.add(np.array(2.2987, np.float32))  # no ties
    d.add(np.array(d.rng.integers(0, 9), d.type(7)))


def dropout(d):
    d.data()
    if d.version >= 12 and d.flag():
        d.add(np.array(.5, np.float32))
    d.n_outputs = d.pick(1, 2) if d.version >= 10 else 1


def recurrent(d):
    d.tame = True
    d.of(np.float32)
    steps, batch, size, hidden = d.shape(4)
    direction = d.pick("forward", "reverse", "bidirectional")
    ways = 2 if direction == "bidirectional" else 1
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[d.kind]
    d.data([steps, batch, size])
    d.data([ways, gates * hidden, size])
    d.data([ways, gates * hidden, hidden])
    if d.flag():
        d.data([ways, 2 * gates * hidden])
    d.attributes.update(hidden_size=hidden, direction=direction)
    if d.kind == "GRU" and d.flag():
        d.attributes["linear_before_reset"] = 1
    d.n_outputs = 2


def loss(d):
    d.tame = True
    shape = [3, 4, *d.shape(d.rng.integers(0, 3))]
    d.data(shape)
    d.add(d.rng.integers(0, 4, [3, *shape[2:]]).astype(
        d.pick(np.int32, np.int64)))
    if d.flag():
        d.add(np.abs(d.values(d.type(), [4])) + d.type()(1))
    d.attributes["reduction"] = d.pick("none", "sum", "mean")
    if d.flag():
        d.attributes["ignore_index"] = 1
        d.inputs[1].flat[0] = 0  # the mean of none is not defined


def affine_grid(d):
    d.tame = True
    spatial = d.pick(2, 3)
    d.of(np.float32)
    d.data([2, spatial, spatial + 1])
    d.ints([2, 3, *d.shape(spatial)])
    d.attributes["align_corners"] = int(d.flag())


def roi_align(d):
    d.tame = True
    d.of(np.float32)
    d.data([2, 2, 6, 7])
    d.add(np.array([[0, 0, 3, 4], [1.5, .5, 5, 5]], np.float32))
    d.ints([1, 0])
    d.attributes.update(output_height=2, output_width=3, mode=d.pick(
        "avg", "max"), sampling_ratio=2, spatial_scale=d.pick(1., .5))
    if d.version >= 16:
        d.attributes["coordinate_transformation_mode"] = d.pick(
            "half_pixel", "output_half_pixel")


def window_function(d):
    d.ints(int(d.rng.integers(2, 9)), d.pick(np.int32, np.int64))
    d.attributes.update(periodic=int(d.flag()), output_datatype=d.pick(
        number(np.float32), number(np.float64)))


def short_time(d):
    d.tame = True
    d.of(np.float32)
    d.data([2, 16, 1])
    d.ints(d.pick(2, 3))
    d.add(np.abs(d.values(np.float32, [8])), True)
    d.ints(8)
    d.attributes["onesided"] = int(d.flag())


def mel(d):
    d.ints(int(d.rng.integers(2, 6)))
    d.ints(16)
    d.ints(8000)
    d.add(np.array(d.pick(0., 100.), np.float32), True)
    d.add(np.array(d.pick(2000., 4000.), np.float32), True)


def einsum(d):
    d.mild()
    equation, shapes = d.pick(("ij,jk->ik", ([2, 3], [3, 4])),
                              ("bij,bjk->bik", ([2, 2, 3], [2, 3, 4])),
                              ("ij->ji", ([2, 3],)), ("ij->i", ([2, 3],)),
                              ("i,i->", ([4], [4])), ("ii->i", ([3, 3],)))
    for shape in shapes:
        d.data(shape, 0)
    d.attributes["equation"] = equation


def det(d):
    d.tame = True
    n = int(d.rng.integers(1, 5))
    d.data([2, n, n])


ROWS = {
    **dict.fromkeys("LSTM GRU RNN".split(), recurrent),
    **dict.fromkeys("BlackmanWindow HammingWindow HannWindow".split(),
                    window_function),
    **dict.fromkeys("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss".split(),
                    loss),
    "AffineGrid": affine_grid, "CastLike": cast_like,
    "CenterCropPad": center_crop_pad, "Col2Im": col2im,
    "ConvInteger": conv_integer, "DFT": fourier, "Det": det,
    "Dropout": dropout, "Einsum": einsum,
    "MeanVarianceNormalization": mean_variance, "MelWeightMatrix": mel,
    "QLinearMatMul": quantized_product, "RoiAlign": roi_align,
    "STFT": short_time, "Upsample": upsample,
}
