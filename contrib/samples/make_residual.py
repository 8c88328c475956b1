#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make examples/residual: an ONNX model, and what it puts out.

    python contrib/samples/make_residual.py examples/residual

Two residual blocks of unequal branches, and a classifier, written by hand as
ONNX has them.  The outputs are those of ONNX's own reference.  Needs the
package onnx; the result depends on nothing but the seed.
"""
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper, reference

CHANNELS = 8
IMAGE = [1, 3, 16, 16]
CLASSES = 10


class Network:
    """Nodes and weights in topological order."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes = []
        self.weights = []

    def weight(self, name, *shape):
        scale = 1 / np.sqrt(max(np.prod(shape[1:]), 1))
        values = self.rng.uniform(-scale, scale, shape).astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def op(self, kind, name, *inputs, **attrs):
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attrs))
        return name

    def convolution(self, name, x, inputs, outputs, size):
        y = self.op("Conv", name, x,
                    self.weight(f"{name}.weight", outputs, inputs, size, size),
                    self.weight(f"{name}.bias", outputs),
                    pads=[size // 2] * 4)
        return self.op("Relu", f"{name}.relu", y)

    def block(self, name, x):
        wide = self.convolution(f"{name}.wide", x, CHANNELS, CHANNELS, 5)
        narrow = self.convolution(f"{name}.narrow", x, CHANNELS, CHANNELS, 1)
        joined = self.op("Concat", f"{name}.join", wide, narrow, axis=1)
        y = self.convolution(f"{name}.mix", joined, 2 * CHANNELS, CHANNELS, 1)
        return self.op("Add", f"{name}.add", x, y)

    def classifier(self, x):
        y = self.op("GlobalAveragePool", "pool", x)
        y = self.op("Flatten", "flat", y)
        y = self.op("Gemm", "scores", y,
                    self.weight("scores.weight", CLASSES, CHANNELS),
                    self.weight("scores.bias", CLASSES), transB=1)
        return self.op("Softmax", "classes", y, axis=1)


def model():
    net = Network(8)
    x = net.convolution("stem", "image", IMAGE[1], CHANNELS, 3)
    net.classifier(net.block("second", net.block("first", x)))
    tensor = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        net.nodes, "residual",
        [helper.make_tensor_value_info("image", tensor, IMAGE)],
        [helper.make_tensor_value_info("classes", tensor, [1, CLASSES])],
        net.weights)
    made = helper.make_model(graph, ir_version=8,
                             opset_imports=[helper.make_opsetid("", 17)])
    onnx.checker.check_model(made)
    return made


def main(folder):
    made = model()
    image = np.random.default_rng(9).standard_normal(IMAGE, np.float32)
    output, = reference.ReferenceEvaluator(made).run(None, {"image": image})
    onnx.save(made, f"{folder}/model.onnx")
    np.save(f"{folder}/input0.npy", image)
    np.save(f"{folder}/output0.npy", output)


main(sys.argv[1])
