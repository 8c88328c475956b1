# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers as one op each: LSTM, GRU and RNN, with ONNX's semantics."""
import torch

from . import ops
from .graph import Unsupported

# Where ONNX's gates are among PyTorch's: i o f c of i f g o, z r h of r z n.
GATES = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}
KINDS = {"lstm": "LSTM", "gru": "GRU", "rnn_tanh": "RNN", "rnn_relu": "RNN"}


def is_projected(node):
    """An LSTM with proj_size, which has one weight more for each layer."""
    _, _, params, biased, layers = node.args[:5]
    ways = 2 if node.args[7] else 1
    return len(params) != layers * ways * (4 if biased else 2)


def in_order(g, tensor, order):
    """Blocks of rows in another order."""
    n, rows = len(order), tensor.shape[0] // len(order)
    if isinstance(tensor, torch.Tensor):
        return torch.cat([tensor[i * rows:(i + 1) * rows] for i in order])
    blocks = ops.reshape(g, tensor, (n, rows) + tensor.shape[1:])
    return ops.reshape(g, ops.gather(g, blocks, g.ints(order), 0),
                       tensor.shape)


def stacked(op, tensors):
    """One for each direction, with the direction in front."""
    if all(isinstance(tensor, torch.Tensor) for tensor in tensors):
        return op.lift(torch.stack(tensors))
    return ops.concat(op.g, [ops.unsqueeze(op.g, op.lift(tensor), [0])
                             for tensor in tensors], 0)


def joined(op, tensors):
    if all(isinstance(tensor, torch.Tensor) for tensor in tensors):
        return torch.cat(tensors)
    return ops.concat(op.g, [op.lift(tensor) for tensor in tensors], 0)


class Layer:
    """The weights of one layer, of both directions."""

    def __init__(self, op, kind, params, ways):
        order, biased = GATES[kind], op["has_biases"]
        each = 4 if biased else 2
        parts = [[in_order(op.g, tensor, order)
                  for tensor in params[way * each:(way + 1) * each]]
                 for way in range(ways)]
        self.inputs = stacked(op, [part[0] for part in parts])
        self.states = stacked(op, [part[1] for part in parts])
        self.bias = stacked(op, [joined(op, part[2:]) for part in parts]) \
            if biased else None


def add_layer(op, kind, x, layer, states, batch_first):
    """All outputs and the last states; states are [direction, batch, ...]."""
    g, ways = op.g, layer.inputs.shape[0]
    hidden = layer.states.shape[2]
    steps, batch = x.shape[:2][::-1] if batch_first else x.shape[:2]
    turn = (1, 0, 2) if batch_first else (0, 1, 2)
    inputs = [x, layer.inputs, layer.states,
              layer.bias or g.numbers([], x.dtype), g.numbers([], "i32")]
    inputs += [ops.transpose(g, state, turn) for state in states]
    every = (batch, steps, ways, hidden) if batch_first \
        else (steps, ways, batch, hidden)
    last = (batch, ways, hidden) if batch_first else (ways, batch, hidden)
    attrs = {"hidden_size": hidden, "layout": int(batch_first),
             "direction": "bidirectional" if ways == 2 else "forward"}
    if kind == "GRU":
        attrs["linear_before_reset"] = 1
    if op.name == "rnn_relu":
        attrs["activations"] = ["Relu"] * ways
    y, *ends = g.add_many(kind, inputs, [(every, x.dtype)] +
                          [(last, x.dtype)] * len(states), **attrs)
    if not batch_first and ways == 2:
        y = ops.transpose(g, y, (0, 2, 1, 3))
    y = ops.reshape(g, y, x.shape[:2] + (ways * hidden,))
    return y, [ops.transpose(g, end, turn) for end in ends]


def recurrent(op):
    kind = KINDS[op.name]
    if "batch_sizes" in op.args:
        raise Unsupported("has packed sequences; pad them")
    if op["train"] and op["dropout"]:
        raise Unsupported("drops values, as in training")
    x, params = op.value("input"), op["params"]
    ways = 2 if op["bidirectional"] else 1
    given = [op.lift(state) for state in
             (op["hx"] if kind == "LSTM" else [op["hx"]])]
    each, ends = len(params) // op["num_layers"], [[] for _ in given]
    for at in range(op["num_layers"]):
        layer = Layer(op, kind, params[at * each:(at + 1) * each], ways)
        first = [ops.cut(op.g, state, {0: (at * ways, (at + 1) * ways, 1)})
                 for state in given]
        x, last = add_layer(op, kind, x, layer, first, op["batch_first"])
        for found, end in zip(ends, last):
            found.append(end)
    return [x] + [ops.concat(op.g, found, 0) for found in ends]


TABLE = dict.fromkeys(KINDS, recurrent)
