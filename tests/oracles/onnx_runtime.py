#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random nodes of com.microsoft against ONNX Runtime.

    python tests/oracles/onnx_runtime.py FOLDER CASES [SEED]

A model holds a case of every operator, with inputs of its own; CASES models are
run by both.
"""
import os
import subprocess
import sys

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

DOMAIN = "com.microsoft"


class Model:
    """A model that grows node by node."""

    def __init__(self, random):
        self.random = random
        self.nodes, self.inputs, self.weights, self.outputs = [], [], [], []
        self.arrays, self.steps = {}, {}

    def feed(self, array):
        name = f"in{len(self.arrays)}"
        self.arrays[name] = array
        self.inputs.append(helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        return name

    def keep(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(
            numpy.asarray(array), name))
        return name

    def real(self, *shape, scale=1.0):
        return (self.random.standard_normal(shape) * scale).astype("float32")

    def integers(self, dtype, *shape):
        info = numpy.iinfo(dtype)
        return self.random.integers(info.min, info.max, shape or None, dtype,
                                    endpoint=True)

    def pick(self, *choices):
        return choices[self.random.integers(len(choices))]

    def add(self, kind, inputs, outputs=1, step=0.0, domain=DOMAIN, **more):
        """outputs: a number, or which of them are used."""
        used = range(outputs) if isinstance(outputs, int) else outputs
        names = [f"{kind}{len(self.nodes)}.{i}" if i in used else ""
                 for i in range(max(used) + 1)]
        self.nodes.append(helper.make_node(kind, inputs, names, domain=domain,
                                           **more))
        for name in filter(None, names):
            self.outputs.append(helper.make_empty_tensor_value_info(name))
            self.steps[name] = step

    def build(self):
        graph = helper.make_graph(self.nodes, "runtime", self.inputs,
                                  self.outputs, self.weights)
        return helper.make_model(
            graph, ir_version=9, opset_imports=[
                helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)])


def norms(m):
    b, s, n = 2, int(m.random.integers(1, 5)), 8 * m.pick(1, 2, 3)
    x, skip = m.feed(m.real(b, s, n)), m.feed(m.real(b, s, n))
    gamma, beta, bias = (m.keep(m.real(n)) for _ in range(3))
    m.add("SimplifiedLayerNormalization", [x, gamma], domain="", axis=-1,
          epsilon=1e-5)
    m.add("SkipSimplifiedLayerNormalization",
          [x, skip, gamma] + m.pick([], [bias]), [0, 3], epsilon=1e-5)
    m.add("SkipLayerNormalization",
          [x, skip, gamma] + m.pick([], [beta], [beta, bias], ["", bias]),
          [0, 3], epsilon=1e-5)
    ids = m.random.integers(0, 11, (b, s), "int32")
    mask = (numpy.arange(s) < m.random.integers(1, s + 1, (b, 1)))
    segments = m.pick(True, False)
    m.add("EmbedLayerNormalization", [
        m.feed(ids), m.feed(ids % 2) if segments else "",
        m.keep(m.real(11, n)), m.keep(m.real(s + 2, n)),
        m.keep(m.real(2, n)) if segments else "", gamma, beta,
        m.feed(mask.astype("int32"))], 2, epsilon=1e-5)


def pointwise(m):
    x, bias = m.feed(m.real(3, 5, 8)), m.keep(m.real(8))
    m.add("BiasGelu", [x, bias])
    m.add("FastGelu", [x] + m.pick([], [bias]))
    m.add("Gelu", [x])
    m.add("QuickGelu", [x], alpha=m.pick(1.702, 0.5))


def products(m):
    a, b = m.pick(0, 1), m.pick(0, 1)
    x, y = m.real(2, 5, 7), m.real(2, 7, 3)
    m.add("FusedMatMul", [m.feed(x.swapaxes(1, 2).copy() if a else x),
                          m.feed(y.swapaxes(1, 2).copy() if b else y)],
          transA=a, transB=b, alpha=0.5)
    image, weights = m.feed(m.real(1, 3, 9, 9)), m.keep(m.real(4, 3, 3, 3))
    kind, more = m.pick(("Relu", {}), ("Sigmoid", {}), ("Tanh", {}),
                        ("LeakyRelu", {"activation_params": [0.2]}),
                        ("Clip", {"activation_params": [-1.0, 1.5]}),
                        ("HardSigmoid", {"activation_params": [0.3, 0.4]}))
    m.add("FusedConv", [image, weights, m.keep(m.real(4))], activation=kind,
          pads=[1, 1, 1, 1], strides=[2, 2], kernel_shape=[3, 3], **more)


def blocks(m):
    """MatMulNBits, and its zero points of all forms."""
    bits, block = m.pick(4, 8), m.pick(16, 32, 64)
    k, n = m.pick(64, 80, 96), int(m.random.integers(1, 20))
    count = -(-k // block)
    inputs = [m.feed(m.real(2, 3, k)),
              m.keep(m.integers("uint8", n, count, block * bits // 8)),
              m.keep(m.real(n * count, scale=0.1))]
    zeros = m.pick("none", "packed", "packed") if bits == 8 else \
        m.pick("none", "packed", "real")
    if zeros == "packed":
        inputs.append(m.keep(m.integers(
            "uint8", n * (-(-count * bits // 8)))))
    elif zeros == "real":
        inputs.append(m.keep(m.real(n * count, scale=4)))
    m.add("MatMulNBits", inputs, K=k, N=n, bits=bits, block_size=block)


def quantized(m):
    dtype = m.pick("uint8", "int8")

    def value(*shape):
        return [m.feed(m.integers(dtype, *shape)), *result()]

    def result(scale=None):
        return [m.keep(numpy.float32(scale or m.random.uniform(.01, .1))),
                m.keep(m.integers(dtype, 1)[0] // 2)]

    for kind in "QLinearAdd", "QLinearMul":
        m.add(kind, value(2, 3, 4) + value(3, 4) + result(), step=1)
    x = value(2, 3, 8, 8)
    m.add("QLinearLeakyRelu", x + result(), step=1, alpha=0.1)
    m.add("QLinearSigmoid", x + result(1 / 256), step=1)
    to = m.integers(dtype, 1)[0] * 0 + numpy.iinfo(dtype).min
    m.add("QLinearSoftmax", x + [m.keep(numpy.float32(1 / 256)), m.keep(to)],
          step=1, axis=m.pick(1, 2, -1), opset=m.pick(11, 13))
    m.add("QLinearGlobalAveragePool", x + result(), step=1)
    m.add("QLinearAveragePool", x + result(), step=1, kernel_shape=[2, 2],
          strides=[2, 2])
    m.add("QLinearConcat", result() + value(2, 1, 3) + value(2, 4, 3), step=1,
          axis=1)
    dtype = m.pick("uint8", "int8")
    weights = m.keep(m.integers(dtype, 8, 5))
    scale = m.keep(m.real(5, scale=.1) ** 2 + numpy.float32(.01))
    bias = m.keep(m.real(5))
    m.add("DynamicQuantizeMatMul",
          [m.feed(m.real(3, 8)), weights, scale,
           m.keep(m.integers(dtype, 5)), bias])
    m.add("MatMulIntegerToFloat",
          [m.feed(m.integers("uint8", 3, 8)), weights,
           m.keep(numpy.float32(.1)), scale,
           m.keep(m.integers("uint8")),
           m.keep(m.integers(dtype, 5)), bias])


def rotary(m):
    heads, width, steps, b = m.pick(2, 3), m.pick(8, 16), 5, 2
    cache = [m.keep(f(numpy.outer(numpy.arange(40), .3 ** numpy.arange(
        width // 2))).astype("float32")) for f in (numpy.cos, numpy.sin)]
    flat = m.pick(True, False)
    x = m.real(b, steps, heads * width) if flat else \
        m.real(b, heads, steps, width)
    at = numpy.array([m.random.integers(30)]) if m.pick(0, 1) else \
        m.random.integers(0, 40, (b, steps))
    m.add("RotaryEmbedding", [m.feed(x), m.feed(at), *cache],
          interleaved=m.pick(0, 1))


def attentions(m):
    b, s, heads, width = 2, int(m.random.integers(1, 6)), m.pick(1, 2, 4), 8
    e, past = heads * width, int(m.pick(0, 3))
    total = past + s
    q, k, v = (m.feed(m.real(b, s, e)) for _ in range(3))
    old = [m.feed(m.real(b, heads, past, width)) for _ in range(2)]
    bias = m.keep(m.real(3 * e))
    lengths = m.random.integers(1, total + 1, b).astype("int32")
    marks = (numpy.arange(total) < lengths[:, None]).astype("int32")
    added = m.feed(m.real(1, heads, s, total))
    if past:
        m.add("MultiHeadAttention", [q, k, v, "", "", m.pick("", added), *old],
              3, num_heads=heads, unidirectional=m.pick(0, 1))
    else:
        mask = m.pick("", m.feed(marks), m.feed(lengths))
        m.add("MultiHeadAttention", [q, k, v, m.pick("", bias), mask],
              num_heads=heads)
        m.add("MultiHeadAttention",
              [q, m.feed(m.real(b, heads, 7, width)),
               m.feed(m.real(b, heads, 7, width))], num_heads=heads)
    weights = m.keep(m.real(6, 3 * e))
    one = [m.feed(m.real(b, s, 6)), weights, bias]
    if past:
        m.add("Attention", [*one, m.pick("", m.feed(marks)), m.feed(
            m.real(2, b, heads, past, width))], 2, num_heads=heads,
              unidirectional=m.pick(0, 1))
    else:
        m.add("Attention", [*one, m.pick("", m.feed(marks), m.feed(lengths)),
                            "", m.pick("", added)], num_heads=heads,
              scale=m.pick(0.3, 0.5), unidirectional=m.pick(0, 1))


def grouped(m):
    """First prompts, later steps, caches of a fixed size."""
    b, s, kv = m.pick(1, 2), int(m.random.integers(1, 6)), m.pick(1, 2)
    heads, width = kv * m.pick(1, 2, 3), m.pick(16, 32)
    mode = m.pick("first", "later", "padded", "fixed", "fixed first")
    past, extra = {"first": (0, 0), "later": (4, 0), "padded": (4, 0),
                   "fixed": (12, 0), "fixed first": (12, 0)}[mode]
    if mode in ("first", "fixed first"):
        total = s
    elif mode == "fixed":
        total = 3 + s
    else:
        total = past + s
    last = numpy.full(b, total - 1, "int32")
    if mode == "padded" and b > 1:
        s = 1
        total = past + s
        last = numpy.array([total - 1, total - 3], "int32")
    elif mode in ("later", "padded", "fixed") and b > 1:
        s, last = 1, last * 0 + (total := (past if mode != "fixed" else 3) + 1
                                 ) - 1
    packed = m.pick(True, False)
    q = m.feed(m.real(b, s, (heads + 2 * kv if packed else heads) * width))
    k, v = ["", ""] if packed else \
        [m.feed(m.real(b, s, kv * width)) for _ in range(2)]
    old = [m.feed(m.real(b, kv, past, width)) for _ in range(2)]
    rotate = m.pick(0, 1)
    cache = [m.keep(f(numpy.outer(numpy.arange(40), .3 ** numpy.arange(
        width // 2))).astype("float32")) for f in (numpy.cos, numpy.sin)]
    # Of a first prompt only the first position counts.
    at = m.pick([], [m.feed(m.random.integers(0, 30, (b, s)))]) * rotate
    more = m.pick({}, {"softcap": 3.0}, {"local_window_size": 3},
                  {"scale": .2})
    m.add("GroupQueryAttention",
          [q, k, v, *old, m.feed(last),
           m.keep(numpy.array(total, "int32"))] + cache * rotate + at,
          3, num_heads=heads, kv_num_heads=kv, do_rotary=rotate,
          rotary_interleaved=m.pick(0, 1) * rotate, **more)
    # What a cache holds behind the last key is not defined.
    if mode == "padded" or mode.startswith("fixed"):
        for output in m.nodes[-1].output[1:]:
            m.steps[output] = numpy.inf


def compare(folder, seed):
    m = Model(numpy.random.default_rng(seed))
    for group in (norms, pointwise, products, blocks, quantized, rotary,
                  attentions, grouped, grouped):
        group(m)
    made = m.build()
    path = f"{folder}/{seed}.onnx"
    onnx.save(made, path)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = \
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    names = [o.name for o in made.graph.output]
    wanted = onnxruntime.InferenceSession(
        path, options, ["CPUExecutionProvider"]).run(names, m.arrays)
    command = ["moirai-exec", "-q", "--threads", "1", "--output", folder]
    for name, array in m.arrays.items():
        if array.size:
            numpy.save(f"{folder}/{name}.npy", array)
            command += ["-i", f"{name}={folder}/{name}.npy"]
    done = subprocess.run([*command, path], text=True, capture_output=True)
    if done.returncode:
        return [f"seed {seed}: {done.stderr.strip()}"]
    wrong = []
    for i, (name, array) in enumerate(zip(names, wanted)):
        ours = numpy.load(f"{folder}/output{i}.npy").astype("float64")
        array = numpy.asarray(array, "float64")
        if ours.shape != array.shape:
            wrong.append(f"seed {seed}: {name} has the shape {ours.shape}, "
                         f"not {array.shape}")
            continue
        error = numpy.abs(ours - array).max(initial=0)
        most = m.steps[name] or 1e-4 * max(1, numpy.abs(array).max(initial=0))
        if not error <= most:
            wrong.append(f"seed {seed}: {name} differs by {error:.3g}")
    return wrong


def main():
    folder, cases, *rest = sys.argv[1:]
    first = int(rest[0]) if rest else 1
    os.makedirs(folder, exist_ok=True)
    faults = [fault for seed in range(first, first + int(cases))
              for fault in compare(folder, seed)]
    print(*faults, sep="\n")
    sys.exit(1 if faults else 0)


main()
