#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX models by hand: good/NAME with input and outputs, bad/NAME.onnx with the
error in NAME.txt.

    python tests/oracles/onnx_hand.py FOLDER OUTSIDE

OUTSIDE is a folder that no model may read.
"""
import os

import numpy
import onnx
from onnx import TensorProto, helper

import onnx_hand_values  # writes its own
from onnx_hand_case import (FLOAT, X, array, bad, folder, good, info, model,
                            node, outside)

# constants

def typed(name, kind, values, dtype):
    tensor = helper.make_tensor("w", kind, [len(values)], values)
    cast = [node("Cast", "w", "c", to=FLOAT), node("Add", "x c", "y")]
    good(f"typed_{name}", model(cast, [tensor]),
         [X + numpy.array(values, dtype).astype("float32")])


for kind, dtype in (("FLOAT", "float32"), ("DOUBLE", "float64"),
                    ("INT64", "int64"), ("INT32", "int32"), ("INT8", "int8"),
                    ("UINT8", "uint8"), ("INT16", "int16"),
                    ("UINT16", "uint16"), ("UINT32", "uint32"),
                    ("UINT64", "uint64"), ("BOOL", "bool"),
                    ("FLOAT16", "float16")):
    small = [1, 0, 1, 1] if kind == "BOOL" else [1, 2, 3, 100]
    typed(kind.lower(), getattr(TensorProto, kind), small, dtype)
typed("negative", TensorProto.INT32, [-5, 7, -1, 0], "int32")
big = numpy.random.default_rng(1).random((3000, 4), "float32")
tensor = helper.make_tensor("w", FLOAT, big.shape, big.ravel())
good("typed_large", model([node("MatMul", "w t", "y"),
                           node("Transpose", "x", "t")][::-1], [tensor]),
     [big @ X.T])
place = good("external", model([node("Add", "x w", "y")],
                               [array([1, 2, 3, 4])]), [X + [1, 2, 3, 4]])
with open(f"{place}/weights.bin", "wb") as file:
    file.write(bytes(8) + numpy.array([1, 2, 3, 4], "float32").tobytes())


def external(location, offset="8", length="16"):
    made = TensorProto(name="w", dims=[4], data_type=FLOAT,
                       data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", offset),
                       ("length", length)):
        made.external_data.add(key=key, value=value)
    return model([node("Add", "x w", "y")], [made])


onnx.save(external("./sub/../weights.bin"), f"{place}/model.onnx")
# Weights of more than a MiB stay in the file, aligned or not.
table = numpy.random.default_rng(2).random((4, 100000), "float32")
for name in "w", "ww", "www":
    good(f"in_file_{name}", model(
        [node("MatMul", f"x {name}", "m"), node("Slice", "m zero six one", "y"),
         node("Gather", f"{name} six", "z", axis=1)],
        [array(table, name), array([0], "zero", "int64"),
         array([6], "six", "int64"), array([1], "one", "int64")],
        outputs=("y", "z")), [(X @ table)[:, :6], table[:, 6:7]])
    good(f"in_file_often_{name}", model(
        [node("Concat", " ".join([name] * 40), "c", axis=0),
         node("Gather", "c last", "g", axis=0),
         node("Slice", "g zero six one", "y")],
        [array(table, name), array([159], "last", "int64"),
         array([0], "zero", "int64"), array([6], "six", "int64"),
         array([1], "one", "int64")]), [table[3:, :6]])
good("constants", model([
    node("Constant", "", "a", value=array([1, 2, 3, 4])),
    node("Constant", "", "b", value_float=2.5),
    node("Constant", "", "i", value_ints=[4, 3]),
    node("Constant", "", "f", value_floats=[1.0, 2.0, 3.0]),
    node("Mul", "x a", "p"), node("Add", "p b", "q"),
    node("Reshape", "q i", "r"), node("Add", "r f", "y")]))

# forms in which the reference or the usual path is something else

good("slice_from_before", model(
    [node("Slice", "x s e a t", "y")],
    [array([-9], "s", "int64"), array([-2 ** 62], "e", "int64"),
     array([1], "a", "int64"), array([-1], "t", "int64")]), [X[:, :1]])
for kind in "ReduceL1", "ReduceL2":
    good(f"{kind.lower()}_of_nothing", model(
        [node("Neg", "x", "n"), node(kind, "n", "y", noop_with_empty_axes=1)]),
         [X])
NAN = numpy.array([0, numpy.nan, 2, numpy.nan], "float32")
for kind in "Max", "Min":
    good(f"{kind.lower()}_of_nan", model(
        [node(kind, "x w", "m"), node("IsNaN", "m", "n"),
         node("Cast", "n", "y", to=FLOAT)], [array(NAN)]),
         [numpy.isnan(X + NAN)])
    good(f"reduce_{kind.lower()}_of_nan", model(
        [node("Add", "x w", "s"),
         node("Reduce" + kind, "s a", "m", keepdims=0), node("IsNaN", "m", "n"),
         node("Cast", "n", "y", to=FLOAT)],
        [array(NAN), array([0], "a", "int64")]), [numpy.isnan(NAN)])
good("integer_to_real_power", model(
    [node("Mul", "x h", "s"), node("Cast", "s", "i", to=TensorProto.INT32),
     node("Pow", "i p", "z"), node("Cast", "z", "y", to=FLOAT)],
    [array(7, "h"), array([1.5, 2, 2.6, .5], "p")]),
     [numpy.trunc(numpy.round(X * 7) ** numpy.array([1.5, 2, 2.6, .5]))])
good("plain_loss", model(
    [node("SoftmaxCrossEntropyLoss", "x t", "y")],
    [array([3, 0, 1], "t", "int64")]))
good("resize_not_smaller", model(
    [node("Reshape", "x d", "r"),
     helper.make_node("Resize", ["r", "", "", "s"], ["z"], axes=[2, 3],
                      keep_aspect_ratio_policy="not_smaller"),
     node("Shape", "z", "i"),
     node("Cast", "i", "y", to=FLOAT)],
    [array([1, 1, 4, 3], "d", "int64"), array([1, 2], "s", "int64")]),
     [[1, 1, 3, 2]])
good("conv_integer_strides", model(
    [node("Mul", "x h", "s"), node("Cast", "s", "i", to=TensorProto.UINT8),
     node("Reshape", "i d", "r"), node("Concat", "r l", "c", axis=2),
     node("ConvInteger", "c w", "z", strides=[2, 2]),
     node("Cast", "z", "y", to=FLOAT)],
    [array(7, "h"), array([1, 1, 3, 4], "d", "int64"),
     array([[[[12, 13, 14, 15]]]], "l", "uint8"),
     array([[[[1]]]], "w", "uint8")]), [[[[[0, 2], [8, 10]]]]])

# ONNX Runtime's LSTM with quantized weights: an LSTM with the weights as numbers
# and the input rounded.


def rounded(x):
    low, high = min(x.min(), 0), max(x.max(), 0)
    by = (high - low) / 255
    zero = numpy.round(-low / by)
    return (numpy.clip(numpy.round(x / by) + zero, 0, 255) - zero) * by


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def run_lstm(steps, w, r, b):
    h = c = numpy.zeros(5)
    for x in steps:
        i, o, f, g = numpy.split(x @ w + h @ r + b[:20] + b[20:], 4)
        c = sigmoid(f) * c + sigmoid(i) * numpy.tanh(g)
        h = sigmoid(o) * numpy.tanh(c)
        yield h


draw = numpy.random.default_rng(3)
for name, scales in ("tensor", (2,)), ("row", (2, 20)):
    weights = {"w": draw.integers(-127, 128, (2, 4, 20)).astype("int8"),
               "r": draw.integers(0, 256, (2, 5, 20)).astype("uint8"),
               "b": draw.random((2, 40), "float32")}
    plain = {"b": weights["b"]}
    for part in "wr":
        by = draw.random(scales, "float32") / 300
        zero = draw.integers(0, 99, scales).astype(weights[part].dtype)
        weights.update({f"{part}s": by, f"{part}z": zero})
        by, zero = (v.reshape(2, 1, -1).astype("float32") for v in (by, zero))
        plain[part] = (weights[part] - zero) * by
    there = list(run_lstm(rounded(X), *(plain[k][0] for k in "wrb")))
    back = list(run_lstm(rounded(X)[::-1], *(plain[k][1] for k in "wrb")))
    good(f"quantized_lstm_{name}", model(
        [node("Reshape", "x steps", "s"), helper.make_node(
            "DynamicQuantizeLSTM",
            ["s", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"],
            ["y", "h"], domain="com.microsoft", hidden_size=5,
            direction="bidirectional")],
        [array([3, 1, 4], "steps", "int64")] +
        [array(v, k, v.dtype) for k, v in weights.items()],
        outputs=("y", "h")),
        [numpy.stack([there, back[::-1]], 1)[:, :, None],
         numpy.stack([there[-1], back[-1]])[:, None]])

# Frames of a signal without a last dimension, as ONNX Runtime takes it; more of
# them than a literal holds.
wave = draw.random(20400, "float32")
for name, signal, step in ("short", X.reshape(1, 12), 2), (
        "long", numpy.concatenate([X.ravel(), wave])[None], 4):
    size = min(8, signal.size) if name == "short" else 16
    shape = array([1, -1], "shape", "int64")
    frames = numpy.stack([signal[0, i:i + size]
                          for i in range(0, signal.size - size + 1, step)])
    spectrum = numpy.fft.rfft(frames * numpy.hanning(size).astype("float32"))
    good(f"stft_{name}", model(
        [node("Reshape", "x shape", "f"), node("Concat", "f wave", "s", axis=1),
         node("STFT", "s step window size", "y")],
        [shape, array(signal[:, 12:], "wave"), array(step, "step", "int64"),
         array(numpy.hanning(size), "window"), array(size, "size", "int64")]),
        [numpy.stack([spectrum.real, spectrum.imag], -1)[None]])

# subgraphs and functions


def branch(name, factor):
    return helper.make_graph(
        [node("Mul", f"x {name}_f", name)], name, [], [info(name)],
        [array(factor, f"{name}_f")])


good("if", model([
    node("Shape", "x", "s"), node("ReduceProd", "s", "n", keepdims=0),
    node("Constant", "", "twelve", value_int=12),
    node("Equal", "n twelve", "c"),
    node("If", "c", "y", then_branch=branch("a", 2.0),
         else_branch=branch("b", 3.0))]))
# The branch depends on an input, which --value fixes.
rate = model([node("Constant", "", "high", value_int=16000),
              node("Equal", "rate high", "c"),
              node("If", "c", "y", then_branch=branch("a", 2.0),
                   else_branch=helper.make_graph(
                       [node("Concat", "x x", "b", axis=0)], "b", [],
                       [info("b")]))],
             inputs=[info("x", [3, 4]), info("rate", [], TensorProto.INT64)])
os.makedirs(f"{folder}/value")
onnx.save(rate, f"{folder}/value/model.onnx")
numpy.save(f"{folder}/value/input0.npy", X)
for number, wanted in (8000, numpy.concatenate([X, X])), (16000, 2 * X):
    os.makedirs(f"{folder}/value/{number}")
    numpy.save(f"{folder}/value/{number}/output0.npy", wanted)
body = helper.make_graph(
    [node("Add", "carried x", "next"), node("ReduceSum", "next", "sum", keepdims=0),
     node("Identity", "go", "on")], "body",
    [info("i", [], TensorProto.INT64), info("go", [], TensorProto.BOOL),
     info("carried", [3, 4])],
    [info("on", [], TensorProto.BOOL), info("next", [3, 4]), info("sum")])
good("loop", model([
    node("Constant", "", "n", value_int=3),
    node("Constant", "", "yes", value=array(True, "t", "bool")),
    node("Loop", "n yes x", "y sums", body=body)], outputs=("y", "sums")),
     [4 * X, [2 * X.sum(), 3 * X.sum(), 4 * X.sum()]])
# Rounds end when a counter reaches a size of x.
counting = helper.make_graph(
    [node("Add", "k one", "next"), node("Less", "next rows", "on"),
     node("Gather", "x k", "row", axis=0), node("Add", "carried row", "sum")],
    "counting", [info("i", [], TensorProto.INT64),
                 info("go", [], TensorProto.BOOL),
                 info("k", [], TensorProto.INT64), info("carried", [4])],
    [info("on", [], TensorProto.BOOL), info("next", [], TensorProto.INT64),
     info("sum", [4]), info("row", [4])])
for name, most in ("most", "most"), ("unlimited", ""):
    good(f"loop_until_{name}", model(
        [node("Shape", "x", "s"), node("Gather", "s zero", "rows"),
         node("Less", "zero rows", "yes"),
         helper.make_node("Loop", [most, "yes", "zero", "start"],
                          ["", "y", "z"], body=counting)],
        [array(0, "zero", "int64"), array(1, "one", "int64"),
         array(2**63 - 1, "most", "int64"), array([0] * 4, "start")],
        outputs=("y", "z")), [X.sum(0), X])
endless = helper.make_graph(
    [node("Identity", "go", "on"), node("Relu", "carried", "next")], "endless",
    [info("i", [], TensorProto.INT64), info("go", [], TensorProto.BOOL),
     info("carried", [3, 4])],
    [info("on", [], TensorProto.BOOL), info("next", [3, 4])])
bad("endless", model([helper.make_node("Loop", ["", "", "x"], ["y"],
                                       body=endless)]),
    "Loop 'y' has more than 4096 rounds")
# Data decides: both branches are computed.
for name, bound in ("taken", 0), ("not_taken", 99):
    good(f"if_of_data_{name}", model(
        [node("ReduceMax", "x", "m", keepdims=0), node("Greater", "m bound", "c"),
         node("If", "c", "y", then_branch=branch("a", 2.0),
              else_branch=branch("b", 3.0))], [array(bound, "bound")]))
longer = helper.make_graph([node("Concat", "x x", "l", axis=0)], "longer", [],
                           [info("l")])
custom = helper.make_graph([node("Own", "x", "o", domain="local")], "own", [],
                           [info("o")])
for name, other, error in (
        ("shape", longer, "branches differ in the shape of output 0; --value"),
        ("node", custom, "its branches cannot be computed both; --value")):
    bad(f"if_of_data_{name}", model(
        [node("ReduceMax", "x", "m", keepdims=0), node("Greater", "m m", "c"),
         node("If", "c", "y", then_branch=branch("a", 2.0),
              else_branch=other)]), error)
inner = helper.make_function(
    "local", "Scale", ["v"], ["o"],
    [helper.make_node("Constant", [], ["k"]), node("Mul", "v k", "o")],
    [helper.make_opsetid("", 18)], ["by"])
reference = inner.node[0].attribute.add(name="value_float")
reference.ref_attr_name = "by"
reference.type = onnx.AttributeProto.FLOAT
outer = helper.make_function(
    "local", "Twice", ["v"], ["o"],
    [node("Scale", "v", "a", domain="local", by=2.0),
     node("Scale", "a", "o", domain="local", by=0.25)],
    [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)])
good("functions", model([node("Twice", "x", "t", domain="local"),
                         node("Relu", "t", "y")], functions=[inner, outer]))
rows = helper.make_graph(
    [node("Add", "sum row", "next"), node("Mul", "next row", "product")],
    "rows", [info("sum", [4]), info("row", [4])],
    [info("next", [4]), info("product", [4])])
scanned = numpy.cumsum(X[::-1], 0)
good("scan_backwards", model(
    [node("Scan", "zero x", "y products", body=rows, num_scan_inputs=1,
          scan_input_directions=[1], scan_output_directions=[1],
          scan_output_axes=[-1])],
    [array([0, 0, 0, 0], "zero")], outputs=("y", "products")),
     [scanned[-1], (scanned * X[::-1])[::-1].T])
good("wrapped", model([node("Pad", "x p", "y", mode="wrap")],
                      [array([1, 0, 2, 3], "p", "int64")]),
     [numpy.pad(X, ((1, 2), (0, 3)), mode="wrap")])
good("gathered_by_known", model(
    [node("NonZero", "k", "n"), node("Transpose", "n", "t"),
     node("GatherND", "x t", "g"), node("Compress", "x c", "z", axis=1),
     node("ReduceSum", "z", "s", keepdims=0), node("Add", "g s", "y")],
    [array([[0, 1, 0, 0], [0, 0, 0, 2], [3, 0, 0, 0]], "k", "int64"),
     array([True, False, True], "c", "bool")]),
     [X[[0, 1, 2], [1, 3, 0]] + X[:, [0, 2]].sum()])
good("passed", model([node("Identity", "x", "x2")], outputs=("x2", "x2")),
     [X, X])
good("unsorted_names", model([
    node("Relu", "x", "y", "y"), node("Neg", "y", "z", "y")],
    outputs=("y", "z")))

# what cannot be run, but placed

opaque = model([node("ImageDecoder", "x", "y", "decoder")],
               inputs=[info("x", [2, 2])])
opaque.graph.output[0].CopyFrom(info("y", []))
onnx.save(opaque, f"{folder}/opaque.onnx")
custom = model([node("Own", "x", "o", domain="local"), node("Relu", "o", "y")])
custom.graph.value_info.append(info("o", [3, 4]))
onnx.save(custom, f"{folder}/custom.onnx")

# errors

relu = node("Relu", "x", "y")
onnx.save(model([relu], inputs=[info("x", ["batch", 4])]),
          f"{folder}/dynamic.onnx")
bad("missing", model([node("ImageDecoder", "x", "d", "first"),
                      node("NonZero", "x", "n", "second"),
                      node("Add", "d d", "y")], inputs=[info("x", [2, 2])]),
    "2 ops cannot be read: ImageDecoder 'first' decodes files of images; "
    "NonZero 'second'")
bad("custom", model([node("Own", "x", "y", "mine", domain="local")]),
    "Own 'mine' there is no such operator to run, domain local; with the shapes "
    "of their outputs in value_info they can be placed")
# Their sum is 0 in 64 bits.
bad("many_heads", model([helper.make_node(
    "GroupQueryAttention", ["x", "", "", "", "", "l", "n"], ["y"],
    domain="com.microsoft", num_heads=2 ** 63 - 2,
    kv_num_heads=2 ** 62 + 1)], [array([2], "l", "int32"),
                                 array(3, "n", "int32")],
    inputs=[info("x", [1, 3, 4])]), "4611686018427387905 heads of 1,3,4")
bad("contradicted_weights", model([helper.make_node(
    "MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", K=4, N=9,
    bits=4, block_size=16)], [array([[[0] * 8]] * 5, "w", "uint8"),
                              array([1.0] * 5, "s")]),
    "has weights of 5,1,8, which N, K, bits and block_size contradict")
bad("cycle", model([node("Add", "x b", "a"), node("Add", "a x", "b"),
                    node("Relu", "b", "y")]),
    "reads 'b', which no node before it makes")
bad("twice", model([node("Relu", "x", "y"), node("Neg", "x", "y")]),
    "tensor 'y' is made twice")
bad("input_twice", model([relu], inputs=[info("x", [3, 4]), info("x", [3])]),
    "tensor 'x' is made twice")
bad("weight_twice", model([node("Add", "x w", "y")], [array(1), array(2)]),
    "tensor 'w' is made twice")
bad("no_input", model([node("Add", "x", "y")]), "Add 'y' has no input 1")
bad("blank_input", model([helper.make_node("Slice", ["x", "", "e"], ["y"])],
                         [array([1], "e", "int64")]), "has no input 1")
bad("attribute_type", model([node("Softmax", "x", "y", axis=1.5)]),
    "its attribute axis is not an integer")
bad("many_terms", model(
    [node("Sum", " ".join(["x"] * 16385), "y")]),
    "has 16385 inputs, more than 16384; combine them in groups")
bad("roi_bins", model(
    [node("RoiAlign", "x r i", "y", output_height=2000, sampling_ratio=2)],
    [array([[0, 0, 1, 1]], "r"), array([0], "i", "int64")],
    inputs=[info("x", [1, 1, 4, 4])]), "has 2000 x 1 bins, sampling_ratio 2;")
bad("deform_line", model(
    [node("DeformConv", "x w o", "y")],
    [array([[[1, 1]]], "w"), array([[[0, 0, 0]] * 2], "o")],
    inputs=[info("x", [1, 1, 4])]), "has 1 spatial dimensions, not 2")
bad("col2im_block", model(
    [node("Col2Im", "x s b", "y")],
    [array([4, 4], "s", "int64"), array([0, 2], "b", "int64")],
    inputs=[info("x", [1, 4, 9])]), "has blocks of another size than its columns")
for version in 6, 29:
    other = model([relu])
    other.opset_import[0].version = version
    bad(f"opset_{version}", other,
        f"has operator set {version} of ONNX, not 7 to 28")
other = model([relu])
del other.opset_import[:]
bad("no_opset", other, "does not say which operator set")
bad("no_output", model([node("Relu", "x", "z")]), "output 'y' is made by no")
negative = TensorProto(name="w", dims=[-5], raw_data=bytes(12),
                       data_type=FLOAT)
add = node("Add", "x w", "y")
bad("negative", model([add], [negative]), "'w' has a negative dimension")
short = TensorProto(name="w", dims=[1 << 40], raw_data=bytes(12),
                    data_type=FLOAT)
bad("short", model([add], [short]), "another number of elements")
huge = TensorProto(name="w", dims=[1 << 40, 1 << 40], data_type=FLOAT)
bad("huge", model([add], [huge]), "'w' is too large")
bad("strings", model([add], [TensorProto(
    name="w", dims=[1], data_type=TensorProto.STRING, string_data=[b"a"])]),
    "has elements of type 8")
with open(f"{outside}/w.bin", "wb") as file:
    file.write(bytes(100))
for name, location in (("absolute", f"{outside}/w.bin"),
                       ("parent", "../../outside/w.bin"),
                       ("hidden", "a/../../../outside/w.bin")):
    bad(f"outside_{name}", external(location), "outside of the model's folder")
bad("external_text", external("w.bin", "eight"), "offset or length that is no")
sparse = model([relu])
sparse.graph.sparse_initializer.add(dims=[3])
bad("sparse", sparse, "weights are sparse")
calls = []
for i in range(40):
    calls.append(helper.make_function(
        "local", f"F{i}", ["v"], ["o"],
        [node(f"F{i + 1}", "v", "a", domain="local"),
         node(f"F{i + 1}", "a", "o", domain="local")],
        [helper.make_opsetid("local", 1)]))
calls.append(helper.make_function("local", "F40", ["v"], ["o"],
                                  [node("Relu", "v", "o")],
                                  [helper.make_opsetid("", 18)]))
bad("many_functions", model([node("F10", "x", "y", domain="local")],
                            functions=calls), "functions")
itself = helper.make_function("local", "F", ["v"], ["o"],
                              [node("F", "v", "o", domain="local")],
                              [helper.make_opsetid("local", 1)])
bad("recursion", model([node("F", "x", "y", domain="local")],
                       functions=[itself]), "nested more than 32 deep")
graph = helper.make_graph([relu], "g", [], [info("y")])
for _ in range(20):
    graph = helper.make_graph([node("If", "c", "y", then_branch=graph)], "g",
                              [], [info("y")])
bad("deep", model([node("If", "c", "y", then_branch=graph)]),
    "nested more than 16 deep")
whole = model([relu], [array(numpy.zeros(1000))]).SerializeToString()
bad("cut", whole[:-500], "is cut short or damaged")
bad("cut_early", whole[:40], "is cut short or damaged")
bad("empty", b"\x08\x08\x12\x01a", "has no outputs")
