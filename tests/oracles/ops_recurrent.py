# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers and cells, for ops_oracle.py."""
import openvino.opset15 as ops

from ops_case import case

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
# Blocks of OpenVINO's weights (f i c o) among ONNX's (i o f c).
FROM_ONNX = [2, 0, 3, 1]


class Layer:
    """Random sizes and inputs, in the layout of OpenVINO."""

    def __init__(self, c, kind, whole):
        self.kind, self.gates = kind, GATES[kind]
        self.batch, self.width, self.hidden = c.dims(3, 1, 6)
        self.length = c.randint(1, 6)
        self.direction = c.choice(["forward", "reverse", "bidirectional"])
        self.ways = 2 if whole and self.direction == "bidirectional" else 1
        self.after = kind == "GRU" and c.flag()
        self.clip = c.choice([0.0, 0.0, 0.7])
        self.rows = self.gates * self.hidden

    def per_way(self, *shape):
        return [self.ways] + list(shape)

    def attributes(self):
        made = {"clip": self.clip}
        if self.kind == "GRU":
            made["linear_before_reset"] = self.after
        return made


def states(c, layer, shape):
    return [c.data(shape, "f32", -1, 1)
            for _ in range(2 if layer.kind == "LSTM" else 1)]


def cell(c, kind, make):
    layer = Layer(c, kind, False)
    bias = layer.rows + (layer.hidden if layer.after else 0)
    return make(
        c.data([layer.batch, layer.width]),
        *states(c, layer, [layer.batch, layer.hidden]),
        c.either([layer.rows, layer.width], "f32", -1, 1),
        c.either([layer.rows, layer.hidden], "f32", -1, 1),
        c.either([bias], "f32", -1, 1), layer.hidden, **layer.attributes())


case("LSTMCell")(lambda c: cell(c, "LSTM", ops.lstm_cell))
case("GRUCell")(lambda c: cell(c, "GRU", ops.gru_cell))
case("RNNCell")(lambda c: cell(c, "RNN", lambda *a, **k: ops.rnn_cell(
    *a, [c.choice(["tanh", "relu", "sigmoid"])], [], [], **k)))


def lengths(c, layer):
    return c.given(c.some([layer.batch], "i32", 1, layer.length))


def sequence(c, kind, make):
    layer = Layer(c, kind, True)
    bias = layer.rows + (layer.hidden if layer.after else 0)
    return make(
        c.data([layer.batch, layer.length, layer.width]),
        *states(c, layer, [layer.batch, layer.ways, layer.hidden]),
        lengths(c, layer),
        c.either(layer.per_way(layer.rows, layer.width), "f32", -1, 1),
        c.either(layer.per_way(layer.rows, layer.hidden), "f32", -1, 1),
        c.either(layer.per_way(bias), "f32", -1, 1), layer.hidden,
        layer.direction, **layer.attributes())


MAKERS = {"LSTM": ops.lstm_sequence, "GRU": ops.gru_sequence,
          "RNN": ops.rnn_sequence}
for name, maker in MAKERS.items():
    case(name + "Sequence")(lambda c, kind=name, make=maker:
                            sequence(c, kind, make))


def reordered(c, layer, node):
    """Weights of ONNX with the gates in the order of OpenVINO."""
    if layer.kind != "LSTM":
        return node
    rows = [b * layer.hidden + j for b in FROM_ONNX
            for j in range(layer.hidden)]
    return ops.gather(node, c.const(rows), c.const(1))


def onnx_layer(c, kind):
    """ONNX's operator: steps first, two biases."""
    layer = Layer(c, kind, True)
    layer.after = False
    data = c.data([layer.length, layer.batch, layer.width])
    w = c.data(layer.per_way(layer.rows, layer.width), "f32", -1, 1)
    r = c.data(layer.per_way(layer.rows, layer.hidden), "f32", -1, 1)
    bias = c.data(layer.per_way(2 * layer.rows), "f32", -1, 1)
    steps = lengths(c, layer)
    first = states(c, layer, [layer.ways, layer.batch, layer.hidden])
    halves = ops.split(bias, c.const(1), 2)
    both = ops.add(halves.output(0), halves.output(1))
    made = MAKERS[kind](
        ops.transpose(data, c.const([1, 0, 2])),
        *(ops.transpose(s, c.const([1, 0, 2])) for s in first), steps,
        reordered(c, layer, w), reordered(c, layer, r),
        reordered(c, layer, both), layer.hidden, layer.direction,
        **layer.attributes())
    attributes = {"hidden_size": layer.hidden, "direction": layer.direction,
                  "clip": layer.clip}
    return c.stands_for(
        kind, [data, w, r, bias, steps] + first, attributes,
        ops.transpose(made.output(0), c.const([2, 1, 0, 3])))


for name in GATES:
    case(name)(lambda c, kind=name: onnx_layer(c, kind))
