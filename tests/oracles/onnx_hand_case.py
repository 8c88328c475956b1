# SPDX-License-Identifier: Apache-2.0
"""Models of onnx_hand.py: a graph with input x, and where it is written."""
import os
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

FLOAT = TensorProto.FLOAT
folder, outside = sys.argv[1:]
X = numpy.arange(12, dtype="float32").reshape(3, 4) / 7


def info(name, shape=None, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, weights=(), inputs=None, outputs=("y",), **more):
    graph = helper.make_graph(
        nodes, "hand", [info("x", [3, 4])] if inputs is None else inputs,
        [info(name) for name in outputs], weights)
    return helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", 18), helper.make_opsetid("local", 1)], **more)


def good(name, made, expected=None):
    place = f"{folder}/good/{name}"
    os.makedirs(place)
    if expected is None:
        expected = ReferenceEvaluator(made).run(None, {"x": X})
    numpy.save(f"{place}/input0.npy", X)
    for i, array in enumerate(expected):
        numpy.save(f"{place}/output{i}.npy", numpy.asarray(array, "float32"))
    onnx.save(made, f"{place}/model.onnx")
    return place


def bad(name, made, error):
    os.makedirs(f"{folder}/bad", exist_ok=True)
    raw = made if isinstance(made, bytes) else made.SerializeToString()
    with open(f"{folder}/bad/{name}.onnx", "wb") as file:
        file.write(raw)
    with open(f"{folder}/bad/{name}.txt", "w", encoding="utf-8") as file:
        file.write(error)


def node(kind, inputs, outputs, name=None, domain=None, **attributes):
    return helper.make_node(kind, inputs.split(), outputs.split(), name,
                            domain=domain, **attributes)


def array(values, name="w", dtype="float32"):
    return numpy_helper.from_array(numpy.array(values, dtype), name)


def of_version(version, made):
    made.opset_import[0].version = version
    return made
