# SPDX-License-Identifier: Apache-2.0
"""Random sizes and the table of cases, for infer_models.py.

CASES maps an operator type to functions that make a random node of it, with
OpenVINO.
"""
import random

import numpy as np
import openvino.opset15 as ops
from openvino.utils.node_factory import NodeFactory

CASES = {}


def case(*types):
    """Registers a function that makes a random node of these types."""
    def register(make):
        for kind in types:
            CASES.setdefault(kind, []).append(make)
        return make
    return register


class Random(random.Random):
    """Random sizes, and attributes that fit them."""

    def dims(self, rank, low=1, high=9):
        return [self.randint(low, high) for _ in range(rank)]

    def shape(self, low=1, high=5):
        return self.dims(self.randint(low, high))

    def flag(self):
        return self.random() < 0.5

    def axis(self, rank):
        return self.randint(-rank, rank - 1)

    def axes(self, rank, least=0):
        axes = self.sample(range(rank), self.randint(least, rank))
        return [a - rank if self.flag() else a for a in axes]

    def like(self, shape):
        """A shape that broadcasts with this one."""
        keep = self.randint(0, len(shape))
        return [1 if self.random() < 0.3 else d for d in shape[keep:]]


def data(shape, dtype=np.float32):
    return ops.parameter(list(shape), dtype)


def const(values, dtype=np.int64):
    return ops.constant(np.array(values, dtype=dtype))


def weights(shape):
    return ops.constant(np.zeros(shape, dtype=np.float32))


KINDS = {
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
    "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8,
    "f64": np.float64, "f32": np.float32, "f16": np.float16,
    "boolean": np.bool_,
}


def node(opset, kind, inputs, attributes):
    """An operator that OpenVINO's Python has no function for."""
    return NodeFactory(opset).create(
        kind, [i.output(0) for i in inputs], attributes)


def pick_int(r):
    """Integer inputs come in either width."""
    return np.int64 if r.flag() else np.int32


def ints(r, values):
    return const(values, pick_int(r))
