# SPDX-License-Identifier: Apache-2.0
"""Builds ONNX models layer by layer: class Net has convolutional, recurrent and
transformer layers with random weights."""
import numpy
from onnx import TensorProto, helper, numpy_helper

OPSET, IR = 20, 9
TYPES = {"f": TensorProto.FLOAT, "i": TensorProto.INT64}


class Net:
    """A graph under construction; values are names of known shape."""

    def __init__(self):
        self.random = numpy.random.default_rng(1)
        self.nodes, self.initializers, self.inputs = [], [], []
        self.shape = {}
        self.feeds = {}

    def input(self, shape, below=0):
        name = f"in{len(self.inputs)}"
        array = self.random.integers(0, below, shape) if below \
            else self.random.standard_normal(shape, "f4")
        self.feeds[name] = array
        self.inputs.append(helper.make_tensor_value_info(
            name, TYPES["i" if below else "f"], shape))
        self.shape[name] = list(shape)
        return name

    def constant(self, array, dtype="f4"):
        array = numpy.asarray(array, dtype)
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(array, name))
        self.shape[name] = list(array.shape)
        return name

    def ints(self, *values):
        return self.constant(values, "i8")

    def weight(self, *shape, fan_in=None, gain=1):
        fan_in = fan_in or numpy.prod(shape[1:])
        return self.constant(self.random.standard_normal(shape, "f4")
                             * gain * fan_in ** -0.5)

    def vector(self, n, mean=0.0):
        return self.constant(mean + 0.1 * self.random.standard_normal(n))

    def op(self, kind, *inputs, out=None, outputs=1, **attributes):
        """Adds a node; out is the shape of its outputs, that of the first input
        unless given."""
        inputs = [self.constant(i) if isinstance(i, float) else i
                  for i in inputs]
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, names[0],
                                           **attributes))
        for name in names:
            self.shape[name] = list(out or self.shape[inputs[0]])
        return names[0] if outputs == 1 else names

    # convolutional networks

    def conv(self, x, n, k=1, stride=1, groups=1, act=None, bias=True, pad=None,
             dilation=1, bn=False):
        """A convolution with "same" padding; k and stride are numbers or one
        for each axis."""
        c, size = self.shape[x][1], self.shape[x][2:]
        ks, strides = [v if isinstance(v, tuple) else (v,) * len(size)
                       for v in (k, stride)]
        pads = [dilation * (a - 1) // 2 if pad is None else pad for a in ks]
        out = [(s + 2 * p - dilation * (a - 1) - 1) // t + 1
               for s, p, a, t in zip(size, pads, ks, strides)]
        w = self.weight(n, c // groups, *ks, gain=2 ** 0.5 if act else 1)
        inputs = [x, w] + [self.vector(n)] * (bias and not bn)
        y = self.op("Conv", *inputs,
                    out=[self.shape[x][0], n, *out], kernel_shape=list(ks),
                    strides=list(strides), pads=pads * 2, group=groups,
                    dilations=[dilation] * len(size))
        return self.act(self.batch_norm(y) if bn else y, act)

    def batch_norm(self, x):
        n = self.shape[x][1]
        return self.op("BatchNormalization", x, self.vector(n, 1),
                       self.vector(n), self.vector(n), self.constant(
                           numpy.abs(1 + 0.1 * self.random.standard_normal(n))))

    def act(self, x, kind):
        if kind is None:
            return x
        if kind == "silu":
            return self.op("Mul", x, self.op("Sigmoid", x))
        if kind == "relu6":
            return self.op("Clip", x, 0.0, 6.0)
        if kind == "h_swish":  # as PyTorch's older exporter wrote it
            up = self.op("Clip", self.op("Add", x, 3.0), 0.0, 6.0)
            return self.op("Div", self.op("Mul", x, up), 6.0)
        if kind == "gelu":
            e = self.op("Erf", self.op("Div", x, 2 ** 0.5))
            return self.op("Mul", self.op("Mul", x, self.op("Add", e, 1.0)),
                           0.5)
        if kind == "gelu_tanh":
            u = self.op("Mul", self.op("Pow", x, 3.0), 0.044715)
            u = self.op("Mul", self.op("Add", x, u), (2 / numpy.pi) ** 0.5)
            u = self.op("Add", self.op("Tanh", u), 1.0)
            return self.op("Mul", self.op("Mul", x, 0.5), u)
        return self.op(kind, x)

    def pool(self, x, kind, k=2, stride=2, pad=0, **attributes):
        out = [(s + 2 * pad - k) // stride + 1 for s in self.shape[x][2:]]
        return self.op(kind, x, out=self.shape[x][:2] + out,
                       kernel_shape=[k] * len(out), strides=[stride] * len(out),
                       pads=[pad] * 2 * len(out), **attributes)

    def mean(self, x, kind="GlobalAveragePool"):
        out = self.shape[x][:2] + [1] * (len(self.shape[x]) - 2)
        if kind == "ReduceMean":
            axes = self.ints(*range(2, len(self.shape[x])))
            return self.op(kind, x, axes, out=out, keepdims=1)
        return self.op(kind, x, out=out)

    def concat(self, *parts, axis=1):
        out = list(self.shape[parts[0]])
        out[axis] = sum(self.shape[p][axis] for p in parts)
        return self.op("Concat", *parts, out=out, axis=axis)

    def split(self, x, n, axis=1):
        out = list(self.shape[x])
        out[axis] //= n
        return self.op("Split", x, out=out, outputs=n, axis=axis, num_outputs=n)

    def slice(self, x, axis, begin, end):
        out = list(self.shape[x])
        out[axis] = len(range(out[axis])[begin:end])
        return self.op("Slice", x, self.ints(begin), self.ints(end),
                       self.ints(axis), out=out)

    def excite(self, x, squeezed, act="Relu", gate="Sigmoid",
               mean="GlobalAveragePool"):
        s = self.conv(self.mean(x, mean), squeezed, act=act)
        return self.op("Mul", x, self.conv(s, self.shape[x][1], act=gate))

    def resize(self, x, factor=2, mode="nearest"):
        n, c, *size = self.shape[x]
        how = {"coordinate_transformation_mode": "half_pixel"} \
            if mode == "linear" else {
                "coordinate_transformation_mode": "asymmetric",
                "nearest_mode": "floor"}
        return self.op("Resize", x, "", self.constant([1, 1] + [factor] * len(
            size)), out=[n, c] + [s * factor for s in size], mode=mode, **how)

    def classifier(self, x, n=1000):
        f = self.op("Flatten", self.mean(x), out=self.shape[x][:2])
        return self.gemm(f, n)

    def gemm(self, x, n, act=None):
        c = self.shape[x][1]
        return self.act(self.op("Gemm", x, self.weight(n, c), self.vector(n),
                                out=[self.shape[x][0], n], transB=1), act)

    # transformers

    def linear(self, x, n, act=None, bias=True):
        c = self.shape[x][-1]
        y = self.op("MatMul", x, self.weight(c, n, fan_in=c),
                    out=self.shape[x][:-1] + [n])
        if bias:
            y = self.op("Add", self.vector(n), y, out=self.shape[y])
        return self.act(y, act)

    def norm(self, x, apart=False):
        n = self.shape[x][-1]
        if not apart:
            return self.op("LayerNormalization", x, self.vector(n, 1),
                           self.vector(n), axis=-1)
        out = self.shape[x][:-1] + [1]
        mean = self.op("ReduceMean", x, self.ints(-1), out=out)
        d = self.op("Sub", x, mean)
        v = self.op("ReduceMean", self.op("Pow", d, 2.0), self.ints(-1),
                    out=out)
        s = self.op("Sqrt", self.op("Add", v, 1e-5))
        return self.op("Add", self.op("Mul", self.op("Div", d, s),
                                      self.vector(n, 1)), self.vector(n))

    def rms_norm(self, x):
        out = self.shape[x][:-1] + [1]
        s = self.op("ReduceMean", self.op("Pow", x, 2.0), self.ints(-1),
                    out=out)
        s = self.op("Div", 1.0, self.op("Sqrt", self.op("Add", s, 1e-5)),
                    out=out)
        return self.op("Mul", self.vector(self.shape[x][-1], 1),
                       self.op("Mul", x, s), out=self.shape[x])

    def reshape(self, x, *out):
        return self.op("Reshape", x, self.ints(*out), out=out)

    def transpose(self, x, *perm):
        return self.op("Transpose", x, out=[self.shape[x][p] for p in perm],
                       perm=perm)

    def attention(self, x, heads, mask=None, rotary=None, kv_heads=None,
                  bias=True, fused=False):
        b, s, c = self.shape[x]
        d = c // heads
        if fused:  # one product for queries, keys and values
            qkv = self.reshape(self.linear(x, 3 * c), b, s, 3, heads, d)
            qkv = self.transpose(qkv, 2, 0, 3, 1, 4)
            q, k, v = [self.op("Gather", qkv, self.constant(i, "i8"),
                               out=[b, heads, s, d], axis=0) for i in range(3)]
        else:
            n = kv_heads or heads
            q, k, v = [self.transpose(self.reshape(self.linear(
                x, d * h, bias=bias), b, s, h, d), 0, 2, 1, 3)
                for h in (heads, n, n)]
        if rotary:
            q, k = rotary(q), rotary(k)
        if kv_heads:
            k, v = [self.repeat(t, heads // kv_heads) for t in (k, v)]
        scores = self.op("MatMul", q, self.transpose(k, 0, 1, 3, 2),
                         out=[b, heads, s, s])
        scores = self.op("Mul", scores, d ** -0.5)
        if mask:
            scores = self.op("Add", scores, mask)
        p = self.op("Softmax", scores, axis=-1)
        o = self.op("MatMul", p, v, out=[b, heads, s, d])
        o = self.reshape(self.transpose(o, 0, 2, 1, 3), b, s, c)
        return self.linear(o, c, bias=bias)

    def repeat(self, x, times):
        b, h, s, d = self.shape[x]
        y = self.op("Unsqueeze", x, self.ints(2), out=[b, h, 1, s, d])
        y = self.op("Expand", y, self.ints(b, h, times, s, d),
                    out=[b, h, times, s, d])
        return self.reshape(y, b, h * times, s, d)

    def encoder(self, x, heads, act="gelu", first=True, apart=False, **how):
        """A layer of a transformer; first: norms come first."""
        c = self.shape[x][-1]
        if first:
            x = self.op("Add", x, self.attention(self.norm(x, apart), heads,
                                                 **how))
            y = self.linear(self.norm(x, apart), 4 * c, act=act)
            return self.op("Add", x, self.linear(y, c))
        x = self.norm(self.op("Add", x, self.attention(x, heads, **how)), apart)
        y = self.linear(self.linear(x, 4 * c, act=act), c)
        return self.norm(self.op("Add", y, x), apart)

    def embed(self, ids, vocabulary, n):
        x = self.op("Gather", self.weight(vocabulary, n, fan_in=1), ids,
                    out=self.shape[ids] + [n])
        return self.op("Add", x, self.weight(1, self.shape[ids][1], n,
                                             fan_in=1))

    def tokens(self, x):
        """An image as a sequence of its pixels."""
        b, c, h, w = self.shape[x]
        return self.transpose(self.reshape(x, b, c, h * w), 0, 2, 1)

    def recurrent(self, kind, x, n, both=True):
        """An LSTM or GRU over [length, batch, features]."""
        s, b, c = self.shape[x]
        gates, d = (4 if kind == "LSTM" else 3), 1 + both
        more = {"linear_before_reset": 1} if kind == "GRU" else {}
        y = self.op(kind, x, self.weight(d, gates * n, c, fan_in=c),
                    self.weight(d, gates * n, n, fan_in=n),
                    self.constant(0.1 * self.random.standard_normal(
                        (d, 2 * gates * n))),
                    out=[s, d, b, n], hidden_size=n,
                    direction="bidirectional" if both else "forward", **more)
        y = self.transpose(y, 0, 2, 1, 3)
        return self.reshape(y, s, b, d * n)
