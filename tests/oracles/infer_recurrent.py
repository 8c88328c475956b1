# SPDX-License-Identifier: Apache-2.0
"""Cases of infer_models.py: recurrent cells and sequences, transforms and other
operators.
"""
import numpy as np
import openvino.opset15 as ops

from infer_case import KINDS, case, const, data, node, weights

# The rest

@case("ShapeOf")
def _(r):
    return ops.shape_of(data(r.shape(0)), r.choice(["i32", "i64"]))


@case("Range")
def _(r):
    kind = r.choice(["i64", "i32", "f32"])
    start, stop = r.randint(-9, 9), r.randint(-9, 9)
    by = r.choice([-3, -2, -1, 1, 2, 3])
    if kind == "f32":
        start, stop, by = start + 0.5, stop + 0.25, by * 0.3
    ends = [const(x, KINDS[kind]) for x in (start, stop, by)]
    if r.random() < 0.2:
        return node("opset1", "Range", ends, {})
    return ops.range(*ends, r.choice([kind, "i64", "f32"]))


@case("Eye")
def _(r):
    batch = [const(r.dims(r.randint(1, 3)))] if r.flag() else []
    return ops.eye(const(r.randint(1, 9)), const(r.randint(1, 9)), const(0),
                   "f32", *batch)


@case("RandomUniform")
def _(r):
    return ops.random_uniform(const(r.shape(1)), const(0.0, np.float32),
                              const(1.0, np.float32), "f32")


def states(r, gates, cell):
    hidden, width, batch = r.dims(3)
    inputs = [data([batch, width])]
    inputs += [data([batch, hidden]) for _ in range(2 if cell else 1)]
    inputs += [weights([gates * hidden, width]),
               weights([gates * hidden, hidden]), weights([gates * hidden])]
    return inputs, hidden


@case("LSTMCell")
def _(r):
    inputs, hidden = states(r, 4, True)
    return ops.lstm_cell(*inputs, hidden)


@case("GRUCell")
def _(r):
    inputs, hidden = states(r, 3, False)
    return ops.gru_cell(*inputs, hidden)


@case("RNNCell")
def _(r):
    inputs, hidden = states(r, 1, False)
    return ops.rnn_cell(*inputs, hidden, ["tanh"], [], [], 0.0)


def sequence(r, gates, cell):
    hidden, width, batch, length = r.dims(4)
    direction = r.choice(["forward", "reverse", "bidirectional"])
    ways = 2 if direction == "bidirectional" else 1
    inputs = [data([batch, length, width])]
    inputs += [data([batch, ways, hidden]) for _ in range(2 if cell else 1)]
    inputs += [data([batch], np.int32),
               weights([ways, gates * hidden, width]),
               weights([ways, gates * hidden, hidden]),
               weights([ways, gates * hidden])]
    return inputs, hidden, direction


@case("LSTMSequence")
def _(r):
    inputs, hidden, direction = sequence(r, 4, True)
    return ops.lstm_sequence(*inputs, hidden, direction)


@case("GRUSequence")
def _(r):
    inputs, hidden, direction = sequence(r, 3, False)
    return ops.gru_sequence(*inputs, hidden, direction)


@case("RNNSequence")
def _(r):
    inputs, hidden, direction = sequence(r, 1, False)
    return ops.rnn_sequence(*inputs, hidden, direction)


@case("ROIAlign")
def _(r):
    count = r.randint(1, 9)
    return ops.roi_align(data(r.dims(4)), data([count, 4]),
                         data([count], np.int32), *r.dims(2), 2, 1.0, "avg")


@case("GridSample")
def _(r):
    shape = r.dims(4)
    return ops.grid_sample(data(shape), data([shape[0]] + r.dims(2) + [2]),
                           {"align_corners": True})


@case("DFT", "IDFT")
def _(r):
    shape = r.shape(1, 4)
    axes = r.sample(range(len(shape)), r.randint(1, len(shape)))
    axes = [a - len(shape) if r.flag() else a for a in axes]
    sizes = [const([r.choice([-1, 3, 8]) for _ in axes])] if r.flag() else []
    make = r.choice([ops.dft, ops.idft])
    return make(data(shape + [2]), const(axes), *sizes)


@case("STFT")
def _(r):
    size = r.randint(1, 9)
    return ops.stft(data([3, size + r.randint(0, 20)][r.randint(0, 1):]),
                    data([size]), const(size), const(r.randint(1, 4)),
                    r.flag())


@case("RDFT")
def _(r):
    shape = r.shape(1, 4)
    axes = r.sample(range(len(shape)), r.randint(1, len(shape)))
    sizes = [const([r.choice([-1, 3, 8]) for _ in axes])] if r.flag() else []
    return ops.rdft(data(shape), const(axes), *sizes)


@case("IRDFT")
def _(r):
    shape = r.dims(r.randint(1, 4), 2, 9)
    axes = r.sample(range(len(shape)), r.randint(1, len(shape)))
    sizes = [const([r.choice([-1, 3, 8]) for _ in axes])] if r.flag() else []
    return ops.irdft(data(shape + [2]), const(axes), *sizes)
