# SPDX-License-Identifier: Apache-2.0
"""Converts OpenVINO models to ONNX, for ONNX Runtime: the operators of the
models of exec.py, each in the form that ONNX Runtime runs fastest."""
import os

import numpy
import onnx
from onnx import helper, numpy_helper

from exec_ir import read_layers

OPSET = 20  # the first with Gelu
NUMPY = {"f32": "<f4", "i64": "<i8", "i32": "<i4", "boolean": "?"}
SAME = {
    "Add": "Add",
    "Subtract": "Sub",
    "Multiply": "Mul",
    "Divide": "Div",
    "Power": "Pow",
    "ReLU": "Relu",
    "Reshape": "Reshape",
    "Select": "Where",
}


def numbers(text):
    return [int(number) for number in text.split(",")]


class Translation:
    """The ONNX model under construction."""

    def __init__(self, weights):
        self.weights = weights
        self.nodes, self.initializers = [], []
        self.inputs, self.outputs = [], []
        self.names = {}  # of values, by layer and number of its output
        self.constants = {}  # arrays, by layer

    def name(self, source):
        layer, port = source
        if layer in self.constants and source not in self.names:
            self.names[source] = self.initializer(self.constants[layer])
        return self.names[source]

    def initializer(self, array):
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind, inputs, layer=None, **attributes):
        """Adds a node that computes the layer's output, or an intermediate
        value."""
        count = len(layer.outputs) if layer else 1
        outputs = [f"v{len(self.nodes)}_{port}" for port in range(count)]
        self.nodes.append(
            helper.make_node(kind, inputs, outputs, **attributes)
        )
        for port in range(count if layer else 0):
            self.names[layer, port] = outputs[port]
        return outputs[0]

    def value(self, layer, number):
        """Input number of layer, which is a constant."""
        return self.constants[layer.sources[number][0]]

    def integers(self, layer, number):
        return [int(x) for x in self.value(layer, number).reshape(-1)]

    def info(self, name, port):
        kind = helper.np_dtype_to_tensor_dtype(numpy.dtype(NUMPY[port.type]))
        return helper.make_tensor_value_info(name, kind, port.shape)


def constant(t, layer):
    a = layer.attributes
    port = layer.outputs[0]
    t.constants[layer] = numpy.frombuffer(
        t.weights,
        NUMPY[a["element_type"]],
        int(numpy.prod(port.shape, dtype=numpy.int64)),
        int(a["offset"]),
    ).reshape(port.shape)


def parameter(t, layer):
    name = f"in{len(t.inputs)}"
    t.names[layer, 0] = name
    t.inputs.append(t.info(name, layer.outputs[0]))


def result(t, layer):
    source, port = layer.sources[0]
    t.outputs.append(t.info(t.name((source, port)), source.outputs[port]))


def same(t, layer):
    t.node(SAME[layer.type], [t.name(s) for s in layer.sources], layer)


def swapped(t, source):
    """A transposed matrix; a transposed constant if it is constant."""
    layer, port = source
    if layer in t.constants:
        turned = numpy.swapaxes(t.constants[layer], -1, -2)
        return t.initializer(numpy.ascontiguousarray(turned))
    rank = len(layer.outputs[port].shape)
    order = list(range(rank - 2)) + [rank - 1, rank - 2]
    return t.node("Transpose", [t.name(source)], perm=order)


def matmul(t, layer):
    sides = [
        swapped(t, source)
        if layer.attributes[f"transpose_{side}"] == "true"
        else t.name(source)
        for side, source in zip("ab", layer.sources)
    ]
    t.node("MatMul", sides, layer)


def window(layer):
    a = layer.attributes
    return {
        "strides": numbers(a["strides"]),
        "dilations": numbers(a["dilations"]),
        "pads": numbers(a["pads_begin"]) + numbers(a["pads_end"]),
    }


def convolution(t, layer):
    t.node("Conv", [t.name(s) for s in layer.sources], layer, **window(layer))


def max_pool(t, layer):
    """Its indices are not used here."""
    layer.outputs = layer.outputs[:1]
    t.node(
        "MaxPool",
        [t.name(layer.sources[0])],
        layer,
        kernel_shape=numbers(layer.attributes["kernel"]),
        ceil_mode=int(layer.attributes["rounding_type"] != "floor"),
        **window(layer),
    )


def reduce_mean(t, layer):
    keep = int(layer.attributes.get("keep_dims") == "true")
    t.node("ReduceMean", [t.name(s) for s in layer.sources], layer,
           keepdims=keep)


def transpose(t, layer):
    t.node("Transpose", [t.name(layer.sources[0])], layer,
           perm=t.integers(layer, 1))


def mvn(t, layer):
    """Over the last axis: LayerNormalization without scale and bias."""
    port = layer.outputs[0]
    rank = len(port.shape)
    if [axis % rank for axis in t.integers(layer, 1)] != [rank - 1]:
        raise RuntimeError(f"{layer.name}: MVN over other axes than the last")
    ones = t.initializer(numpy.ones(port.shape[-1], numpy.float32))
    t.node("LayerNormalization", [t.name(layer.sources[0]), ones], layer,
           axis=-1, epsilon=float(layer.attributes["eps"]))


def softmax(t, layer):
    t.node("Softmax", [t.name(layer.sources[0])], layer,
           axis=int(layer.attributes["axis"]))


def gelu(t, layer):
    kind = {"ERF": "none", "TANH": "tanh"}
    t.node("Gelu", [t.name(layer.sources[0])], layer,
           approximate=kind[layer.attributes["approximation_mode"]])


def gather(t, layer):
    t.node("Gather", [t.name(s) for s in layer.sources[:2]], layer,
           axis=t.integers(layer, 2)[0])


def convert(t, layer):
    kind = numpy.dtype(NUMPY[layer.attributes["destination_type"]])
    t.node("Cast", [t.name(layer.sources[0])], layer,
           to=helper.np_dtype_to_tensor_dtype(kind))


def concat(t, layer):
    t.node("Concat", [t.name(s) for s in layer.sources], layer,
           axis=int(layer.attributes["axis"]))


def split(t, layer):
    lengths = t.initializer(numpy.array(
        [port.shape[t.integers(layer, 1)[0]] for port in layer.outputs],
        numpy.int64,
    ))
    t.node("Split", [t.name(layer.sources[0]), lengths], layer,
           axis=t.integers(layer, 1)[0])


TRANSLATIONS = {
    "Concat": concat,
    "Const": constant,
    "Convert": convert,
    "Convolution": convolution,
    "Gather": gather,
    "Gelu": gelu,
    "MVN": mvn,
    "MatMul": matmul,
    "MaxPool": max_pool,
    "Parameter": parameter,
    "ReduceMean": reduce_mean,
    "Result": result,
    "SoftMax": softmax,
    "Transpose": transpose,
    "VariadicSplit": split,
    **{kind: same for kind in SAME},
}


def translate(path, onnx_path):
    """Writes the model at path, whose weights are beside it, as ONNX."""
    with open(os.path.splitext(path)[0] + ".bin", "rb") as weights:
        t = Translation(weights.read())
    for layer in read_layers(path):
        if layer.type not in TRANSLATIONS:
            raise RuntimeError(f"{layer.name}: no ONNX for {layer.type}")
        TRANSLATIONS[layer.type](t, layer)
    graph = helper.make_graph(t.nodes, "g", t.inputs, t.outputs,
                              t.initializers)
    onnx.save(
        helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9
        ),
        onnx_path,
    )
