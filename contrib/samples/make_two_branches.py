#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make examples/two_branches: a network that runs, and what it puts out.

    python contrib/samples/make_two_branches.py examples/two_branches

Two branches of convolutions, as unequal devices like to share them, and a
little attention where they meet.  The model is OpenVINO's own, and so are the
outputs it is compared with.  Needs the packages openvino and numpy; the result
depends on nothing but the seed.
"""
import sys

import numpy as np
import openvino as ov
from openvino import opset13 as op

CHANNELS = 16


def constant(rng, *shape):
    scale = 1 / np.sqrt(np.prod(shape[1:]))
    return op.constant(rng.uniform(-scale, scale, shape).astype(np.float32))


def convolution(rng, x, inputs, outputs, size):
    pads = [size // 2] * 2
    weights = constant(rng, outputs, inputs, size, size)
    y = op.convolution(x, weights, [1, 1], pads, pads, [1, 1])
    bias = op.constant(rng.uniform(0, 0.1, (1, outputs, 1, 1)), np.float32)
    return op.relu(op.add(y, bias))


def branch(rng, x, sizes):
    for size in sizes:
        x = convolution(rng, x, CHANNELS, CHANNELS, size)
    return x


def attention(rng, tokens, width):
    parts = [op.matmul(tokens, constant(rng, width, width), False, True)
             for _ in range(3)]
    scores = op.matmul(parts[0], parts[1], False, True)
    scaled = op.multiply(scores, op.constant(np.float32(width ** -0.5)))
    return op.add(tokens, op.matmul(op.softmax(scaled, -1), parts[2], False,
                                    False))


def network(rng):
    image = op.parameter([1, 3, 32, 32], np.float32, name="image")
    stem = convolution(rng, image, 3, CHANNELS, 3)
    both = op.concat([branch(rng, stem, [3, 3]), branch(rng, stem, [1, 5])], 1)
    small = op.max_pool(both, [4, 4], [1, 1], [0, 0], [0, 0], [4, 4])
    rows = op.reshape(small.output(0), [1, 2 * CHANNELS, 64], False)
    tokens = op.transpose(rows, [0, 2, 1])
    mixed = attention(rng, tokens, 2 * CHANNELS)
    mean = op.reduce_mean(mixed, [1], False)
    scores = op.matmul(mean, constant(rng, 10, 2 * CHANNELS), False, True)
    result = op.softmax(scores, -1, name="probabilities")
    return ov.Model([result], [image], "two_branches")


def main(folder):
    rng = np.random.default_rng(20240607)
    model = network(rng)
    ov.save_model(model, f"{folder}/model.xml", compress_to_fp16=False)
    image = rng.uniform(-1, 1, (1, 3, 32, 32)).astype(np.float32)
    compiled = ov.compile_model(model, "CPU",
                                {"INFERENCE_PRECISION_HINT": "f32"})
    np.save(f"{folder}/input0.npy", image)
    np.save(f"{folder}/output0.npy", compiled(image)[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
