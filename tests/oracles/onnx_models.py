#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX models of PyTorch's exporters and of TensorFlow's kind, executed.

    python tests/oracles/onnx_models.py FOLDER [NAME...]

Each network of NETWORKS is exported by torch.onnx twice, by tracing and by
dynamo; graphs as tf2onnx writes them (transposes around every layer, shapes
computed at run time) are made by hand.  ONNX Runtime computes the reference,
moirai-exec the rest.  Prints a line for each model: equal, different, or
refused with its line.  Exits with 1 unless all are equal.  Needs torch,
torchvision, onnx, onnxscript and onnxruntime.
"""
import logging
import os
import subprocess
import sys
import warnings

import numpy
import onnx
import onnxruntime
import torch
import torchvision
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional

TOLERANCE = "2e-3"


class Function(nn.Module):
    def __init__(self, function, *modules):
        super().__init__()
        self.function = function
        self.parts = nn.ModuleList(modules)

    def forward(self, *inputs):
        return self.function(*self.parts, *inputs)


def image(channels=3, size=32, batch=1):
    return torch.randn(batch, channels, size, size)


def tokens(length=16, vocabulary=50, batch=2):
    return torch.randint(0, vocabulary, (batch, length))


def vision(name, size=64):
    def make():
        return getattr(torchvision.models, name)(weights=None), (image(3, size),)
    return make


def layer(module, *inputs):
    return lambda: (module, inputs)


def function(f, *inputs):
    return lambda: (Function(f), inputs)


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.places = nn.Embedding(16, 32)
        part = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True,
                                          activation="gelu")
        self.encoder = nn.TransformerEncoder(part, 2,
                                             enable_nested_tensor=False)

    def forward(self, x):
        at = torch.arange(x.shape[1])
        return self.encoder(self.words(x) + self.places(at))


class Decoder(nn.Module):
    """Rotary embeddings, RMS normalization, SwiGLU, a causal mask."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.words = nn.Embedding(50, width)
        self.q, self.k, self.v, self.o = (
            nn.Linear(width, width, bias=False) for _ in range(4))
        self.up, self.gate = nn.Linear(width, 64), nn.Linear(width, 64)
        self.down = nn.Linear(64, width)
        self.scale = nn.Parameter(torch.randn(width))
        self.heads = heads

    def norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) \
            * self.scale

    def turn(self, x):
        n, width = x.shape[-2:]
        rate = 1e4 ** (-torch.arange(0, width, 2) / width)
        angle = torch.outer(torch.arange(n).float(), rate)
        a, b = x[..., : width // 2], x[..., width // 2:]
        return torch.cat((a * angle.cos() - b * angle.sin(),
                          b * angle.cos() + a * angle.sin()), -1)

    def forward(self, x):
        x = self.words(x)
        y = self.norm(x)
        q, k, v = (f(y).view(*y.shape[:2], self.heads, -1).transpose(1, 2)
                   for f in (self.q, self.k, self.v))
        y = functional.scaled_dot_product_attention(
            self.turn(q), self.turn(k), v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(x.shape))
        y = self.norm(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, padding=1)
        self.b = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.c = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.d = nn.Conv2d(16, 4, 1)

    def forward(self, x):
        a = self.a(x).relu()
        return self.d(torch.cat((a, self.c(self.b(a).relu())), 1))


class Experts(nn.Module):
    """Two of four experts by their gates."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(16, 4)
        self.experts = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        weight, which = self.gate(x).softmax(-1).topk(2)
        full = torch.zeros(x.shape[0], 4).scatter(1, which, weight)
        return sum(full[:, i:i + 1] * part(x)
                   for i, part in enumerate(self.experts))


def detector_head(x):
    """Boxes of a grid from distances, sorted by score."""
    n = x.shape[-1]
    y0, x0 = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
    center = torch.stack((x0, y0), 0).float()
    boxes = torch.cat((center - x[:, :2], center + x[:, 2:4]), 1).flatten(2)
    score, at = x[:, 4].sigmoid().flatten(1).topk(10)
    return boxes.gather(2, at[:, None].expand(-1, 4, -1)), score


def window_partition(x):
    n, h, w, c = x.shape
    x = torch.roll(x, (-1, -1), (1, 2)).view(n, h // 4, 4, w // 4, 4, c)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)


NETWORKS = {
    "resnet18": vision("resnet18"),
    "mobilenet_v3_small": vision("mobilenet_v3_small"),
    "squeezenet1_1": vision("squeezenet1_1"),
    "shufflenet_v2_x0_5": vision("shufflenet_v2_x0_5"),
    "mnasnet0_5": vision("mnasnet0_5"),
    "efficientnet_b0": vision("efficientnet_b0"),
    "regnet_y_400mf": vision("regnet_y_400mf"),
    "densenet121": vision("densenet121"),
    "bert": lambda: (Bert(), (tokens(),)),
    "decoder": lambda: (Decoder(), (tokens(12),)),
    "unet": lambda: (UNet(), (image(),)),
    "experts": lambda: (Experts(), (torch.randn(6, 16),)),
    "vit": lambda: (torchvision.models.VisionTransformer(32, 8, 2, 2, 16, 32),
                    (image(),)),
    "attention": lambda: (
        Function(lambda m, x: m(x, x, x)[0],
                 nn.MultiheadAttention(16, 4, batch_first=True)),
        (torch.randn(2, 7, 16),)),
    "lstm": layer(nn.LSTM(8, 12, 2, bidirectional=True), torch.randn(9, 2, 8)),
    "gru": layer(nn.GRU(8, 12, 2, batch_first=True), torch.randn(2, 9, 8)),
    "rnn": layer(nn.RNN(8, 12), torch.randn(9, 2, 8)),
    "conv3d": layer(nn.Conv3d(2, 4, 3, padding=1, groups=2),
                    torch.randn(1, 2, 5, 6, 7)),
    "conv1d_dilated": layer(nn.Conv1d(4, 6, 3, dilation=2), torch.randn(1, 4, 20)),
    "group_norm": layer(nn.GroupNorm(2, 8), image(8, 6)),
    "instance_norm": layer(nn.InstanceNorm2d(4, affine=True), image(4, 6)),
    "layer_norm": layer(nn.LayerNorm((4, 6)), torch.randn(2, 4, 6)),
    "pools": function(
        lambda x: (functional.max_pool2d(x, 3, 2, 1, ceil_mode=True),
                   functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
                   functional.avg_pool2d(x, 2, count_include_pad=False),
                   functional.adaptive_avg_pool2d(x, (1, 1))), image(2, 11)),
    "resize": function(
        lambda x: (functional.interpolate(x, scale_factor=2),
                   functional.interpolate(x, (13, 9), mode="bilinear"),
                   functional.interpolate(x, (13, 9), mode="bicubic"),
                   functional.interpolate(x, scale_factor=2, mode="bilinear",
                                          align_corners=True)), image(2, 7)),
    "grid_sample": function(
        lambda x, g: functional.grid_sample(x, g, align_corners=False),
        image(2, 6), torch.rand(1, 5, 4, 2) * 2.4 - 1.2),
    "activations": function(
        lambda x: (functional.gelu(x), functional.silu(x), functional.elu(x),
                   functional.hardswish(x), functional.mish(x),
                   functional.softplus(x), functional.leaky_relu(x),
                   functional.hardsigmoid(x), functional.selu(x),
                   functional.relu6(x)), torch.randn(4, 9)),
    "reductions": function(
        lambda x: (x.mean((1, 2)), x.sum(0), x.amax(1), x.argmax(-1),
                   x.std(-1), x.logsumexp(1), x.norm(dim=2), x.cumsum(1)),
        torch.randn(3, 4, 5)),
    "indexing": function(
        lambda x, i: (x[:, i], x.gather(1, i[None].expand(3, -1)),
                      x.index_select(1, i), x[..., ::2], x.flip(1),
                      torch.where(x > 0, x, -x), x.tril(), x.masked_fill(
                          x < 0, 0.0)),
        torch.randn(3, 6), torch.tensor([0, 3, 5])),
    "scatter": function(
        lambda x, i: (x.scatter_add(1, i, x[:, :2] * 2),
                      x.index_add(0, torch.tensor([0, 2]), x[:2])),
        torch.randn(3, 4), torch.tensor([[0, 1], [2, 3], [1, 1]])),
    "einsum": function(lambda x, y: torch.einsum("bhid,bhjd->bhij", x, y),
                       torch.randn(2, 3, 4, 5), torch.randn(2, 3, 6, 5)),
    "detector_head": function(detector_head, torch.randn(1, 5, 6, 6)),
    "window_partition": function(window_partition, torch.randn(1, 8, 8, 3)),
    "pixel_shuffle": layer(nn.PixelShuffle(2), image(8, 5)),
    "pad": function(
        lambda x: (functional.pad(x, (1, 2, 3, 1)),
                   functional.pad(x, (1, 2, 2, 1), "reflect"),
                   functional.pad(x, (1, 2, 2, 1), "replicate")), image(2, 6)),
}


# TensorFlow's

def constant(values, name, dtype="float32"):
    return numpy_helper.from_array(numpy.asarray(values, dtype), name)


def random(name, *shape):
    rng = numpy.random.default_rng(len(name) + sum(shape))
    return constant(rng.standard_normal(shape) / 4, name)


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs.split(), outputs.split(),
                            **attributes)


def tf_model(nodes, shape, weights, outputs=("y",), opset=15):
    graph = helper.make_graph(
        nodes, "tf", [helper.make_tensor_value_info("x", TensorProto.FLOAT,
                                                    shape)],
        [helper.make_tensor_value_info(o, TensorProto.FLOAT, None)
         for o in outputs], weights)
    return helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", opset)])


def tf_convolution():
    """NHWC layers, a transpose around each, SAME pads, biases apart."""
    return tf_model(
        [node("Transpose", "x", "a", perm=[0, 3, 1, 2]),
         node("Conv", "a w1", "b", auto_pad="SAME_UPPER", strides=[2, 2]),
         node("Transpose", "b", "c", perm=[0, 2, 3, 1]),
         node("Add", "c bias", "d"), node("Relu", "d", "e"),
         node("Transpose", "e", "f", perm=[0, 3, 1, 2]),
         node("Conv", "f w2", "g", auto_pad="SAME_UPPER", group=4),
         node("MaxPool", "g", "h", kernel_shape=[2, 2], strides=[2, 2],
              auto_pad="SAME_LOWER"),
         node("ReduceMean", "h", "y", axes=[2, 3], keepdims=0)],
        [1, 15, 15, 3],
        [random("w1", 4, 3, 3, 3), random("bias", 4), random("w2", 8, 1, 3, 3)])


def tf_dense():
    """Shapes computed at run time: Shape, Slice, Concat, Reshape."""
    return tf_model(
        [node("Shape", "x", "s"), node("Cast", "s", "s32", to=TensorProto.INT32),
         node("Slice", "s32 zero one zero", "batch"),
         node("Concat", "batch rest", "new32", axis=0),
         node("Cast", "new32", "new", to=TensorProto.INT64),
         node("Reshape", "x new", "flat"), node("MatMul", "flat w", "m"),
         node("Add", "m b", "n"), node("Softmax", "n", "y", axis=-1)],
        [2, 3, 4],
        [constant([0], "zero", "int32"), constant([1], "one", "int32"),
         constant([12], "rest", "int32"), random("w", 12, 5), random("b", 5)])


def tf_batch_norm():
    """A normalization as TensorFlow writes it out."""
    return tf_model(
        [node("ReduceMean", "x", "m", axes=[1, 2], keepdims=1),
         node("Sub", "x m", "d"), node("Mul", "d d", "q"),
         node("ReduceMean", "q", "v", axes=[1, 2], keepdims=1),
         node("Add", "v eps", "e"), node("Sqrt", "e", "r"),
         node("Reciprocal", "r", "i"), node("Mul", "i gamma", "g"),
         node("Mul", "x g", "a"), node("Mul", "m g", "c"),
         node("Sub", "beta c", "t"), node("Add", "a t", "y")],
        [2, 5, 5, 3], [constant(1e-3, "eps"), random("gamma", 3),
                       random("beta", 3)])


def tf_resize():
    """ResizeBilinear between transposes, sizes by half pixels."""
    return tf_model(
        [node("Transpose", "x", "a", perm=[0, 3, 1, 2]),
         node("Resize", "a none none sizes", "b", mode="linear",
              coordinate_transformation_mode="half_pixel"),
         node("Transpose", "b", "c", perm=[0, 2, 3, 1]),
         node("Clip", "c low high", "y")],
        [1, 6, 5, 2],
        [constant([], "none"), constant([1, 2, 9, 11], "sizes", "int64"),
         constant(-0.5, "low"), constant(0.5, "high")])


def tf_lstm():
    """Keras' LSTM: time first, squeezed afterwards."""
    return tf_model(
        [node("Transpose", "x", "t", perm=[1, 0, 2]),
         node("LSTM", "t w r b", "all last", hidden_size=6,
              direction="forward"),
         node("Squeeze", "all one", "s"),
         node("Transpose", "s", "y", perm=[1, 0, 2])],
        [2, 7, 4], [random("w", 1, 24, 4), random("r", 1, 24, 6),
                    random("b", 1, 48), constant([1], "one", "int64")])


def tf_loop():
    """tf.while_loop of a fixed count."""
    def info(name, kind=TensorProto.FLOAT, shape=()):
        return helper.make_tensor_value_info(name, kind, shape)

    body = helper.make_graph(
        [node("MatMul", "v w", "p"), node("Tanh", "p", "n"),
         node("Identity", "go", "on")], "body",
        [info("i", TensorProto.INT64), info("go", TensorProto.BOOL),
         info("v", shape=(3, 4))],
        [info("on", TensorProto.BOOL), info("n", shape=(3, 4))])
    return tf_model([node("Loop", "five yes x", "y", body=body)], [3, 4],
                    [constant(5, "five", "int64"),
                     constant(True, "yes", "bool"), random("w", 4, 4)])


def tf_strided_slice():
    """StridedSlice, Pack and Tile on shapes; a mask by comparison."""
    return tf_model(
        [node("Slice", "x from to axes steps", "a"),
         node("Unsqueeze", "a last", "u"), node("Tile", "u times", "t"),
         node("Greater", "t zero", "g"),
         node("Where", "g t zero", "y")], [3, 8],
        [constant([0, 1], "from", "int64"), constant([3, 8], "to", "int64"),
         constant([0, 1], "axes", "int64"), constant([1, 3], "steps", "int64"),
         constant([2], "last", "int64"), constant([1, 1, 4], "times", "int64"),
         constant(0, "zero")])


def tf_quantized():
    """QDQ around a convolution, as TFLite models become."""
    return tf_model(
        [node("QuantizeLinear", "x s z", "q"),
         node("DequantizeLinear", "q s z", "d"),
         node("DequantizeLinear", "w ws wz", "wd", axis=0),
         node("Conv", "d wd b", "c", pads=[1, 1, 1, 1]),
         node("Relu", "c", "r"), node("QuantizeLinear", "r s2 z", "q2"),
         node("DequantizeLinear", "q2 s2 z", "y")], [1, 3, 6, 6],
        [constant(0.02, "s"), constant(3, "z", "int8"),
         constant(numpy.arange(-54, 54).reshape(4, 3, 3, 3), "w", "int8"),
         constant([0.01, 0.02, 0.015, 0.01], "ws"),
         constant([0] * 4, "wz", "int8"), random("b", 4),
         constant(0.2, "s2")])


TENSORFLOW = {f.__name__: f for f in (
    tf_convolution, tf_dense, tf_batch_norm, tf_resize, tf_lstm, tf_loop,
    tf_strided_slice, tf_quantized)}


# the runs

def export(name, dynamo, path):
    torch.manual_seed(1)
    module, inputs = NETWORKS[name]()
    module.eval()
    torch.onnx.export(module, inputs, path, dynamo=dynamo, verbose=False)
    return [x.numpy() for x in inputs]


def run_runtime(path, inputs):
    session = onnxruntime.InferenceSession(
        path, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    return names, session.run(None, dict(zip(names, inputs)))


def check(folder, name, path, inputs):
    """Runs the model with moirai-exec and prints its comparison with ONNX
    Runtime; returns "equal", "different" or "refused"."""
    names, outputs = run_runtime(path, inputs)
    options = []
    for i, (key, array) in enumerate(zip(names, inputs)):
        numpy.save(f"{folder}/input{i}.npy", array)
        options += ["-i", f"{key}={folder}/input{i}.npy"]
    for i, array in enumerate(outputs):
        numpy.save(f"{folder}/output{i}.npy", array)
    run = subprocess.run(
        ["moirai-exec", "-q", "--tolerance", TOLERANCE, "--reference", folder,
         *options, path], capture_output=True, text=True, check=False)
    result = {0: "equal", 1: "refused"}.get(run.returncode, "different")
    print(f"{name}: {result}", run.stderr.strip(), flush=True)
    return result


def main(folder, *names):
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    results = []
    for name in NETWORKS:
        for kind, dynamo in (("traced", False), ("dynamo", True)):
            title = f"{name}_{kind}"
            if names and name not in names and title not in names:
                continue
            place = os.path.join(folder, title)
            os.makedirs(place, exist_ok=True)
            path = f"{place}/model.onnx"
            results.append(check(place, title, path,
                                 export(name, dynamo, path)))
    for name, make in TENSORFLOW.items():
        if names and name not in names:
            continue
        place = os.path.join(folder, name)
        os.makedirs(place, exist_ok=True)
        model = make()
        onnx.save(model, f"{place}/model.onnx")
        shape = [d.dim_value for d in
                 model.graph.input[0].type.tensor_type.shape.dim]
        x = numpy.random.default_rng(1).standard_normal(shape, "float32")
        results.append(check(place, name, f"{place}/model.onnx", [x]))
    print(f"{len(results)} models: {results.count('equal')} equal")
    if results.count("equal") < len(results):
        sys.exit(1)


main(*sys.argv[1:])
